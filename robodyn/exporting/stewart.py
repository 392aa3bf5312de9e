# SPDX-License-Identifier: Apache-2.0

"""A platform's answers without Python."""

from __future__ import annotations

from typing import Any

from robodyn.exporting.answers import Answers, copied, step_of
from robodyn.exporting.lending import (
    any_rows,
    constant,
    null,
    rows,
    rows_or_null,
    rows_out,
    vector,
    vector_or_null,
    vector_out,
)
from robodyn.mechanisms.stewart.kernels import entries, lanes
from robodyn.mechanisms.stewart.kernels.derivatives import derivatives
from robodyn.mechanisms.stewart.kernels.forward_kinematics import platform_motion, solve_pose
from robodyn.mechanisms.stewart.kernels.integration import normalize, simulate
from robodyn.mechanisms.stewart.kernels.layout import OK, SMALLEST_LENGTH
from robodyn.mechanisms.stewart.kernels.leg import leg_geometry
from robodyn.mechanisms.stewart.kernels.single import is_pose
from robodyn.mechanisms.stewart.platform import StewartPlatform
from robodyn.numerics.array_arguments import borrowed_array, stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.vectors import vector as three


def answers(m: StewartPlatform) -> Answers:
    """All that can be asked of a platform."""
    size, legs_size, body_size = len(m._lanes), m._legs.shape[1], len(m._platform)
    at_lanes, at_legs, at_body = constant(m._lanes), constant(m._legs), constant(m._platform)
    smooth = constant(m._smooth._lanes if m.friction.is_dry else m._lanes)
    at_smooth_legs, at_steps, at_falling = (constant(m._slopes.numbers[k]) for k in (0, 2, 3))
    falling = m._falling_friction.shape

    @inner
    def legs() -> Any:
        return rows(at_legs(), (6, legs_size))

    @inner
    def put_unit(q: Any, pose: Any) -> None:
        copied(q, 7, pose)
        normalize(pose)

    @inner
    def is_configuration(q: Any) -> bool:
        return is_pose(borrowed_array(vector(q, (7,))))

    @inner
    def inverse(q: Any, v: Any, a: Any, wrench: Any, base: Any, out: Any) -> bool:
        state = vector(q, (7,)), vector(v, (6,)), vector(a, (6,)), vector_or_null(wrench, (6,))
        known = vector(at_lanes(), (size,))
        return entries.inverse_dynamics(
            known, state[0], state[1], state[2], state[3], vector_or_null(base, (9,)), False,
            vector_out(out, (6,)),
        )  # fmt: skip

    @inner
    def forward(q: Any, v: Any, efforts: Any, wrench: Any, base: Any, out: Any) -> bool:
        known = vector(at_lanes(), (size,))
        return entries.forward_dynamics(
            known, vector(q, (7,)), vector(v, (6,)), vector(efforts, (6,)),
            vector_or_null(wrench, (6,)), vector_or_null(base, (9,)), False,
            vector_out(out, (6,)),
        )  # fmt: skip

    @inner
    def mass(q: Any, out: Any) -> bool:
        known = vector(at_lanes(), (size,))
        return entries.mass_matrix(known, vector(q, (7,)), False, rows_out(out, (6, 6)))

    @inner
    def bias(q: Any, v: Any, base: Any, out: Any) -> bool:
        body = vector(at_body(), (body_size,))
        one = any_rows(q, (1, 7)), any_rows(v, (1, 6))
        none = rows_or_null(null(), (1, 6)), rows_or_null(base, (1, 9))
        state = one[0], one[1], one[1], none[0], none[1]
        return lanes.bias(legs(), body, *state, rows_out(out, (1, 6))) == 1

    @inner
    def positions(q: Any, out: Any) -> bool:
        if not is_configuration(q):
            return False
        pose, known = stack(1, 7)[0], borrowed_array(legs())
        put_unit(q, pose)
        X, Y, Z = rotation_columns(pose)
        for i in range(6):
            out[i] = leg_geometry(known[i], three(pose, 0), X, Y, Z).length
            if not out[i] > SMALLEST_LENGTH:
                return False
        return True

    @inner
    def close(lengths: Any, q: Any) -> bool:
        pose = stack(1, 7)[0]
        put_unit(q, pose)
        lent = borrowed_array(vector(lengths, (6,)))
        for i in range(6):
            if not lent[i] > 0.0:
                return False
        if solve_pose(borrowed_array(legs()), lent, pose)[0] != OK:
            return False
        copied(pose, 7, q)
        return True

    @inner
    def motion(q: Any, rates: Any, changes: Any, twist: Any, accel: Any) -> bool:
        pose = stack(1, 7)[0]
        put_unit(q, pose)
        status = platform_motion(
            borrowed_array(legs()), pose, borrowed_array(vector(rates, (6,))),
            borrowed_array(vector(changes, (6,))), stack(6, 6),
            borrowed_array(vector_out(twist, (6,))), borrowed_array(vector_out(accel, (6,))),
        )  # fmt: skip
        return status == OK

    @inner
    def velocity(q: Any, rates: Any, out: Any) -> bool:
        return motion(q, rates, rates, out, stack(1, 6))

    @inner
    def acceleration(q: Any, rates: Any, changes: Any, out: Any) -> bool:
        return motion(q, rates, changes, stack(1, 6), out)

    @inner
    def rates(q: Any, v: Any, out: Any) -> bool:
        body, H = vector(at_body(), (body_size,)), stack(6, 6)
        if lanes.jacobian(legs(), body, any_rows(q, (1, 7)), rows_out(H, (1, 36))) != 1:
            return False
        for i in range(6):
            out[i] = H[0, i] * v[0]
            for j in range(1, 6):
                out[i] += H[j, i] * v[j]
        return True

    @inner
    def pose_of(q: Any, out: Any) -> bool:
        pose = stack(1, 7)[0]
        put_unit(q, pose)
        copied(pose, 7, out)
        return is_configuration(q)

    @inner
    def jacobian(q: Any, out: Any) -> bool:
        for i in range(36):
            out[i] = 1.0 if i % 7 == 0 else 0.0
        return is_configuration(q)

    @inner
    def condition(q: Any, length: float) -> float:
        return entries.condition_number(vector(at_lanes(), (size,)), vector(q, (7,)), length, False)

    @inner
    def difference(q: Any, goal: Any, out: Any) -> None:
        start, end = stack(1, 7)[0], stack(1, 7)[0]
        put_unit(q, start)
        put_unit(goal, end)
        entries.pose_difference(vector(start, (7,)), vector(end, (7,)), vector_out(out, (6,)))

    @inner
    def advance(q: Any, displacement: Any, out: Any) -> bool:
        pose = stack(1, 7)[0]
        put_unit(q, pose)
        entries.advanced_pose(vector(pose, (7,)), vector(displacement, (6,)), vector_out(out, (7,)))
        return True

    @inner
    def slopes(
        q: Any, v: Any, a: Any, efforts: Any, wrench: Any, base: Any, forward: bool, out: Any
    ) -> bool:
        found = derivatives(
            rows(at_smooth_legs(), (6, legs_size)), vector(at_body(), (body_size,)),
            vector(at_steps(), (6,)), rows(at_falling(), falling), any_rows(q, (1, 7)),
            any_rows(v, (1, 6)), any_rows(a, (1, 6)), any_rows(efforts, (1, 6)),
            rows_or_null(wrench, (1, 6)), rows_or_null(base, (1, 9)), forward,
            rows_out(out, (1, 108)),
        )  # fmt: skip
        return found == 1

    @inner
    def plant(table: Any, friction: Any, options: Any, stops: Any) -> Any:
        return vector(smooth(), (size,)), table, friction, options, stops

    @inner
    def model() -> Any:
        return (vector(at_lanes(), (size,)),)

    return Answers(
        is_configuration, inverse, forward, mass, bias, positions, close, velocity, acceleration,
        rates,
        pose_of, jacobian, condition, difference, advance, step_of(m, simulate, plant, model),
        slopes,
    )  # fmt: skip
