# SPDX-License-Identifier: Apache-2.0

"""Reports: charts described once, drawn as inline SVG on a page or by matplotlib in files."""
