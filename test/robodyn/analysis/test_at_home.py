# SPDX-License-Identifier: Apache-2.0

"""Capabilities of a mechanism near home, compared with statics and its own limits."""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import six_legs, with_legs

import robodyn as rd
from robodyn.analysis import at_home, payload_at_home, reach_about_home, stroke_used
from robodyn.loading import templates
from robodyn.presentation import presentation


@pytest.fixture
def hexapod(tmp_path):
    (tmp_path / "hexapod.yaml").write_text(templates()["hexapod"][1].write())
    return rd.load(tmp_path / "hexapod.yaml")


def test_legs_half_out_use_half_their_stroke(hexapod):
    assert stroke_used(hexapod) == pytest.approx([0.5] * 6, abs=1e-3)


def test_a_joint_without_limits_uses_no_share_of_them(puma):
    joints = (replace(puma.model.joints[0], position=(-np.inf, np.inf)), *puma.model.joints[1:])
    fractions = stroke_used(rd.SerialArm(replace(puma.model, joints=joints)))
    assert np.isnan(fractions[0])
    assert np.isfinite(fractions[1:]).all()


def test_the_reach_ends_where_a_leg_is_at_a_limit_and_not_before(hexapod):
    lower, upper = hexapod.position_limits.T
    home = presentation.values_of(hexapod, hexapod.home)
    rows = reach_about_home(hexapod)
    assert [row.variable for row in rows] == ["x", "y", "z", "roll", "pitch", "yaw"]
    for i, row in enumerate(rows):
        assert row.lowest < row.home < row.highest
        for end in (row.lowest, row.highest):
            values = home.copy()
            for fraction in np.linspace(0.0, 1.0, 50):
                values[i] = home[i] + fraction * (end - home[i])
                lengths = hexapod.joint_positions(presentation.configuration_of(hexapod, values))
                assert (lengths >= lower - 1e-9).all()
                assert (lengths <= upper + 1e-9).all()
            values[i] += 1e-6 * np.sign(end - home[i])
            lengths = hexapod.joint_positions(presentation.configuration_of(hexapod, values))
            assert (lengths < lower).any() or (lengths > upper).any()


@pytest.mark.slow
def test_a_platform_of_long_legs_reaches_a_singularity_first(hexapod):
    limits = replace(six_legs(hexapod).legs[0].limits, length=(0.01, 5.0))
    legs = tuple(replace(leg, limits=limits) for leg in six_legs(hexapod).legs)
    free = with_legs(hexapod, legs)
    yaw = reach_about_home(free)[5]
    assert yaw.ends == ("singularity", "singularity")
    # a 6-6 platform whose hexagons lie over one another is singular where it has turned by 90
    # degrees (Fichter 1986)
    assert (yaw.lowest, yaw.highest) == pytest.approx((-np.pi / 2, np.pi / 2), abs=2e-3)


@pytest.mark.slow
def test_without_limits_there_is_no_end(hexapod):
    limits = replace(six_legs(hexapod).legs[0].limits, length=(0.0, np.inf))
    legs = tuple(replace(leg, limits=limits) for leg in six_legs(hexapod).legs)
    free = with_legs(hexapod, legs)
    up = reach_about_home(free)[2]
    assert (up.highest, up.ends[1]) == (np.inf, "")
    assert at_home(free)["reach"][2]["highest"] is None


def test_the_payload_is_the_one_with_which_a_leg_is_at_its_limit(hexapod):
    payload = payload_at_home(hexapod)
    loaded = hexapod.with_payload(payload.mass)
    efforts = loaded.inverse_dynamics(hexapod.home, np.zeros(6), np.zeros(6))
    used = np.abs(efforts) / hexapod.effort_limits
    assert used.max() == pytest.approx(1.0, rel=1e-9)
    assert used[hexapod.joint_names.index(payload.joint)] == pytest.approx(1.0, rel=1e-9)
    # six equal legs, each at the same angle, share the whole weight
    angle = 0.35 / hexapod.joint_positions(hexapod.home)[0]
    weight = 9.81 * (payload.mass + six_legs(hexapod).platform.mass)
    assert weight == pytest.approx(6 * hexapod.effort_limits[0] * angle, rel=0.05)


def test_payload_at_home_is_zero_if_the_platform_cannot_hold_itself(hexapod):
    limits = replace(six_legs(hexapod).legs[0].limits, effort=1.0)
    legs = tuple(replace(leg, limits=limits) for leg in six_legs(hexapod).legs)
    assert payload_at_home(with_legs(hexapod, legs)).mass == 0.0


def test_without_limits_of_effort_any_payload_is_held(hexapod):
    limits = replace(six_legs(hexapod).legs[0].limits, effort=np.inf)
    legs = tuple(replace(leg, limits=limits) for leg in six_legs(hexapod).legs)
    free = with_legs(hexapod, legs)
    assert payload_at_home(free).mass == np.inf
    assert at_home(free)["payload"] == {"mass": None, "joint": ""}


def test_an_arm_holds_what_its_shoulder_holds(puma):
    payload = payload_at_home(puma)
    rest = np.zeros(puma.n)
    efforts = puma.with_payload(payload.mass).inverse_dynamics(puma.home, rest, rest)
    used = np.abs(efforts) / puma.effort_limits
    assert used.max() == pytest.approx(1.0, rel=1e-9)
    assert "reach" not in at_home(puma)  # its joints' limits imply it
