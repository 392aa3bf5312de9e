# SPDX-License-Identifier: Apache-2.0

"""Unknown parameters of a node are named."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import robodyn as rd
from robodyn_ros.parameter_files import read_sections, unknown_sections, unused_parameter_messages


class Node:
    """Name and parameters of a node."""

    def get_name(self):
        return "inverse_dynamics"

    def get_fully_qualified_name(self):
        return "/arm/inverse_dynamics"

    def list_parameters(self, prefixes, depth):
        return SimpleNamespace(names=["kp", "kv", "model"])


def given(tmp_path, text, *more):
    file = tmp_path / "given.yaml"
    file.write_text(text)
    return unused_parameter_messages(
        Node(), ["node", "--ros-args", "--params-file", str(file), *more]
    )


@pytest.mark.parametrize(
    "section", ["/**/inverse_dynamics", "/arm/inverse_dynamics", "/*/inverse_dynamics"]
)
def test_a_typo_is_named_with_what_was_meant(tmp_path, section):
    (line,) = given(tmp_path, f"{section}:\n  ros__parameters: {{kpp: 1.0, kv: 2.0}}\n")
    assert "'kpp'" in line
    assert "given.yaml" in line
    assert "did you mean 'kp'?" in line


def test_a_typo_on_the_command_line_is_named(tmp_path):
    text = "/**:\n  ros__parameters: {kv: 1.0}\n"
    (line,) = given(tmp_path, text, "-p", "modle:=puma560", "-p", "use_sim_time:=true")
    assert "'modle'" in line
    assert "'model'" in line


def test_a_file_for_another_node_is_named(tmp_path):
    (line,) = given(tmp_path, "/**/recorder:\n  ros__parameters: {output: here}\n")
    assert "is for /**/recorder" in line


def test_parameters_for_all_nodes_may_concern_another_node(tmp_path):
    pytest.importorskip("rclpy")
    file = tmp_path / "given.yaml"
    file.write_text("/**:\n  ros__parameters: {control_rate: 100.0, kqq: 1.0}\n")
    (line,) = unused_parameter_messages(Node(), ["node", "--params-file", str(file)])
    assert "'kqq'" in line


def test_a_missing_or_empty_file_is_refused(tmp_path):
    with pytest.raises(rd.InvalidInput, match=r"nowhere\.yaml' does not exist"):
        read_sections(tmp_path / "nowhere.yaml")
    (tmp_path / "empty.yaml").write_text("kp: 1.0\n")
    with pytest.raises(rd.InvalidInput, match=r"empty\.yaml' has no parameters"):
        read_sections(tmp_path / "empty.yaml")


def test_a_section_for_no_node_is_named():
    (line,) = unknown_sections(["/**", "/**/recordr"], "file.yaml", ("recorder", "run_summary"))
    assert "'recordr'; did you mean 'recorder'?" in line


def test_controllers_are_configured_in_no_deprecated_way():
    """Without a word the joint_trajectory_controller takes `legacy`, and warns for every joint."""
    file = Path(__file__).parents[2] / "config" / "stewart_controllers.yaml"
    sections = yaml.safe_load(file.read_text(encoding="utf-8"))
    gains = sections["/**/leg_trajectory_controller"]["ros__parameters"]["gains"]
    assert len(gains) == 6
    # nothing to wind up, so nothing to prevent it with
    assert all(
        each["i"] == 0.0 and each["antiwindup_strategy"] == "none" for each in gains.values()
    )
