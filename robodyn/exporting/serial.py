# SPDX-License-Identifier: Apache-2.0

"""An arm's answers without Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.errors import ModelError
from robodyn.exporting.answers import Answers, are_finite, copied, step_of
from robodyn.exporting.lending import (
    any_rows,
    constant,
    rows,
    rows_or_null,
    rows_out,
    vector,
    vector_or_null,
    vector_out,
)
from robodyn.mechanisms.serial.arm import SerialArm
from robodyn.mechanisms.serial.kernels import entries, lanes
from robodyn.mechanisms.serial.kernels.integration import simulate
from robodyn.mechanisms.serial.kernels.layout import FRAME_ORIGIN, FRAME_SIZE, LINK_SIZE
from robodyn.mechanisms.serial.kernels.spatial import matrix, place
from robodyn.numerics.array_arguments import ABSENT, borrowed_array, stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.rotations import quaternion_from_matrix


def answers(m: SerialArm) -> Answers:
    """All that can be asked of an arm.

    Raises:
        ModelError: too many joints for the kernels of single states.
    """
    n = len(m.joint_names)
    if n > lanes.MOST_JOINTS:
        raise ModelError(
            f"{m.name} has {n} joints, which cannot be exported: at most {lanes.MOST_JOINTS}"
        )
    chain, smooth = m._geometry, m._smooth._packed[0] if m.friction.is_dry else m._geometry
    at_chain, at_smooth, at_gravity = constant(chain), constant(smooth), constant(m._gravity)
    at_rest = constant(np.zeros(n))

    @inner
    def links() -> Any:
        return rows(at_chain(), (n + 1, LINK_SIZE))

    @inner
    def gravity() -> Any:
        return vector(at_gravity(), (3,))

    @inner
    def is_configuration(q: Any) -> bool:
        return are_finite(q, n)

    @inner
    def inverse(q: Any, v: Any, a: Any, wrench: Any, base: Any, out: Any) -> bool:
        return entries.inverse_dynamics(
            links(), gravity(), vector(q, (n,)), vector(v, (n,)), vector(a, (n,)),
            vector_or_null(wrench, (6,)), vector_or_null(base, (9,)), False,
            vector_out(out, (n,)),
        )  # fmt: skip

    @inner
    def forward(q: Any, v: Any, efforts: Any, wrench: Any, base: Any, out: Any) -> bool:
        return entries.forward_dynamics(
            links(), gravity(), vector(q, (n,)), vector(v, (n,)), vector(efforts, (n,)),
            vector_or_null(wrench, (6,)), vector_or_null(base, (9,)), False,
            vector_out(out, (n,)),
        )  # fmt: skip

    @inner
    def mass(q: Any, out: Any) -> bool:
        return entries.mass_matrix(
            links(), gravity(), vector(q, (n,)), False, rows_out(out, (n, n))
        )

    @inner
    def bias(q: Any, v: Any, base: Any, out: Any) -> bool:
        load = vector_or_null(at_rest(), (ABSENT,))
        return entries.inverse_dynamics(
            links(), gravity(), vector(q, (n,)), vector(v, (n,)), vector(at_rest(), (n,)),
            load, vector_or_null(base, (9,)), False, vector_out(out, (n,)),
        )  # fmt: skip

    @inner
    def positions(q: Any, out: Any) -> bool:
        copied(q, n, out)
        return are_finite(q, n)

    @inner
    def same(q: Any, v: Any, out: Any) -> bool:
        copied(v, n, out)
        return are_finite(v, n)

    @inner
    def acceleration(q: Any, v: Any, changes: Any, out: Any) -> bool:
        copied(changes, n, out)
        return True

    @inner
    def pose(q: Any, out: Any) -> bool:
        frames = stack(n + 1, FRAME_SIZE)
        place(borrowed_array(links()), borrowed_array(vector(q, (n,))), frames)
        x, y, z, w = quaternion_from_matrix(matrix(frames[n], 0))
        for k in range(3):
            out[k] = frames[n, FRAME_ORIGIN + k]
        out[3], out[4], out[5], out[6] = x, y, z, w
        return are_finite(q, n)

    @inner
    def jacobian(q: Any, out: Any) -> bool:
        return (
            lanes.jacobian(links(), gravity(), any_rows(q, (1, n)), rows_out(out, (1, 6 * n))) == 1
        )

    @inner
    def condition(q: Any, length: float) -> float:
        return entries.condition_number(links(), vector(q, (n,)), length, False)

    @inner
    def difference(q: Any, goal: Any, out: Any) -> None:
        for j in range(n):
            out[j] = goal[j] - q[j]

    @inner
    def advance(q: Any, displacement: Any, out: Any) -> bool:
        for j in range(n):
            out[j] = q[j] + displacement[j]
        return True

    @inner
    def plant(table: Any, friction: Any, options: Any, stops: Any) -> Any:
        return rows(at_smooth(), (n + 1, LINK_SIZE)), gravity(), table, friction, options, stops

    @inner
    def model() -> Any:
        return links(), gravity()

    @inner
    def slopes(
        q: Any, v: Any, a: Any, efforts: Any, wrench: Any, base: Any, forward: bool, out: Any
    ) -> bool:
        found = lanes.derivatives(
            links(), gravity(), any_rows(q, (1, n)), any_rows(v, (1, n)), any_rows(a, (1, n)),
            any_rows(efforts, (1, n)), rows_or_null(wrench, (1, 6)), rows_or_null(base, (1, 9)),
            forward, rows_out(out, (1, 3 * n * n)),
        )  # fmt: skip
        return found == 1

    return Answers(
        is_configuration, inverse, forward, mass, bias, positions, positions, same, acceleration,
        same,
        pose, jacobian, condition, difference, advance, step_of(m, simulate, plant, model), slopes,
    )  # fmt: skip
