# SPDX-License-Identifier: Apache-2.0

"""What the launch of a machine rejects before any process starts."""

from __future__ import annotations

import pytest
from launch.actions import DeclareLaunchArgument

from launch import LaunchContext
from robodyn_ros.launch_helpers.machine import machine

HOMING = "/**/joint_commander:\n  ros__parameters:\n    homing: {}\n"


@pytest.fixture
def launch(tmp_path):
    """Launch a machine up to its nodes, with a way of homing and some hardware."""

    def launch(homing, hardware):
        file, context = tmp_path / "machine.yaml", LaunchContext()
        file.write_text(HOMING.format(homing))
        context.launch_configurations |= {"params_file": str(file), "hardware": hardware}
        *declared, nodes = machine().entities
        for entity in declared:
            if isinstance(entity, DeclareLaunchArgument):
                entity.execute(context)
        return nodes.execute(context)

    return launch


def test_homing_by_stops_over_a_link_is_rejected(launch):
    with pytest.raises(RuntimeError, match=r"machine.yaml: homing is 'stall'.*drive_link rejects"):
        launch("stall", "link")


@pytest.mark.parametrize(("homing", "hardware"), [("stall", "none"), ("absolute", "link")])
def test_other_ways_of_homing_are_launched(launch, homing, hardware):
    assert launch(homing, hardware)
