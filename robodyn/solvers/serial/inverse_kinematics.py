# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics of an arm: configurations, rates and accelerations from the tip's motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.algorithms.motion import Motion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_pose
from robodyn.errors import NoSolution
from robodyn.numerics.broadcasting import element, flatten
from robodyn.solvers.serial.kernels import inverse_kinematics as kernels
from robodyn.solvers.serial.kernels.layout import PRISMATIC, SHIFT

# Number of random starts if the iteration from the guess fails, and of solutions to compare.
STARTS = 200
COMPARED = 8
# Singular values of the Jacobian below this fraction of the largest count as zero.
RANK = 1e-10


def inverse_kinematics(
    arm: Any,
    pose: ArrayLike,
    guess: ArrayLike | None = None,
    *,
    orientation: bool = True,
    search: bool = True,
    warm_start: bool = False,
) -> FloatArray:
    """Find configurations q (..., n) within the joint limits for a pose of the tip.

    The search takes damped Newton steps of minimum norm (Levenberg-Marquardt), so the solution is
    near the guess, also for a redundant arm.

    Args:
        pose: (..., 7) [m, -] of the tip, base frame.
        guess: (..., n) [rad or m] to start from; home by default.
        orientation: whether to match the orientation too; False solves for the position only.
        search: whether to try other starts and take the nearest solution if the iteration from
            the guess does not converge, instead of raising NoSolution.
        warm_start: whether to start each element along the last batch dimension from the solution
            of the previous one, for consecutive poses; whole turns are kept.

    Returns:
        Configurations (..., n) [rad or m].

    Raises:
        InvalidInput: shapes do not match, or a value is not finite.
        NoSolution: the search found no configuration within the joint limits.
    """
    start = arm.home if guess is None else guess
    shape, (goal, first) = flatten(
        pose=as_pose("pose", pose),
        guess=as_array("guess", start, (arm.n,), f"{arm.n} joints, rad or m"),
    )
    run = max(shape[-1], 1) if warm_start and shape else 1
    out, residual = _solve(arm, goal, first, orientation, run)
    search, size = search and not warm_start, reach(arm)
    for s in np.flatnonzero(~(residual <= kernels.ACCEPTED * size)):
        found = _search(arm, goal[s], first[s], orientation) if search else None
        if found is None:
            raise _no_solution(arm, goal[s], float(residual[s]), element(shape, int(s)))
        out[s] = found
    if not warm_start:
        out = _nearest_turns(arm, out, first)
    return out.reshape(*shape, arm.n)


def inverse_motion(arm: Any, q: ArrayLike, twist: ArrayLike, accel: ArrayLike) -> Motion:
    """Compute joint rates and accelerations for a twist and acceleration of the tip.

    With the tip's Jacobian J and its time derivative dJ/dt, the equations are J qd = twist and
    J qdd = accel - dJ/dt qd. The solution has minimum norm for a
    redundant arm, and is the least-squares one if the arm is singular or cannot perform the motion.

    Args:
        q: (..., n) configuration.
        twist: (..., 6) [m/s, rad/s] of the tip, base frame.
        accel: (..., 6) time derivative of the twist.

    Returns:
        Configuration q, joint rates and joint accelerations, (..., n) each.

    Raises:
        InvalidInput: shapes do not match, or a value is not finite.
    """
    shape, (position, rate, change) = flatten(
        q=as_array("q", q, (arm.n,), "rad or m"),
        twist=as_array("twist", twist, (6,), "m/s, rad/s"),
        accel=as_array("accel", accel, (6,), "m/s^2, rad/s^2"),
    )
    J = arm.jacobian(position)
    inverse: FloatArray = np.linalg.pinv(J, rcond=RANK).astype(np.float64, copy=False)
    qd = np.einsum("sij,sj->si", inverse, rate)
    bias = np.empty((len(position), 6))
    kernels.velocity_accelerations(arm.solver.geometry, position, qd, bias)
    qdd = np.einsum("sij,sj->si", inverse, change - bias)
    if arm.n > 6:
        qdd += _null_space_acceleration(arm, position, qd, J, inverse)
    return Motion(*(np.asarray(part).reshape(*shape, arm.n) for part in (position, qd, qdd)))


def configuration_at(arm: Any, pose: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
    """Find the configuration (n,), nearest to a guess, with the tip at a pose (7,).

    The guess is home by default; the pose is in the base frame.

    Raises:
        InvalidInput, NoSolution: as for `inverse_kinematics`.
    """
    return arm.inverse_kinematics(pose, guess)


def motion_of_body(
    arm: Any,
    times: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    accels: FloatArray,
    start: ArrayLike,
) -> Motion:
    """Compute the joints' motion for a motion of the tip, from a start configuration.

    Args:
        times: (K,) [s], increasing.
        poses, twists, accels: (K, 7), (K, 6), (K, 6) of the tip, base frame, close enough
            together for Newton's method.
        start: (n,) configuration at, or near, the first pose.

    Returns:
        Positions, rates and accelerations of the joints, (K, n) each.

    Raises:
        InvalidInput: shapes do not match, or a value is not finite.
        NoSolution: a pose cannot be reached from the one before; the error's `index` is the index
            of the pose.
    """
    times = as_array("times", times, (), "s")
    if arm.n <= 6:
        return inverse_motion(arm, _solve_in_sequence(arm, poses, start), twists, accels)
    # the shortest step from the extrapolated configuration keeps q, qd and qdd consistent
    q, qd, qdd = inverse_motion(arm, start, twists[0], accels[0])
    rows = []
    for k, (pose, twist, accel) in enumerate(zip(poses, twists, accels, strict=True)):
        h = float(times[k] - times[k - 1]) if k else 0.0
        try:
            q = _solve_in_sequence(arm, pose, q + h * qd + 0.5 * h * h * qdd)
        except NoSolution as error:
            error.index = (k,)
            raise
        q, qd, qdd = inverse_motion(arm, q, twist, accel)
        rows.append((q, qd, qdd))
    return Motion(*(np.stack(part) for part in zip(*rows, strict=True)))


def motions_of_body(
    arm: Any,
    poses: FloatArray,
    twists: FloatArray,
    accels: FloatArray,
    starts: FloatArray,
    rows: Sequence[int] = (),
) -> Motion:
    """Compute the joints' motion for K states of the tip, each from its own start.

    Returns:
        Positions, rates and accelerations of the joints, (K, n) each; NaN for a pose that is out of
        reach.
    """
    q, residual = _solve(arm, as_pose("poses", poses), starts, True, 1)
    lost = ~(residual <= kernels.ACCEPTED * reach(arm))
    q[lost] = starts[lost]
    found = inverse_motion(arm, q, twists, accels)
    return Motion(*(np.where(lost[:, None], np.nan, part) for part in found))


def configuration_near(arm: Any, pose: FloatArray, configuration: FloatArray) -> FloatArray:
    """Find the configuration (n,) near a given one with the tip at, or near, a pose (7,).

    The pose is in the base frame. The configuration is within the joint limits; it is the nearest
    one found if the pose is out of reach.
    """
    goal, start = as_pose("pose", pose)[None], configuration[None]
    return np.asarray(_solve(arm, goal, start, True, 1)[0][0])


def _solve_in_sequence(arm: Any, poses: ArrayLike, start: ArrayLike) -> FloatArray:
    return arm.inverse_kinematics(poses, start, warm_start=True)


def reach(arm: Any) -> float:
    """Return the length [m] of the outstretched arm, which scales errors; 1 if zero."""
    chain = arm.solver.geometry
    links = float(np.linalg.norm(chain[:, SHIFT : SHIFT + 3], axis=1).sum())
    travel = arm.position_limits[:, 1] - arm.position_limits[:, 0]
    slides = np.isfinite(travel) & (chain[1:, PRISMATIC] != 0.0)
    return links + float(travel[slides].sum()) or 1.0


def _solve(
    arm: Any, goal: FloatArray, guess: FloatArray, orientation: bool, run: int
) -> tuple[FloatArray, FloatArray]:
    lower, upper = (np.ascontiguousarray(bound) for bound in arm.position_limits.T)
    out, residual = np.empty((len(goal), arm.n)), np.empty(len(goal))
    kernels.solve_configurations(
        arm.solver.geometry,
        goal,
        guess,
        lower,
        upper,
        reach(arm),
        6 if orientation else 3,
        run,
        out,
        residual,
    )
    return out, residual


def _search(arm: Any, goal: FloatArray, guess: FloatArray, orientation: bool) -> FloatArray | None:
    """Search from random starts for a configuration (n,) with a given tip pose.

    The starts are distributed over the joint ranges. Of the first solutions found, the one nearest
    to the guess is returned; the result is None if no start leads to a solution.
    """
    rng = np.random.default_rng(0)
    lower, upper = arm.position_limits.T
    low = np.where(np.isfinite(lower), lower, guess - np.pi)
    high = np.where(np.isfinite(upper), upper, guess + np.pi)
    found: list[FloatArray] = []
    for _ in range(0, STARTS, COMPARED):
        starts = rng.uniform(low, high, (COMPARED, arm.n))
        out, residual = _solve(arm, np.tile(goal, (COMPARED, 1)), starts, orientation, 1)
        found += list(out[residual <= kernels.ACCEPTED * reach(arm)])
        if len(found) >= COMPARED:
            break
    if not found:
        return None
    near = _nearest_turns(arm, np.array(found), guess)
    return np.asarray(near[int(np.abs(near - guess).max(axis=1).argmin())])


def _nearest_turns(arm: Any, q: FloatArray, guess: FloatArray) -> FloatArray:
    """Shift revolute joint positions by whole turns to the values nearest a guess.

    Return the shifted configuration. A position that would violate the joint limits is not shifted.
    """
    turns = np.round((q - guess) / (2.0 * np.pi))
    nearer = q - 2.0 * np.pi * turns
    lower, upper = arm.position_limits.T
    allowed = (nearer >= lower) & (nearer <= upper) & (arm.solver.geometry[1:, PRISMATIC] == 0.0)
    return np.where(allowed, nearer, q)


def _null_space_acceleration(
    arm: Any, q: FloatArray, qd: FloatArray, J: FloatArray, inverse: FloatArray
) -> FloatArray:
    """Compute the null-space joint accelerations of an arm with minimum-norm rates.

    They are (E - J+ J) J'^T J+^T q', which is zero unless the arm is redundant. q' are the joint
    rates, J is the Jacobian and J+ its pseudo-inverse. J' is the time derivative of J, computed by
    a central difference along the motion. With this term, the joint accelerations are the time
    derivative of the minimum-norm rates (Golub and Pereyra, 1973).
    """
    h = 1e-6 / np.maximum(np.abs(qd).max(axis=1, initial=0.0), 1e-12)[:, None]
    rate = (arm.jacobian(q + h * qd) - arm.jacobian(q - h * qd)) / (2.0 * h[..., None])
    turned = np.einsum("sji,sj->si", rate, np.einsum("sij,si->sj", inverse, qd))
    return np.asarray(turned - np.einsum("sij,sjk,sk->si", inverse, J, turned))


def _no_solution(arm: Any, goal: FloatArray, residual: float, index: tuple[int, ...]) -> NoSolution:
    where = f" (element {list(index)})" if index else ""
    few = (
        f"; an arm with {arm.n} joints cannot reach every orientation: request the position alone"
        if arm.n < 6
        else ""
    )
    return NoSolution(
        f"{arm.name}: no configuration within the joints' limits has {arm.frames[1]} at "
        f"xyz {np.array2string(goal[:3], precision=4)} m, quaternion "
        f"{np.array2string(goal[3:], precision=4)} in {arm.frames[0]}{where}: the nearest one "
        f"found misses by {residual:.3g} m (angles times the arm's length); the pose may be out "
        f"of reach{few}",
        residual=residual,
        value=goal,
        index=index,
    )
