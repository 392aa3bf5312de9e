# SPDX-License-Identifier: Apache-2.0

"""Forward kinematics: from the legs' motion to the platform's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.motion import Motion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_pose
from robodyn.errors import InvalidInput, NoSolution
from robodyn.numerics.broadcasting import element, flatten
from robodyn.poses import advance_pose, pose_difference
from robodyn.solvers.stewart.kernels import forward_kinematics as kernels
from robodyn.solvers.stewart.kernels import integration
from robodyn.solvers.stewart.kernels.layout import OK
from robodyn.solvers.stewart.status import new_status, raise_first


class PlatformMotion(NamedTuple):
    """Motion of the platform, base frame.

    Attributes:
        pose: (..., 7) [m, -].
        twist: (..., 6) [m/s, rad/s].
        accel: (..., 6) [m/s^2, rad/s^2].
    """

    pose: FloatArray
    twist: FloatArray
    accel: FloatArray


@overload
def forward_kinematics(
    platform: Any, lengths: ArrayLike, guess: ArrayLike | None = None, *, warm_start: bool = False
) -> FloatArray: ...


@overload
def forward_kinematics(
    platform: Any,
    lengths: ArrayLike,
    guess: ArrayLike | None = None,
    *,
    rates: ArrayLike,
    accelerations: ArrayLike | None = None,
    warm_start: bool = False,
) -> PlatformMotion: ...


def forward_kinematics(
    platform: Any,
    lengths: ArrayLike,
    guess: ArrayLike | None = None,
    rates: ArrayLike | None = None,
    accelerations: ArrayLike | None = None,
    warm_start: bool = False,
) -> FloatArray | PlatformMotion:
    """Compute the pose (..., 7), or also its motion, from the legs' lengths and rates.

    The solution is by Newton's method on the manifold, to 1e-13 of the longest leg. Up to 40 poses
    have the same lengths; the one reached from the guess is returned. `solvers.stewart.all_poses`
    searches for all of them.

    Args:
        lengths: (..., 6) [m].
        guess: (..., 7) initial pose; home by default.
        rates: (..., 6) [m/s] of the legs, from which the twist follows.
        accelerations: (..., 6) [m/s^2] of the legs, zero by default.
        warm_start: along the last batch dimension, start each element from the solution of the one
            before it, as on a trajectory.

    Returns:
        The pose (..., 7), or a `PlatformMotion` if rates are given; base frame.

    Raises:
        NoSolution: the iteration failed; the error contains the residual.
        SingularConfiguration: the given rates do not determine the twist.
    """
    zero = np.zeros(6)
    shape, (length, start, rate, acceleration) = flatten(
        lengths=as_array("lengths", lengths, (6,), "m"),
        guess=as_pose("guess", platform.home if guess is None else guess),
        rates=as_array("rates", zero if rates is None else rates, (6,), "m/s"),
        accelerations=as_array(
            "accelerations", zero if accelerations is None else accelerations, (6,), "m/s^2"
        ),
    )
    if (length <= 0.0).any():
        raise InvalidInput(
            f"lengths contains {length.min()}, expected positive numbers [m]", value=lengths
        )
    run = max(shape[-1], 1) if warm_start and shape else 1
    pose = np.empty((len(length), 7))
    residual = np.empty(len(length))
    status = new_status(length)
    kernels.solve_poses(platform.solver.legs, length, start, run, pose, residual, status)
    if (status != OK).any():
        first = int(np.flatnonzero(status)[0])
        raise _no_solution(length[first], float(residual[first]), element(shape, first))
    if rates is None:
        return pose.reshape(*shape, 7)
    twist, accel = np.empty((len(length), 6)), np.empty((len(length), 6))
    kernels.platform_motions(platform.solver.legs, pose, rate, acceleration, twist, accel, status)
    raise_first(status, shape, pose, platform.solver.legs)
    return PlatformMotion(
        pose.reshape(*shape, 7), twist.reshape(*shape, 6), accel.reshape(*shape, 6)
    )


def motion_of_joints(
    platform: Any,
    positions: ArrayLike,
    velocities: ArrayLike,
    accelerations: ArrayLike | None = None,
    guess: ArrayLike | None = None,
) -> Motion:
    """Compute the platform's motion from leg lengths, rates and accelerations (..., 6).

    Along the last batch dimension, the search for each pose starts from the previous pose, and the
    first search from the guess (7,), by default home.

    Returns:
        Pose (..., 7), twist (..., 6) and acceleration (..., 6) of the platform, base frame.

    Raises:
        NoSolution: no pose with these lengths was found.
        SingularConfiguration: the rates do not determine the platform's motion.
    """
    return Motion(
        *platform.forward_kinematics(
            positions,
            guess,
            rates=velocities,
            accelerations=accelerations,
            warm_start=True,
        )
    )


def assemble(platform: Any, driven: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
    """Compute the pose (..., 7) for leg lengths (..., 6) [m], near a guess or home.

    Raises:
        NoSolution: no pose with these lengths was found.
    """
    return np.asarray(platform.forward_kinematics(driven, guess))


def configuration_at(platform: Any, pose: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
    """Return the configuration with a given pose: the normalized pose (7,) itself.

    Raises:
        InvalidInput: the shape is wrong, a value is not finite, or a quaternion is far from unit
            length.
    """
    return as_pose("pose", pose)


def configuration_near(platform: Any, pose: FloatArray, configuration: FloatArray) -> FloatArray:
    """Return the configuration with a given pose (7,), which is the pose itself."""
    return pose


def motions_of_body(
    platform: Any,
    poses: FloatArray,
    twists: FloatArray,
    accels: FloatArray,
    starts: FloatArray,
    rows: Sequence[int] = (),
) -> Motion:
    """Return given poses, twists and accelerations of the platform as a `Motion`.

    For a platform, they are the configurations (K, 7), velocities and accelerations (K, 6). The
    starting configurations are not used.
    """
    return Motion(poses, twists, accels)


def motion_of_body(
    platform: Any,
    times: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    accels: FloatArray,
    start: ArrayLike,
) -> Motion:
    """Return given poses, twists and accelerations of the platform as a `Motion`.

    For a platform, they are the configurations (K, 7), velocities and accelerations (K, 6). Times
    and the start are not used.
    """
    return Motion(poses, twists, accels)


def state_of_readings(
    platform: Any, positions: FloatArray, velocities: FloatArray, guess: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Compute pose (7,) and twist (6,) from the URDF readings of the six actuators.

    Args:
        platform: the mechanism.
        positions, velocities: (6,) [m] and [m/s] of the actuators' URDF joints.
        guess: pose (7,) from which the search starts; home by default.

    Returns:
        Pose (7,) and twist (6,) of the platform, base frame.

    Raises:
        NoSolution: no pose with these leg lengths was found from the guess.
        SingularConfiguration: the rates do not determine the twist.
    """
    lengths = platform.drives.signs * positions + platform.drives.offsets
    motion = motions.motion_of_joints(
        platform, lengths, platform.drives.signs * velocities, None, guess
    )
    return motion.configuration, motion.velocity


def difference(platform: Any, start: ArrayLike, goal: ArrayLike) -> FloatArray:
    """Compute the displacement (..., 6) [m, rad] from one pose (..., 7) to another.

    It consists of a translation and a rotation vector in the base frame.
    """
    return pose_difference(start, goal)


def advance(platform: Any, configuration: ArrayLike, displacement: ArrayLike) -> FloatArray:
    """Compute the pose (..., 7) after a displacement (..., 6) [m, rad] from a pose.

    The displacement consists of a translation and a rotation vector in the base frame.
    """
    return advance_pose(configuration, displacement)


def configuration_rate(
    platform: Any, configuration: FloatArray, velocity: FloatArray
) -> FloatArray:
    """Compute the time derivative (7,) of a pose (7,) from the twist (6,); unchecked."""
    out = np.empty(7)
    integration.pose_rate(configuration, velocity, out)
    return out


def project_onto_manifold(platform: Any, configuration: FloatArray) -> FloatArray:
    """Return a pose (7,) with a normalized quaternion, without checks of the argument."""
    pose = np.array(configuration)
    integration.normalize(pose)
    return pose


def _no_solution(lengths: FloatArray, residual: float, index: tuple[int, ...]) -> NoSolution:
    where = f" at element {list(index)}" if index else ""
    return NoSolution(
        f"no pose found with leg lengths {np.array2string(lengths, precision=6)} m{where}: the "
        f"closest pose found has a leg length error of {residual:.3g} m; the lengths may be "
        "outside the workspace, or the guess may be too far from the solution",
        residual=residual,
        value=lengths,
        index=index,
    )
