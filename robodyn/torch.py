# SPDX-License-Identifier: Apache-2.0

"""Dynamics of a mechanism and simulation steps as differentiable functions for PyTorch.

```python
import robodyn as rd
import robodyn.torch

f = robodyn.torch.forward_dynamics(rd.load("delta"))
acceleration = f(x, v, efforts)  # tensors of doubles, (..., 3) each
acceleration.sum().backward()
```

The state is a displacement x (nv,) from a reference, as defined by `m.difference`, and the velocity
v (nv,). Leading dimensions are a batch. The kernels run on the processor. `backward`, forward
differentiation and the transforms of `torch.func` work; second derivatives do not. Results have the
type and device of the arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robodyn.algorithms.chart import Chart, Rows, call_with_rows
from robodyn.arrays import ArrayLike
from robodyn.extras import require_extra
from robodyn.mechanism.mechanism import Mechanism

with require_extra("torch", "differentiable dynamics for PyTorch", "torch"):
    import torch
    from torch.autograd import Function

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
        MissingExtra: PyTorch is not installed.
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
        MissingExtra: PyTorch is not installed.
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
        MissingExtra: PyTorch is not installed.
    """
    return _function(Chart(mechanism, reference).step_rows(dt, steps))


def _function(rows: Rows) -> Differentiable:
    """Convert a batch function to a differentiable function of tensors (..., k).

    `rows` computes results and derivatives from arrays (N, k).
    """

    def single(x: Any, v: Any, load: Any) -> Any:
        given = [torch.as_tensor(each) for each in (x, v, load)]
        lead = torch.broadcast_shapes(*(each.shape[:-1] for each in given))
        found = _Values.apply(rows, *(each.expand(*lead, each.shape[-1]) for each in given))
        return found if len(found) > 1 else found[0]

    return single


def _compute(compute: Callable[..., Any], shapes: Any, given: Any) -> tuple[Any, ...]:
    """Call a NumPy function of batches (N, k) with tensors (..., k), and return tensors.

    The results have the type and the device of the first argument.
    """
    like = given[0]
    found = call_with_rows(compute, shapes, (each.detach().cpu() for each in given))
    return tuple(torch.as_tensor(each, dtype=like.dtype, device=like.device) for each in found)


class _BatchedFunction(Function):  # type: ignore[misc]
    """Base class of autograd functions that `torch.func.vmap` evaluates as one batch."""

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Save the arguments in the context, for the computation of derivatives."""
        ctx.rows = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @classmethod
    def vmap(cls, info: Any, in_dims: Any, rows: Any, *given: Any) -> Any:
        """Move the mapped dimension to the front, and evaluate the whole batch at once.

        Returns the results, and the position of the mapped dimension in each result, which is 0.
        """
        size = info.batch_size
        whole = (
            each.expand(size, *each.shape) if dim is None else each.movedim(dim, 0)
            for each, dim in zip(given, in_dims[1:], strict=True)
        )
        found = cls.apply(rows, *whole)
        return found, (0,) * len(found)


class _Values(_BatchedFunction):
    """Autograd function that computes the results of a batch function, see `Rows`."""

    @staticmethod
    def forward(rows: Any, *given: Any) -> Any:
        """Return the results as tensors (..., k)."""
        return _compute(rows.compute, rows.result_shapes, given)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return vector-Jacobian products: gradients times the derivatives."""
        blocks = _Derivatives.apply(ctx.rows, *ctx.saved_tensors)
        return None, *(
            sum(
                (grad.unsqueeze(-2) @ blocks[3 * k + j]).squeeze(-2) for k, grad in enumerate(grads)
            )
            for j in range(3)
        )

    @staticmethod
    def jvp(ctx: Any, _: Any, *changes: Any) -> Any:
        """Return Jacobian-vector products: derivatives times argument tangents."""
        blocks = _Derivatives.apply(ctx.rows, *ctx.saved_tensors)
        return tuple(
            sum(
                (blocks[3 * k + j] @ change.unsqueeze(-1)).squeeze(-1)
                for j, change in enumerate(changes)
                if change is not None
            )
            for k in range(len(ctx.rows.results))
        )


class _Derivatives(_BatchedFunction):
    """Autograd function for the first derivatives of a batch function, see `Rows`."""

    @staticmethod
    def forward(rows: Any, *given: Any) -> Any:
        """Return the derivatives (..., k, j) of each result with respect to each argument."""
        shapes = rows.result_shapes + rows.derivative_shapes
        return _compute(rows.differentiate, shapes, given)[len(rows.results) :]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Raise an error, because second derivatives are not supported."""
        raise NotImplementedError("robodyn.torch does not support second derivatives")
