# SPDX-License-Identifier: Apache-2.0

"""The first limit a motion breaks: its time against closed forms, and against other searches."""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import LegLimits, six_legs, with_legs

import robodyn as rd
from robodyn.control import threshold_crossings
from robodyn.errors import InvalidInput
from robodyn.trajectories import Sequence, plan_line_rpy


def limited(platform, leg=3, **limits):
    """A platform with limits on one leg only."""
    legs = [replace(each, limits=LegLimits()) for each in six_legs(platform).legs]
    legs[leg - 1] = replace(legs[leg - 1], limits=LegLimits(**limits))
    return with_legs(platform, legs)


def peaks(platform, path, leg):
    t = np.linspace(0.0, path.duration, 20001)
    q, v, a = path.sample(t)
    columns = (
        platform.joint_positions(q),
        platform.joint_velocities(q, v),
        platform.inverse_dynamics(q, v, a),
    )
    return t, [column[:, leg - 1] for column in columns]


def test_a_motion_within_its_limits(dasgupta):
    for name in ("I", "II"):
        assert rd.check_limits(dasgupta, rd.paper_path(name), 50.0) is None


@pytest.mark.parametrize(
    ("leg", "side"), [(1, "too long"), (4, "too long"), (5, "too short"), (6, "too short")]
)
def test_the_first_leg_that_is_too_long_or_too_short(dasgupta, leg, side):
    """All legs get longer on path I, legs 5 and 6 after they were shorter for a while."""
    path = rd.paper_path("I")
    t, (length, *_) = peaks(dasgupta, path, leg)
    extreme = length.max() if side == "too long" else length.min()
    limit = 0.5 * (length[0] + extreme)
    bounds = (0.0, limit) if side == "too long" else (limit, 10.0)
    beyond = length > limit if side == "too long" else length < limit
    assert beyond.any()
    assert not beyond[0]
    found = rd.check_limits(limited(dasgupta, leg, length=bounds), path)
    assert (found.joint, found.quantity) == (f"leg{leg}_actuator", "position")
    # refined between two of the grid's times, to rounding
    assert t[beyond.argmax() - 1] < found.time <= t[beyond.argmax()]
    q = path.sample(found.time).configuration
    assert dasgupta.joint_positions(q)[leg - 1] == pytest.approx(limit, rel=2e-9)
    assert found.limit == limit
    assert found.value == pytest.approx(extreme, rel=1e-6)
    for part in (f"leg{leg}_actuator", f"{extreme:.3f}", f"{found.time:.3f} s", f"{limit:.3f}"):
        assert part in found.text


def test_a_leg_that_is_too_fast(dasgupta):
    path = rd.paper_path("II")
    t, (_, rate, _) = peaks(dasgupta, path, 3)
    limit = 0.5 * np.abs(rate).max()
    found = rd.check_limits(limited(dasgupta, velocity=limit), path)
    assert (found.joint, found.quantity) == ("leg3_actuator", "velocity")
    assert found.time == pytest.approx(t[(np.abs(rate) > limit).argmax()], abs=1e-4)
    assert " m/s after t = " in found.text
    assert abs(found.value) == pytest.approx(np.abs(rate).max(), rel=1e-3)


def test_a_force_that_jumps_beyond_its_limit_does_so_at_the_switch(dasgupta):
    path, leg = rd.paper_path("II"), 0
    switch = path.switching_times[1]
    times = np.array([0.0, np.nextafter(switch, 0.0), switch])
    start, before, after = dasgupta.inverse_dynamics(*path.sample(times))[:, leg]
    least = max(abs(start), abs(before))
    assert least < 0.9 * abs(after)
    limit = 0.5 * (least + abs(after))
    found = rd.check_limits(limited(dasgupta, leg + 1, effort=limit), path, samples=3)
    assert (found.quantity, found.joint) == ("effort", "leg1_actuator")
    assert found.time == switch


@pytest.mark.parametrize("leg", [5, 6])
def test_the_last_instant_before_a_switching_time_is_looked_at(dasgupta, leg):
    """These forces grow until the acceleration ends and jump back: no other time is as bad."""
    path = rd.paper_path("II")
    switch = path.switching_times[0]
    times = np.array([0.99 * switch, np.nextafter(switch, 0.0), switch])
    earlier, before, after = np.abs(dasgupta.inverse_dynamics(*path.sample(times))[:, leg - 1])
    assert before > max(earlier, after)
    limit = before * (1.0 - 1e-6)
    found = rd.check_limits(limited(dasgupta, leg, effort=limit), path, samples=3)
    assert (found.quantity, found.joint) == ("effort", f"leg{leg}_actuator")
    assert 0.99 * switch < found.time < switch


def test_a_passive_joint_that_is_too_fast(tmp_path):
    """The largest rate of an elbow is that of a difference of its angle."""
    loop = rd.load("fivebar")
    path = rd.load_path("demo", loop)
    t = np.linspace(0.0, path.duration, 4001)
    angle = loop.joint_states(path.sample(t).configuration)
    elbow = np.unwrap(angle.positions[:, angle.names.index("left_elbow")])
    fastest = np.abs(np.gradient(elbow, t)).max()
    [file, *_] = rd.save(loop, tmp_path / "fivebar.urdf")
    file.write_text(file.read_text().replace('velocity="50"', f'velocity="{0.99 * fastest:.6f}"'))
    slow = rd.load(file)
    found = rd.check_limits(slow, path)
    assert (found.joint, found.quantity) == ("left_elbow", "velocity")
    assert abs(found.value) == pytest.approx(fastest, rel=1e-3)
    assert " rad/s after t = " in found.text
    assert rd.check_limits(loop, path) is None


def test_a_limit_broken_from_the_start(dasgupta):
    path = rd.paper_path("I")
    length = dasgupta.joint_positions(path.sample(0.0).configuration)[2]
    found = rd.check_limits(limited(dasgupta, length=(0.0, 0.9 * length)), path)
    assert found.time == 0.0
    assert found.quantity == "position"


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("place", [0.3, 0.0])
def test_a_motion_may_run_along_its_limit(puma, side, place):
    """Exactly along it, a joint that rests on its stop, and one that goes up to it and back.

    Of a limit of zero no share is rounding.
    """
    stop = place * side
    bounds = np.array([-3.0, stop] if side > 0 else [stop, 3.0])
    joints = list(puma.model.joints)
    for k in (0, 3):
        joints[k] = replace(joints[k], position=bounds)
    arm = rd.SerialArm(replace(puma.model, joints=tuple(joints), home=()))
    to, back = np.zeros((2, 6))
    to[0] = back[0] = back[3] = stop
    to[3] = stop - 0.2 * side
    path = Sequence((rd.plan_joints(to, back, 2.0), rd.plan_joints(back, to, 2.0)))
    quantities = ("position",)
    assert rd.check_limits(arm, path, quantities=quantities) is None
    assert (path.sample(np.linspace(0.0, 4.0, 9)).configuration[:, 0] == stop).all()
    # and a hair further it is found
    to[0] = back[0] = stop + 1e-6 * side
    beyond = rd.check_limits(arm, rd.plan_joints(to, back, 2.0), quantities=quantities)
    assert (beyond.time, beyond.joint) == (0.0, puma.joint_names[0])


def test_rounding_beyond_a_limit_is_no_violation(dasgupta):
    path = rd.paper_path("I")
    _, (length, *_) = peaks(dasgupta, path, 3)
    ends = length[0], length[-1]
    low, high = min(*ends, length.min()), max(*ends, length.max())

    def found(shrink):
        within = (low * (1.0 + shrink), high * (1.0 - shrink))
        return rd.check_limits(limited(dasgupta, length=within), path, quantities=("position",))

    assert found(0.0) is None
    assert found(1e-12) is None
    assert found(1e-6).quantity == "position"


@pytest.mark.parametrize("threshold", [300.0, 1000.0])
def test_the_condition_number_is_crossed_when_the_other_search_says(dasgupta, threshold):
    path = rd.paper_path("III")
    found = rd.check_limits(dasgupta, path, threshold)
    expected = threshold_crossings(dasgupta, path, threshold)[0]
    assert expected.upward
    assert (found.joint, found.quantity) == ("", "condition number")
    assert found.time == pytest.approx(expected.time, abs=1e-6)  # limits allow for rounding
    assert found.text.startswith("condition number reaches ")
    assert found.text.endswith((f"its limit is {threshold:.3f}", "its limit is 1000.0"))
    assert found.value > threshold


def test_forces_grow_beyond_every_limit_before_a_singularity(dasgupta):
    path, singular = rd.paper_path("III"), 3.670504110
    found = rd.check_limits(dasgupta, path, samples=30)  # a grid that steps over it
    assert found.quantity == "effort"
    assert 0.0 < found.time < singular
    force = dasgupta.inverse_dynamics(*path.sample(found.time))
    joint = dasgupta.joint_names.index(found.joint)
    assert abs(force[joint]) == pytest.approx(1e5, rel=1e-6)


def test_a_singularity_stops_even_a_platform_without_limits(dasgupta):
    free = limited(dasgupta)
    found = rd.check_limits(free, rd.paper_path("III"))
    assert found.quantity == "geometry"
    assert found.time == pytest.approx(3.670504110, abs=1e-8)
    assert "singular" in found.text
    assert np.isnan(found.value)


def test_a_leg_of_no_length_is_a_violation(dasgupta):
    free = limited(dasgupta, 1)
    leg = six_legs(free).legs[0]
    here = np.array(leg.base) - leg.platform  # the tip on the base point, without rotation
    above = here + np.array([0.0, 0.0, 0.5])
    to_zero = plan_line_rpy([above, here], np.zeros((2, 3)), 1.0)
    with pytest.raises(rd.KinematicsError):
        free.leg_motion(to_zero.sample(1.0).configuration)
    found = rd.check_limits(free, Sequence((to_zero,)))
    assert found.quantity == "geometry"
    assert found.text.startswith(f"at t = {found.time:.3f} s: ")
    assert "element" not in found.text


def test_limits_of_an_arm(puma):
    path, model = rd.load_path("puma"), puma.model
    joints = [
        replace(j, position=np.array([-9.0, 9.0]), velocity=9.0, effort=1e4) for j in model.joints
    ]

    def arm(**limits):
        changed = [*joints[:4], replace(joints[4], **limits), *joints[5:]]
        return rd.SerialArm(replace(model, joints=tuple(changed), home=()))

    assert rd.check_limits(arm(), path) is None
    # joint 5 goes from 0 to 60 degrees along a cubic
    found = rd.check_limits(arm(position=np.array([-1.0, np.deg2rad(30.0)])), path)
    assert (found.joint, found.quantity) == (puma.joint_names[4], "position")
    assert found.time == pytest.approx(0.5 * path.duration, abs=1e-8)
    assert found.text.endswith("its limit is 0.524 rad")
    found = rd.check_limits(arm(velocity=0.5), path)
    assert " rad/s " in found.text
    # the wrist is straight at the start, which is of no matter unless it is said to be
    assert rd.check_limits(arm(), path, 50.0).quantity == "condition number"


def test_a_joint_that_slides_is_reported_in_metres():
    arm = rd.load("stanford_arm")
    far = np.where([j.kind == "prismatic" for j in arm.chain.joints], 50.0, 0.0)
    path = rd.plan_joints(arm.home, arm.home + far, 1000.0)
    found = rd.check_limits(arm, path)
    assert found.quantity == "position"
    assert " m after t = " in found.text


def test_the_grid_may_be_given_as_a_period(dasgupta):
    path = rd.paper_path("III")
    one, other = (
        rd.check_limits(dasgupta, path, 300.0),
        rd.check_limits(dasgupta, path, 300.0, dt=0.017),
    )
    assert one.time == pytest.approx(other.time, abs=1e-8)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_condition": 0.5}, "max_condition"),
        ({"max_condition": np.nan}, "max_condition"),
        ({"samples": 0}, "samples"),
        ({"dt": 0.0}, "dt"),
        ({"characteristic_length": 0.0, "max_condition": 9.0}, "characteristic_length"),
    ],
)
def test_arguments_out_of_range_are_refused(dasgupta, options, text):
    with pytest.raises(InvalidInput, match=text):
        rd.check_limits(dasgupta, rd.paper_path("I"), **options)


def test_a_trajectory_of_another_kind_is_refused(dasgupta, puma):
    with pytest.raises(InvalidInput):
        rd.check_limits(puma, rd.paper_path("I"))
