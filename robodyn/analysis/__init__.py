# SPDX-License-Identifier: Apache-2.0

"""Studies of a mechanism and its paths: conditioning, lookahead, and the evaluation of runs."""

from robodyn.analysis.execution import execute
from robodyn.analysis.goal_execution import ABORTED, CANCELED, REPLACED, SUCCEEDED, GoalExecution
from robodyn.analysis.run import RunHistory, summary_text
from robodyn.analysis.study import dynamic_fraction, peak_dynamic_fraction
from robodyn.analysis.trajectory_goals import GoalRefused, Present, examine

__all__ = [
    "ABORTED", "CANCELED", "REPLACED", "SUCCEEDED", "GoalExecution", "GoalRefused", "Present",
    "RunHistory", "dynamic_fraction", "examine", "execute", "peak_dynamic_fraction", "summary_text",
]  # fmt: skip
