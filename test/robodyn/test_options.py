# SPDX-License-Identifier: Apache-2.0

"""Keyword arguments of functions that take the fields of a settings object."""

import importlib
import inspect
from dataclasses import fields

import pytest

PLANNING, CALIBRATION = "robodyn.planning", "robodyn.identification.calibration"
FUNCTIONS = {
    f"{PLANNING}.time_optimal.time_optimal.time_optimal": "TimeOptimal",
    f"{PLANNING}.workspace.workspace.workspace": "Workspace",
    f"{PLANNING}.paths.plan_path.plan_path": "Path",
    f"{PLANNING}.paths.redundancy.optimize_redundancy": "Redundancy",
    f"{CALIBRATION}.calibrate.calibrate": "Calibration",
    f"{CALIBRATION}.poses.calibration_poses": "Pose",
    "robodyn.exporting.export.export": "Export",
    "robodyn.control.follower.TrajectoryFollower": "Follower",
    "robodyn.sweeps.sweep.sweep": "Sweep",
    "robodyn.motion_base.machine.machine.Machine": "Machine",
    "robodyn.simulation.simulate.simulate": "Simulation",
    "robodyn.simulation.many.simulate_many": "Simulation",
}


@pytest.mark.parametrize("place", FUNCTIONS)
def test_every_field_of_the_settings_is_a_typed_keyword(place):
    module, _, name = place.rpartition(".")
    function = getattr(importlib.import_module(module), name)
    parameters = inspect.signature(function).parameters
    (options,) = (p for p in parameters.values() if p.kind is p.VAR_KEYWORD)
    assert options.annotation == f"Unpack[{FUNCTIONS[place]}Options]"
    home = inspect.getmodule(_settings(parameters, module, FUNCTIONS[place]))
    typed = getattr(home, f"{FUNCTIONS[place]}Options").__annotations__
    plain = {key: getattr(hint, "__forward_arg__", hint) for key, hint in typed.items()}
    expected = {
        field.name: field.type
        for field in fields(getattr(home, f"{FUNCTIONS[place]}Settings"))
        if field.name not in parameters
    }
    assert plain == expected


def _settings(parameters, module, kind):
    default = parameters["settings"].default
    if default is not None:
        return type(default)
    return getattr(importlib.import_module(module), f"{kind}Settings")
