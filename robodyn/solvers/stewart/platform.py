# SPDX-License-Identifier: Apache-2.0

"""Stewart platform: the public interface to the kinematics and dynamics of a 6-UPS mechanism.

Every method checks its arguments, broadcasts over leading dimensions and passes one flat batch to
compiled code. Vectors are in the base frame, about the platform's reference point. Equations are
those of Dasgupta and Mruthyunjaya (1998), corrected as in docs/stewart.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from robodyn.algorithms.effort_terms import effort_terms, formulations
from robodyn.algorithms.estimation import needs_estimator, state_estimator
from robodyn.algorithms.geometry import geometry_of
from robodyn.algorithms.variants import register_variants
from robodyn.dynamics.coordinates import POSE, Coordinates
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.model import Model
from robodyn.presentation.nouns import Nouns, nouns_of
from robodyn.solvers.stewart import dynamics, kinematics, legs, parameters, presentation
from robodyn.solvers.stewart import forward_kinematics as from_legs
from robodyn.solvers.stewart.description import yaml_form
from robodyn.solvers.stewart.estimation import PlatformEstimator
from robodyn.solvers.stewart.formulations import FORMULATIONS
from robodyn.solvers.stewart.geometry import PlatformGeometry
from robodyn.solvers.stewart.legs import BaseJoint
from robodyn.solvers.stewart.recognition import checked_structure
from robodyn.solvers.stewart.solver import PlatformSolver


class StewartPlatform(Mechanism):
    """6-UPS Stewart platform; its methods are pure functions of its frozen model.

    A pose is (..., 7) x y z [m], quaternion x y z w, platform frame in base frame; a twist (..., 6)
    the velocity of the platform's reference point [m/s], then the angular velocity [rad/s]; an
    acceleration (..., 6) its time derivative; a wrench (..., 6) the environment's load on the
    platform, force [N] and moment about the reference point [N m]; all in the base frame. Forces
    of the legs are (..., 6) [N], positive when they push.

    All methods raise InvalidInput for arrays of the wrong shape or not finite. If the equations
    have no solution they raise a KinematicsError that names the element and the leg:
    ZeroLegLength, UniversalJointSingularity, SingularConfiguration.

    Attributes:
        model: description of the platform.
        structure: its legs in the model: joints, frames and geometry.
        base_joint: type for each leg: `universal`, or `spherical` for a 6-SPS leg, whose passive
            spin is neglected; such a leg must be symmetric about its axis.
    """

    kind = "stewart"
    model: Model
    coordinates: Coordinates = POSE
    solver = cached_property(PlatformSolver)

    def __init__(
        self, model: Model, base_joint: BaseJoint | Sequence[BaseJoint] = "universal"
    ) -> None:
        self.model, self.structure = model, checked_structure(model)
        self.base_joint = legs.base_joints(model, self.structure, base_joint)

    _options = property(legs.options)
    drives = cached_property(legs.drives)
    frames = cached_property(legs.frames)
    bodies = property(legs.bodies)
    home = property(legs.home)
    characteristic_length = cached_property(legs.characteristic_length)
    all_joint_names = property(legs.all_joint_names)

    size = cached_property(kinematics.size)
    joint_states = kinematics.joint_states
    joint_positions = kinematics.joint_positions
    joint_velocities = kinematics.joint_velocities
    inverse_kinematics = kinematics.inverse_kinematics
    leg_motion = kinematics.leg_motion
    body_pose = kinematics.body_pose
    jacobian = kinematics.jacobian
    joint_jacobian = kinematics.joint_jacobian
    twist_jacobian = kinematics.twist_jacobian
    condition_number = kinematics.condition_number

    forward_kinematics = from_legs.forward_kinematics
    assemble = from_legs.assemble
    configuration_at = from_legs.configuration_at
    difference = from_legs.difference
    advance = from_legs.advance

    inverse_dynamics = dynamics.inverse_dynamics
    forward_dynamics = dynamics.forward_dynamics
    mass_matrix = dynamics.mass_matrix
    bias = dynamics.bias
    reactions = dynamics.reactions
    regressor = parameters.regressor

    def __repr__(self) -> str:
        return f"StewartPlatform({self.name!r})"


NOUNS = Nouns(
    mechanism="platform",
    joint="leg",
    body="platform",
    effort="force",
    effort_label="force",
    effort_unit="N",
    joint_unit="m",
)
nouns_of.register(StewartPlatform, lambda _: NOUNS)
effort_terms.register(StewartPlatform, dynamics.effort_terms)
formulations.register(StewartPlatform, lambda _: tuple(FORMULATIONS))
needs_estimator.register(StewartPlatform, lambda _: True)
state_estimator.register(StewartPlatform, PlatformEstimator)
geometry_of.register(StewartPlatform, PlatformGeometry)
register_variants(StewartPlatform, dynamics, from_legs, kinematics, legs, presentation, yaml_form)
