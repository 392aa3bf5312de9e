# SPDX-License-Identifier: Apache-2.0

"""Serial arm: the public interface to the compiled equations of open chains.

Every method checks its arguments, broadcasts over leading dimensions and passes one flat batch to
compiled code. q, qd, qdd and efforts are (..., n); an entry is in rad and N m, or in m and N,
depending on its joint.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from robodyn.algorithms.geometry import Geometry, geometry_of
from robodyn.algorithms.variants import register_variants
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.checks import check_choice
from robodyn.dynamics.batch_calls import NoSolutionAt
from robodyn.errors import SingularMassMatrix
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.model import Model
from robodyn.numerics.broadcasting import element
from robodyn.solvers.serial import inverse_kinematics as to_tip
from robodyn.solvers.serial import kinematics, parameters, presentation
from robodyn.solvers.serial.chain import as_arm, chain_of
from robodyn.solvers.serial.kernels import batch as kernels
from robodyn.solvers.serial.kernels import lanes
from robodyn.solvers.serial.packing import without_springs
from robodyn.solvers.serial.solver import SerialSolver

_empty = np.empty
InverseMethod = Literal["newton_euler", "modified_newton_euler", "lagrange"]
MassMethod = Literal["composite", "strobing"]
ForwardMethod = Literal["articulated_body", "strobing"]
INVERSE_METHODS: tuple[str, ...] = get_args(InverseMethod)
MASS_METHODS: tuple[str, ...] = get_args(MassMethod)
FORWARD_METHODS: tuple[str, ...] = get_args(ForwardMethod)


class SerialArm(Mechanism):
    """Serial arm: an open chain of revolute and prismatic joints.

    Its methods are pure functions of its model.

    Configurations q, velocities qd and accelerations qdd are (..., n) [rad, or m for a prismatic
    joint; per s and s^2], efforts (..., n) [N m, N]; the rows of a Jacobian are linear, then
    angular. Viscous and Coulomb friction and the motors' reflected inertia are included unless
    `friction=False` or `armature=False` is given. A wrench (..., 6) is exerted on the arm by its
    environment: force and moment about the tip point, base frame [N, N m].

    Attributes:
        model: description of the arm.
    """

    kind = "serial"
    solver = cached_property(SerialSolver)
    model: Model

    def __init__(self, model: Model) -> None:
        self.model = as_arm(model)
        self.chain = chain_of(self.model)
        self.n = self.solver.n

    bodies = property(kinematics.bodies)
    size = cached_property(kinematics.size)
    home = property(kinematics.home)
    body_pose = kinematics.body_pose
    jacobian = kinematics.jacobian
    condition_number = kinematics.condition_number
    inverse_kinematics = to_tip.inverse_kinematics
    configuration_at = to_tip.configuration_at
    regressor = parameters.regressor

    def __repr__(self) -> str:
        return f"SerialArm({self.name!r}, {self.n} joints)"

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: ArrayLike | None = None,
        method: InverseMethod = "newton_euler",
        *,
        friction: bool = True,
        armature: bool = True,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the efforts (..., n) for a motion, by one of three equivalent methods.

        `newton_euler` and `modified_newton_euler` are the two recursions of Turney, Mudge and Lee
        (1980), eq. 3.15-3.21 and 5.1-5.2; `lagrange` is their trace form, eq. 4.34. Only
        `newton_euler` supports a moving base.

        Args:
            q, qd, qdd: (..., n) motion of the joints.
            wrench: (..., 6) [N, N m] on the tip, base frame; none by default.
            method: `newton_euler`, `modified_newton_euler` or `lagrange`.
            friction: whether to include friction.
            armature: whether to include the motors' reflected inertia.
            base: motion of the base; at rest by default.

        Returns:
            Efforts (..., n) [N m or N].

        Raises:
            InvalidInput: a shape is wrong, a value is not finite, or the method is unknown.
        """
        moved = None if base is None else rows_of(base)
        if method == "newton_euler":
            efforts = _empty(self.n)
            try:
                one = (
                    self.solver.one
                    if friction and armature
                    else self.solver.singles[bool(friction), bool(armature)]
                )
                if moved is not None:
                    one = one.on_base
                if one.inverse(q, qd, qdd, wrench, moved, False, efforts):
                    return efforts
            except TypeError:
                pass  # not single float64 states: a batch, or an invalid argument
            names, values = ("q", "qd", "qdd", "wrench", "base"), (q, qd, qdd, wrench, moved)
            chain = self.solver.chain(friction, armature)
            return self.solver.batch(lanes.inverse_dynamics, chain, names, values, (self.n,))
        check_choice("method", method, INVERSE_METHODS if base is None else INVERSE_METHODS[:1])
        shape, (position, rate, change, load) = self.solver.flat(q=q, qd=qd, qdd=qdd, wrench=wrench)
        chain, contact = self.solver.chain(friction, armature), wrench is not None
        out = np.empty((len(position), self.n))
        state = (self.solver.gravity, position, rate, change, load, contact)
        if method == "lagrange":
            kernels.lagrange(chain, self.solver.pseudo, *state, out)
        else:
            kernels.modified_newton_euler(chain, *state, out)
        return out.reshape(*shape, self.n)

    def bias(
        self, q: ArrayLike, qd: ArrayLike, *, friction: bool = True, base: BaseMotion | None = None
    ) -> FloatArray:
        """Compute the efforts at zero acceleration: gravity, velocity terms and friction.

        Args:
            q, qd: (..., n) [rad or m] and [rad/s or m/s].
            friction: whether to include friction.
            base: motion of the base; at rest by default.

        Returns:
            Efforts (..., n) [N m or N].

        Raises:
            InvalidInput: as for `inverse_dynamics`.
        """
        return self.inverse_dynamics(q, qd, self.solver.still, friction=friction, base=base)

    def mass_matrix(
        self, q: ArrayLike, method: MassMethod = "composite", *, armature: bool = True
    ) -> FloatArray:
        """Compute the joint-space mass matrix M (..., n, n).

        The method `composite` adds the inertias of composite rigid bodies; `strobing` computes each
        column of M by inverse dynamics of a unit acceleration.

        Args:
            q: (..., n) configuration.
            method: `composite` or `strobing`.
            armature: whether to include the motors' reflected inertia.

        Returns:
            M (..., n, n) [kg m^2, kg m or kg].

        Raises:
            InvalidInput: as for `inverse_dynamics`.
        """
        if method == "composite":
            matrix = _empty(self.solver.square)
            try:
                one = self.solver.one if armature else self.solver.singles[False, False]
                if one.mass(q, False, matrix):
                    return matrix
            except TypeError:
                pass
            chain = self.solver.chain(False, armature)
            return self.solver.batch(lanes.mass_matrix, chain, ("q",), (q,), self.solver.square)
        check_choice("method", method, MASS_METHODS)
        shape, (flat,) = self.solver.flat(q=q)
        columns = self._probe(flat[:, None], armature, qdd=np.eye(self.n))
        return np.swapaxes(columns, 1, 2).reshape(*shape, *self.solver.square)

    def christoffel(self, q: ArrayLike) -> FloatArray:
        """Compute the Christoffel matrices (..., n, n, n) of the velocity terms.

        The velocity terms contribute qd' C^i qd to the effort of joint i, where C^i is matrix i of
        the result. The matrices are computed by inverse dynamics of unit rates: if h(qd) is the
        effort at constant rates without gravity and friction, C_jj is h(e_j), and C_jk is
        [h(e_j + e_k) - h(e_j) - h(e_k)] / 2. Turney, Mudge and Lee (1980) omit the last two terms.

        Args:
            q: (..., n) [rad or m].

        Returns:
            Matrices (..., n, n, n); entry [i, j, k] is C^i_jk.
        """
        shape, (flat,) = self.solver.flat(q=q)
        pairs = np.eye(self.n)[:, None] + np.eye(self.n)
        h = self._probe(flat[:, None, None], False, qd=pairs)
        own = 0.25 * np.einsum("sjji->sji", h)
        C = np.moveaxis(0.5 * (h - (own[:, :, None] + own[:, None])), -1, 1)
        return np.asarray(C.reshape(*shape, self.n, *self.solver.square))

    def _probe(self, q: FloatArray, armature: bool, qd: Any = 0.0, qdd: Any = 0.0) -> FloatArray:
        """Compute joint efforts (..., n) without gravity, friction and joint springs.

        The efforts for unit rates or unit accelerations yield the Christoffel matrices and the mass
        matrix; see Turney, Mudge and Lee (1980), end of section 3.
        """
        names, still = ("q", "qd", "qdd", "wrench", "base"), self.solver.still
        chain, free = without_springs(self.solver.chain(False, armature)), np.zeros(3)
        return self.solver.batch(
            lanes.inverse_dynamics,
            chain,
            names,
            (q, qd + still, qdd + still, None, None),
            (self.n,),
            free,
        )

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> FloatArray:
        """Compute the Coriolis matrix C from Christoffel symbols.

        The efforts of the velocity terms are C @ qd. With this choice Mdot - 2C is skew-symmetric,
        with the time derivative Mdot of the mass matrix.

        Args:
            q, qd: (..., n) [rad or m] and [rad/s or m/s].

        Returns:
            C (..., n, n).
        """
        shape, (flat, rate) = self.solver.flat(q=q, qd=qd)
        C = np.einsum("sijk,sj->sik", self.christoffel(flat), rate)
        return np.asarray(C.reshape(*shape, self.n, self.n))

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: ArrayLike | None = None,
        method: ForwardMethod = "articulated_body",
        *,
        friction: bool = True,
        armature: bool = True,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the joint accelerations (..., n) due to efforts.

        Joints at rest have no dry friction here; the simulation handles sticking.
        `articulated_body` takes time of order n (Featherstone, 2008); `strobing` computes the mass
        matrix column by column and solves the equations of motion (Turney, Mudge and Lee, 1980,
        section 7). Only `articulated_body` supports a moving base.

        Args:
            q, qd: (..., n) state.
            tau: (..., n) [N m or N] efforts.
            wrench: (..., 6) [N, N m] on the tip, base frame; none by default.
            method: `articulated_body` or `strobing`.
            friction: whether to include friction.
            armature: whether to include the motors' reflected inertia.
            base: motion of the base; at rest by default.

        Returns:
            Accelerations (..., n) [rad/s^2 or m/s^2].

        Raises:
            InvalidInput: as for `inverse_dynamics`.
            SingularMassMatrix: a joint has no inertia.
        """
        moved = None if base is None else rows_of(base)
        if method == "articulated_body":
            accelerations = _empty(self.n)
            try:
                one = (
                    self.solver.one
                    if friction and armature
                    else self.solver.singles[bool(friction), bool(armature)]
                )
                if moved is not None:
                    one = one.on_base
                if one.forward(q, qd, tau, wrench, moved, False, accelerations):
                    return accelerations
            except TypeError:
                pass
            chain = self.solver.chain(friction, armature)
            try:
                names, values = ("q", "qd", "tau", "wrench", "base"), (q, qd, tau, wrench, moved)
                return self.solver.batch(lanes.forward_dynamics, chain, names, values, (self.n,))
            except NoSolutionAt as failure:
                at, index = failure.state[0], failure.index
            raise self._without_inertia(at, index)
        check_choice("method", method, FORWARD_METHODS if base is None else FORWARD_METHODS[:1])
        shape, (position, rate, effort, load) = self.solver.flat(q=q, qd=qd, tau=tau, wrench=wrench)
        bias = self.inverse_dynamics(
            position, rate, self.solver.still, load, friction=friction, armature=armature
        )
        M = self.mass_matrix(position, "strobing", armature=armature)
        out = np.empty_like(bias)
        for k, missing in enumerate(effort - bias):
            try:
                L = np.linalg.cholesky(M[k])
            except np.linalg.LinAlgError:
                raise self._without_inertia(position[k], element(shape, k)) from None
            out[k] = np.linalg.solve(L.T, np.linalg.solve(L, missing))
        return out.reshape(*shape, self.n)

    def _without_inertia(self, q: FloatArray, index: tuple[int, ...]) -> SingularMassMatrix:
        return SingularMassMatrix(
            f"{self.name}: a joint has no inertia to accelerate at q "
            f"{np.array2string(q, precision=6)}"
            f"{f' (element {list(index)})' if index else ''}; give its link mass or its motor "
            "an armature",
            value=q,
            index=index,
        )


def _geometry(arm: SerialArm) -> Geometry:
    """Create the `ArmGeometry` of an arm: its geometric parameters for calibration."""
    from robodyn.solvers.serial.geometry import ArmGeometry  # slow to import

    return ArmGeometry(arm)


geometry_of.register(SerialArm, _geometry)
register_variants(SerialArm, kinematics, presentation, to_tip)
