# SPDX-License-Identifier: Apache-2.0

"""Dynamics of a mechanism as CasADi functions with first and second derivatives.

The state is a displacement x (nv,) from a reference configuration, as defined by `difference`, and
the velocity v (nv,). For arms x is q minus the reference, for closed loops it contains the
independent joints, for platforms a translation and a rotation vector. Its time derivative is
`displacement_rate`, which equals v for arms and loops.

Jacobians are exact. Second derivatives are finite differences of exact first ones, with relative
errors of 1e-8 where the dynamics are smooth, so IPOPT can use an exact Hessian.

CasADi calls these functions through Python and holds no reference to them: keep a reference as long
as an expression uses them. It cannot generate C code from them; instead, `casadi.external` loads
the library of `rd.export(mechanism, folder, casadi=True)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.extras import require_extra

with require_extra("casadi", "optimal control with CasADi", "casadi"):
    import casadi

from robodyn.algorithms.chart import Chart, second_derivatives
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.mechanism.mechanism import Mechanism

INPUTS = ("x", "v", "load")


class _Callback(casadi.Callback):
    """CasADi callback that computes matrices from column vectors with NumPy.

    Args:
        name: name of the function.
        sizes: size of each argument.
        shapes: rows and columns of each result.
        compute: function of all nonempty arguments (k,) that returns a matrix for each result.
    """

    def __init__(
        self,
        name: str,
        sizes: Mapping[str, int],
        shapes: Mapping[str, tuple[int, int]],
        compute: Callable[..., Sequence[FloatArray]],
    ) -> None:
        super().__init__()
        self._sizes, self._shapes, self._compute = sizes, shapes, compute
        self._in, self._out = list(sizes), list(shapes)
        self._kept: list[Any] = []
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self._in)

    def get_n_out(self) -> int:
        return len(self._out)

    def get_name_in(self, i: int) -> str:
        return self._in[i]

    def get_name_out(self, i: int) -> str:
        return self._out[i]

    def get_sparsity_in(self, i: int) -> Any:
        """Return the sparsity of argument i: a dense column."""
        return casadi.Sparsity.dense(self._sizes[self._in[i]], 1)

    def get_sparsity_out(self, i: int) -> Any:
        """Return the sparsity of result i: a dense matrix."""
        return casadi.Sparsity.dense(*self._shapes[self._out[i]])

    def has_eval_buffer(self) -> bool:
        """Return True: values are passed as memory buffers, not as CasADi matrices."""
        return True

    def eval_buffer(self, given: Any, results: Any) -> int:
        """Compute the results, and write those that CasADi requests; return 0 for success.

        Results are written in column-major order.
        """
        found = self._compute(*(np.frombuffer(part) for part in given))
        for block, result in zip(found, results, strict=True):
            if result is not None:
                np.frombuffer(result)[:] = block.T.ravel()
        return 0

    def keep(self, function: Any) -> Any:
        """Store a reference to a derivative function in this function, and return it.

        CasADi itself does not keep derivative functions alive.
        """
        self._kept.append(function)
        return function


class Dynamics(_Callback):
    """CasADi function that computes the accelerations or the efforts of a mechanism."""

    def __init__(
        self, mechanism: Mechanism, question: str, reference: ArrayLike | None = None
    ) -> None:
        self.mechanism = mechanism
        self._chart = Chart(mechanism, reference)
        self._rows = self._chart.rows(question)
        self._unchecked = mechanism.solver.unchecked
        self._unchecked_dynamics = getattr(self._unchecked, question)
        self._question = question
        self._arguments = dict(zip(INPUTS, self._rows.arguments, strict=True))
        (self._result,) = self._rows.results
        super().__init__(question, self._arguments, {"answer": (self._result, 1)}, self._values)

    def eval_buffer(self, given: Any, results: Any) -> int:
        """Write accelerations or efforts to the result's buffer; return 0 for success.

        CasADi calls this method with the buffers of the arguments and of the results.
        """
        x, v, load = np.frombuffer(given[0]), np.frombuffer(given[1]), np.frombuffer(given[2])
        q = self._unchecked.advance(self._chart.reference, x)
        out = np.frombuffer(results[0])
        if not self._unchecked_dynamics(q, v, load, out):
            (out[:],) = self._values(x, v, load)  # raises the reason
        return 0

    def _values(self, *arguments: FloatArray) -> Sequence[FloatArray]:
        return [self._rows.compute(*(each[None] for each in arguments))[0][0]]

    def _blocks(self, *arguments: FloatArray) -> Sequence[FloatArray]:
        found = self._rows.differentiate(*(each[None] for each in arguments[:3]))
        return [block[0] for block in found[1:]]

    def has_jacobian(self) -> bool:
        """Return True: this function has exact first derivatives."""
        return True

    def get_jacobian(self, name: str, inames: Any, onames: Any, opts: Any) -> Any:
        """Return a CasADi function for the Jacobians of the result.

        They are those with respect to the three arguments: displacement, velocity, and efforts or
        acceleration.
        """
        sizes = dict(zip(inames, (*self._rows.arguments, self._result), strict=True))
        shapes = {
            name: (self._result, size)
            for name, size in zip(onames, self._rows.arguments, strict=True)
        }
        return self.keep(_Callback(name, sizes, shapes, self._blocks))

    def has_reverse(self, count: int) -> bool:
        """Return whether `count` vector-Jacobian products are supported at once: only one."""
        return count == 1

    def get_reverse(self, count: int, name: str, inames: Any, onames: Any, opts: Any) -> Any:
        """Return a CasADi function for vector-Jacobian products, used in second derivatives."""
        return self.keep(_Products(self._rows, self._blocks, name, inames, onames))


class _Products(_Callback):
    """CasADi function for products of the transposed Jacobian blocks with a vector (k,)."""

    def __init__(self, rows: Any, blocks: Any, name: str, inames: Any, onames: Any) -> None:
        self._rows = rows
        (result,) = rows.results
        self._widths = *rows.arguments, result, result  # arguments, the result, the vector
        sizes = dict(zip(inames, self._widths, strict=True))
        shapes = {n: (size, 1) for n, size in zip(onames, rows.arguments, strict=True)}

        def compute(*given: FloatArray) -> Sequence[FloatArray]:
            return [block.T @ given[4] for block in blocks(*given[:3])]

        self._blocks = blocks
        super().__init__(name, sizes, shapes, compute)

    def has_jacobian(self) -> bool:
        """Return True: CasADi can request the Jacobian, made of second derivatives."""
        return True

    def get_jacobian(self, name: str, inames: Any, onames: Any, opts: Any) -> Any:
        """Return a CasADi function for all blocks of second derivatives.

        Blocks are ordered by result, then by argument.
        """
        arguments = self._rows.arguments
        sizes = dict(zip(inames, (*self._widths, *arguments), strict=True))
        pairs = [(rows, columns) for rows in arguments for columns in self._widths]
        shapes = dict(zip(onames, pairs, strict=True))
        ends = np.cumsum(arguments)[:-1]

        def compute(*given: FloatArray) -> Sequence[FloatArray]:
            whole = second_derivatives(self._rows, given[:3], given[4])
            out = []
            bands = np.split(whole, ends, axis=0)
            for band, block in zip(bands, self._blocks(*given[:3]), strict=True):
                out += [*np.split(band, ends, axis=1), np.zeros(block.T.shape), block.T]
            return out

        return self.keep(_Callback(name, sizes, shapes, compute))


def forward_dynamics(mechanism: Mechanism, reference: ArrayLike | None = None) -> Dynamics:
    """Return a CasADi function that computes the forward dynamics of a mechanism.

    Args:
        mechanism: mechanism of any kind.
        reference: (nq,) configuration from which the displacement x is measured; home by default.

    Returns:
        Function of displacement x (nv,), velocity v (nv,) and efforts (n,) [N or N m] that returns
        the acceleration (nv,).

    Raises:
        InvalidInput, KinematicsError: the reference is not a configuration.
        MissingExtra: CasADi is not installed.
    """
    return Dynamics(mechanism, "forward_dynamics", reference)


def inverse_dynamics(mechanism: Mechanism, reference: ArrayLike | None = None) -> Dynamics:
    """Return a CasADi function that computes the inverse dynamics of a mechanism.

    Args:
        mechanism: mechanism of any kind.
        reference: (nq,) configuration from which the displacement x is measured; home by default.

    Returns:
        Function of displacement x, velocity v and acceleration, (nv,) each, that returns the
        efforts (n,) [N or N m].

    Raises:
        InvalidInput, KinematicsError: the reference is not a configuration.
        MissingExtra: CasADi is not installed.
    """
    return Dynamics(mechanism, "inverse_dynamics", reference)


def displacement_rate(mechanism: Mechanism) -> Any:
    """Return a CasADi function that computes the time derivative of a displacement.

    The displacement x leads from the reference configuration to the current one. Its derivative is
    the velocity v, except for rotation vectors, whose derivative is the angular velocity multiplied
    by::

        E - [x ×] / 2 + (1 - |x|/2 cot(|x|/2)) / |x|^2 [x ×]^2,

    where E is the identity matrix, and [x ×] the cross-product matrix of x.

    Returns:
        Function of x (nv,) and v (nv,) that returns the derivative (nv,).
    """
    nv = mechanism.coordinates.velocity_size
    x, v = casadi.SX.sym("x", nv), casadi.SX.sym("v", nv)
    rate = casadi.SX(v)
    for turn in mechanism.coordinates.rotations:
        r, w = x[turn], v[turn]
        # the root of zero has no derivative; up to this angle the series is exact to rounding
        half = 0.5 * casadi.sqrt(casadi.dot(r, r) + 1e-12)
        coefficient = (1.0 - half / casadi.tan(half)) / (4.0 * half**2)
        rate[turn] = (
            w - 0.5 * casadi.cross(r, w) + coefficient * casadi.cross(r, casadi.cross(r, w))
        )
    return casadi.Function("displacement_rate", [x, v], [rate], ["x", "v"], ["rate"])
