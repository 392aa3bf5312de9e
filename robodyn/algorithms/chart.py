# SPDX-License-Identifier: Apache-2.0

"""Dynamics in displacements from a reference configuration, with exact derivatives.

A displacement x (nv,) leads from the reference to a configuration as in `advance`, and back as in
`difference`. Derivatives with respect to x differ from those with respect to displacements at the
configuration itself only for rotation vectors, by their left Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from robodyn.algorithms.elasticity import refuse_elastic_drives
from robodyn.algorithms.stepping import step
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_integer, as_scalar
from robodyn.dynamics.stencil import apply_stencil, central_stencil
from robodyn.poses import cross_matrices, left_jacobian, pose_difference, rotation_matrix

# Times of the Runge-Kutta stages relative to the step, and their weights.
PARTS, WEIGHTS = (0.0, 0.5, 0.5, 1.0), (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)
# Step for finite differences of first derivatives [m, rad, m/s, rad/s].
DIFFERENCE = 1e-3


class Rows(NamedTuple):
    """Function of a batch of N states, given as arrays (N, k), and its first derivatives.

    Attributes:
        arguments, results: number of columns k of each argument and each result.
        compute: function of the arguments (N, k) that returns a tuple of results (N, k).
        differentiate: function of the arguments that returns the results, then the derivatives (N,
            k, j) of the first result with respect to each argument, then the derivatives of the
            second result, and so on.
    """

    arguments: tuple[int, ...]
    results: tuple[int, ...]
    compute: Callable[..., tuple[FloatArray, ...]]
    differentiate: Callable[..., tuple[FloatArray, ...]]

    @property
    def result_shapes(self) -> list[tuple[int, ...]]:
        """Shape of each result for one state."""
        return [(k,) for k in self.results]

    @property
    def derivative_shapes(self) -> list[tuple[int, ...]]:
        """Shape of each derivative for one state, in the order of `differentiate`."""
        return [(k, j) for k in self.results for j in self.arguments]


def call_with_rows(
    function: Callable[..., tuple[FloatArray, ...]],
    shapes: Iterable[tuple[int, ...]],
    given: Iterable[ArrayLike],
) -> list[FloatArray]:
    """Call a function of flat batches (N, k) with arrays (..., k) of equal leading shape.

    Args:
        function: `Rows.compute` or `Rows.differentiate`.
        shapes: shape of each result for one state.
        given: arguments (..., k) of the function.

    Returns:
        List of the results (..., *shape).
    """
    parts = [np.asarray(each, dtype=np.float64) for each in given]
    found = function(*(each.reshape(-1, each.shape[-1]) for each in parts))
    lead = parts[0].shape[:-1]
    return [
        np.asarray(each).reshape(*lead, *shape) for each, shape in zip(found, shapes, strict=True)
    ]


def second_derivatives(
    rows: Rows, arguments: Sequence[FloatArray], vector: FloatArray
) -> FloatArray:
    """Compute the Hessian of a weighted sum of accelerations or efforts.

    It is computed by finite differences of exact first derivatives with respect to displacement x
    and velocity v; the dynamics are linear in the load. Dry friction at rest is not differentiated.

    Args:
        rows: forward or inverse dynamics, from `Chart.rows`.
        arguments: x (nv,), v (nv,) and the load: efforts or acceleration (k,).
        vector: weights of the result's components.

    Returns:
        Symmetric matrix (m, m): second derivatives of vector @ result with respect to x, v and
        load, concatenated.
    """
    nv, _, load = rows.arguments
    size = 2 * nv + load
    stencil = central_stencil(np.full(2 * nv, DIFFERENCE))
    moves = np.concatenate([np.eye(2 * nv, size) * row[:, None] for row in stencil.places])
    given = np.split(np.concatenate(arguments) + moves, [nv, 2 * nv], axis=1)
    blocks = rows.differentiate(*given)[1:]
    gradients = np.concatenate([vector @ block for block in blocks], axis=1)
    by_state = apply_stencil(gradients, stencil)
    out = np.zeros((size, size))
    out[: 2 * nv], out[2 * nv :, : 2 * nv] = by_state, by_state[:, 2 * nv :].T
    out[: 2 * nv, : 2 * nv] = 0.5 * (by_state[:, : 2 * nv] + by_state[:, : 2 * nv].T)
    return out


class Chart:
    """Dynamics of a mechanism in displacements x (N, nv) from a configuration.

    Args:
        mechanism: mechanism of any kind.
        reference: (nq,) configuration at which x is zero; home by default.

    Raises:
        InvalidInput, KinematicsError: the reference is not a configuration.
    """

    def __init__(self, mechanism: Any, reference: ArrayLike | None = None) -> None:
        self.mechanism = mechanism
        self.reference = np.array(mechanism.home if reference is None else reference, dtype=float)
        mechanism.joint_positions(self.reference)  # raises for an invalid reference
        self.nv, self.n = mechanism.coordinates.velocity_size, len(mechanism.joint_names)

    def rows(self, quantity: str) -> Rows:
        """Return forward or inverse dynamics as a `Rows` of displacement, velocity and load.

        Args:
            quantity: `forward_dynamics` (the load is the efforts, the result the acceleration), or
                `inverse_dynamics` (the load is the acceleration, the result the efforts).

        Returns:
            Function of batches (N, nv), (N, nv) and (N, k), with its first derivatives.
        """
        evaluate = getattr(self.mechanism, quantity)
        ask_derivatives = getattr(self.mechanism, f"{quantity}_derivatives")

        def compute(x: FloatArray, v: FloatArray, load: FloatArray) -> tuple[FloatArray, ...]:
            return (evaluate(self.configuration(x), v, load),)

        def differentiate(x: FloatArray, v: FloatArray, load: FloatArray) -> tuple[FloatArray, ...]:
            found = ask_derivatives(self.configuration(x), v, load)
            return found[0], found[1] @ self._left(x), found[2], found[3]

        load, result = (self.n, self.nv) if quantity == "forward_dynamics" else (self.nv, self.n)
        return Rows((self.nv, self.nv, load), (result,), compute, differentiate)

    def step_rows(self, dt: float, steps: int) -> Rows:
        """Return a `Rows` that advances displacement and velocity by constant efforts.

        Args:
            dt: [s] length of a Runge-Kutta step.
            steps: number of steps.

        Returns:
            Function of displacement, velocity and efforts (N, k), with its first derivatives.

        Raises:
            InvalidInput: dt or the number of steps is not positive, or a drive is elastic.
        """
        refuse_elastic_drives(self.mechanism)
        h = as_scalar("dt", dt, "s", above=0.0)
        steps = as_integer("steps", steps, at_least=1)
        nv, n = self.nv, self.n
        return Rows(
            (nv, nv, n), (nv, nv), partial(self._step, h, steps),
            partial(self._step_derivatives, h, steps),
        )  # fmt: skip

    def _step(
        self, dt: float, steps: int, x: FloatArray, v: FloatArray, efforts: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Compute displacements and velocities (N, nv) after steps with constant efforts.

        Displacements are measured from the chart's reference configuration.
        """
        m, q, still = self.mechanism, self.configuration(x), np.zeros(6)
        rows = [step(m, *row, still, dt, steps) for row in zip(q, v, efforts, strict=True)]
        ends = np.array([row[0] for row in rows]).reshape(q.shape)
        return self._away(ends), np.array([row[1] for row in rows]).reshape(v.shape)

    def _step_derivatives(
        self, dt: float, steps: int, x: FloatArray, v: FloatArray, efforts: FloatArray
    ) -> tuple[FloatArray, ...]:
        """Return displacements x and velocities v after `steps` steps, and derivatives.

        Each stage of the Runge-Kutta method is differentiated, so the derivatives (N, nv, ...)
        w.r.t. x, v and efforts are those of the discrete step.
        """
        nv, n, q = self.nv, self.n, self.configuration(x)
        end, rates = self._step(dt, steps, x, v, efforts), v
        moves = np.zeros((len(x), nv, 2 * nv + n))  # derivatives of the configuration, ...
        changes = moves.copy()  # ... of the velocity, ...
        moves[:, :, :nv], changes[:, :, nv : 2 * nv] = self._left(x), np.eye(nv)
        pushes = np.eye(n, 2 * nv + n, 2 * nv)  # ... and of the efforts
        for _ in range(steps):
            q, rates, moves, changes = self._differentiate_step(
                q, rates, efforts, dt, (moves, changes, pushes)
            )
        moves = np.linalg.solve(self._left(end[0]), moves)
        blocks = (np.split(each, [nv, 2 * nv], axis=2) for each in (moves, changes))
        return *end, *(block for row in blocks for block in row)

    def _differentiate_step(
        self, q: FloatArray, v: FloatArray, efforts: FloatArray, dt: float, by: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Advance N states by one step, with derivatives w.r.t. initial states and efforts.

        Derivatives of a configuration are expressed as displacements from this configuration.
        """
        m, (moves, changes, pushes) = self.mechanism, by
        turns = [_Turn(part, len(q)) for part in m.coordinates.rotations]
        # velocities and accelerations of the stage before, and the sums over all stages
        before: Any = v, np.zeros_like(v), changes, np.zeros_like(changes)
        total: list[Any] = [np.zeros_like(part) for part in before]
        for part, weight in zip(PARTS, WEIGHTS, strict=True):
            rate, push, by_rate, by_push = before
            shift, by_shift = part * dt * rate, moves + part * dt * by_rate
            for turn in turns:
                turn.move(part * dt, rate, by_rate, moves, shift, by_shift)
            stage = m.advance(q, shift)
            rate, by_rate = v + part * dt * push, changes + part * dt * by_push
            d = m.forward_dynamics_derivatives(stage, rate, efforts)
            by_push = d.configuration @ by_shift + d.velocity @ by_rate + d.efforts @ pushes
            before = rate, d.acceleration, by_rate, by_push
            for k, term in enumerate(before):
                total[k] += weight * term
            for turn in turns:
                turn.add(weight, rate, by_rate)
        shift, by_shift = dt * total[0], moves + dt * total[2]
        for turn in turns:
            turn.finish(dt, moves, shift, by_shift)
        return m.advance(q, shift), v + dt * total[1], by_shift, changes + dt * total[3]

    def configuration(self, x: FloatArray) -> FloatArray:
        """Return configurations (N, nq) at displacements (N, nv) from the reference."""
        reference = np.broadcast_to(self.reference, (len(x), len(self.reference)))
        found: FloatArray = self.mechanism.advance(reference, x)
        return found

    def _away(self, q: FloatArray) -> FloatArray:
        found: FloatArray = self.mechanism.difference(np.broadcast_to(self.reference, q.shape), q)
        return found

    def _left(self, x: FloatArray) -> FloatArray:
        """Compute the left Jacobians (N, nv, nv) of the exponential map at x (N, nv).

        They map a change of x, which is measured from the chart's reference, to a displacement of
        the configuration that x represents.
        """
        out = np.tile(np.eye(self.nv), (len(x), 1, 1))
        for part in self.mechanism.coordinates.rotations:
            out[:, part, part] = left_jacobian(x[:, part])
        return out


class _Turn:
    """Rotation (unit quaternion) of N states during a Runge-Kutta step, with derivatives.

    Args:
        part: slice of the rotation vector in a displacement.
        count: number of states.
    """

    def __init__(self, part: slice, count: int) -> None:
        self.part = part
        self.pose = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (count, 1))
        self.by: Any = 0.0  # its derivatives, as displacements
        self.total, self.by_total = np.zeros((count, 4)), np.zeros((count, 4, 1))

    def move(
        self, h: float, rate: Any, by_rate: Any, moves: Any, shift: Any, by_shift: Any
    ) -> None:
        """Rotate for h [s] from the orientation at the start of the Runge-Kutta step.

        The angular velocity is that of the previous stage.
        """
        change, by_change = self._rates(rate, by_rate)
        self._set(h * change, h * by_change, moves, shift, by_shift)

    def add(self, weight: float, rate: Any, by_rate: Any) -> None:
        """Add the quaternion rate of the current stage to the weighted mean of the step."""
        found, by_found = self._rates(rate, by_rate)
        self.total = self.total + weight * found
        self.by_total = self.by_total + weight * by_found

    def finish(self, dt: float, moves: Any, shift: Any, by_shift: Any) -> None:
        """Rotate for dt [s] from the start of the step, at the weighted mean of the rates."""
        self._set(dt * self.total, dt * self.by_total, moves, shift, by_shift)

    def _rates(self, rate: Any, by_rate: Any) -> tuple[FloatArray, FloatArray]:
        """Return quaternion rates (N, 4) and their derivatives w.r.t. state and efforts."""
        w, by_w, q = rate[:, self.part], by_rate[:, self.part], self.pose[:, 3:]
        product = np.zeros((len(w), 4, 4))
        product[:, :3, :3], product[:, :3, 3], product[:, 3, :3] = cross_matrices(w), w, -w
        turning = 0.5 * _times(q)
        by = turning @ by_w + 0.5 * product @ turning @ (self.by + np.zeros_like(by_w))
        return 0.5 * (product @ q[:, :, None])[:, :, 0], by

    def _set(self, change: Any, by_change: Any, moves: Any, shift: Any, by_shift: Any) -> None:
        raw = change + np.array([0.0, 0.0, 0.0, 1.0])
        length = np.linalg.norm(raw, axis=1, keepdims=True)
        self.pose[:, 3:] = raw / length
        back = _times(self.pose[:, 3:]).swapaxes(1, 2)
        self.by = 2.0 * back @ by_change / length[:, :, None]
        none = np.broadcast_to([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], self.pose.shape)
        shift[:, self.part] = pose_difference(none, self.pose)[:, 3:]
        by_shift[:, self.part] = self.by + rotation_matrix(self.pose) @ moves[:, self.part]


def _times(q: FloatArray) -> FloatArray:
    """Return matrices A (N, 4, 3) such that A w is the quaternion product (w, 0) q."""
    vector, real = q[:, :3], q[:, 3, None, None]
    return np.concatenate([real * np.eye(3) - cross_matrices(vector), -vector[:, None, :]], axis=1)
