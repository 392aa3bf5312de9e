# SPDX-License-Identifier: Apache-2.0

"""Functions of mechanisms with closed loops for exported libraries.

The loop-closure equations are eliminated in the pivot order of the home configuration. Where this
order fails, orders of other configurations are tried. In Python, the order is that of the current
configuration, so the last bits of results may differ there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from robodyn.algorithms import motions
from robodyn.errors import ModelError
from robodyn.exporting.kind_functions import (
    NO_RESULT,
    KindFunctions,
    are_finite,
    copy_numbers,
    joint_functions,
    kind_functions_of,
    one_side,
    step_of,
)
from robodyn.exporting.marshaling import (
    LOAD,
    LOAD_ROW,
    NUMBER,
    UNLOADED,
    ArraySpec,
    address,
    address_of,
    constant,
    marshal,
    row,
    rows_out,
    vector,
    vector_out,
)
from robodyn.numerics.array_arguments import MATRIX, stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.turns import shortest_turn
from robodyn.solvers.tree.closing.equations import ACCEPTED, CLOSED
from robodyn.solvers.tree.closing.pivots import packings_over_travel
from robodyn.solvers.tree.integration import KERNELS
from robodyn.solvers.tree.kernels import entries, layout
from robodyn.solvers.tree.kernels.conditions import condition_numbers, side_signs
from robodyn.solvers.tree.kernels.derivatives import derivatives
from robodyn.solvers.tree.loop import ClosedLoop
from robodyn.solvers.tree.packing import PackedMechanism


@kind_functions_of.register
def _functions(m: ClosedLoop) -> KindFunctions:
    """Compile the `KindFunctions` of a closed loop.

    Raises:
        ModelError: the driven joints are not the independent joints, or there are too many bodies.
    """
    _refuse(m)
    packings = packings_over_travel(m)
    own = [tuple(map(constant, each.given)) for each in packings]
    n, nq = len(m.joint_names), len(m.home)
    joints = joint_functions(nq, m.solver.driven_at, motions.wrapping_driven(m))
    state, advance = (vector(nq), vector(n), vector(n)), _advance(own, nq, n)

    def all_of(entry: Any, *arguments: Any) -> Any:
        return reduce(_either, [marshal(entry, *packing, *arguments) for packing in own])

    return KindFunctions(
        **joints,
        inverse=all_of(entries.inverse_dynamics, *state, *LOAD, False, vector_out(n)),
        forward=all_of(entries.forward_dynamics, *state, *LOAD, False, vector_out(n)),
        mass=all_of(entries.mass_matrix, vector(nq), False, rows_out(n, n)),
        bias=all_of(
            entries.free_efforts, *state[:2], constant(np.zeros(n)), UNLOADED, LOAD[1], False,
            vector_out(n),
        ),
        close=_close(m, joints["positions"], advance),
        pose=_pose(nq, own[0]),
        jacobian=all_of(entries.jacobian, vector(nq), False, rows_out(6, n)),
        condition=_condition(m, own[0]),
        side=_side(m),
        advance=advance,
        step=_step(m, packings, own),
        derivatives=_derivatives(m, packings, own),
    )  # fmt: skip


def _advance(own: list[Any], nq: int, n: int) -> Any:
    """Compile a function that displaces a configuration and restores loop closure."""

    def advance_in(packing: Any) -> Any:
        find_displaced = marshal(entries.displace, *packing, vector_out(nq), vector(n), CLOSED)

        @inner
        def advance_once(q: Any, displacement: Any, out: Any) -> bool:
            copy_numbers(q, nq, out)
            return bool(0.0 <= find_displaced(out, displacement) <= ACCEPTED)

        return advance_once

    return reduce(_either, [advance_in(packing) for packing in own])


def _close(m: ClosedLoop, positions: Any, advance: Any) -> Any:
    """Compile a function that computes a configuration from driven-joint positions."""
    n, nq = len(m.joint_names), len(m.home)
    wraps = motions.wrapping_driven(m)
    at_wraps, turning = address_of(np.array(wraps, dtype=np.float64)), any(wraps)

    @inner
    def close(target: Any, q: Any) -> bool:
        moved, by = stack(1, nq), stack(1, n)
        positions(q, address(by))
        for i in range(n):
            by[0, i] = target[i] - by[0, i]
            if turning and at_wraps()[i] != 0.0:
                by[0, i] = shortest_turn(by[0, i])
        if not advance(q, address(by), address(moved)):
            return False
        copy_numbers(moved[0], nq, q)
        return True

    return close


def _pose(nq: int, packing: Any) -> Any:
    """Compile a function that computes the pose of the tip."""
    find_pose = marshal(entries.tip_pose, *packing, vector(nq), vector_out(7))

    @inner
    def pose(q: Any, out: Any) -> bool:
        find_pose(q, out)
        return are_finite(q, nq)

    return pose


def _condition(m: ClosedLoop, packing: Any) -> Any:
    """Compile a function for the maximum of `motion_condition` and `force_condition`."""
    find_conditions = marshal(
        condition_numbers, *packing, *map(constant, m.solver.comparable), NUMBER,
        ArraySpec(MATRIX, (1, len(m.home))), rows_out(1, 2),
    )  # fmt: skip

    @inner
    def condition(q: Any, length: float) -> float:
        found = stack(1, 2)
        find_conditions(length, q, found)
        return max(found[0, 0], found[0, 1]) if found[0, 0] >= 0.0 else -1.0

    return condition


def _side(m: ClosedLoop) -> Any:
    """Compile a function whose result changes sign at type 2 singularities."""
    if m.solver.side_arguments is None:
        return one_side
    plan, numbers, _, _, rows, passive = map(constant, m.solver.side_arguments)
    configuration = ArraySpec(MATRIX, (1, len(m.home)))
    find_sides = marshal(side_signs, plan, numbers, rows, passive, configuration, vector_out(1))

    @inner
    def side(q: Any) -> float:
        found = stack(1, 1)
        find_sides(q, found)
        return float(found[0, 0])

    return side


def _smooth(m: ClosedLoop, packings: Sequence[PackedMechanism]) -> list[PackedMechanism]:
    return [each.without_dry_friction if m.solver.friction.is_dry else each for each in packings]


def _step(m: ClosedLoop, packings: Sequence[PackedMechanism], own: list[Any]) -> Any:
    """Compile the simulation step of a closed loop, `KindFunctions.step`."""
    plants = _smooth(m, packings)
    if m.drives.elasticity is not None:
        plants = [each.without_dry_friction for each in packings_over_travel(m._rotorless)]
    steps = [
        step_of(m, KERNELS, tuple(map(constant, each.given)), one + one)
        for one, each in zip(own, plants, strict=True)
    ]
    return reduce(_either_step, steps)


def _derivatives(m: ClosedLoop, packings: Sequence[PackedMechanism], own: list[Any]) -> Any:
    """Compile the function that computes the dynamics derivatives.

    The function returns False if passive joints have dry friction.
    """
    n, nq, known = len(m.joint_names), len(m.home), m.solver.derivatives
    has_derivatives = known is not None
    further = known.numbers[2:] if known else (np.zeros(m.solver.tree.rates), np.zeros((0, 1)))
    find_derivatives = reduce(_either, [
        marshal(
            derivatives, constant(each.plan), numbers, *map(constant, further), row(nq), row(n),
            row(n), row(n), *LOAD_ROW, NUMBER, rows_out(1, 3 * n * n),
        )
        for each, (_, numbers) in zip(_smooth(m, packings), own, strict=True)
    ])  # fmt: skip

    @inner
    def differentiate(
        q: Any, v: Any, a: Any, efforts: Any, wrench: Any, base: Any, forward: bool, out: Any
    ) -> bool:
        return bool(
            has_derivatives and find_derivatives(q, v, a, efforts, wrench, base, forward, out)
        )

    return differentiate


def _either(first: Any, second: Any) -> Any:
    """Compile a function that calls `second` if `first` fails."""

    @inner
    def find(*given: Any) -> bool:
        return bool(first(*given)) or bool(second(*given))

    return find


def _either_step(first: Any, second: Any) -> Any:
    """Compile a simulation step that calls the step `second` if the step `first` fails."""

    @inner
    def step(*given: Any) -> int:
        status: int = first(*given)
        if status == NO_RESULT:
            status = second(*given)
        return status

    return step


def _refuse(m: ClosedLoop) -> None:
    """Reject mechanisms that cannot be exported.

    Raises:
        ModelError: the mechanism cannot be exported; the message names the reason.
    """
    if not m.solver.drives_free:
        raise ModelError(
            f"{m.name} cannot be exported: its driven joints {', '.join(m.joint_names)} are not "
            f"its independent joints {', '.join(m.independent_joints)}; closed loops need as many "
            "motors as degrees of freedom, at the independent joints"
        )
    head = m.structure.packed.head
    scratch = layout.BODY_SIZE + max(6 * head["free"], layout.COMPOSITE) + 7
    if (head["bodies"] + 1 + head["rates"]) * scratch + 7 * head["widest"] >= entries.MOST:
        raise ModelError(f"{m.name} cannot be exported: it has too many bodies and loops")
