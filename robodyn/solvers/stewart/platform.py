# SPDX-License-Identifier: Apache-2.0

"""Stewart platform: the public interface to the kinematics and dynamics of a 6-UPS mechanism.

Every method checks its arguments, broadcasts over leading dimensions and passes one flat batch to a
compiled kernel. Vectors are in the base frame, about the platform's reference point. Equations are
those of Dasgupta and Mruthyunjaya (1998), corrected as in docs/stewart.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from robodyn.algorithms import comparison, conditioning, motions, travel
from robodyn.algorithms.description import driven_joints, gravity_vector
from robodyn.algorithms.effort_terms import effort_terms, formulations
from robodyn.algorithms.estimation import needs_estimator, state_estimator
from robodyn.algorithms.geometry import geometry_of
from robodyn.dynamics import joint_friction as friction_of
from robodyn.dynamics.coordinates import POSE, Coordinates
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.model import Model
from robodyn.presentation import presentation as shown
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
        base_joint: of each leg, `universal`, or `spherical` for a 6-SPS leg, whose passive spin is
            neglected; such a leg must be symmetric about its axis.
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
formulations.register(StewartPlatform, lambda _: tuple(FORMULATIONS))
effort_terms.register(StewartPlatform, dynamics.effort_terms)
needs_estimator.register(StewartPlatform, lambda _: True)
state_estimator.register(StewartPlatform, PlatformEstimator)
geometry_of.register(StewartPlatform, PlatformGeometry)
shown.has_legs.register(StewartPlatform, presentation.has_legs)
shown.configuration_of.register(StewartPlatform, presentation.configuration_of)
shown.default_path.register(StewartPlatform, presentation.default_path)
shown.effort_arrows.register(StewartPlatform, presentation.effort_arrows)
shown.figure.register(StewartPlatform, presentation.figure)
shown.floating_poses.register(StewartPlatform, presentation.floating_poses)
shown.jacobian_unit.register(StewartPlatform, presentation.jacobian_unit)
shown.largest_payload.register(StewartPlatform, presentation.largest_payload)
shown.leg_directions.register(StewartPlatform, presentation.leg_directions)
shown.leg_ends.register(StewartPlatform, presentation.leg_ends)
shown.moving_mass.register(StewartPlatform, presentation.moving_mass)
shown.outline.register(StewartPlatform, presentation.outline)
shown.parameter_tables.register(StewartPlatform, presentation.parameter_tables)
shown.published_models.register(StewartPlatform, presentation.published_models)
shown.typical_effort.register(StewartPlatform, presentation.typical_effort)
shown.values_of.register(StewartPlatform, presentation.values_of)
shown.variables.register(StewartPlatform, presentation.variables)
motions.driven_motion.register(StewartPlatform, kinematics.driven_motion)
motions.motion_of_joints.register(StewartPlatform, from_legs.motion_of_joints)
motions.motion_of_body.register(StewartPlatform, from_legs.motion_of_body)
motions.motions_of_body.register(StewartPlatform, from_legs.motions_of_body)
motions.configuration_near.register(StewartPlatform, from_legs.configuration_near)
motions.state_of_readings.register(StewartPlatform, from_legs.state_of_readings)
motions.configuration_rate.register(StewartPlatform, from_legs.configuration_rate)
motions.normalized.register(StewartPlatform, from_legs.normalized)
conditioning.determinant.register(StewartPlatform, kinematics.determinant)
conditioning.singularities.register(StewartPlatform, kinematics.singularities)
conditioning.side.register(StewartPlatform, kinematics.side)
conditioning.scaled_jacobian.register(StewartPlatform, kinematics.scaled_jacobian)
gravity_vector.register(StewartPlatform, legs.gravity_vector)
driven_joints.register(StewartPlatform, legs.driven_joints)
travel.leg_axes.register(StewartPlatform, legs.leg_axes)
travel.leg_names.register(StewartPlatform, legs.leg_names)
travel.passive_limits.register(StewartPlatform, legs.passive_limits)
comparison.equality_key.register(StewartPlatform, yaml_form.equality_key)
friction_of.joint_friction.register(StewartPlatform, legs.joint_friction)
shown.with_model_values.register(StewartPlatform, presentation.with_model_values)
