# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics of one tip pose by damped Newton steps.

The error is the translation and the rotation vector, base frame, from the tip to its goal; the
rotation is multiplied by a length [m], so that both have the same weight. Steps are
Levenberg-Marquardt, dq = J' (J J' + mu E)^-1 e, of minimum norm, so a redundant arm stays as close
as possible to its start. Joints that a step would move beyond a limit are held there, and the
others compensate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.numerics.compiler import kernel
from robodyn.numerics.linear import solve_definite
from robodyn.numerics.matrices import matrix
from robodyn.numerics.rotations import quaternion_from_matrix, quaternion_log, quaternion_product
from robodyn.numerics.vectors import Vector, add, cross, scale, store, sub
from robodyn.solvers.serial.kernels.composite import jacobian
from robodyn.solvers.serial.kernels.layout import FRAME_ORIGIN, FRAME_SIZE, PRISMATIC
from robodyn.solvers.serial.kernels.spatial import joint_axis, joint_origin, place

# Tolerances of a solution, of lengths relative to the arm's size and of angles [rad]; the second is
# for nearly singular arms, limited by rounding.
TOLERANCE = 1e-13
ACCEPTED = 1e-10
MOST_STEPS = 150
# Largest joint rotation [rad] in a step far from the goal.
LARGEST_TURN = 0.7
FIRST_DAMPING = 1e-4
SMALLEST_DAMPING = 1e-15
LARGEST_DAMPING = 1e6


class Search(NamedTuple):
    """Limits, settings and scratch arrays of a search for a configuration.

    Attributes:
        lower, upper: (n,) limits of the joints.
        length: [m] by which angles are multiplied.
        rows: number of error components, 3 for a position or 6 for a pose.
        J, error: (6, n) and (6,) tip's Jacobian, and displacement from the tip to its goal, at the
            current configuration; base frame, with angles multiplied by length.
        held: (n,) whether a joint is held at a limit.
        A, y: scratch for the linear equations.
        step, trial: (n,) step of the joints, and the configuration after it, within the limits.
    """

    lower: Any
    upper: Any
    length: float
    rows: int
    J: Any
    error: Any
    held: Any
    A: Any
    y: Any
    step: Any
    trial: Any


@kernel
def tip_error(
    chain: Any, q: Any, goal: Any, length: float, rows: int, frames: Any, out: Any
) -> float:
    """Write the displacement from the tip to a goal pose (7,) to `out` (rows,) [m].

    The components, in the base frame, are the vector from the tip to the goal and, if there are
    six, the rotation vector times `length`. The link frames at `q` are written to `frames`. Return
    the largest absolute component.
    """
    n = q.shape[0]
    place(chain, q, frames)
    for k in range(3):
        out[k] = goal[k] - frames[n, FRAME_ORIGIN + k]
    if rows == 6:
        x, y, z, w = quaternion_from_matrix(matrix(frames[n], 0))
        turn = quaternion_log(
            quaternion_product((goal[3], goal[4], goal[5], goal[6]), (-x, -y, -z, w))
        )
        for k in range(3):
            out[3 + k] = length * turn[k]
    largest = 0.0
    for k in range(rows):
        largest = max(largest, abs(out[k]))
    return largest


@kernel
def damped_step(s: Any, mu: float) -> bool:
    """Write the damped Newton step of the joints to `s.step` (n,).

    Held joints do not move. `mu` is the damping, relative to the trace of the matrix. Return False
    if the equations are singular, or all joints are held.
    """
    J, error, held, rows, A, y, out = s.J, s.error, s.held, s.rows, s.A, s.y, s.step
    n = out.shape[0]
    trace = 0.0
    if n >= rows:
        for i in range(rows):
            y[i] = error[i]
            for k in range(i + 1):
                total = 0.0
                for j in range(n):
                    if not held[j]:
                        total += J[i, j] * J[k, j]
                A[i, k] = total
                A[k, i] = total
            trace += A[i, i]
        size = rows
    else:
        for i in range(n):
            y[i] = 0.0
            for k in range(rows):
                if not held[i]:
                    y[i] += J[k, i] * error[k]
            for k in range(i + 1):
                total = 0.0
                if not (held[i] or held[k]):
                    for r in range(rows):
                        total += J[r, i] * J[r, k]
                A[i, k] = total
                A[k, i] = total
            trace += A[i, i]
        size = n
    if not trace > 0.0:
        return False
    for i in range(size):
        A[i, i] += mu * trace
    if not solve_definite(A, size, 0.0, y):
        return False
    for j in range(n):
        if held[j]:
            out[j] = 0.0
        elif n >= rows:
            out[j] = 0.0
            for i in range(rows):
                out[j] += J[i, j] * y[i]
        else:
            out[j] = y[j]
    return True


@kernel
def limited_step(chain: Any, q: Any, s: Any, mu: float) -> bool:
    """Write the configuration after a step within the joint limits to `s.trial` (n,).

    The step starts from `q` and is shortened if a joint would turn too far. Joints that are at a
    limit and would leave it are held. Return False if there is no such step.
    """
    held, lower, upper, step, out = s.held, s.lower, s.upper, s.step, s.trial
    n = q.shape[0]
    for j in range(n):
        held[j] = False
    for _ in range(n + 1):
        if not damped_step(s, mu):
            return False
        largest = 0.0
        for j in range(n):
            turn = abs(step[j]) / s.length if chain[j + 1, PRISMATIC] != 0.0 else abs(step[j])
            largest = max(largest, turn)
        factor = min(1.0, LARGEST_TURN / largest) if largest > 0.0 else 1.0
        again = False
        for j in range(n):
            moved = q[j] + factor * step[j]
            if not held[j] and (
                (moved < lower[j] and q[j] <= lower[j]) or (moved > upper[j] and q[j] >= upper[j])
            ):
                held[j] = True
                again = True
            out[j] = min(max(moved, lower[j]), upper[j])
        if not again:
            return True
    return False


@kernel
def solve_configuration(
    chain: Any, goal: Any, lower: Any, upper: Any, length: float, rows: int, q: Any
) -> float:
    """Iterate from `q` (n,), in place, to a configuration with the tip at `goal` (7,).

    The configuration is within the limits `lower`, `upper`. Return the largest absolute component
    of the remaining error [m], with angles multiplied by `length`; it is not small if the search
    fails.
    """
    n = q.shape[0]
    most = max(n, 6)
    frames, J = np.empty((n + 1, FRAME_SIZE)), np.empty((6, n))
    error, new_error, trial = np.empty(6), np.empty(6), np.empty(n)
    held, A, y = np.empty(n, dtype=np.bool_), np.empty((most, most)), np.empty(most)
    search = Search(lower, upper, length, rows, J, error, held, A, y, np.empty(n), trial)
    for j in range(n):
        q[j] = min(max(q[j], lower[j]), upper[j])
    largest = tip_error(chain, q, goal, length, rows, frames, error)
    mu = FIRST_DAMPING
    for _ in range(MOST_STEPS):
        if largest <= TOLERANCE * length:
            break
        place(chain, q, frames)
        jacobian(chain, frames, J)
        for k in range(3, 6):
            for j in range(n):
                J[k, j] *= length
        before = 0.0
        for k in range(rows):
            before += error[k] ** 2
        improved = False
        while mu <= LARGEST_DAMPING:
            if limited_step(chain, q, search, mu):
                left = tip_error(chain, trial, goal, length, rows, frames, new_error)
                after = 0.0
                for k in range(rows):
                    after += new_error[k] ** 2
                if after < before:
                    for j in range(n):
                        q[j] = trial[j]
                    for k in range(rows):
                        error[k] = new_error[k]
                    largest = left
                    improved = True
                    mu = max(0.01 * mu, SMALLEST_DAMPING)
                    break
            if largest <= ACCEPTED * length:
                break  # rounding prevents a further step
            mu *= 10.0
        if not improved:
            break
    return largest


@kernel
def solve_configurations(
    chain: Any,
    goal: Any,
    guess: Any,
    lower: Any,
    upper: Any,
    length: float,
    rows: int,
    run: int,
    out: Any,
    residual: Any,
) -> None:
    """Write configurations with the tip at `goal` (N, 7) to `out` (N, n).

    The largest remaining error [m] of each is written to `residual` (N,). The first of every `run`
    elements starts from its row of `guess` (N, n), the others start from the previous solution.
    """
    for s in range(goal.shape[0]):
        for j in range(guess.shape[1]):
            out[s, j] = guess[s, j] if s % run == 0 else out[s - 1, j]
        residual[s] = solve_configuration(chain, goal[s], lower, upper, length, rows, out[s])


@kernel
def velocity_accelerations(chain: Any, q: Any, qd: Any, out: Any) -> None:
    """Write the tip accelerations due to joint rates alone to `out` (N, 6), base frame.

    They are dJ/dt qd, linear over angular, at N configurations `q` with the rates `qd` and the
    tip's Jacobian J.
    """
    n = q.shape[1]
    frames = np.empty((n + 1, FRAME_SIZE))
    for s in range(q.shape[0]):
        place(chain, q[s], frames)
        omega: Vector = (0.0, 0.0, 0.0)
        alpha: Vector = (0.0, 0.0, 0.0)
        linear: Vector = (0.0, 0.0, 0.0)
        for i in range(n):
            relative = scale(qd[s, i], joint_axis(frames, i))
            reach = sub(joint_origin(frames, i + 1), joint_origin(frames, i))
            coriolis = cross(omega, relative)
            if chain[i + 1, PRISMATIC] == 0.0:
                alpha = add(alpha, coriolis)
                omega = add(omega, relative)
            else:
                linear = add(linear, scale(2.0, coriolis))
            linear = add(linear, add(cross(alpha, reach), cross(omega, cross(omega, reach))))
        store(out[s], 0, linear)
        store(out[s], 3, alpha)
