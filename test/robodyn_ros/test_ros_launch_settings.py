# SPDX-License-Identifier: Apache-2.0

"""Settings of a launch before any process starts: rejections in a line, and warnings."""

from __future__ import annotations

import pytest

from launch import LaunchContext
from robodyn_ros.launch_helpers.settings import resolve_arguments
from robodyn_ros.launch_helpers.simulation import simulation_arguments

pytestmark = pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")

NO_NUMBER = """
waypoints:
  - {xyz: [0.1, 0.0, .nan], rpy: [0, 0, 0]}
  - {xyz: [0.3, 0.0, 0.6], rpy: [0, 0, 0], duration: 6.0}
"""
TOO_FAST = """
v_max: 0.01
waypoints:
  - {xyz: [0.1, 0.0, 0.4], rpy: [0, 0, 0]}
  - {xyz: [0.3, 0.0, 0.6], rpy: [0, 0, 0], duration: 0.6}
"""
FILES = {
    "malformed.yaml": "type: stewart\nname: [unclosed\n",
    "no_number.yaml": NO_NUMBER,
    "too_fast.yaml": TOO_FAST,
    "typo.yaml": "/**/forward_simulatr:\n  ros__parameters:\n    dt: 0.001\n",
    "empty.yaml": "/**/forward_simulator: {}\n",
}


@pytest.fixture
def settled(tmp_path):
    """Settle a launch with these arguments; what follows, and its configurations."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def settle_with(**given):
        context = LaunchContext()
        for argument in simulation_arguments("stewart_dasgupta", "stewart_sim.yaml"):
            argument.execute(context)
        for name, value in given.items():
            file = value.endswith(".yaml")
            context.launch_configurations[name] = str(tmp_path / value) if file else value
        return resolve_arguments(context, "stewart_sim.yaml", ""), context.launch_configurations

    return settle_with


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"model": "malformed.yaml"}, "malformed.yaml"),
        ({"path": "nowhere.yaml"}, "nowhere.yaml"),
        ({"path": "no_number.yaml"}, "nan"),
        ({"path": "too_fast.yaml"}, "too_fast.yaml"),
        ({"params_file": "nowhere.yaml"}, r"nowhere.yaml' does not exist"),
        ({"params_file": "empty.yaml"}, r"empty.yaml' has no parameters"),
        ({"duration": "soon"}, "'soon'"),
    ],
)
def test_an_invalid_launch_argument_is_refused_by_name(settled, given, named):
    with pytest.raises(RuntimeError, match=named) as refused:
        settled(**given)
    assert "\n" not in str(refused.value)


def test_a_mechanism_without_a_path_of_its_own_flies_its_demonstration(settled):
    _, settings = settled(model="stewart_symmetric")
    assert settings["path"] == "demo"


def test_a_section_for_no_node_is_warned_of(settled, monkeypatch):
    reported = []
    monkeypatch.setattr("robodyn_ros.launch_helpers.settings.warn", reported.append)
    settled(params_file="typo.yaml")
    (line,) = reported
    assert "typo.yaml: no node is named 'forward_simulatr'" in line
    assert line.endswith("did you mean 'forward_simulator'?")


@pytest.mark.parametrize(("viewer", "stays"), [("true", "true"), ("false", "false")])
def test_a_launch_with_a_viewer_stays_open(viewer, stays):
    context = LaunchContext()
    context.launch_configurations["viewer"] = viewer
    for argument in simulation_arguments("stewart_dasgupta", "stewart_sim.yaml"):
        argument.execute(context)
    assert context.launch_configurations["stay"] == stays
