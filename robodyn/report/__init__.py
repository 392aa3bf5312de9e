# SPDX-License-Identifier: Apache-2.0

"""Reports: charts drawn by Bokeh on HTML pages, or by matplotlib in files."""
