"""One state of a serial arm, checked and answered in one call.

Every function returns whether it has an answer; where it has none the kernels of `serial_batch`
are asked, behind checks that say what is wrong. `trusted` leaves the checks out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.kernels import serial_articulated, serial_composite, serial_newton_euler
from robodyn.kernels.compiler import kernel
from robodyn.kernels.serial_layout import BODY_SIZE, FRAME_SIZE, WORK_SIZE
from robodyn.kernels.serial_spatial import place


@kernel
def are_numbers(array: Any, count: int) -> bool:
    """Whether an array has `count` finite numbers."""
    if array.shape[0] != count:
        return False
    # 0 times infinity or NaN is NaN, which equals nothing
    total = 0.0
    for j in range(count):
        total += 0.0 * array[j]
    return bool(total == 0.0)


@kernel
def are_state(chain: Any, q: Any, qd: Any, third: Any, wrench: Any, contact: bool) -> bool:
    """Whether all parts of a state have their length and finite numbers."""
    n = chain.shape[0] - 1
    if not (are_numbers(q, n) and are_numbers(qd, n) and are_numbers(third, n)):
        return False
    return not contact or are_numbers(wrench, 6)


@kernel
def inverse_dynamics(
    chain: Any,
    gravity: Any,
    q: Any,
    qd: Any,
    qdd: Any,
    wrench: Any,
    contact: bool,
    trusted: bool,
    out: Any,
) -> bool:
    """Efforts (n,) of one state by Newton-Euler; `wrench` is read if `contact`."""
    if not trusted and not are_state(chain, q, qd, qdd, wrench, contact):
        return False
    work = np.empty((q.shape[0], WORK_SIZE))
    serial_newton_euler.newton_euler(chain, gravity, q, qd, qdd, wrench, contact, work, out)
    return True


@kernel
def inverse_dynamics_without_wrench(
    chain: Any, gravity: Any, q: Any, qd: Any, qdd: Any, out: Any
) -> bool:
    """The same, checked, for the most common call: each argument less is 50 ns less."""
    return inverse_dynamics(chain, gravity, q, qd, qdd, qdd, False, False, out)


@kernel
def forward_dynamics(
    chain: Any,
    gravity: Any,
    q: Any,
    qd: Any,
    tau: Any,
    wrench: Any,
    contact: bool,
    trusted: bool,
    out: Any,
) -> bool:
    """Accelerations (n,) of one state by articulated bodies; without contact `wrench` is zero."""
    if not trusted and not are_state(chain, q, qd, tau, wrench, contact):
        return False
    n = q.shape[0]
    frames, bodies = np.empty((n + 1, FRAME_SIZE)), np.empty((n, BODY_SIZE))
    place(chain, q, frames)
    return bool(
        serial_articulated.forward_dynamics(chain, frames, gravity, qd, tau, wrench, bodies, out)
    )


@kernel
def forward_dynamics_without_wrench(
    chain: Any, gravity: Any, q: Any, qd: Any, tau: Any, out: Any
) -> bool:
    """The same, checked, for the most common call."""
    wrench = np.zeros(6)
    return forward_dynamics(chain, gravity, q, qd, tau, wrench, False, False, out)


@kernel
def mass_matrix(chain: Any, q: Any, trusted: bool, out: Any) -> bool:
    """Mass matrix (n, n) of one configuration by composite rigid bodies."""
    if not trusted and not are_numbers(q, chain.shape[0] - 1):
        return False
    frames = np.empty((q.shape[0] + 1, FRAME_SIZE))
    place(chain, q, frames)
    serial_composite.mass_matrix(chain, frames, out)
    return True
