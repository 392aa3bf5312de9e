# SPDX-License-Identifier: Apache-2.0

"""Messages of `check` about a mechanism that is singular in every configuration."""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import six_legs, with_legs

import robodyn as rd
from robodyn.loading import LoadWarnings, describe


def described(platform):
    return describe(platform, LoadWarnings([], []), platform.name)


@pytest.mark.parametrize("ideal", [False, True])
def test_legs_between_similar_polygons_are_said_to_be_singular_everywhere(ideal):
    """Two regular hexagons, the simplest of the architectures that are (Ma and Angeles, 1992)."""
    platform = rd.load("stewart_symmetric")
    turns = np.deg2rad(60.0 * np.arange(6))
    corners = np.stack([np.cos(turns), np.sin(turns), np.zeros(6)], axis=1)
    legs = (
        replace(leg, base=corner, platform=0.5 * corner)
        for leg, corner in zip(six_legs(platform).legs, corners, strict=True)
    )
    similar = with_legs(platform, legs)
    similar = similar.without_actuators() if ideal else similar
    found = described(similar)
    assert any("all configurations around it are singular" in one for one in found["remarks"])
    assert found["condition_number"] is None
    whole = described(platform)
    assert whole["condition_number"]["value"] < 10.0
    assert whole["remarks"] == []


def test_an_arm_that_is_singular_at_home_alone_is_not_said_to_be_so_everywhere():
    arm = rd.load("puma560")
    stretched = rd.SerialArm(
        replace(arm.model, home=tuple((name, (0.0,)) for name in arm.joint_names))
    )
    assert not any("everywhere" in one for one in described(stretched)["remarks"])
