# SPDX-License-Identifier: Apache-2.0

"""Studies of a mechanism and its paths: conditioning, lookahead, and the evaluation of runs."""

from robodyn.analysis.as_json import as_json
from robodyn.analysis.at_home import (
    at_home,
    payload_at_home,
    reach_about_home,
    springs_at_home,
    stroke_used,
)
from robodyn.analysis.execution import execute
from robodyn.analysis.goal_execution import ABORTED, CANCELED, REPLACED, SUCCEEDED, GoalExecution
from robodyn.analysis.margins import margin_lines, margins
from robodyn.analysis.run import RunHistory, summary_text
from robodyn.analysis.sine_motions import AXES, FREQUENCIES, sine_motions
from robodyn.analysis.study import dynamic_fraction, peak_dynamic_fraction
from robodyn.analysis.trajectory_goals import GoalRefused, Present, examine
from robodyn.analysis.unit_checks import unit_warnings

__all__ = [
    "ABORTED",
    "AXES",
    "CANCELED",
    "FREQUENCIES",
    "REPLACED",
    "SUCCEEDED",
    "GoalExecution",
    "GoalRefused",
    "Present",
    "RunHistory",
    "as_json",
    "at_home",
    "dynamic_fraction",
    "examine",
    "execute",
    "margin_lines",
    "margins",
    "payload_at_home",
    "peak_dynamic_fraction",
    "reach_about_home",
    "sine_motions",
    "springs_at_home",
    "stroke_used",
    "summary_text",
    "unit_warnings",
]  # fmt: skip
