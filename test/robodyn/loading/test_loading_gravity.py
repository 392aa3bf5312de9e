# SPDX-License-Identifier: Apache-2.0

"""Another gravity than the description's, as an option of `rd.load` and of the command."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.errors import RobodynError

KINDS = ("puma560", "delta", "stewart_symmetric")


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
@pytest.mark.parametrize("name", KINDS)
def test_gravity_of_a_description_is_replaced(name):
    own = rd.load(name)
    weightless = rd.load(name, gravity=[0.0, 0.0, 0.0])
    np.testing.assert_allclose(weightless.gravity(own.home), 0.0, atol=1e-12)
    turned = rd.load(name, gravity=[0.0, 0.0, 9.81])
    np.testing.assert_allclose(turned.gravity(own.home), -own.gravity(own.home), atol=1e-9)
    assert rd.with_gravity(turned, [0.0, 0.0, -9.81]) == own


def test_the_whole_arm_hangs_from_a_wall():
    # a pendulum of 2 kg at 0.3 m about x, gravity along -y: torque m g l about +x where it hangs
    # along z: r x f = (0, 0, 0.3) x (0, -19.62, 0) = (0.3 * 19.62, 0, 0), and the drive holds it
    text = """<robot name="wall"><link name="base"/><link name="rod"><inertial>
      <origin xyz="0 0 0.3"/><mass value="2"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="1 0 0"/>
      <limit lower="-3" upper="3" effort="100" velocity="3"/></joint></robot>"""
    arm = rd.load(text, gravity=(0.0, -9.81, 0.0))
    np.testing.assert_allclose(arm.gravity([0.0]), [-0.3 * 19.62], rtol=1e-12)


@pytest.mark.parametrize("given", [[0.0, 0.0], [0.0, 0.0, np.nan], "down", [[0.0, 0.0, -9.81]]])
def test_invalid_gravity_is_refused(given):
    with pytest.raises(RobodynError, match="gravity"):
        rd.load("delta", gravity=given)


@pytest.mark.slow
def test_the_command_takes_gravity():
    run = CliRunner().invoke(app, ["check", "delta", "--gravity", "0 0 -1.62", "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["gravity"] == [0.0, 0.0, -1.62]
    again = CliRunner().invoke(app, ["check", "delta", "--json"])
    assert json.loads(again.stdout)["gravity"] == [0.0, 0.0, -9.81]
