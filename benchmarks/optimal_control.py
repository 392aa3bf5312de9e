# SPDX-License-Identifier: Apache-2.0

"""Optimal control of an arm within effort limits, by differential dynamic programming.

After Tassa, Mansard and Todorov (2014): derivatives of all steps in one call, a sweep backward that
keeps efforts within their limits, and one forward. `python -m benchmarks.optimal_control` compares
an iteration's time and the cost found with those of Crocoddyl's SolverBoxDDP, if it is installed.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from numba import njit

import robodyn as rd
from benchmarks.derivatives import ur5e


class Task(NamedTuple):
    """To a goal at rest: of the error's state and of efforts, weights a second and at the end."""

    goal: Any
    most: Any
    steps: int = 100
    dt: float = 0.01
    state: tuple[float, float] = (1.0, 0.01)
    effort: float = 1e-4
    end: tuple[float, float] = (1e3, 10.0)


def weights(task: Task) -> tuple[Any, Any, Any]:
    """Diagonals of running weights of states and efforts, and of the last state."""
    n = len(task.goal)
    running, last = np.repeat(task.state, n), np.repeat(task.end, n)
    return task.dt * running, task.dt * task.effort * np.ones(n), last


@njit(cache=True)
def backward(A: Any, B: Any, error: Any, u: Any, W: Any, most: Any, damped: float) -> Any:
    """Corrections (N, n) of efforts and gains (N, n, 2 n) of the state's changes."""
    Q, R, end = W
    N, n = u.shape
    feed, gains = np.zeros((N, n)), np.zeros((N, n, 2 * n))
    v, V = end * error[N], np.diag(end)
    for k in range(N - 1, -1, -1):
        VA, VB = V @ A[k], V @ B[k]
        g, H, mixed = R * u[k] + B[k].T @ v, B[k].T @ VB + np.diag(R), B[k].T @ VA
        stiff = H + damped * np.eye(n)
        d, M, right = np.zeros(n), stiff, mixed
        for _ in range(10):
            slope = g + stiff @ d
            M, right, step = stiff.copy(), mixed.copy(), -slope
            for i in range(n):
                low, high = -most[i] - u[k, i], most[i] - u[k, i]
                if (d[i] <= low and slope[i] > 0.0) or (d[i] >= high and slope[i] < 0.0):
                    M[i, :], M[:, i], M[i, i], right[i, :], step[i] = 0.0, 0.0, 1.0, 0.0, 0.0
            moved = np.minimum(np.maximum(d + np.linalg.solve(M, step), -most - u[k]), most - u[k])
            done = np.abs(moved - d).max() < 1e-9 * most.max()
            d = moved
            if done:
                break
        K = -np.linalg.solve(M, right)
        feed[k], gains[k] = d, K
        HK = H @ K
        v = Q * error[k] + A[k].T @ v + K.T @ (H @ d + g) + mixed.T @ d
        V = np.diag(Q) + A[k].T @ VA + K.T @ HK + K.T @ mixed + mixed.T @ K
        V = 0.5 * (V + V.T)
    return feed, gains


class Solver:
    """Iterations from efforts (steps, n), which hold the arm where it starts by default."""

    def __init__(self, arm: Any, task: Task, start: Any) -> None:
        self.arm, self.task, self.weights = arm, task, weights(task)
        self.target = np.concatenate([task.goal, np.zeros(arm.n)])
        self.u = np.tile(arm.gravity(start), (task.steps, 1))
        self.x = np.zeros((task.steps + 1, 2 * arm.n))
        self.x[:, : arm.n] = start
        # the first sweep backward knows no limits: far from the goal nearly all efforts would be at
        # theirs, with gains of zero, and nothing would correct what the rollout does
        self.damped, self.limits = 1e-9, np.full(arm.n, np.inf)
        self.x, self.u, self.cost = self.forward(0.0 * self.u, None, 1.0)

    def forward(self, feed: Any, gains: Any, part: float) -> tuple[Any, Any, float]:
        """States, efforts and cost after a part of the corrections."""
        n, dt, most = self.arm.n, self.task.dt, self.task.most
        x, u, a, dynamics = (
            self.x.copy(),
            self.u + part * feed,
            np.empty(n),
            self.arm.solver.unchecked,
        )
        for k in range(len(u)):
            if gains is not None:
                u[k] = np.clip(u[k] + gains[k] @ (x[k] - self.x[k]), -most, most)
            dynamics.forward_dynamics(x[k, :n], x[k, n:], u[k], a)
            x[k + 1, n:] = x[k, n:] + dt * a
            x[k + 1, :n] = x[k, :n] + dt * x[k + 1, n:]
        (Q, R, end), error = self.weights, x - self.target
        cost = 0.5 * ((Q * error[:-1] ** 2).sum() + (R * u**2).sum() + (end * error[-1] ** 2).sum())
        return x, u, float(cost)

    def iterate(self) -> bool:
        """One iteration; whether it found less cost."""
        n, dt, one = self.arm.n, self.task.dt, np.eye(self.arm.n)
        d = self.arm.forward_dynamics_derivatives(self.x[:-1, :n], self.x[:-1, n:], self.u)
        A, B = np.empty((len(self.u), 2 * n, 2 * n)), np.empty((len(self.u), 2 * n, n))
        A[:, n:, :n], A[:, n:, n:], B[:, n:] = dt * d.configuration, dt * d.velocity, dt * d.efforts
        A[:, n:, n:] += one
        A[:, :n], B[:, :n] = dt * A[:, n:], dt * B[:, n:]
        A[:, :n, :n] += one
        error = self.x - self.target
        while self.damped < 1e6:
            found = backward(A, B, error, self.u, self.weights, self.limits, self.damped)
            for part in (1.0, 0.5, 0.25, 0.125):
                x, u, cost = self.forward(*found, part)
                if cost < self.cost:
                    better = self.cost - cost > 1e-9 * self.cost
                    self.limits = self.task.most
                    self.x, self.u, self.cost = x, u, cost
                    self.damped = max(0.1 * self.damped, 1e-9)
                    return bool(better)
            self.damped *= 10.0
        return False


def of_crocoddyl(arm: Any, task: Task, start: Any, feasible: bool) -> tuple[float, int, float]:
    """Its cost, iterations and seconds.

    The start is feasible. Unless this is stated, the first sweep leaves limits out.
    """
    import crocoddyl

    from benchmarks.engines import pinocchio_arm

    model = pinocchio_arm(arm)
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    Q, R, end = weights(task)
    target = np.concatenate([task.goal, np.zeros(arm.n)])

    def action(on_state: Any, on_effort: Any, dt: float) -> Any:
        costs = crocoddyl.CostModelSum(state)
        residual = crocoddyl.ResidualModelState(state, target)
        activation = crocoddyl.ActivationModelWeightedQuad(on_state)
        costs.addCost("state", crocoddyl.CostModelResidual(state, activation, residual), 1.0)
        if on_effort is not None:
            residual = crocoddyl.ResidualModelControl(state)
            costs.addCost("effort", crocoddyl.CostModelResidual(state, residual), on_effort)
        free = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        made = crocoddyl.IntegratedActionModelEuler(free, dt)
        made.u_lb, made.u_ub = -task.most, task.most
        return made

    running = action(Q / task.dt, R[0] / task.dt, task.dt)
    first = np.concatenate([start, np.zeros(arm.n)])
    problem = crocoddyl.ShootingProblem(first, [running] * task.steps, action(end, None, 0.0))
    problem.nthreads = 1
    solver = crocoddyl.SolverBoxDDP(problem)
    held = [arm.gravity(start)] * task.steps
    states = list(problem.rollout(held))
    began = time.process_time()
    solver.solve(states, held, 200, feasible)
    return solver.cost, solver.iter + 1, time.process_time() - began


def reach() -> tuple[Any, Task, Any]:
    """An arm, a reach with efforts that have to be at their limits for a while, and its start."""
    # Crocoddyl's copy of a model made in Python has no gravity
    arm, start = ur5e("gravity: [0, 0, 0]"), np.array([0.0, -1.2, 1.4, -0.6, 1.2, 0.0])
    most = np.array([40.0, 60.0, 30.0, 5.0, 3.0, 1.0])
    return arm, Task(start + np.array([1.0, 0.4, -0.5, 0.6, 0.5, 1.0]), most), start


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    rd.set_threads(1)
    given = reach()
    solver = Solver(*given)
    solver.iterate()  # compiles
    solver, count, began = Solver(*given), 1, time.process_time()
    while solver.iterate() and count < 200:
        count += 1
    spent = time.process_time() - began
    limited = (np.abs(solver.u) > given[1].most - 1e-9).mean()
    write = sys.stdout.write
    write(f"ours: cost {solver.cost:.6f}, {count} iterations, {1e3 * spent / count:.2f} ms "
          f"each, {100 * limited:.0f} % of efforts at limits\n")  # fmt: skip
    for feasible in (False, True):
        try:
            cost, count, spent = of_crocoddyl(*given, feasible)
        except ImportError as error:
            sys.exit(f"Crocoddyl is not installed: {error}")
        write(f"Crocoddyl, start {'' if feasible else 'not '}said to be feasible: cost {cost:.6f}, "
              f"{count} iterations, {1e3 * spent / count:.2f} ms each\n")  # fmt: skip
