"""Reports: charts described once, drawn as inline SVG on a page or by matplotlib in files."""
