# SPDX-License-Identifier: Apache-2.0

"""Forward kinematics: pose, twist and acceleration from leg lengths, rates and accelerations.

The pose solves (L_i^2 - l_i^2) / 2 = 0, six equations whose Jacobian has the rows
[S_i, q_i x S_i] and which, unlike L_i - l_i = 0, are smooth at zero leg length. L_i is the length
of leg i at the pose, l_i the given one, S_i the leg's vector, and q_i leads from the platform's
reference point to the leg's tip. Newton steps move on the manifold: a translation, and a rotation
vector in the base frame.
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner, kernel
from robodyn.numerics.linear import solve, solve_definite
from robodyn.numerics.rotations import displace_pose, rotation_columns
from robodyn.numerics.vectors import (
    add,
    combine,
    copy,
    cross,
    dot,
    norm,
    scale,
    store,
    sub,
    vector,
)
from robodyn.solvers.stewart.kernels.kinematics import geometry_status
from robodyn.solvers.stewart.kernels.layout import BASE, NOT_CONVERGED, OK, SINGULAR, TIP
from robodyn.solvers.stewart.kernels.leg import leg_geometry

# Tolerance of leg lengths in a solution, relative to the longest leg.
TOLERANCE = 1e-13
MOST_STEPS = 100
# Largest rotation [rad] of a step far from the solution; its translation is limited to the longest
# leg.
LARGEST_TURN = 1.0
HALVINGS = 8
# Marquardt damping if a Newton step fails: starts at the first, grows by factors of 100.
FIRST_DAMPING = 1e-6
LARGEST_DAMPING = 1e2


@inner
def length_errors(legs: Any, pose: Any, lengths: Any, J: Any, error: Any) -> float:
    """Compute errors (6,) of the squared leg lengths at a pose, and their Jacobian (6, 6).

    They are written to `error`, half the difference between the squares of each leg's length at the
    pose and of its given length, and to `J`. Return the largest error [m] of a length.
    """
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    largest = 0.0
    for i in range(6):
        q = combine(X, Y, Z, vector(legs[i], TIP))
        S = sub(add(position, q), vector(legs[i], BASE))
        store(J[i], 0, S)
        store(J[i], 3, cross(q, S))
        length = norm(S)
        error[i] = 0.5 * (length - lengths[i]) * (length + lengths[i])
        largest = max(largest, abs(length - lengths[i]))
    return largest


@inner
def displaced_pose(pose: Any, step: Any, factor: float, out: Any) -> None:
    """Write the pose (7,) after the displacement `factor` * `step` (6,) to `out`.

    The step consists of a translation and a rotation vector, base frame.
    """
    copy(pose, out)
    displace_pose(out, 0, scale(factor, vector(step, 0)), scale(factor, vector(step, 3)))


@inner
def find_step(J: Any, error: Any, damping: float, N: Any, out: Any) -> bool:
    """Write a Newton step (6,), or with `damping` a Marquardt step, to `out`.

    With the `error` (6,) of the squared lengths and its Jacobian J, the Newton step solves J step =
    -error, the Marquardt step (J'J + damping diag J'J) step = -J' error. `N` (6, 6) is scratch.
    Return False if the equations are singular.
    """
    if damping == 0.0:
        for i in range(6):
            out[i] = -error[i]
            copy(J[i], N[i])
        return solve(N, out)
    for row in range(6):
        out[row] = 0.0
        for i in range(6):
            out[row] -= J[i, row] * error[i]
        for column in range(6):
            N[row, column] = 0.0
            for i in range(6):
                N[row, column] += J[i, row] * J[i, column]
        N[row, row] *= 1.0 + damping
    return solve_definite(N, 6, 0.0, out)


@inner
def descend(legs: Any, pose: Any, lengths: Any, step: Any, trial: Any, J: Any, error: Any) -> float:
    """Halve `step` until the squared error falls, then update `pose`, `J` and `error`.

    `trial` (7,) is scratch. Return the largest error [m] of a length at the new pose, or -1, with
    `pose` and `error` unchanged, if no step reduces the error.
    """
    before = 0.0
    longest = 0.0
    for i in range(6):
        before += error[i] ** 2
        longest = max(longest, lengths[i])
    turn = math.sqrt(step[3] ** 2 + step[4] ** 2 + step[5] ** 2)
    shift = math.sqrt(step[0] ** 2 + step[1] ** 2 + step[2] ** 2)
    factor = 1.0 / max(1.0, turn / LARGEST_TURN, shift / longest)
    new_error = stack(1, 6)[0]
    for _ in range(HALVINGS):
        displaced_pose(pose, step, factor, trial)
        largest = length_errors(legs, trial, lengths, J, new_error)
        after = 0.0
        for i in range(6):
            after += new_error[i] ** 2
        if after <= (1.0 - 1e-4 * factor) * before:
            copy(trial, pose)
            copy(new_error, error)
            return largest
        factor *= 0.5
    length_errors(legs, pose, lengths, J, error)
    return -1.0


@inner
def solve_pose(legs: Any, lengths: Any, pose: Any) -> tuple[int, float]:
    """Iterate from `pose` (7,), in place, to a pose with leg `lengths` (6,).

    A step that does not reduce the error is halved, then damped (Marquardt). Allowing steps that
    increase it would converge more often, but to a distant solution in another assembly mode.

    Returns:
        OK or the status code of a failure, and the largest error [m] of a length at the final pose.
    """
    J, N = stack(6, 6), stack(6, 6)
    error, step, trial = stack(1, 6)[0], stack(1, 6)[0], stack(1, 7)[0]
    longest = 0.0
    for i in range(6):
        longest = max(longest, lengths[i])
    largest = length_errors(legs, pose, lengths, J, error)
    for _ in range(MOST_STEPS):
        converged = largest <= TOLERANCE * longest
        reached = -1.0
        damping = 0.0
        while reached < 0.0 and damping <= LARGEST_DAMPING:
            if find_step(J, error, damping, N, step):
                reached = descend(legs, pose, lengths, step, trial, J, error)
            if converged:
                # The last step was a final refinement: near the edge of the workspace a small error
                # in length is still a large error in pose.
                return OK, reached if reached >= 0.0 else largest
            damping = max(FIRST_DAMPING, 100.0 * damping)
        if reached < 0.0:
            break
        largest = reached
    return OK if largest <= TOLERANCE * longest else NOT_CONVERGED, largest


@inner
def platform_motion(
    legs: Any, pose: Any, rates: Any, accelerations: Any, G: Any, twist: Any, accel: Any
) -> int:
    """Compute twist and acceleration (6,) of the platform from the motion of its legs.

    They are written to `twist` and `accel`, base frame. With the force Jacobian H, a leg's rate L',
    second derivative L'', direction s and angular velocity W, and the platform's angular velocity
    w, H' twist = L' and H' accel = L'' - s.(w x (w x q)) - L |W x s|^2: Dasgupta and Mruthyunjaya
    (1998), eq. 5 and 8. `G` (6, 6) is scratch. Return OK, or the status code of a failure.
    """
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    for level in range(2):
        v, w = vector(twist, 0), vector(twist, 3)
        for i in range(6):
            g = leg_geometry(legs[i], position, X, Y, Z)
            status = geometry_status(g, i)
            if status != OK:
                return status
            store(G[i], 0, g.s)
            store(G[i], 3, cross(g.q, g.s))
            if level == 0:
                twist[i] = rates[i]
            else:
                swing = cross(g.s, add(v, cross(w, g.q)))
                centripetal = dot(g.s, cross(w, cross(w, g.q))) + dot(swing, swing) / g.length
                accel[i] = accelerations[i] - centripetal
        if not solve(G, twist if level == 0 else accel):
            return SINGULAR
    return OK


@kernel
def solve_poses(
    legs: Any, lengths: Any, guess: Any, run: int, out: Any, residual: Any, status: Any
) -> None:
    """Write the poses with leg `lengths` (N, 6) to `out` (N, 7).

    The first of every `run` elements starts from its guess (N, 7), the others start from the
    previous solution. The largest error [m] of a length and the status code are written to
    `residual` (N,) and `status` (N,).
    """
    for n in range(lengths.shape[0]):
        start = guess[n] if n % run == 0 else out[n - 1]
        copy(start, out[n])
        status[n], residual[n] = solve_pose(legs, lengths[n], out[n])


@kernel
def platform_motions(
    legs: Any, pose: Any, rates: Any, accelerations: Any, twist: Any, accel: Any, status: Any
) -> None:
    """Write the platform's twists and accelerations (N, 6) for N motions of its legs.

    They are written to `twist` and `accel`, base frame; status codes are written to `status` (N,).
    """
    G = stack(6, 6)
    for n in range(pose.shape[0]):
        status[n] = platform_motion(
            legs, pose[n], rates[n], accelerations[n], G, twist[n], accel[n]
        )
