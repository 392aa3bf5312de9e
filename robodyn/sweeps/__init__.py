# SPDX-License-Identifier: Apache-2.0

"""Sweeps: analyses of a mechanism over a grid or a sample of poses, loads and parameters."""

from robodyn.sweeps.plan import SweepPlan, make_plan
from robodyn.sweeps.quantities import QUANTITIES
from robodyn.sweeps.settings import SweepSettings
from robodyn.sweeps.states import States, sweep_variables
from robodyn.sweeps.sweep import run

__all__ = [
    "QUANTITIES", "States", "SweepPlan", "SweepSettings", "make_plan", "run", "sweep_variables",
]  # fmt: skip
