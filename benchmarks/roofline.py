# SPDX-License-Identifier: Apache-2.0

"""A batch relative to the processor's peak: operations, bytes, and both peaks measured."""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np

from benchmarks.operation_counting import Tally, count_operations
from robodyn.dynamics.kernels.base_motion import base_at_rest
from robodyn.dynamics.kernels.state import State
from robodyn.numerics.simd.access import rows_of
from robodyn.numerics.simd.lanes import WIDTH
from robodyn.solvers.stewart.kernels import dynamics as stewart
from robodyn.solvers.stewart.kernels.layout import GRAVITY

CHAINS = 12


def operations(platform: Any, pose: Any, twist: Any, accel: Any) -> Tally:
    """Operations of one inverse dynamics of a platform that bears no load, its base at rest."""
    state = State(pose, twist, accel, np.zeros(6), False, np.zeros(0), False)
    base = base_at_rest(platform.solver.body[GRAVITY : GRAVITY + 3])
    given = platform.solver.legs, platform.solver.body, state, base, np.zeros((6, 6)), np.zeros(6)
    return count_operations(stewart.inverse_dynamics, *given)[0]


@numba.njit(error_model="numpy")
def _spin(numbers: Any, count: int) -> None:
    """Products and sums in independent chains."""
    r = rows_of(numbers, 0)
    m, c = r[CHAINS], r[CHAINS + 1]
    a0, a1, a2, a3, a4, a5 = r[0], r[1], r[2], r[3], r[4], r[5]
    a6, a7, a8, a9, a10, a11 = r[6], r[7], r[8], r[9], r[10], r[11]
    for _ in range(count):
        a0, a1, a2, a3 = a0 * m + c, a1 * m + c, a2 * m + c, a3 * m + c
        a4, a5, a6, a7 = a4 * m + c, a5 * m + c, a6 * m + c, a7 * m + c
        a8, a9, a10, a11 = a8 * m + c, a9 * m + c, a10 * m + c, a11 * m + c
    r[0] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11


def peak_operations() -> float:
    """Products and sums a nanosecond of one thread, as vectors without fused operations."""
    numbers, count = np.full((CHAINS + 2) * WIDTH, 0.5), 20000
    return count * CHAINS * 2 * WIDTH / _fastest(lambda: _spin(numbers, count)) * 1e-9


def peak_bytes() -> float:
    """Bytes a nanosecond that one thread moves to and from memory."""
    source, target = np.ones((2, 4_000_000))
    return 2 * source.nbytes / _fastest(lambda: np.copyto(target, source)) * 1e-9


def vector_instructions(kernel: Any) -> tuple[int, int, int]:
    """Count arithmetic instructions of a kernel on 8, on 4 or 2, and on single numbers."""
    # code loaded from the cache cannot be inspected
    again = numba.njit(error_model="numpy", nogil=True, _nrt=False)(kernel.py_func)
    again.compile(kernel.signatures[0])
    (asm,) = again.inspect_asm().values()
    found = [0, 0, 0]
    for line in asm.splitlines():
        word, _, operands = line.strip().partition("\t")
        if word.startswith(("vadd", "vsub", "vmul", "vdiv", "vsqrt")) and word.endswith("pd"):
            found[0 if "%zmm" in operands else 1] += 1
        elif word.startswith(("vadd", "vsub", "vmul", "vdiv", "vsqrt")) and word.endswith("sd"):
            found[2] += 1
    return found[0], found[1], found[2]


def _fastest(call: Any) -> float:
    taken = []
    call()
    for _ in range(200):
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return min(taken)
