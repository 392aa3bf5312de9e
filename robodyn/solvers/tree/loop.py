# SPDX-License-Identifier: Apache-2.0

"""Mechanisms with closed loops: public interface to the equations of trees and closures."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np

from robodyn.algorithms.estimation import needs_estimator, state_estimator
from robodyn.algorithms.geometry import Geometry, geometry_of
from robodyn.algorithms.variants import register_variants
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.model import Model
from robodyn.presentation.nouns import Nouns, nouns_of
from robodyn.solvers.tree import calls, conditions, estimation, joints, parameters, presentation
from robodyn.solvers.tree import inverse_kinematics as to_tip
from robodyn.solvers.tree import reactions as forces
from robodyn.solvers.tree.closing import assembly, kinematics
from robodyn.solvers.tree.closing.kinematics import check_closed, each_state, refuse_under_actuated
from robodyn.solvers.tree.closing.pivots import forward_dynamics_repivoted
from robodyn.solvers.tree.closing.structure import structure_of
from robodyn.solvers.tree.solver import LoopSolver

_empty = np.empty


class ClosedLoop(Mechanism):
    """Mechanism with closed loops: a tree of joints with closures.

    Its methods are pure functions of its model. Configurations are (..., nq), velocities and
    accelerations (..., mobility) of the independent joints, efforts (..., n) of the driven ones
    [rad or m, N m or N]. A wrench (..., 6) is the force and the moment of the environment on the
    tip link, about its origin, base frame [N, N m]. The dynamics include viscous and dry friction
    of the joints, the closures' dampers and the motors' rotors.

    A configuration must close the loops; `assemble` computes one. Functions of the independent
    joints raise SingularConfiguration if these do not determine the motion.

    Attributes:
        model: description of the mechanism.
        structure: results of its structural analysis.
    """

    kind = "closed_loop"
    model: Model
    solver = cached_property(LoopSolver)

    def __init__(self, model: Model) -> None:
        self.model = model
        self.structure = structure_of(model)

    mobility = property(joints.mobility)
    all_joint_names = cached_property(joints.all_joint_names)
    independent_joints = cached_property(joints.independent_joints)
    coordinates = cached_property(joints.coordinates)
    home = property(joints.home)
    bodies = property(joints.bodies)
    size = cached_property(joints.size)
    joint_positions = joints.joint_positions

    joint_velocities = kinematics.joint_velocities
    joint_states = kinematics.joint_states
    body_pose = kinematics.body_pose
    jacobian = kinematics.jacobian
    joint_jacobian = kinematics.joint_jacobian

    difference = assembly.difference
    advance = assembly.advance
    assemble = assembly.assemble
    assemblies = assembly.assemblies

    condition_number = conditions.condition_number

    configuration_at = to_tip.configuration_at

    regressor = parameters.regressor
    closure_forces = forces.closure_forces
    reactions = forces.reactions

    def __repr__(self) -> str:
        return (
            f"ClosedLoop({self.name!r}, {len(self.structure.joint_names)} joints, "
            f"{len(self.model.closures)} closures, mobility {self.mobility})"
        )

    def inverse_dynamics(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the efforts of the driven joints for a motion.

        If there are more driven joints than degrees of freedom, the efforts minimize their
        (weighted) sum of squares. If these exceed the joints' limits, they are the efforts with the
        least sum of squares within the limits, if there are any.

        Args:
            configuration: (..., nq).
            velocity, acceleration: (..., mobility).
            wrench: external wrench (..., 6) [N, N m] on the tip, base frame; zero by default.
            base: motion of the base; at rest by default.

        Returns:
            Efforts (..., n) [N or N m].

        Raises:
            InvalidInput: a shape is wrong, a value is not finite, or a configuration does not close
                the loops.
            UnderActuated: there are fewer driven joints than degrees of freedom.
            SingularConfiguration: the motors cannot hold the mechanism in this configuration (type
                2).
        """
        moved = None if base is None else rows_of(base)
        if self.structure.determined:
            efforts = _empty(self.solver.n)
            one = self.solver.one.inverse
            try:
                if one(configuration, velocity, acceleration, wrench, moved, False, efforts):
                    return efforts
            except TypeError:
                pass  # not single float64 states: a batch, or an error to report
        refuse_under_actuated(self)
        given = configuration, velocity, acceleration, wrench, moved
        return each_state(self, calls.INVERSE_DYNAMICS, (self.solver.n,), *given)

    def forward_dynamics(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        effort: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the acceleration due to efforts, also at type 2 singularities.

        Dry friction in joints at rest is left out, because only a simulation can decide which
        joints stick.

        Args:
            configuration: (..., nq).
            velocity: (..., mobility).
            effort: (..., n) [N or N m].
            wrench: external wrench (..., 6) [N, N m] on the tip, base frame; zero by default.
            base: motion of the base; at rest by default.

        Returns:
            Acceleration (..., mobility).

        Raises:
            InvalidInput: as for `inverse_dynamics`.
            SingularMassMatrix: a motion of the mechanism has no inertia.
        """
        out, moved = _empty(self.solver.nu), None if base is None else rows_of(base)
        try:
            if self.solver.one.forward(configuration, velocity, effort, wrench, moved, False, out):
                return out
        except TypeError:
            pass
        is_tree = self.structure.is_open_tree
        return each_state(
            self,
            calls.FORWARD_DYNAMICS_OF_TREE if is_tree else calls.FORWARD_DYNAMICS,
            (self.solver.nu,),
            *(configuration, velocity, effort, wrench, moved),
            acceleration_or_effort=("effort", self.solver.n),
            find=partial(_forward_anywhere, self),
        )

    def mass_matrix(self, configuration: ArrayLike) -> FloatArray:
        """Compute the mass matrix of the independent joints.

        It is S'MS, where M is the mass matrix of the tree, and S maps independent rates to the
        rates of all joints.

        Args:
            configuration: (..., nq).

        Returns:
            Mass matrix (..., mobility, mobility) [kg, kg m or kg m^2].

        Raises:
            InvalidInput, SingularConfiguration: as for `inverse_dynamics`.
        """
        matrix = _empty(self.solver.square)
        try:
            if self.solver.one.mass(configuration, False, matrix):
                return matrix
        except TypeError:
            pass
        return each_state(self, calls.MASS_MATRIX, self.solver.square, configuration)

    def bias(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the bias forces: gravity, velocity terms, friction and the wrench.

        They are h in A' efforts = M acceleration + h, with the mass matrix M and the Jacobian A of
        `joint_jacobian`, which maps independent rates to driven rates.

        Args:
            configuration: (..., nq).
            velocity: (..., mobility).
            wrench: external wrench (..., 6) [N, N m] on the tip, base frame; zero by default.
            base: motion of the base; at rest by default.

        Returns:
            Generalized forces (..., mobility) [N or N m] at the independent joints.

        Raises:
            InvalidInput, SingularConfiguration: as for `inverse_dynamics`.
        """
        return self.free_efforts(
            configuration, velocity, np.zeros(self.solver.nu), wrench, base=base
        )

    def free_efforts(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the efforts for a motion as if the independent joints were driven.

        Args:
            configuration: (..., nq).
            velocity, acceleration: (..., mobility).
            wrench: external wrench (..., 6) [N, N m] on the tip, base frame; zero by default.
            base: motion of the base; at rest by default.

        Returns:
            Efforts (..., mobility) [N or N m] at the independent joints.

        Raises:
            InvalidInput, SingularConfiguration: as for `inverse_dynamics`.
        """
        moved = None if base is None else rows_of(base)
        given = configuration, velocity, acceleration, wrench, moved
        return each_state(self, calls.FREE_EFFORTS, (self.solver.nu,), *given)


def _forward_anywhere(
    loop: Any,
    q: FloatArray,
    rates: FloatArray,
    effort: FloatArray,
    wrench: FloatArray | None,
    base: FloatArray | None,
    out: FloatArray,
) -> None:
    if not loop.solver.one.forward(q, rates, effort, wrench, base, False, out):
        check_closed(loop, q)
        out[...] = forward_dynamics_repivoted(loop, q, rates, effort, wrench, base)


def _geometry(loop: ClosedLoop) -> Geometry:
    from robodyn.solvers.tree.geometry import LoopGeometry

    return LoopGeometry(loop)


NOUNS = Nouns(mechanism="mechanism", joint="joint", body="tip", effort="effort")
nouns_of.register(ClosedLoop, lambda _: NOUNS)
geometry_of.register(ClosedLoop, _geometry)
needs_estimator.register(ClosedLoop, lambda _: True)
state_estimator.register(ClosedLoop, estimation.state_estimator)
register_variants(ClosedLoop, assembly, conditions, joints, kinematics, presentation, to_tip)
