# SPDX-License-Identifier: Apache-2.0

"""Simulation loop of serial arms.

The simulated arm and the controller's model are each passed as (chain, gravity). For stick-slip
steps, the simulated arm has no dry friction itself; the friction of each joint is a row of a
separate table.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels import joint_simulation
from robodyn.dynamics.kernels.base_motion import base_of
from robodyn.dynamics.kernels.integration import OK
from robodyn.dynamics.kernels.simulation_entries import lane_entries, loop_entries
from robodyn.numerics.array_arguments import borrowed_array
from robodyn.numerics.compiler import inner, noinline
from robodyn.numerics.simd.tables import table_of
from robodyn.solvers.serial.kernels.articulated import forward_dynamics
from robodyn.solvers.serial.kernels.composite import mass_matrix
from robodyn.solvers.serial.kernels.layout import (
    BODY_SIZE,
    DAMPING,
    FRAME_SIZE,
    LINK_SIZE,
    WORK_SIZE,
    WRAPS,
)
from robodyn.solvers.serial.kernels.newton_euler import newton_euler
from robodyn.solvers.serial.kernels.spatial import place

NO_INERTIA: Final = 1


class Scratch(NamedTuple):
    """Preallocated scratch arrays for the simulation of serial arms.

    Attributes:
        vectors: (4, n) rows for joint values.
        links, frames, bodies: a row of WORK_SIZE, FRAME_SIZE and BODY_SIZE per link; one more for
            `frames`.
        M, L, slopes: (n, n), (n, n) and (n, 2) for `end_stops.add_end_stops`.
    """

    vectors: Any
    links: Any
    frames: Any
    bodies: Any
    M: Any
    L: Any
    slopes: Any


@inner
def scratch_shapes(n: int) -> Any:
    """Return the shapes of the scratch arrays for n joints."""
    return Scratch(
        (4, n), (n, WORK_SIZE), (n + 1, FRAME_SIZE), (n, BODY_SIZE), (n, n), (n, n), (n, 2)
    )


@noinline
def carry(chain: Any, gravity: Any, state: Any, links: Any, out: Any) -> None:
    """Write joint efforts (n,) for a motion to `out`, by the Newton-Euler recursion.

    Motion, tip wrench and motion of the base are those of `state`; `links` is scratch. Floats and
    SIMD lanes are supported.
    """
    base = base_of(state.base, state.moves, gravity, abs(0.0 * gravity[0]))
    newton_euler(chain, base, state, links, out)


@inner
def joints(arm: Any) -> int:
    """Return the number of joints of a packed arm."""
    return int(arm[0].shape[0] - 1)


@inner
def place_links(arm: Any, q: Any, s: Any) -> None:
    """Write the link frames at configuration `q` (n,) to `s.frames`, base frame."""
    place(arm[0], q, s.frames)


@inner
def find_efforts(arm: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write joint efforts (n,) for a motion to `found`, by the Newton-Euler recursion.

    The recursion cannot fail: the returned status is always OK.
    """
    carry(arm[0], arm[1], state, s.links, found)
    return OK


@inner
def find_accelerations(arm: Any, state: Any, settings: Any, s: Any, found: Any) -> int:
    """Write the joint accelerations (n,) for efforts and a tip wrench to `found`.

    They are computed by the articulated-body algorithm. Call `place_links` before. Return a status
    code: OK, or NO_INERTIA if a joint has no inertia.
    """
    chain, gravity = arm
    base = base_of(state.base, state.moves, gravity, abs(0.0 * gravity[0]))
    q, qd, tau = state.q, state.rates, state.acceleration_or_effort
    solved = forward_dynamics(chain, s.frames, base, q, qd, tau, state.wrench, s.bodies, found)
    return OK if solved else NO_INERTIA


@inner
def find_mass_matrix(arm: Any, q: Any, s: Any, found: Any) -> None:
    """Write the arm's mass matrix (n, n) to `found`, by composite rigid bodies.

    Call `place_links` before.
    """
    mass_matrix(arm[0], s.frames, found)


@inner
def damping(arm: Any, joint: int) -> Any:
    """Return the viscous damping [N m s/rad or N s/m] of one joint of a packed arm."""
    return arm[0][joint + 1, DAMPING]


@inner
def is_continuous(arm: Any, joint: int) -> bool:
    """Return whether a joint is continuous, so that full turns make no difference."""
    return bool(arm[0][joint + 1, WRAPS] != 0.0)


@inner
def unpack(slides: Any, numbers: Any) -> Any:
    """Return views of the packed chains and gravity of eight arms, one per SIMD lane."""
    rows = borrowed_array(slides).shape[0]
    chain = table_of(numbers, rows, LINK_SIZE)
    return chain, chain[rows]


@inner
def shapes_of_arm(arm: Any, model: Any) -> Any:
    """Return the shapes of the scratch arrays for one arm, for allocation."""
    return scratch_shapes(joints(arm))


@inner
def shapes_of_arms(slides: Any, rows: Any) -> Any:
    """Return the shapes of the scratch arrays for eight arms, for allocation.

    `slides` (n + 1,) are the joint types, preceded by an entry for the base.
    """
    return scratch_shapes(borrowed_array(slides).shape[0] - 1)


EQUATIONS = joint_simulation.JointEquations(
    joints, find_efforts, find_accelerations, find_mass_matrix, damping, NO_INERTIA, place_links,
    is_continuous,
)  # fmt: skip
FUNCTIONS = joint_simulation.loop_functions(EQUATIONS)
simulate, simulate_hybrid, simulate_elastic = loop_entries(
    __name__, FUNCTIONS, joint_simulation.joint_positions, shapes_of_arm
)
advance, advance_hybrid = lane_entries(__name__, FUNCTIONS, unpack, shapes_of_arms)
