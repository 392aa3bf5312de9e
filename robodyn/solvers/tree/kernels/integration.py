# SPDX-License-Identifier: Apache-2.0

"""Simulation loop of mechanisms with closed loops.

Its velocities are those of the plan's independent coordinates; its configurations are closed at
every stage. If these coordinates become unsuitable, the loop stops with a status, and the caller
continues in other coordinates. The simulated mechanism is a record of `layout`. For stick-slip
steps, it has no dry friction itself; the friction of each joint is a row of a separate table, and
acts on rates of the tree.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels import control_laws, sticking
from robodyn.dynamics.kernels.end_stops import add_end_stops, joint_efforts
from robodyn.dynamics.kernels.simulation import Functions
from robodyn.dynamics.kernels.simulation_entries import lane_entries, loop_entries
from robodyn.dynamics.kernels.state import state_with_load
from robodyn.numerics.compiler import inner, noinline
from robodyn.numerics.simd.lanes import any_of, to_index
from robodyn.numerics.turns import shortest_turn
from robodyn.numerics.vectors import clear, copy
from robodyn.solvers.tree.kernels import distribution, dynamics, layout, newton, tree

# Residual of loops after every step, relative to the size, as far as rounding permits.
TARGET: Final = 1e-14
CLOSED: Final = 1e-11
# Residual below which one Newton step leads to rounding, so that the result is not evaluated.
ALMOST_CLOSED: Final = 1e-9
MOST_STEPS: Final = 8


class LoopControl(NamedTuple):
    """Controller's model of the mechanism, in two sets of independent coordinates.

    Attributes:
        m: model in the coordinates of the control law.
        own: the same model in the coordinates of the simulated mechanism.
    """

    m: Any
    own: Any


class Memory(NamedTuple):
    """Preallocated scratch arrays for the control law and the end stops.

    Attributes:
        held, places, speeds: (driven,) efforts plus end-stop efforts, positions and rates of the
            driven joints.
        M, L, slopes: (free, free), (driven, free) and (driven, 2) for `end_stops.add_end_stops`.
        moving, corrected, error, rates_in_model: (free,) for the control law.
    """

    held: Any
    places: Any
    speeds: Any
    M: Any
    L: Any
    slopes: Any
    moving: Any
    corrected: Any
    error: Any
    rates_in_model: Any


@inner
def memory_shapes(m: Any) -> Any:
    """Return the shapes of the `Memory` arrays for a mechanism."""
    n, free = m.driven, m.free
    return Memory(n, n, n, (free, free), (n, free), (n, 2), free, free, free, free)


@noinline
def command(control: Any, q: Any, rates: Any, row: Any, load: Any, work: Any, out: Any) -> bool:
    """Write a control law's efforts (driven,) to `out`; return whether they exist.

    `row` contains the law's reference motion, or the given efforts; `load` is the motion of the
    base, `work` is scratch. If the efforts do not exist, the caller computes them in Python.
    """
    law, kp, kv = control.law, control.kp, control.kv
    if law == control_laws.GIVEN:
        for j in range(out.shape[0]):
            out[j] = row[j]
        return True
    m, own = control.model
    s, w = work
    clear(w.moving)
    clear(w.corrected)
    if law == control_laws.COMPUTED_TORQUE:
        if not convert_rates(m, own, q, rates, s, w.rates_in_model):
            return False
        copy(w.rates_in_model, w.moving)
        for k in range(m.free):
            place = m.integers[m.at_free_places + k]
            w.error[k] = row[place] - q[place]
            if m.integers[m.at_free_wraps + k] != 0:
                w.error[k] = shortest_turn(w.error[k])
        n, wide = m.free, m.positions
        control_laws.corrected_acceleration(
            kp, kv, w.error, w.rates_in_model, row[wide : wide + n], row[wide + n :], w.corrected
        )
    state = state_with_load(q, w.moving, w.corrected, load, False)
    if distribution.limited_efforts(m, state, True, s, out) != layout.OK:
        return False
    if law == control_laws.COMPUTED_TORQUE:
        control_laws.add_planned(kp, row, m.positions + 2 * m.free, w.error, out)
    return True


@inner
def convert_rates(m: Any, own: Any, q: Any, rates: Any, s: Any, out: Any) -> bool:
    """Convert rates from the independent coordinates of one model to those of another.

    `rates` (free,) are those of the packed model `own`; the rates of the coordinates of `m`, at the
    configuration `q`, are written to `out` (free,). Return False if the closure equations at `q`
    cannot be eliminated.
    """
    alike = True
    for k in range(m.free):
        alike = alike and m.integers[m.at_free + k] == own.integers[own.at_free + k]
    if alike:
        copy(rates, out)
        return True
    if dynamics.prepare(own, q, True, s) != layout.OK:
        return False
    dynamics.dependent_rates(own, rates, s)
    for k in range(m.free):
        out[k] = s.v[m.integers[m.at_free + k]]
    return True


@inner
def is_steep(m: Any, S: Any) -> bool:
    """Return whether the independent coordinates are ill-conditioned.

    They are if an entry of the tangent `S`, the rate of a joint per independent rate, is too large
    or NaN.
    """
    steep = S[0, 0] != S[0, 0]
    for j in range(m.rates):
        for k in range(m.free):
            steep = steep | ~(abs(S[j, k]) <= m.numbers[m.at_steep])
    return bool(any_of(steep))


@inner
def held_efforts(plant: Any, q: Any, effort: Any, M: Any, work: Any, slopes: Any) -> bool:
    """Write the drives' efforts plus end-stop efforts to `held` (driven,) in `work`.

    `effort` (driven,) are those of the drives, `M` is the mass matrix. Call it after `start`.
    Return False if the end-stop efforts have no solution.
    """
    m = plant.mechanism
    s, w = work
    for i in range(m.driven):
        w.places[i] = q[m.integers[m.at_places + i]]
        w.speeds[i] = s.v[m.integers[m.at_driven + i]]
    if not joint_efforts(plant, effort, w.places, w.speeds, w.held, slopes):
        return True
    for k in range(m.free):
        for j in range(k + 1):
            w.M[k, j] = M[k, j]
        for i in range(m.driven):
            w.L[i, k] = s.S[m.integers[m.at_driven + i], k]
    return bool(add_end_stops(plant, w.places, w.speeds, w.M, w.L, w.held, slopes))


@noinline
def start(m: Any, state: Any, s: Any, M: Any) -> int:
    """Compute the mass matrix and the bias efforts, which do not depend on the drives.

    The mass matrix is written to `M` (free, free), the bias efforts to `s.u` (free,). Return OK, or
    the status code of a failure; BAD_COORDINATES requires other independent coordinates.
    """
    status = dynamics.mass_matrix(m, state.q, True, s, M)
    if status == layout.OK:
        status = dynamics.bias_efforts(m, state, s)
    if status == layout.OK and is_steep(m, s.S):
        return layout.BAD_COORDINATES
    return int(status)


@inner
def accelerate(plant: Any, state: Any, work: Any, rate: Any, change: Any) -> int:
    """Write time derivatives of configuration and velocity to `rate` and `change`.

    They are (positions,) and (free,); efforts, wrench and base motion are those of `state`. Floats
    and SIMD lanes are supported. Return OK, or the status code of a failure.
    """
    m = plant.mechanism
    s, w = work
    status = start(m, state, s, s.M)
    if status != layout.OK:
        return int(status)
    if not held_efforts(plant, state.q, state.acceleration_or_effort, s.M, work, w.slopes):
        return layout.SINGULAR
    tree.configuration_rate(m, state.q, s.B, s.v, rate)
    return dynamics.solve_accelerations(m, w.held, s, change)


@inner
def to_manifold(plant: Any, q: Any, rates: Any, work: Any, at_stage: bool) -> int:
    """Close the loops of `q` in place; at a stage of a time step, only if necessary.

    The independent coordinates stay constant. At a stage, closing is necessary if some of the
    closures' equations depend on others, as these have no solution for open loops. Return OK, or
    the status code of a failure.
    """
    m = plant.mechanism
    if at_stage and m.pivots == m.equations:
        tree.normalize(m, q)
        return layout.OK
    return close(m, q, work[0])


@noinline
def close(m: Any, q: Any, s: Any) -> int:
    """Close the loops of a configuration `q` (positions,) in place.

    The independent coordinates stay constant. A configuration that is not finite stays unchanged,
    with the status OK. Return OK, or BAD_PIVOTS if the loops do not close.
    """
    finite = 0.0 * q[0]
    for j in range(1, m.positions):
        finite = finite + 0.0 * q[j]
    if not any_of(finite == 0.0):
        return layout.OK  # the loop over the steps detects it
    tree.normalize(m, q)
    left = newton.close(m, q, TARGET, MOST_STEPS, ALMOST_CLOSED, s)
    return layout.BAD_PIVOTS if any_of(~((left >= 0.0) & (left <= CLOSED))) else layout.OK


@inner
def equations(plant: Any, state: Any, with_damping: bool, work: Any, out: Any) -> int:
    """Write the equations of motion for the simulation to `out`.

    Floats and SIMD lanes are supported. The fields of `out`, among them mass matrix and forces, are
    those of `dynamics.kernels.simulation`; D is written only if `with_damping`. Return OK, or the
    status code of a failure.
    """
    m, friction = plant.mechanism, plant.friction
    s, w = work
    status = start(m, state, s, out.M)
    if status != layout.OK:
        return int(status)
    if not held_efforts(plant, state.q, state.acceleration_or_effort, out.M, work, out.stops):
        return layout.SINGULAR
    dynamics.generalized_efforts(m, s.S, w.held, out.force)
    for k in range(m.free):
        out.force[k] = out.force[k] - s.u[k]
    for i in range(friction.shape[0]):
        rate, factor = to_index(friction[i, sticking.RATE]), friction[i, sticking.FACTOR]
        out.drift[i] = factor * s.a[rate]
        for k in range(m.free):
            out.L[i, k] = factor * s.S[rate, k]
    if with_damping:
        damping(m, s.S, out.D)
    return layout.OK


@inner
def damping(m: Any, S: Any, D: Any) -> None:
    """Write the lower triangle of the joints' viscous damping matrix to `D` (free, free)."""
    for j in range(m.free):
        for k in range(j + 1):
            D[j, k] = 0.0
    for i in range(1, m.bodies + 1):
        link = layout.body_of(m, i)
        if link.kind != layout.FLOATING and any_of(link.damping > 0.0):
            strength = link.damping * link.factor * link.factor
            for j in range(m.free):
                for k in range(j + 1):
                    D[j, k] = D[j, k] + strength * S[link.rate, j] * S[link.rate, k]


@inner
def configuration_rate(plant: Any, q: Any, rates: Any, work: Any, out: Any) -> None:
    """Write the time derivative of a configuration `q` to `out` (positions,).

    `rates` (free,) are those of the independent coordinates. Call it after `equations`, whose
    elimination of the closure equations it uses.
    """
    m, s = plant.mechanism, work[0]
    dynamics.dependent_rates(m, rates, s)
    tree.configuration_rate(m, q, s.B, s.v, out)


@inner
def sizes(plant: Any) -> tuple[int, int, int]:
    """Return the lengths of configuration, independent rates and driven efforts."""
    m = plant.mechanism
    return m.positions, m.free, m.driven


@inner
def joint_positions(plant: Any, q: Any, out: Any) -> None:
    """Write the positions of the driven joints in `q` to `out` (driven,)."""
    m = plant.mechanism
    for i in range(m.driven):
        out[i] = q[m.integers[m.at_places + i]]


@inner
def mechanism_of(arrays: Any) -> Any:
    """Return the record of a mechanism from its packed arrays `plan` and `numbers`."""
    return layout.mechanism(arrays[0], arrays[1])


@inner
def models_of(arrays: Any) -> LoopControl:
    """Create the controller's `LoopControl` from the packed arrays of its two models."""
    return LoopControl(mechanism_of(arrays[:2]), mechanism_of(arrays[2:]))


@inner
def shapes(m: Any, known: Any) -> Any:
    """Return the shapes of the scratch arrays for the mechanism and the controller.

    The two may eliminate in different orders, which need different amounts of memory.
    """
    bodies, rates, rows, entries = m.bodies, m.rates, m.equations, m.entries
    for other in (known.m, known.own):
        bodies, rates = max(bodies, other.bodies), max(rates, other.rates)
        rows, entries = max(rows, other.equations), max(entries, other.entries)
    scratch = layout.shapes_for(m.positions, m.free, bodies, rates, rows, entries)
    return scratch, memory_shapes(m)


@inner
def lane_shapes(plan: Any, numbers: Any) -> Any:
    """Return the shapes of the scratch arrays for eight mechanisms in SIMD lanes."""
    m = layout.mechanism(plan, numbers)
    return layout.shapes(m), memory_shapes(m)


@inner
def lanes_fit(plan: Any, numbers: Any) -> bool:
    """Return whether the scratch arrays for eight mechanisms fit on the stack."""
    return layout.fits(layout.mechanism(plan, numbers))


FUNCTIONS = Functions(
    command, accelerate, to_manifold, equations, configuration_rate, sizes, layout.SINGULAR
)
simulate, simulate_hybrid, simulate_elastic = loop_entries(
    __name__, FUNCTIONS, joint_positions, shapes, mechanism_of, models_of
)
advance, advance_hybrid = lane_entries(
    __name__, FUNCTIONS, layout.mechanism, lane_shapes, lanes_fit
)
