# SPDX-License-Identifier: Apache-2.0

"""Reports: charts drawn by Bokeh on HTML pages, or by matplotlib in files."""

from robodyn.presentation.numbers_as_text import decimal
from robodyn.report.axis_ranges import Scale, scale_of, x_range, y_range
from robodyn.report.chart import Chart, ChartLine, Mark, Note, Panel, downsample
from robodyn.report.page import chart_html
from robodyn.report.recorded_run import compare_with_plan
from robodyn.report.recorded_run_page import recorded_run_page
from robodyn.report.study_charts import rises, study_charts
from robodyn.report.study_page import study_page
from robodyn.report.tables import parameter_tables

__all__ = [
    "Chart",
    "ChartLine",
    "Mark",
    "Note",
    "Panel",
    "Scale",
    "chart_html",
    "compare_with_plan",
    "decimal",
    "downsample",
    "parameter_tables",
    "recorded_run_page",
    "rises",
    "scale_of",
    "study_charts",
    "study_page",
    "x_range",
    "y_range",
]  # fmt: skip
