# SPDX-License-Identifier: Apache-2.0

"""User-defined controllers compiled by Numba, which the compiled simulation calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import njit
from numba.extending import intrinsic

from robodyn.algorithms.motion import Motion
from robodyn.arrays import FloatArray
from robodyn.numerics.array_arguments import borrowed_array
from robodyn.numerics.numba_compat import Dispatcher, cgutils
from robodyn.trajectories.base import Trajectory


class CompiledController:
    """Controller whose control law is a function compiled by `numba.njit`.

    Args:
        law: function of time [s], configuration (nq,), velocity (nv,) and the planned `Motion` at
            that time, which returns efforts (n,) [N or N m].
    """

    def __init__(self, law: Dispatcher) -> None:
        self.law, self.drive = law, driver(law)

    def __call__(
        self, time: float, configuration: FloatArray, velocity: FloatArray, trajectory: Trajectory
    ) -> Any:
        """Return the efforts (n,) for a time [s] and a state, computed by the law."""
        desired = Motion(*map(np.ascontiguousarray, trajectory.sample(time)))
        return self.law(time, configuration, velocity, desired)

    def rows(self, trajectory: Trajectory, times: FloatArray, count: int) -> FloatArray:
        """Compute the inputs (N, k) of the control law at times (N,) [s].

        Returns:
            A row for each time: `count` zeros, which the efforts will replace; the time [s]; and
            the planned configuration, velocity and acceleration.
        """
        buffers = np.zeros((len(times), count)), times[:, None]
        return np.concatenate([*buffers, *trajectory.sample(times)], axis=-1)


def as_controller(controller: Any) -> Any:
    """Wrap a function compiled by Numba in a `CompiledController`.

    Other controllers are returned unchanged.
    """
    return _of(controller) if isinstance(controller, Dispatcher) else controller


# one object per function, so that its driver is compiled once
_of = cache(CompiledController)


def call_by_address(compiled: Any) -> Any:
    """Wrap a compiled function so that callers call its address and do not inline it."""

    @intrinsic  # type: ignore[untyped-decorator]
    def call(typing: Any, plant: Any, model: Any, arrays: Any, law: Any, i: Any, j: Any) -> Any:
        kinds = plant, model, arrays, law, i, j
        compiled.compile(kinds)
        found = compiled.overloads[kinds]
        address = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
        result = found.signature.return_type

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            calls = context.call_conv
            pointer = calls.get_function_type(result, kinds).as_pointer()
            function = builder.inttoptr(cgutils.intp_t(address), pointer)
            return calls.call_function(builder, function, result, kinds, args)[1]

        return result(*kinds), codegen

    return call


def driver(law: Dispatcher) -> Callable[[Any], Any]:
    """Create a decorator that makes a compiled simulation loop call a control law.

    `law` is a function compiled by Numba, see `CompiledController`.

    At every recorded time, the decorated loop calls `law`, writes its efforts to the inputs of the
    fixed law `control_laws.GIVEN`, and advances the simulation to the next time.
    """

    def driven(loop: Any) -> Any:
        advance = call_by_address(loop)

        @njit(nogil=True, no_cfunc_wrapper=True)  # type: ignore[untyped-decorator]
        def drive(plant: Any, model: Any, arrays: Any, kind: int, first: int, last: int) -> Any:
            borrowed = borrowed_array(arrays)
            plan, configuration, velocity = borrowed[3], borrowed[7], borrowed[8]
            n, nq, nv = borrowed[9].shape[1], configuration.shape[1], velocity.shape[1]
            goal, rate, acceleration = n + 1, n + 1 + nq, n + 1 + nq + nv
            for i in range(first, last):
                row = plan[i, 0]
                desired = Motion(row[goal:rate], row[rate:acceleration], row[acceleration:])
                efforts = law(row[n], configuration[i], velocity[i], desired)
                if efforts.shape != (n,):
                    return -1, i, 0  # the call from Python reports the error
                row[:n] = efforts
                status, reached, step = advance(plant, model, arrays, kind, i, i + 1)
                if status != 0:
                    return status, reached, step
            return 0, last, 0

        return drive

    return driven
