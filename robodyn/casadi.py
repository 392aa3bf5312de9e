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
from robodyn.poses import left_jacobian

with needing("casadi", "optimal control with CasADi", "casadi"):
    import casadi

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
        self._reference = np.array(mechanism.home if reference is None else reference)
        mechanism.joint_positions(self._reference)  # raises where it is none
        nv, n = mechanism.coordinates.velocity_size, len(mechanism.joint_names)
        self._load, self._size = (n, nv) if question == "forward_dynamics" else (nv, n)
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
        nv = self.mechanism.coordinates.velocity_size
        return casadi.Sparsity.dense((nv, nv, self._load, self._size)[i], 1)

    def get_sparsity_out(self, i: int) -> Any:
        """A column, or dense blocks."""
        columns = self.get_sparsity_in(i).numel() if self._blocks else 1
        return casadi.Sparsity.dense(self._size, columns)

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
        slopes = Dynamics(self.mechanism, self._question, self._reference, blocks=True)
        self._kept.append(slopes)
        return slopes

    def eval(self, given: Any) -> list[Any]:
        """Answer in numbers."""
        x, v, load = (part.full().reshape(-1) for part in given[:3])
        m = self.mechanism
        q = m.advance(self._reference, x)
        if not self._blocks:
            return [getattr(m, self._question)(q, v, load)]
        found = getattr(m, f"{self._question}_derivatives")(q, v, load)
        by_x = np.array(found.configuration)
        for turn in m.coordinates.rotations:
            by_x[:, turn] = by_x[:, turn] @ left_jacobian(x[turn])
        return [by_x, found[2], found[3]]


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
