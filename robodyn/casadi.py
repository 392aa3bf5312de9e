# SPDX-License-Identifier: Apache-2.0

"""Dynamics of a mechanism as CasADi functions with exact Jacobians, for optimal control.

The state is a displacement x (nv,) from a reference configuration, as defined by `difference`, and
the velocity v (nv,). For arms x is q minus the reference, for closed loops it contains the
independent joints, for platforms a translation and a rotation vector. Its time derivative is
`displacement_rate`, which equals v for arms and loops.

CasADi calls these functions through Python and holds no reference to them: keep a reference as long
as an expression uses them. There are no second derivatives, so IPOPT needs
`{"ipopt.hessian_approximation": "limited-memory"}`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.extras import needing

with needing("casadi", "optimal control with CasADi", "casadi"):
    import casadi

from robodyn.algorithms.chart import Chart
from robodyn.arrays import ArrayLike
from robodyn.mechanism.mechanism import Mechanism

INPUTS = ("x", "v", "load")


class Dynamics(casadi.Callback):
    """CasADi callback for accelerations or efforts, or for their Jacobian."""

    def __init__(
        self, mechanism: Mechanism, question: str, reference: ArrayLike | None, blocks: bool = False
    ) -> None:
        super().__init__()
        self.mechanism, self._question, self._blocks = mechanism, question, blocks
        self._chart = Chart(mechanism, reference)
        self._rows = self._chart.rows(question)
        self._unchecked = mechanism.unchecked
        self._unchecked_dynamics = getattr(self._unchecked, question)
        self._kept: list[Any] = []
        self.construct(f"{question}{'_jacobian' * blocks}", {})

    def get_n_in(self) -> int:
        """Return the number of arguments: three, and for a Jacobian also the result."""
        return 4 if self._blocks else 3

    def get_n_out(self) -> int:
        """Return the number of results: one, or one Jacobian block per argument."""
        return 3 if self._blocks else 1

    def get_sparsity_in(self, i: int) -> Any:
        """Return the shape of an argument: a dense column."""
        return casadi.Sparsity.dense((*self._rows.arguments, *self._rows.results)[i], 1)

    def get_sparsity_out(self, i: int) -> Any:
        """Return the shape of a result: a dense column, or a dense block."""
        columns = self.get_sparsity_in(i).numel() if self._blocks else 1
        return casadi.Sparsity.dense(self._rows.results[0], columns)

    def get_name_in(self, i: int) -> str:
        """Return the name of an argument, for CasADi."""
        return (*INPUTS, "out_answer")[i]

    def get_name_out(self, i: int) -> str:
        """Return the name of a result, for CasADi."""
        return f"jac_answer_{INPUTS[i]}" if self._blocks else "answer"

    def has_jacobian(self) -> bool:
        """Return whether a Jacobian is available: not for the Jacobian itself."""
        return not self._blocks

    def get_jacobian(self, name: str, inames: Any, onames: Any, opts: Any) -> Any:
        """Return the callback for the Jacobian."""
        slopes = Dynamics(self.mechanism, self._question, self._chart.reference, blocks=True)
        self._kept.append(slopes)
        return slopes

    def has_eval_buffer(self) -> bool:
        """Return True: numbers are passed in memory, not as CasADi matrices."""
        return True

    def eval_buffer(self, given: Any, results: Any) -> int:
        """Write results for three arguments; matrices are stored by columns."""
        x, v, load = (np.frombuffer(part) for part in given[:3])
        if self._blocks:
            found = self._rows.differentiate(x[None], v[None], load[None])[1:]
            for block, result in zip(found, results, strict=True):
                if result is not None:
                    np.frombuffer(result)[:] = block[0].T.ravel()
            return 0
        q = self._unchecked.advance(self._chart.reference, x)
        out = np.frombuffer(results[0])
        if not self._unchecked_dynamics(q, v, load, out):
            out[:] = self._rows.compute(x[None], v[None], load[None])[0][0]  # raises the reason
        return 0


def forward_dynamics(mechanism: Mechanism, reference: ArrayLike | None = None) -> Dynamics:
    """Return a CasADi function for the acceleration.

    Args:
        mechanism: mechanism of any kind.
        reference: (nq,) configuration at which x is zero; home by default.

    Returns:
        Function of x, v and efforts (n,) that returns the acceleration (nv,).

    Raises:
        InvalidInput, KinematicsError: the reference is no configuration.
        MissingExtra: CasADi is not installed.
    """
    return Dynamics(mechanism, "forward_dynamics", reference)


def inverse_dynamics(mechanism: Mechanism, reference: ArrayLike | None = None) -> Dynamics:
    """Return a CasADi function for the efforts.

    Args:
        mechanism: mechanism of any kind.
        reference: (nq,) configuration at which x is zero; home by default.

    Returns:
        Function of x, v and acceleration (nv,) that returns the efforts (n,).
    """
    return Dynamics(mechanism, "inverse_dynamics", reference)


def displacement_rate(mechanism: Mechanism) -> Any:
    """Return a CasADi function of x and v for the time derivative of x (nv,).

    It is v, except for rotation vectors, whose derivative is the angular velocity multiplied by

        E - [x ×] / 2 + (1 - |x|/2 cot(|x|/2)) / |x|^2 [x ×]^2.
    """
    nv = mechanism.coordinates.velocity_size
    x, v = casadi.SX.sym("x", nv), casadi.SX.sym("v", nv)
    rate = casadi.SX(v)
    for turn in mechanism.coordinates.rotations:
        r, w = x[turn], v[turn]
        # the root of zero has no derivative; up to this angle the series is exact to rounding
        half = 0.5 * casadi.sqrt(casadi.dot(r, r) + 1e-12)
        share = (1.0 - half / casadi.tan(half)) / (4.0 * half**2)
        rate[turn] = w - 0.5 * casadi.cross(r, w) + share * casadi.cross(r, casadi.cross(r, w))
    return casadi.Function("displacement_rate", [x, v], [rate], ["x", "v"], ["rate"])
