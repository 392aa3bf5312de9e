# SPDX-License-Identifier: Apache-2.0

"""The functions that the loop and steps of `common.kernels` need for a serial arm."""

from __future__ import annotations

from typing import Any, Final

from robodyn.mechanisms.common.kernels.control_laws import (
    COMPUTED_TORQUE,
    GIVEN,
    add_planned,
    corrected_acceleration,
)
from robodyn.mechanisms.common.kernels.end_stops import joint_effort
from robodyn.mechanisms.common.kernels.integration import (
    OK,
    ROUGH,
    WATCHED,
    classical_step,
    run,
)
from robodyn.mechanisms.common.kernels.rough_step import rough_step
from robodyn.mechanisms.serial.kernels.articulated import forward_dynamics
from robodyn.mechanisms.serial.kernels.composite import mass_matrix
from robodyn.mechanisms.serial.kernels.layout import BODY_SIZE, DAMPING, FRAME_SIZE, WORK_SIZE
from robodyn.mechanisms.serial.kernels.newton_euler import newton_euler
from robodyn.mechanisms.serial.kernels.spatial import place
from robodyn.numerics.array_arguments import stack, taken
from robodyn.numerics.compiler import apart, batch_entry, inner
from robodyn.numerics.vectors import clear, copy

NO_INERTIA: Final = 1


@apart
def carry(
    chain: Any, gravity: Any, q: Any, qd: Any, qdd: Any, wrench: Any, contact: bool, links: Any,
    out: Any,
) -> None:  # fmt: skip
    """Efforts (n,) of inverse dynamics."""
    newton_euler(chain, gravity, q, qd, qdd, wrench, contact, links, out)


@inner
def command(
    model: Any, law: int, kp: Any, kv: Any, q: Any, qd: Any, row: Any, work: Any, out: Any
) -> bool:
    """Efforts (n,) that a law of `control_laws` commands; `model` is (chain, gravity)."""
    n = q.shape[0]
    if law == GIVEN:
        for j in range(n):
            out[j] = row[j]
        return True
    chain, gravity = model
    vectors, links, _, _ = work
    moving, corrected, error = vectors[0], vectors[1], vectors[2]
    clear(moving)
    clear(corrected)
    if law == COMPUTED_TORQUE:
        for j in range(n):
            moving[j] = qd[j]
            error[j] = row[j] - q[j]
        corrected_acceleration(kp, kv, error, qd, row[n : 2 * n], row[2 * n :], corrected)
    carry(chain, gravity, q, moving, corrected, qd, False, links, out)
    if law == COMPUTED_TORQUE:
        add_planned(kp, row, 3 * n, error, out)
    return True


@inner
def derivative(
    plant: Any, q: Any, qd: Any, tau: Any, wrench: Any, work: Any, rate: Any, acceleration: Any
) -> int:
    """Rates of q and qd.

    `plant` is (chain, gravity, table of the joints, friction, options, end stops).
    """
    chain, gravity, limits, _, _, stops = plant
    vectors, _, frames, bodies = work
    effort = vectors[3]
    for i in range(q.shape[0]):
        rate[i] = qd[i]
        effort[i] = joint_effort(tau[i], q[i], qd[i], limits[i], stops)
    place(chain, q, frames)
    if forward_dynamics(chain, frames, gravity, qd, effort, wrench, bodies, acceleration):
        return OK
    return NO_INERTIA


@inner
def to_manifold(plant: Any, q: Any, qd: Any, work: Any) -> int:
    """Does nothing: every q is a valid configuration."""
    return OK


@inner
def equations(
    plant: Any,
    q: Any,
    qd: Any,
    tau: Any,
    wrench: Any,
    damped: bool,
    work: Any,
    M: Any,
    D: Any,
    L: Any,
    force: Any,
    drift: Any,
) -> int:
    """As `common.kernels.rough_step` says.

    The plant's chain is without dry friction, and every joint has a row of friction.
    """
    chain, gravity, limits, _, _, stops = plant
    vectors, links, frames, _ = work
    still, bias = vectors[0], vectors[1]
    n = q.shape[0]
    place(chain, q, frames)
    mass_matrix(chain, frames, M)
    clear(still)
    carry(chain, gravity, q, qd, still, wrench, True, links, bias)
    for i in range(n):
        force[i] = joint_effort(tau[i], q[i], qd[i], limits[i], stops) - bias[i]
        drift[i] = 0.0
        for j in range(n):
            L[i, j] = 1.0 if i == j else 0.0
            D[i, j] = chain[i + 1, DAMPING] if i == j else 0.0
    return OK


@inner
def configuration_rate(plant: Any, q: Any, qd: Any, work: Any, out: Any) -> None:
    """The rate of q is qd."""
    copy(qd, out)


@inner
def smooth_step(
    plant: Any, model: Any, control: Any, rows: Any, load: Any, h: float, instant: bool,
    record: Any, work: Any, scratch: Any, here: Any, moving: Any, efforts: Any,
) -> int:  # fmt: skip
    """A step of an arm without dry friction."""
    return classical_step(
        command, derivative, to_manifold, plant, model, control, rows, load, h, instant, record,
        work, scratch, here, moving, efforts,
    )  # fmt: skip


@inner
def sticking_step(
    plant: Any, model: Any, control: Any, rows: Any, load: Any, h: float, instant: bool,
    record: Any, work: Any, scratch: Any, here: Any, moving: Any, efforts: Any,
) -> int:  # fmt: skip
    """A step of an arm with dry friction, or strong damping."""
    return rough_step(
        command, equations, configuration_rate, to_manifold, NO_INERTIA, plant[3],
        plant[4][WATCHED] != 0.0, plant, model, control, rows, load, h, instant, record, work,
        scratch, here, moving, efforts,
    )  # fmt: skip


@apart
def run_sticking(
    plant: Any, model: Any, work: Any, arrays: Any, n: int, law: int, first: int, last: int
) -> tuple[int, int, int]:
    """The loop with joints that stick and slide."""
    scratch = (
        stack(4, n), stack(4, n), stack(2, n), stack(2, n), stack(n, n), stack(n, n), stack(n, n),
        stack(n, n), stack(n, n), stack(n, n), stack(n, n), stack(3, n), stack(10, n),
        stack(2, max(arrays[3].shape[2], 6)),
    )  # fmt: skip
    return run(sticking_step, plant, model, work, scratch, n, arrays, law, first, last)


@batch_entry
def simulate(
    plant: Any, model: Any, arrays: Any, law: int, first: int, last: int
) -> tuple[int, int, int]:
    """Run the loop for calls from Python."""
    plant, model, arrays = taken(plant), taken(model), taken(arrays)
    n = plant[0].shape[0] - 1
    work = stack(4, n), stack(n, WORK_SIZE), stack(n + 1, FRAME_SIZE), stack(n, BODY_SIZE)
    if plant[4][ROUGH] != 0.0:
        return run_sticking(plant, model, work, arrays, n, law, first, last)
    scratch = stack(4, n), stack(4, n), stack(1, n), stack(1, n)
    return run(smooth_step, plant, model, work, scratch, n, arrays, law, first, last)
