# SPDX-License-Identifier: Apache-2.0

"""The answers without Python of a mechanism with closed loops.

The equations are eliminated in the order that serves at home; where it does not, there is no
result, while Python looks for another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.errors import ModelError
from robodyn.exporting.answers import Answers, are_finite, copied, step_of
from robodyn.exporting.lending import (
    address,
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
from robodyn.mechanisms.closed_loop.equations import ACCEPTED, CLOSED
from robodyn.mechanisms.closed_loop.kernels import entries, layout
from robodyn.mechanisms.closed_loop.kernels.conditions import condition_numbers
from robodyn.mechanisms.closed_loop.kernels.derivatives import derivatives
from robodyn.mechanisms.closed_loop.kernels.integration import simulate
from robodyn.mechanisms.closed_loop.kernels.layout import BODY_SIZE, ORIGIN
from robodyn.mechanisms.closed_loop.loop import ClosedLoop
from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.rotations import quaternion_from_matrix
from robodyn.numerics.vectors import combine
from robodyn.numerics.vectors import vector as three


def answers(m: ClosedLoop) -> Answers:
    """All that can be asked of closed loops.

    Raises:
        ModelError: motors that are not those of the independent joints, or too many bodies.
    """
    _refuse(m)
    packed = m.structure.packed
    smooth = packed.without_dry_friction if m.friction.is_dry else packed
    plan, numbers, at_smooth = (constant(x) for x in (*packed.given, smooth.plan))
    plan_size, numbers_size = len(packed.plan), len(packed.numbers)
    n, nq, count, bodies = len(m.joint_names), len(m.home), m._tree.rates, len(m._tree.bodies)
    at_rest, places = constant(np.zeros(n)), constant(np.array(m._driven_at, dtype=float))
    at_columns, at_twist, at_drives = (constant(x) for x in m._comparable)
    twist_size = len(m._comparable[1])
    tip_body, tip = m._tree.body_of[m.model.tip_link], m._tree.frame_of[m.model.tip_link]
    at_tip = constant(np.concatenate([tip[:3, :3].T.ravel(), tip[:3, 3]]))
    limits, falls = m._slopes.numbers[2:] if m._slopes else (np.zeros(count), np.zeros((0, 1)))
    known_slopes, at_limits, at_falling = m._slopes is not None, constant(limits), constant(falls)
    falling = falls.shape

    @inner
    def known() -> Any:
        return vector(plan(), (plan_size,)), vector(numbers(), (numbers_size,))

    @inner
    def is_configuration(q: Any) -> bool:
        return are_finite(q, nq)

    @inner
    def inverse(q: Any, v: Any, a: Any, wrench: Any, base: Any, out: Any) -> bool:
        a_plan, own = known()
        return entries.inverse_dynamics(
            a_plan, own, vector(q, (nq,)), vector(v, (n,)), vector(a, (n,)),
            vector_or_null(wrench, (6,)), vector_or_null(base, (9,)), False,
            vector_out(out, (n,)),
        )  # fmt: skip

    @inner
    def forward(q: Any, v: Any, efforts: Any, wrench: Any, base: Any, out: Any) -> bool:
        a_plan, own = known()
        return entries.forward_dynamics(
            a_plan, own, vector(q, (nq,)), vector(v, (n,)), vector(efforts, (n,)),
            vector_or_null(wrench, (6,)), vector_or_null(base, (9,)), False,
            vector_out(out, (n,)),
        )  # fmt: skip

    @inner
    def mass(q: Any, out: Any) -> bool:
        a_plan, own = known()
        return entries.mass_matrix(a_plan, own, vector(q, (nq,)), False, rows_out(out, (n, n)))

    @inner
    def bias(q: Any, v: Any, base: Any, out: Any) -> bool:
        a_plan, own = known()
        return entries.free_efforts(
            a_plan, own, vector(q, (nq,)), vector(v, (n,)), vector(at_rest(), (n,)),
            vector_or_null(null(), (6,)), vector_or_null(base, (9,)), False,
            vector_out(out, (n,)),
        )  # fmt: skip

    @inner
    def positions(q: Any, out: Any) -> bool:
        for i in range(n):
            out[i] = q[int(places()[i])]
        return are_finite(q, nq)

    @inner
    def advance(q: Any, displacement: Any, out: Any) -> bool:
        a_plan, own = known()
        copied(q, nq, out)
        left = entries.displace(
            a_plan, own, vector_out(out, (nq,)), vector(displacement, (n,)), CLOSED
        )
        return 0.0 <= left <= ACCEPTED

    @inner
    def close(wanted: Any, q: Any) -> bool:
        moved, by = stack(1, nq), stack(1, n)
        for i in range(n):
            by[0, i] = wanted[i] - q[int(places()[i])]
        if not advance(q, address(by), address(moved)):
            return False
        copied(moved[0], nq, q)
        return True

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
        a_plan, own = known()
        B, still = stack(bodies, BODY_SIZE), stack(1, count)[0]
        for j in range(count):
            still[j] = 0.0
        entries.tree_state(
            a_plan, own, vector(q, (nq,)), vector(still, (count,)), rows_out(B, (bodies, BODY_SIZE))
        )
        X, Y, Z = three(B[tip_body], 0), three(B[tip_body], 3), three(B[tip_body], 6)
        x = combine(X, Y, Z, three(at_tip(), 0))
        y = combine(X, Y, Z, three(at_tip(), 3))
        z = combine(X, Y, Z, three(at_tip(), 6))
        shift = combine(X, Y, Z, three(at_tip(), 9))
        for k in range(3):
            out[k] = shift[k] + B[tip_body, ORIGIN + k]
        turn = quaternion_from_matrix(((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])))
        out[3], out[4], out[5], out[6] = turn
        return are_finite(q, nq)

    @inner
    def jacobian(q: Any, out: Any) -> bool:
        a_plan, own = known()
        return entries.jacobian(a_plan, own, vector(q, (nq,)), False, rows_out(out, (6, n)))

    @inner
    def condition(q: Any, length: float) -> float:
        a_plan, own = known()
        found = stack(1, 2)
        condition_numbers(
            a_plan, own, vector(at_columns(), (count,)), vector(at_twist(), (twist_size,)),
            rows(at_drives(), (n, 2)), length, rows(q, (1, nq)), rows_out(found, (1, 2)),
        )  # fmt: skip
        return max(found[0, 0], found[0, 1]) if found[0, 0] >= 0.0 else -1.0

    @inner
    def difference(q: Any, goal: Any, out: Any) -> None:
        for i in range(n):
            place = int(places()[i])
            out[i] = goal[place] - q[place]

    @inner
    def slopes(
        q: Any, v: Any, a: Any, efforts: Any, wrench: Any, base: Any, forward: bool, out: Any
    ) -> bool:
        found = 0
        if known_slopes:
            found = derivatives(
                vector(at_smooth(), (plan_size,)), vector(numbers(), (numbers_size,)),
                vector(at_limits(), (count,)), rows(at_falling(), falling), any_rows(q, (1, nq)),
                any_rows(v, (1, n)), any_rows(a, (1, n)), any_rows(efforts, (1, n)),
                rows_or_null(wrench, (1, 6)), rows_or_null(base, (1, 9)), forward,
                rows_out(out, (1, 3 * n * n)),
            )  # fmt: skip
        return found == 1

    @inner
    def plant(table: Any, friction: Any, options: Any, stops: Any) -> Any:
        a_plan = vector(at_smooth(), (plan_size,))
        return a_plan, vector(numbers(), (numbers_size,)), table, friction, options, stops

    @inner
    def model() -> Any:
        a_plan, own = known()
        return a_plan, own, a_plan, own

    return Answers(
        is_configuration, inverse, forward, mass, bias, positions, close, same, acceleration, same,
        pose, jacobian, condition, difference, advance, step_of(m, simulate, plant, model), slopes,
    )  # fmt: skip


def _refuse(m: ClosedLoop) -> None:
    """Say what cannot be exported.

    Raises:
        ModelError: that.
    """
    if not m._drives_free:
        raise ModelError(
            f"{m.name} cannot be exported: its driven joints {', '.join(m.joint_names)} are not "
            f"its independent joints {', '.join(m.independent_joints)}; only mechanisms with as "
            "many motors as freedoms can, independent joints first"
        )
    head = m.structure.packed.head
    scratch = layout.BODY_SIZE + max(6 * head["free"], layout.COMPOSITE) + 7
    if (head["bodies"] + 1 + head["rates"]) * scratch + 7 * head["widest"] >= entries.MOST:
        raise ModelError(f"{m.name} cannot be exported: it has too many bodies and loops")
