# SPDX-License-Identifier: Apache-2.0

"""Dynamics of a mechanism and simulation steps as differentiable functions for JAX.

```python
import jax
import robodyn as rd
import robodyn.jax

jax.config.update("jax_enable_x64", True)
m = rd.load("delta")
f = robodyn.jax.forward_dynamics(m)
slopes = jax.jit(jax.jacobian(f))(x, v, efforts)
```

The state is a displacement x (nv,) from a reference, as defined by `m.difference`, and the velocity
v (nv,). Leading dimensions are a batch. The compiled kernels run on the processor through
`jax.pure_callback`; `jit`, `vmap`, `grad` and `jacobian` work, second derivatives do not. Without
`jax_enable_x64` JAX rounds arguments and results to 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.algorithms.chart import Chart, Rows, call_with_rows
from robodyn.arrays import ArrayLike
from robodyn.extras import require_extra
from robodyn.mechanism.mechanism import Mechanism

with require_extra("jax", "differentiable dynamics for JAX", "jax"):
    import jax
    import jax.numpy as jnp

Differentiable = Callable[[Any, Any, Any], Any]


def forward_dynamics(mechanism: Mechanism, reference: ArrayLike | None = None) -> Differentiable:
    """Return a function f(x, v, efforts) that computes the acceleration of a mechanism.

    Args:
        mechanism: mechanism of any kind.
        reference: (nq,) configuration from which the displacement x is measured; home by default.

    Returns:
        Function of displacement x (..., nv), velocity v (..., nv) and efforts (..., n) [N or N m]
        that returns the acceleration (..., nv).

    Raises:
        InvalidInput, KinematicsError: the reference is not a configuration.
        MissingExtra: JAX is not installed.
    """
    return _function(Chart(mechanism, reference).rows("forward_dynamics"))


def inverse_dynamics(mechanism: Mechanism, reference: ArrayLike | None = None) -> Differentiable:
    """Return a function f(x, v, acceleration) that computes the efforts of a mechanism.

    Args:
        mechanism: mechanism of any kind.
        reference: (nq,) configuration from which the displacement x is measured; home by default.

    Returns:
        Function of displacement x, velocity v and acceleration, (..., nv) each, that returns the
        efforts (..., n) [N or N m].

    Raises:
        InvalidInput, KinematicsError: the reference is not a configuration.
        MissingExtra: JAX is not installed.
    """
    return _function(Chart(mechanism, reference).rows("inverse_dynamics"))


def step(
    mechanism: Mechanism, dt: float, steps: int = 1, reference: ArrayLike | None = None
) -> Differentiable:
    """Return a function f(x, v, efforts) that simulates time steps with constant efforts.

    The function uses Runge-Kutta steps of order 4, like `rd.Plant` without end stops and effort
    limits. Its derivatives are those of the discrete steps; they are exact for mechanisms without
    dry friction.

    Args:
        mechanism: mechanism of any kind with a compiled simulation.
        dt: length [s] of a step.
        steps: number of steps.
        reference: (nq,) configuration from which the displacement x is measured; home by default.

    Returns:
        Function of displacement x (..., nv), velocity v (..., nv) and efforts (..., n) [N or N m]
        that returns x and v after the steps.

    Raises:
        InvalidInput: dt or the number of steps is not positive, a drive is elastic, or as for
            `forward_dynamics`.
        MissingExtra: JAX is not installed.
    """
    return _function(Chart(mechanism, reference).step_rows(dt, steps))


def _function(rows: Rows) -> Differentiable:
    """Convert a batch function to a differentiable JAX function of arrays (..., k).

    `rows` computes results and derivatives from arrays (N, k).
    """

    def call(compute: Any, shapes: Any, given: Any) -> Any:
        """Call a NumPy function from JAX; return arrays of JAX's floating-point type.

        The function computes in double precision.
        """
        kind = jnp.result_type(float)
        lead = jnp.broadcast_shapes(*(jnp.shape(each)[:-1] for each in given))
        whole = [jnp.broadcast_to(each, (*lead, jnp.shape(each)[-1])) for each in given]
        results = [jax.ShapeDtypeStruct((*lead, *shape), kind) for shape in shapes]

        def compiled_calls(*arrays: Any) -> Any:
            found = call_with_rows(compute, shapes, arrays)
            return [np.asarray(each, dtype=kind) for each in found]

        return jax.pure_callback(compiled_calls, results, *whole, vmap_method="broadcast_all")

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def f(x: Any, v: Any, load: Any) -> Any:
        return tuple(call(rows.compute, rows.result_shapes, (x, v, load)))

    @f.defjvp  # type: ignore[untyped-decorator]
    def _(primals: Any, tangents: Any) -> Any:
        count = len(rows.results)
        shapes = rows.result_shapes + rows.derivative_shapes
        found = call(rows.differentiate, shapes, primals)
        blocks = [found[count + 3 * k : count + 3 * k + 3] for k in range(count)]
        changes = tuple(
            sum(
                jnp.einsum("...ij,...j->...i", block, change)
                for block, change in zip(row, tangents, strict=True)
            )
            for row in blocks
        )
        return tuple(found[:count]), changes

    def single(x: Any, v: Any, load: Any) -> Any:
        found = f(*(jnp.asarray(each, dtype=float) for each in (x, v, load)))
        return found if len(found) > 1 else found[0]

    return single
