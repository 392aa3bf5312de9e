# SPDX-License-Identifier: Apache-2.0

"""A mechanism's dynamics as CasADi functions with exact Jacobians, for optimal control.

The state is a displacement x (nv,) from a configuration, as `difference` has it, and the velocity
v (nv,): of arms q less the reference, of closed loops the independent joints, of platforms
translation and rotation vector. Its rate is `displacement_rate`, which of arms and loops is v.

CasADi calls these functions through Python and does not keep them: whoever uses one in an
expression has to keep it as long. There are no second derivatives, so IPOPT needs
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
    """Answers (k,) for a displacement, a velocity and a load; see `forward_dynamics`."""

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
        """The three, and of a Jacobian the answer."""
        return 4 if self._blocks else 3

    def get_n_out(self) -> int:
        """The answer, or its slopes by each of the three."""
        return 3 if self._blocks else 1

    def get_sparsity_in(self, i: int) -> Any:
        """Columns."""
        return casadi.Sparsity.dense((*self._rows.arguments, *self._rows.results)[i], 1)

    def get_sparsity_out(self, i: int) -> Any:
        """A column, or dense blocks."""
        columns = self.get_sparsity_in(i).numel() if self._blocks else 1
        return casadi.Sparsity.dense(self._rows.results[0], columns)

    def get_name_in(self, i: int) -> str:
        """Return the name of an argument, for CasADi."""
        return (*INPUTS, "out_answer")[i]

    def get_name_out(self, i: int) -> str:
        """Return the name of a result, for CasADi."""
        return f"jac_answer_{INPUTS[i]}" if self._blocks else "answer"

    def has_jacobian(self) -> bool:
        """All but Jacobians have one."""
        return not self._blocks

    def get_jacobian(self, name: str, inames: Any, onames: Any, opts: Any) -> Any:
        """The same with its slopes."""
        slopes = Dynamics(self.mechanism, self._question, self._chart.reference, blocks=True)
        self._kept.append(slopes)
        return slopes

    def has_eval_buffer(self) -> bool:
        """Take numbers in memory, without copies into matrices of CasADi."""
        return True

    def eval_buffer(self, given: Any, results: Any) -> int:
        """Write results for three arguments, matrices by columns."""
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
    """Accelerations (nv,) for x, v and efforts (n,).

    Args:
        mechanism: whose.
        reference: (nq,) configuration where x is zero; home by default.

    Raises:
        InvalidInput, KinematicsError: no configuration.
        MissingExtra: CasADi is not installed.
    """
    return Dynamics(mechanism, "forward_dynamics", reference)


def inverse_dynamics(mechanism: Mechanism, reference: ArrayLike | None = None) -> Dynamics:
    """Efforts (n,) for x, v and an acceleration (nv,); arguments as `forward_dynamics`."""
    return Dynamics(mechanism, "inverse_dynamics", reference)


def displacement_rate(mechanism: Mechanism) -> Any:
    """A CasADi function of x and v: the time derivative of x (nv,).

    v itself but for rotation vectors, of which it is the angular velocity w turned by

        E - [x ×] / 2 + (1 - |x|/2 cot(|x|/2)) / |x|^2 [x ×]^2.
    """
    nv = mechanism.coordinates.velocity_size
    x, v = casadi.SX.sym("x", nv), casadi.SX.sym("v", nv)
    rate = casadi.SX(v)
    for turn in mechanism.coordinates.rotations:
        r, w = x[turn], v[turn]
        # the root of zero has no derivative; at this angle the series is the number
        half = 0.5 * casadi.sqrt(casadi.dot(r, r) + 1e-12)
        share = (1.0 - half / casadi.tan(half)) / (4.0 * half**2)
        rate[turn] = w - 0.5 * casadi.cross(r, w) + share * casadi.cross(r, casadi.cross(r, w))
    return casadi.Function("displacement_rate", [x, v], [rate], ["x", "v"], ["rate"])
