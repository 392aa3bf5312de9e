"""Single states of an arm: arrays float64 and contiguous, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types

from robodyn.kernels import serial_single as kernels_of
from robodyn.kernels.compiler import ready
from robodyn.threads import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_LIST, _TABLE = types.float64[::1], types.float64[:, ::1]
NO_WRENCH = np.zeros(6)


class Single(NamedTuple):
    """Compiled kernels; they raise TypeError for arguments of other types."""

    inverse: Any
    inverse_without_wrench: Any
    forward: Any
    forward_without_wrench: Any
    mass: Any


@once
def kernels() -> Single:
    """All of them, compiled or read from disk on first use."""
    state = (_TABLE, *(_LIST,) * 5, types.boolean, types.boolean, _LIST)
    return Single(
        ready(kernels_of.inverse_dynamics, *state),
        ready(kernels_of.inverse_dynamics_without_wrench, _TABLE, *(_LIST,) * 5),
        ready(kernels_of.forward_dynamics, *state),
        ready(kernels_of.forward_dynamics_without_wrench, _TABLE, *(_LIST,) * 5),
        ready(kernels_of.mass_matrix, _TABLE, _LIST, types.boolean, _TABLE),
    )


class Unchecked:
    """Dynamics of one state of an arm at a time for inner loops, nothing checked.

    Arrays must be contiguous, finite float64 of the stated shapes; shorter ones are read beyond
    their end. Results are written into `out`; what comes back is whether there is one. TypeError
    for other types.
    """

    def __init__(self, chain: FloatArray, gravity: FloatArray) -> None:
        self._chain = chain
        self._gravity = gravity
        self._kernels = kernels()

    def difference(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Displacement (n,) from start to goal (n,)."""
        return goal - start

    def advance(self, q: FloatArray, displacement: FloatArray) -> FloatArray:
        """Configuration (n,) after a displacement (n,)."""
        return q + displacement

    def inverse_dynamics(
        self,
        q: FloatArray,
        qd: FloatArray,
        qdd: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
    ) -> bool:
        """Efforts (n,) of q, qd, qdd (n,) and wrench (6,)."""
        contact = wrench is not None
        load = wrench if contact else NO_WRENCH
        done: bool = self._kernels.inverse(
            self._chain, self._gravity, q, qd, qdd, load, contact, True, out
        )
        return done

    def forward_dynamics(
        self,
        q: FloatArray,
        qd: FloatArray,
        tau: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
    ) -> bool:
        """Accelerations (n,) of q, qd, tau (n,) and wrench (6,)."""
        contact = wrench is not None
        load = wrench if contact else NO_WRENCH
        done: bool = self._kernels.forward(
            self._chain, self._gravity, q, qd, tau, load, contact, True, out
        )
        return done

    def mass_matrix(self, q: FloatArray, out: FloatArray) -> bool:
        """Mass matrix (n, n) of q (n,)."""
        done: bool = self._kernels.mass(self._chain, q, True, out)
        return done
