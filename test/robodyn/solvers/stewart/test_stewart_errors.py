# SPDX-License-Identifier: Apache-2.0

"""Every configuration without a result has its own error, with the values in it."""

from dataclasses import replace

import numpy as np
import pytest
from six_legs import LegLimits, six_legs, with_legs
from stewart_mechanisms import dasgupta, random_platform

import robodyn as rd
from robodyn import threads
from robodyn.errors import (
    InvalidInput,
    KinematicsError,
    ModelError,
    SingularConfiguration,
    UniversalJointSingularity,
    UnreachablePose,
    ZeroLegLength,
)
from robodyn.solvers.stewart.formulations import Formulation

REST = np.zeros(6)


def parallel_legs():
    """Six vertical legs at home, which hold no sideways force; elsewhere all is well."""
    model = six_legs(dasgupta())
    around = np.arange(6) * np.pi / 3.0
    tips = np.stack([np.cos(around), np.sin(around), 0.3 * np.sin(1.7 * around)], axis=-1)
    feet = tips - [[0.0, 0.0, drop] for drop in (0.0, 0.1, 0.05, 0.3, 0.1, 0.2)]
    legs = [
        replace(leg, base=foot, platform=tip, universal_axis=[1.0, 0.0, 0.0])
        for leg, foot, tip in zip(model.legs, feet, tips, strict=True)
    ]
    home = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    return rd.StewartPlatform(replace(model, legs=tuple(legs), home=np.array(home)).model())


def calls(platform, pose):
    """Everything that needs the legs' frames."""
    twist = np.ones(6)
    yield lambda: platform.inverse_dynamics(pose, twist, twist)
    yield lambda: platform.inverse_dynamics(pose, twist, twist, formulation="dasgupta1998")
    yield lambda: platform.forward_dynamics(pose, twist, twist)
    yield lambda: platform.mass_matrix(pose)
    yield lambda: platform.bias(pose, twist)
    yield lambda: platform.leg_motion(pose, twist)
    yield lambda: platform.reactions(pose, twist, twist)
    yield lambda: platform.energy(pose, twist)


def pose_with_tip_at(platform, leg, point):
    leg = six_legs(platform).legs[leg]
    return np.concatenate([np.asarray(point) - leg.platform, [0.0, 0.0, 0.0, 1.0]])


def test_a_leg_of_zero_length(paper_platform):
    pose = pose_with_tip_at(paper_platform, 2, six_legs(paper_platform).legs[2].base)
    poses = np.array([[paper_platform.home, paper_platform.home], [paper_platform.home, pose]])
    for bad, index in ((pose, ()), (poses, (1, 1))):
        for call in (
            *calls(paper_platform, bad),
            lambda bad=bad: paper_platform.inverse_kinematics(bad),
            lambda bad=bad: paper_platform.jacobian(bad),
        ):
            with pytest.raises(ZeroLegLength, match="leg 3 has zero length") as caught:
                call()
            assert type(caught.value) is ZeroLegLength
            assert caught.value.leg == 3
            assert caught.value.index == index
            np.testing.assert_array_equal(caught.value.value, pose)


def test_a_leg_along_its_fixed_axis(paper_platform):
    leg = six_legs(paper_platform).legs[3]
    pose = pose_with_tip_at(paper_platform, 3, leg.base + 0.7 * leg.universal_axis)
    for call in calls(paper_platform, pose):
        with pytest.raises(UniversalJointSingularity, match="leg 4 lies along") as caught:
            call()
        assert caught.value.leg == 4
    # lengths and H have nothing to do with the joint
    assert paper_platform.inverse_kinematics(pose)[3] == pytest.approx(0.7)
    assert np.isfinite(paper_platform.jacobian(pose)).all()


def test_a_spherical_joint_has_no_such_singularity(rng):
    platform = random_platform(rng, base_joint="spherical")
    leg = six_legs(platform).legs[3]
    pose = pose_with_tip_at(platform, 3, leg.base + 0.7 * leg.universal_axis)
    for call in calls(platform, pose):
        call()
    nearby = platform.advance(pose, [1e-9, 0.0, 0.0, 0.0, 0.0, 0.0])
    there, here = platform.mass_matrix(nearby), platform.mass_matrix(pose)
    np.testing.assert_allclose(there, here, atol=1e-6)


def test_a_spherical_joint_asks_for_a_symmetric_leg(paper_platform):
    with pytest.raises(ModelError, match=r"leg 2 .* spherical base joint: its lower"):
        rd.StewartPlatform(paper_platform.model, ["universal", "spherical", *["universal"] * 4])
    for bad in ("cardan", ["universal"] * 5):
        with pytest.raises(InvalidInput, match="base_joint"):
            rd.StewartPlatform(paper_platform.model, bad)


def test_singular_configuration_names_the_wrench_that_nothing_resists():
    platform = parallel_legs()
    poses = np.array([platform.advance(platform.home, [0.3, 0.1, 0, 0.3, 0.2, 0.1]), platform.home])
    for formulation in ("exact", "massless", "dasgupta1998", "pedrammehr2012"):
        with pytest.raises(SingularConfiguration, match="smallest singular value") as caught:
            platform.inverse_dynamics(poses, REST, REST, formulation=formulation)
        assert caught.value.index == (1,)
        assert caught.value.smallest_singular_value < 1e-15
        direction = caught.value.direction
        assert np.linalg.norm(direction) == pytest.approx(1.0)
        H = platform.jacobian(platform.home)
        np.testing.assert_allclose(direction @ H, 0.0, atol=1e-15)
    assert np.isinf(platform.condition_number(platform.home)) or (
        platform.condition_number(platform.home) > 1e15
    )
    # the falling state is still reported
    assert np.isfinite(platform.forward_dynamics(platform.home, REST, REST)).all()


@pytest.mark.parametrize("first", [0, 3, 8, 21])
@pytest.mark.parametrize("threads_count", [1, 3])
def test_the_first_state_without_an_answer_is_named(first, threads_count, monkeypatch):
    """Also among the eight that are computed together, with any errors after it."""
    monkeypatch.setattr(threads, "SMALLEST_SHARE", 4)
    rd.set_threads(threads_count)
    platform = parallel_legs()
    beside = platform.advance(platform.home, [0.3, 0.1, 0.0, 0.3, 0.2, 0.1])
    no_length = pose_with_tip_at(platform, 3, six_legs(platform).legs[3].base)
    wrong = {SingularConfiguration: platform.home, ZeroLegLength: no_length}
    for earlier, later in (wrong, reversed(wrong)):
        poses = np.tile(beside, (30, 1))
        poses[first], poses[first + 2] = wrong[earlier], wrong[later]
        with pytest.raises(earlier) as caught:
            platform.inverse_dynamics(poses.reshape(5, 6, 7), REST, REST)
        assert caught.value.index == divmod(first, 6)
        np.testing.assert_array_equal(caught.value.value, wrong[earlier])
    rd.set_threads(None)


@pytest.mark.parametrize("shape", [(), (1,), (20,)])
def test_efforts_beyond_every_number_are_not_called_a_singularity(paper_platform, shape):
    """The configuration is as regular as before; only the right-hand side overflows."""
    fast = np.full((*shape, 6), 1e200)
    forces = paper_platform.inverse_dynamics(paper_platform.home, fast, np.zeros(6), np.zeros(6))
    assert not np.isfinite(forces).any()


def test_unreachable_pose(paper_platform):
    legs = tuple(
        replace(leg, limits=LegLimits((0.4, 0.8))) for leg in six_legs(paper_platform).legs
    )
    platform = with_legs(paper_platform, legs)
    lengths = platform.inverse_kinematics(platform.home)
    assert (lengths > 0.4).all()
    assert (lengths < 0.8).all()
    poses = np.stack([platform.home, platform.advance(platform.home, [0, 0, 1.0, 0, 0, 0])])
    with pytest.raises(UnreachablePose, match=r"element \[1\]: leg 1 \(leg1_actuator\)") as caught:
        platform.inverse_kinematics(poses)
    assert caught.value.leg == 1
    assert caught.value.index == (1,)
    np.testing.assert_array_equal(caught.value.value, poses[1])
    assert platform.joint_positions(poses).max() > 0.8


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_arguments_that_are_not_finite_are_refused_by_name(bad, paper_platform):
    pose = paper_platform.home
    wrong = np.tile(REST, (3, 1))
    wrong[1, 4] = bad
    for name, call in {
        "twist": lambda: paper_platform.inverse_dynamics(pose, wrong, REST),
        "accel": lambda: paper_platform.inverse_dynamics(pose, REST, wrong),
        "wrench": lambda: paper_platform.inverse_dynamics(pose, REST, REST, wrong),
        "forces": lambda: paper_platform.forward_dynamics(pose, REST, wrong),
    }.items():
        with pytest.raises(InvalidInput, match=rf"{name}\[1, 4\] is") as caught:
            call()
        assert caught.value.value is wrong
    pose[2] = bad
    with pytest.raises(InvalidInput, match="pose"):
        paper_platform.inverse_kinematics(pose)


def test_a_quaternion_must_be_one(paper_platform):
    pose = paper_platform.home
    pose[3:] = [0.0, 0.0, 0.0, 1.1]
    with pytest.raises(InvalidInput, match=r"length 1\.1, expected 1"):
        paper_platform.mass_matrix(pose)


def test_unknown_formulations_are_listed(paper_platform):
    with pytest.raises(InvalidInput, match="exact, massless, dasgupta1998, pedrammehr2012"):
        paper_platform.inverse_dynamics(paper_platform.home, REST, REST, formulation="newton")
    with pytest.raises(InvalidInput, match="spin is 'some', expected one of true, none, 2012"):
        Formulation(spin="some")


def test_kinematics_errors_have_one_base(paper_platform):
    pose = pose_with_tip_at(paper_platform, 2, six_legs(paper_platform).legs[2].base)
    with pytest.raises(KinematicsError):
        paper_platform.linearize(pose)
