# SPDX-License-Identifier: Apache-2.0

"""Compiled equations of a pendulum on a cart.

The packed mechanism is a matrix (1, 5) of mass of the cart [kg], mass of the bob [kg], length [m],
further inertia of the bob about its own axis [kg m^2] and damping of the slide [N s/m]; and gravity
(3,). The functions that are `inner` take a state of floats, or eight states in lanes.
"""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.dynamics.kernels.integration import OK
from robodyn.dynamics.kernels.joint_simulation import (
    JointEquations,
    JointMemory,
    joint_positions,
    loop_functions,
    mass_matrix_rows,
)
from robodyn.dynamics.kernels.lanes import entry_makers
from robodyn.dynamics.kernels.simulation_entries import lane_entries, loop_entries
from robodyn.dynamics.kernels.state import state_without_load
from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.tables import table_of
from robodyn.numerics.trigonometry import sine_cosine

BASE_MOVES: Final = 1
NO_INERTIA: Final = 2


# -- equations


@inner
def terms(cart: Any, state: Any) -> Any:
    """Return the mass matrix (3 entries), the bias, and the efforts equivalent to the wrench."""
    (numbers, gravity), rate = cart, state.rates
    mass, bob, length = numbers[0, 0], numbers[0, 1], numbers[0, 2]
    s, c = sine_cosine(state.q[1])
    M = mass + bob + 0.0 * c, bob * length * c, bob * length * length + numbers[0, 3] + 0.0 * c
    along = numbers[0, 4] * rate[0] - bob * length * s * rate[1] * rate[1] - M[0] * gravity[0]
    about = 0.0 * rate[1] - bob * length * (gravity[0] * c + gravity[2] * s)
    pushed, turned = 0.0 * c, 0.0 * c
    if state.contact:
        w = state.wrench
        pushed, turned = w[0] + 0.0 * c, length * (c * w[0] + s * w[2]) - w[4]
    return M, (along, about), (pushed, turned)


@inner
def find_efforts(cart: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write M a + h - J' w."""
    if state.moves:
        return BASE_MOVES
    M, h, w = terms(cart, state)
    a = state.acceleration_or_effort
    found[0] = M[0] * a[0] + M[1] * a[1] + h[0] - w[0]
    found[1] = M[1] * a[0] + M[2] * a[1] + h[1] - w[1]
    return OK


@inner
def find_accelerations(cart: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write M^-1 (efforts - h + J' w)."""
    if state.moves:
        return BASE_MOVES
    M, h, w = terms(cart, state)
    found[0], found[1] = solve(
        M,
        state.acceleration_or_effort[0] - h[0] + w[0],
        state.acceleration_or_effort[1] - h[1] + w[1],
    )
    return OK


@inner
def solve(M: Any, along: Any, about: Any) -> Any:
    """Return M^-1 times a vector."""
    determinant = M[0] * M[2] - M[1] * M[1]
    return (M[2] * along - M[1] * about) / determinant, (M[0] * about - M[1] * along) / determinant


@inner
def find_pose(cart: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write the pose of the bob."""
    x, length = state.q[0], cart[0][0, 2]
    s, c = sine_cosine(state.q[1])
    half = sine_cosine(-0.5 * state.q[1])
    none = 0.0 * x
    found[0], found[1], found[2] = x + length * s, none, -length * c
    found[3], found[4], found[5], found[6] = none, half[0], none, half[1]
    return OK


@inner
def find_jacobian(cart: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write the Jacobian (6, 2) of the bob by rows."""
    s, c = sine_cosine(state.q[1])
    for k in range(12):
        found[k] = 0.0 * c
    found[0], found[9] = 1.0 + 0.0 * c, 0.0 * c - 1.0
    found[1], found[5] = cart[0][0, 2] * c, cart[0][0, 2] * s
    return OK


@inner
def find_derivatives(cart: Any, state: Any, forward: bool, s: Any, found: Any) -> int:
    """Write the derivatives by q, qd, and qdd or efforts, each (2, 2) by rows."""
    if state.moves:
        return BASE_MOVES
    (numbers, gravity), a, rate = cart, state.acceleration_or_effort, state.rates
    M = terms(cart, state)[0]
    s, c = sine_cosine(state.q[1])
    length, moment = numbers[0, 2], numbers[0, 1] * numbers[0, 2]
    none = 0.0 * c
    found[0], found[2], found[6], found[7] = none, none, none, none
    found[1] = -moment * (s * a[1] + c * rate[1] * rate[1])
    found[3] = -moment * (s * a[0] - gravity[0] * s + gravity[2] * c)
    if state.contact:
        found[3] = found[3] - length * (c * state.wrench[2] - s * state.wrench[0])
    found[4], found[5] = numbers[0, 4] + none, -2.0 * moment * s * rate[1]
    found[8], found[9], found[10], found[11] = M[0] + none, M[1], M[1], M[2]
    if forward:
        for k in (0, 1, 4, 5):
            found[k], found[k + 2] = solve(M, -found[k], -found[k + 2])
        found[8], found[10] = solve(M, 1.0 + none, none)
        found[9], found[11] = solve(M, none, 1.0 + none)
    return OK


@inner
def condition_number(numbers: Any, q: Any, length: float) -> float:
    """Return the ratio of the singular values of the Jacobian, its angular rows times `length`."""
    long, c = numbers[0, 2], sine_cosine(q[1])[1]
    half = 0.5 * (1.0 + long * long + length * length)
    product = long * long * (1.0 - c * c) + length * length
    largest = half + math.sqrt(half * half - product)
    return largest / math.sqrt(product)


@inner
def joints(cart: Any) -> int:
    """Return the number of joints."""
    return 2


@inner
def write_mass_matrix(cart: Any, q: Any, s: Any, out: Any) -> None:
    """Write M."""
    M = terms(cart, state_without_load(q, q, q))[0]
    for i in range(2):
        for j in range(2):
            out[i, j] = M[i + j] + 0.0 * q[0]


@inner
def damping(cart: Any, joint: int) -> Any:
    """Return the viscous damping of a joint."""
    return cart[0][0, 4] if joint == 0 else 0.0 * cart[0][0, 4]


@inner
def unpack(structure: Any, numbers: Any) -> Any:
    """Return eight mechanisms from rows of lanes: the packed matrix, then gravity."""
    table = table_of(numbers, 1, 5)
    return table, table[1]


@inner
def shapes(cart: Any, other: Any) -> Any:
    """Return the shapes of the scratch memory."""
    return JointMemory((4, 2), (2, 2), (2, 2), (2, 2))


EQUATIONS = JointEquations(
    joints, find_efforts, find_accelerations, write_mass_matrix, damping, NO_INERTIA
)

# -- many states
of_configurations, of_states, of_derivatives = entry_makers(__name__)
inverse_dynamics = of_states("inverse_dynamics", find_efforts)
forward_dynamics = of_states("forward_dynamics", find_accelerations)
mass_matrix = of_configurations("mass_matrix", mass_matrix_rows(EQUATIONS))
body_pose = of_configurations("body_pose", find_pose)
jacobian = of_configurations("jacobian", find_jacobian)
derivatives = of_derivatives("derivatives", find_derivatives)

# -- simulation
FUNCTIONS = loop_functions(EQUATIONS)
simulate, simulate_hybrid, _ = loop_entries(__name__, FUNCTIONS, joint_positions, shapes)
advance, advance_hybrid = lane_entries(__name__, FUNCTIONS, unpack, shapes)
