# SPDX-License-Identifier: Apache-2.0

"""Reports: charts drawn by Bokeh on HTML pages, or by matplotlib in files."""

from robodyn.presentation.numbers_as_text import decimal
from robodyn.report.chart import Chart, ChartLine, Mark, Note, Panel
from robodyn.report.recorded_run import compare_with_plan
from robodyn.report.study_charts import rises, study_charts
from robodyn.report.tables import parameter_tables

__all__ = [
    "Chart", "ChartLine", "Mark", "Note", "Panel", "compare_with_plan", "decimal",
    "parameter_tables", "rises", "study_charts",
]  # fmt: skip
