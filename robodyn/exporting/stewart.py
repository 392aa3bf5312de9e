# SPDX-License-Identifier: Apache-2.0

"""Functions of Stewart platforms for exported libraries."""

from __future__ import annotations

from typing import Any

from robodyn.exporting.kind_functions import (
    KindFunctions,
    copy_numbers,
    kind_functions_of,
    plant_model,
    step_of,
)
from robodyn.exporting.marshaling import (
    LOAD,
    LOAD_ROW,
    NUMBER,
    ArraySpec,
    constant,
    marshal,
    marshaler,
    row,
    rows_out,
    vector,
    vector_out,
)
from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.determinants import log_determinant
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.vectors import vector as three
from robodyn.solvers.stewart.kernels import lanes, single
from robodyn.solvers.stewart.kernels.derivatives import derivatives
from robodyn.solvers.stewart.kernels.forward_kinematics import platform_motion, solve_pose
from robodyn.solvers.stewart.kernels.integration import normalize
from robodyn.solvers.stewart.kernels.layout import OK, SMALLEST_LENGTH
from robodyn.solvers.stewart.kernels.leg import leg_geometry
from robodyn.solvers.stewart.kernels.single import is_pose
from robodyn.solvers.stewart.platform import StewartPlatform


@inner
def put_unit(q: Any, pose: Any) -> None:
    """Copy a pose (7,) to the address `pose`, with its quaternion normalized."""
    copy_numbers(q, 7, pose)
    normalize(pose)


@kind_functions_of.register
def _functions(m: StewartPlatform) -> KindFunctions:
    """Compile the `KindFunctions` of a platform."""
    lane_numbers, plant = constant(m.solver.lanes), constant(plant_model(m).solver.packed[0])
    q, state = vector(7), (vector(7), vector(6), vector(6))
    legs, _, steps, falling = map(constant, m.solver.derivatives.numbers)
    poses = _pose_functions()
    return KindFunctions(
        **poses,
        **_leg_functions(constant(m.solver.legs), poses["is_configuration"]),
        **_jacobian_functions(constant(m.solver.legs), constant(m.solver.body)),
        inverse=marshal(single.inverse_dynamics, lane_numbers, *state, *LOAD, False, vector_out(6)),
        forward=marshal(single.forward_dynamics, lane_numbers, *state, *LOAD, False, vector_out(6)),
        mass=marshal(single.mass_matrix, lane_numbers, q, False, rows_out(6, 6)),
        bias=marshal(single.bias, lane_numbers, *state[:2], LOAD[1], False, vector_out(6)),
        condition=marshal(single.condition_number, lane_numbers, q, NUMBER, False),
        step=step_of(m, m.solver.loop, (plant,), (lane_numbers,)),
        derivatives=marshal(
            derivatives, legs, constant(m.solver.body), steps, falling, row(7), *(row(6),) * 3,
            *LOAD_ROW, NUMBER, rows_out(1, 108),
        ),
    )  # fmt: skip


def _pose_functions() -> dict[str, Any]:
    """Compile the functions of `KindFunctions` that need only the pose, not the legs."""
    q = vector(7)
    is_configuration = marshal(is_pose, q, borrowed=True)
    find_difference = marshal(single.pose_difference, q, q, vector_out(6))
    find_advanced = marshal(single.advanced_pose, q, vector(6), vector_out(7))

    @inner
    def pose_of(q: Any, out: Any) -> bool:
        pose = stack(1, 7)[0]
        put_unit(q, pose)
        copy_numbers(pose, 7, out)
        return bool(is_configuration(q))

    @inner
    def jacobian(q: Any, out: Any) -> bool:
        for i in range(36):
            out[i] = 1.0 if i % 7 == 0 else 0.0
        return bool(is_configuration(q))

    @inner
    def difference(q: Any, goal: Any, out: Any) -> None:
        start, end = stack(1, 7)[0], stack(1, 7)[0]
        put_unit(q, start)
        put_unit(goal, end)
        find_difference(start, end, out)

    @inner
    def advance(q: Any, displacement: Any, out: Any) -> bool:
        pose = stack(1, 7)[0]
        put_unit(q, pose)
        find_advanced(pose, displacement, out)
        return True

    return {
        "is_configuration": is_configuration,
        "pose": pose_of,
        "jacobian": jacobian,
        "difference": difference,
        "advance": advance,
    }


def _leg_functions(legs: ArraySpec, is_configuration: Any) -> dict[str, Any]:
    """Compile the functions of `KindFunctions` for forward and inverse kinematics."""
    q = vector(7)
    find_pose = marshal(solve_pose, legs, vector(6), q, borrowed=True)
    find_motion = marshal(
        platform_motion, legs, q, vector(6), vector(6), rows_out(6, 6), vector(6), vector(6),
        borrowed=True,
    )  # fmt: skip
    marshal_legs = marshaler(legs, borrowed=True)

    @inner
    def positions(q: Any, out: Any) -> bool:
        if not is_configuration(q):
            return False
        pose, all_legs = stack(1, 7)[0], marshal_legs(())[0]
        put_unit(q, pose)
        X, Y, Z = rotation_columns(pose)
        for i in range(6):
            out[i] = leg_geometry(all_legs[i], three(pose, 0), X, Y, Z).length
            if not out[i] > SMALLEST_LENGTH:
                return False
        return True

    @inner
    def close(lengths: Any, q: Any) -> bool:
        pose = stack(1, 7)[0]
        put_unit(q, pose)
        for i in range(6):
            if not lengths[i] > 0.0:
                return False
        if find_pose(lengths, pose)[0] != OK:
            return False
        copy_numbers(pose, 7, q)
        return True

    @inner
    def motion(q: Any, rates: Any, changes: Any, twist: Any, accel: Any) -> bool:
        pose = stack(1, 7)[0]
        put_unit(q, pose)
        return bool(find_motion(pose, rates, changes, stack(6, 6), twist, accel) == OK)

    @inner
    def velocity(q: Any, rates: Any, out: Any) -> bool:
        return motion(q, rates, rates, out, stack(1, 6))

    @inner
    def acceleration(q: Any, rates: Any, changes: Any, out: Any) -> bool:
        return motion(q, rates, changes, stack(1, 6), out)

    return {
        "positions": positions,
        "close": close,
        "velocity": velocity,
        "acceleration": acceleration,
    }


def _jacobian_functions(legs: ArraySpec, body: ArraySpec) -> dict[str, Any]:
    """Compile the functions of `KindFunctions` that use the Jacobian of the legs."""
    find_jacobian = marshal(lanes.jacobian, legs, body, row(7), rows_out(1, 36))

    @inner
    def rates(q: Any, v: Any, out: Any) -> bool:
        H = stack(6, 6)
        if not find_jacobian(q, H):
            return False
        for i in range(6):
            out[i] = H[0, i] * v[0]
            for j in range(1, 6):
                out[i] += H[j, i] * v[j]
        return True

    @inner
    def side(q: Any) -> float:
        H = stack(6, 6)
        return float(log_determinant(H, 6)[0]) if find_jacobian(q, H) else 0.0

    return {"rates": rates, "side": side}
