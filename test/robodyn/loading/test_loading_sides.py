# SPDX-License-Identifier: Apache-2.0

"""Hexapods from the distances between their joints, as a tape measures them."""

import numpy as np
import pytest
from six_legs import six_legs

import robodyn as rd

BAR = {"mass": 1.0, "com": [0.1, 0.0, 0.0], "inertia": np.diag([0.001, 0.02, 0.02]).tolist()}
RIG = {
    "type": "stewart", "name": "rig",
    "platform": {"mass": 50.0, "com": [0, 0, 0.1], "inertia": np.diag([3.0, 3.0, 5.0]).tolist()},
    "sides": {"base": [0.15, 1.20], "platform": [0.12, 0.80]},
    "leg_defaults": {"lower": BAR, "upper": BAR, "limits": {"length": [0.72, 1.17]}},
}  # fmt: skip


def distances(points):
    """Sorted distances of the neighbors of six points around the z axis."""
    around = points[np.argsort(np.arctan2(points[:, 1], points[:, 0]))]
    return np.sort(np.linalg.norm(around - np.roll(around, 1, axis=0), axis=1))


def test_joints_have_the_stated_distances_and_the_legs_lean_in_turn():
    m = rd.load(RIG)
    feet = np.array([leg.base for leg in six_legs(m).legs])
    tips = np.array([leg.platform for leg in six_legs(m).legs])
    np.testing.assert_allclose(distances(feet), [0.15] * 3 + [1.20] * 3)
    np.testing.assert_allclose(distances(tips), [0.12] * 3 + [0.80] * 3)
    # half extended at home, equal by symmetry
    np.testing.assert_allclose(m.joint_positions(m.home), 0.945, atol=1e-9)
    # the two legs of a pair of the base go to two pairs of the platform
    for pair in ((0, 5), (1, 2), (3, 4)):
        assert np.linalg.norm(feet[pair[0]] - feet[pair[1]]) == pytest.approx(0.15)
        assert np.linalg.norm(tips[pair[0]] - tips[pair[1]]) > 0.7
    assert m.condition_number(m.home) < 20.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sides": {"base": [0.15, 1.2]}}, "sides.platform is missing"),
        ({"sides": {"base": [1.3, 1.2], "platform": [0.1, 0.8]}}, r"sides.base is \[1.3, 1.2\]"),
        ({"sides": {"base": [0.0, 1.2], "platform": [0.1, 0.8]}}, r"sides.base is \[0.0, 1.2\]"),
        (
            {"leg_defaults": {"lower": BAR, "upper": BAR}},
            r"expected `limits.length` of the legs whose mean is finite and above 0\.",
        ),
        ({"legs": []}, "only one of `sides` and `legs`"),
    ],
)
def test_distances_that_make_no_hexapod_are_refused(change, message):
    with pytest.raises(rd.ModelError, match=message):
        rd.load(RIG | change)
