# SPDX-License-Identifier: Apache-2.0

"""Commands of servos in their units, with angles of published inverse kinematics."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.motion_base.machine import ServoText
from robodyn.poses import rotation_matrix

URDF = Path(rd.__file__).parent / "bundled/hexapod_rotary.urdf"


def test_positions_become_pulse_widths_and_come_back():
    servos = ServoText(
        2, "{0}:{1:.0f},{2:.0f}\n", scale=2000.0 / np.pi, direction=(1, -1), horn=(0.1, 0.0),
        zero=1500.0, least=600.0, most=2400.0,
    )  # fmt: skip
    assert servos.line(1.25, np.array([0.1 + np.pi / 4, np.pi / 8])) == "1250:2000,1250\n"
    assert servos.line(0.0, np.array([9.0, 9.0])) == "0:2400,600\n"
    np.testing.assert_allclose(servos.read("at 2000, 1250 us"), [0.1 + np.pi / 4, np.pi / 8])
    for line in ("hello 1", "1e999, 2000", "1e308 -1e308", "-1e305,1"):
        with pytest.raises(InvalidInput, match="expected"):
            servos.read(line)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"format": "{7:.0f}"}, "cannot be filled"),
        ({"format": "{1:.0q}"}, "cannot be filled"),
        ({"scale": (1.0, 2.0, 3.0)}, "scale: expected 1 value or 2 values"),
        ({"scale": -1.0}, "must be positive"),
        ({"direction": 0.5}, "expected 1 or -1"),
        ({"zero": np.nan}, "zero: expected"),
        ({"scale": np.inf}, "scale: expected"),
        ({"least": 2.0, "most": 1.0}, "at most `most`"),
    ],
)
def test_servo_text_rejects_invalid_formats(wrong, complaint):
    with pytest.raises(InvalidInput, match=complaint):
        ServoText(**({"count": 2, "format": "{1},{2}"} | wrong))


def test_servo_text_never_sends_nonfinite_numbers():
    with pytest.raises(InvalidInput, match="servo 2 would receive inf"):
        ServoText(2, "{1},{2}", scale=1e10).line(0.0, np.array([1.0, 1e300]))
    within = ServoText(2, "{1},{2}", scale=1e10, least=0.0, most=9.0)
    assert within.line(0.0, np.array([0.0, 1e300])) == "0.0,9.0"


def numbers(element, attribute):
    return np.array([float(each) for each in element.get(attribute).split()])


def test_servo_angles_are_those_of_published_inverse_kinematics(rng):
    """Two published forms of the equation of an arm and a rod in a plane.

    R. Eisele, Inverse kinematics of a Stewart platform (2019), which github.com/Yeok-c/Stewart_Py
    uses as well; and F. Szufnarowski, Stewart platform with fixed rotary actuators (2013).
    """
    m, tree = rd.load("hexapod_rotary"), ElementTree.parse(URDF).getroot()
    joints = {joint.get("name"): joint for joint in tree.iter("joint")}
    closures = {each.get("name"): each for each in tree.iter("constraint")}
    for _ in range(30):
        q = m.assemble(rng.uniform(-0.5, 0.5, 6), m.home)
        angles, platform = m.joint_positions(q), m.link_pose(q, "platform_link")
        for k in range(6):
            origin = joints[f"servo{k + 1}"].find("origin")
            B, beta = numbers(origin, "xyz"), numbers(origin, "rpy")[2]
            h = numbers(joints[f"rod{k + 1}_universal_1"].find("origin"), "xyz")[0]
            closure = closures[f"rod{k + 1}_tip"]
            d = numbers(closure.find("parent_origin"), "xyz")[0]
            P = numbers(closure.find("child_origin"), "xyz")
            l = platform[:3] + rotation_matrix(platform) @ P - B  # noqa: E741
            g = l @ l - (d**2 - h**2)
            e = 2.0 * h * l[2]
            f = 2.0 * h * (np.cos(beta) * l[0] + np.sin(beta) * l[1])
            eisele = np.arcsin(g / np.sqrt(e**2 + f**2)) - np.arctan2(f, e)
            szufnarowski = np.arcsin(g / np.hypot(e, f)) - np.arctan(f / e)
            assert abs(eisele - angles[k]) < 1e-9
            assert abs(szufnarowski - angles[k]) < 1e-9
