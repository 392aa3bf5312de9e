# SPDX-License-Identifier: Apache-2.0

"""Functions of an exported library, composed of `KindFunctions`."""

from __future__ import annotations

import re
from typing import Any

from robodyn.dynamics import joint_friction
from robodyn.exporting import serial, stewart, tree  # noqa: F401, register their functions
from robodyn.exporting.checked_calls import (
    condition_number_of,
    difference_of,
    frictionless_dynamics_of,
    kind_function,
    link_dynamics_of,
    side_of,
    with_checks,
)
from robodyn.exporting.control import (
    checked_elastic_step_of,
    checked_step_of,
    computed_torque_less_of,
    computed_torque_of,
    end_stop_efforts_of,
    reduce_efforts_of,
)
from robodyn.exporting.derivatives import (
    forward_dynamics_derivatives_of,
    inverse_dynamics_derivatives_of,
    link_dynamics_derivatives_of,
)
from robodyn.exporting.kind_functions import NO_SOLUTION, KindFunctions, kind_functions_of
from robodyn.exporting.signatures import Argument, Function, Setting
from robodyn.mechanism.mechanism import Mechanism
from robodyn.numerics.compiler import noinline


def functions_of(mechanism: Mechanism) -> dict[Function, Any]:
    """Create all functions of a mechanism's exported library.

    Returns:
        Mapping from each declaration to its function. The functions check their arguments and
        results, and are not yet compiled.

    Raises:
        ModelError: the mechanism cannot be exported.
    """

    def make(of: Mechanism) -> KindFunctions:
        found = kind_functions_of(of)
        # called instead of inlined, so that they are compiled once: they make up most of a library
        return found._replace(
            inverse=_compile_call(found.inverse), forward=_compile_call(found.forward)
        )

    own = make(mechanism)
    rest, friction = joint_friction.without_planned_friction(mechanism), mechanism.solver.friction
    at_rest = own if rest is mechanism else make(rest)
    smooth = at_rest
    if friction.is_fast.any():
        smooth = make(mechanism.without_dry_friction()) if friction.is_dry else own
    bare, frictionless = mechanism.without_friction(), own
    if bare != mechanism:
        frictionless = at_rest if bare == rest else make(bare)
    damping = joint_friction.planned_damping(mechanism, rest)
    setting = Setting(mechanism, at_rest, smooth, frictionless, damping)
    if mechanism.drives.elasticity is not None:
        bare = mechanism._rotorless
        links = make(bare)
        free = make(bare._smooth) if bare.solver.friction.is_dry else links
        setting = setting._replace(links=Setting(bare, links, free, links, setting.damping))
    return {
        function: with_checks(function, own, setting) for function in library_functions(mechanism)
    }


def library_functions(mechanism: Mechanism) -> tuple[Function, ...]:
    """Return the declarations of all functions in a mechanism's exported library."""
    if mechanism.drives.elasticity is None:
        return FUNCTIONS
    return *(each for each in FUNCTIONS if each.name != "step"), *ELASTIC_FUNCTIONS


def _compile_call(find: Any) -> Any:
    """Wrap a dynamics function in a compiled function that is never inlined."""

    @noinline
    def dynamics(
        q: Any, v: Any, acceleration_or_effort: Any, wrench: Any, base: Any, out: Any
    ) -> bool:
        found: bool = find(q, v, acceleration_or_effort, wrench, base, out)
        return found

    return dynamics


# Size of every argument, in terms of NQ, NV and N, or the C type of one number; its meaning with
# unit and frame; and whether it may be NULL.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "configuration": ("NQ", ""),
    "velocity": ("NV", ""),
    "acceleration": ("NV", ""),
    "efforts": ("N", ""),
    "drive_efforts": ("N", "efforts that the drives themselves add; NULL: none", True),
    "resting_efforts": ("N", "efforts that cause no acceleration"),
    "wrench": ("6", "on the body: force [N], moment [N m] about its origin, base frame", True),
    "base": (
        "9",
        "the base's motion: specific force [m/s^2], angular velocity [rad/s] and acceleration "
        "[rad/s^2], base frame; NULL: at rest",
        True,
    ),
    "positions": ("N", "positions of the driven joints"),
    "joint_velocities": ("N", ""),
    "joint_accelerations": ("N", ""),
    "displacement": ("NV", "in the units of velocity times time"),
    "moved": ("NQ", ""),
    "goal": ("NQ", ""),
    "matrix": ("NV * NV", "symmetric"),
    "bias": ("NV", ""),
    "pose": ("7", "x y z [m], quaternion x y z w, base frame"),
    "jacobian": ("6 * NV", "linear rows above angular rows, base frame"),
    "length": ("double", "characteristic length [m] that makes moments comparable with forces"),
    "value": ("1", "1 at best, infinite at a singularity"),
    "sign": (
        "1",
        "1 or -1, 0 at a singularity; always 1 if the mechanism has no known singularity",
    ),
    "target_configuration": ("NQ", ""),
    "target_velocity": ("NV", ""),
    "target_acceleration": ("NV", ""),
    "kp": ("NV", "[1/s^2] gains of the displacement to the target"),
    "kv": ("NV", "[1/s] gains of the velocity error, must be positive"),
    "motor_positions": ("N", "converted to the joint side of the transmission"),
    "motor_velocities": ("N", "converted to the joint side of the transmission"),
    "joint_efforts": ("N", "efforts of the drives' springs and dampers on the joints"),
    "dt": ("double", "[s] length of a step"),
    "steps": ("int", "number of steps, at least 1"),
    "efforts_by_configuration": ("N * NV", "by rows"),
    "efforts_by_velocity": ("N * NV", "by rows"),
    "efforts_by_acceleration": ("N * NV", "by rows"),
    "acceleration_by_configuration": ("NV * NV", "by rows"),
    "acceleration_by_velocity": ("NV * NV", "by rows"),
    "acceleration_by_efforts": ("NV * N", "by rows"),
}


def _function(signature: str, about: str, make: Any, **more: Any) -> Function:
    """Create the declaration of a function from a string `name: arguments -> results`.

    A name among both arguments and results is an in-out argument.
    """
    name, given, results = re.split(": | -> ", signature)
    names = list(dict.fromkeys([*given.split(), *results.split()]))
    arguments = tuple(
        _argument(each, each in given.split(), each in results.split()) for each in names
    )
    return Function(name, about, arguments, make, **more)


def _argument(name: str, is_given: bool, is_result: bool) -> Argument:
    size, meaning, *optional = ARGUMENTS[name]
    if size in ("double", "int"):
        return Argument(name, "", size, meaning)
    use = "maybe" if optional else "in"
    if is_result:
        use = "inout" if is_given else "out"
    return Argument(name, size, use, meaning)


FUNCTIONS = (
    _function(
        "inverse_dynamics: configuration velocity acceleration wrench base -> efforts",
        "Efforts that cause a motion.",
        kind_function("inverse"),
        fails_on_invalid=True,
    ),
    _function(
        "frictionless_dynamics: configuration velocity acceleration wrench base -> efforts",
        "Efforts that cause a motion, without friction in the joints.",
        frictionless_dynamics_of,
        fails_on_invalid=True,
    ),
    _function(
        "forward_dynamics: configuration velocity efforts wrench base -> acceleration",
        "Acceleration caused by efforts; joints at rest have no dry friction here.",
        kind_function("forward"),
        fails_on_invalid=True,
    ),
    _function(
        "inverse_dynamics_derivatives: configuration velocity acceleration wrench base -> efforts "
        "efforts_by_configuration efforts_by_velocity efforts_by_acceleration",
        "Efforts of a motion, and their derivatives with respect to a displacement of the "
        "configuration, velocity and acceleration. Dry friction is differentiated where no "
        "driven joint's rate is about to change its sign; loops with dry friction in "
        "passive joints have no derivatives here.",
        inverse_dynamics_derivatives_of,
        fails_on_invalid=True,
    ),
    _function(
        "forward_dynamics_derivatives: configuration velocity efforts wrench base -> acceleration "
        "acceleration_by_configuration acceleration_by_velocity acceleration_by_efforts",
        "Acceleration caused by efforts, and its derivatives with respect to a displacement of the "
        "configuration, velocity and efforts.",
        forward_dynamics_derivatives_of,
        fails_on_invalid=True,
    ),
    _function(
        "mass_matrix: configuration -> matrix", "Mass matrix, by rows.", kind_function("mass")
    ),
    _function(
        "bias: configuration velocity base -> bias",
        "Generalized efforts due to gravity, velocity terms and friction, one per velocity.",
        kind_function("bias"),
    ),
    _function(
        "joint_positions: configuration -> positions",
        "Positions of the driven joints: inverse kinematics.",
        kind_function("positions"),
    ),
    _function(
        "configuration: positions configuration -> configuration",
        "The configuration with these positions of the driven joints: forward kinematics. On "
        "input, `configuration` is a guess; the solution is the one near it.",
        kind_function("close", NO_SOLUTION),
    ),
    _function(
        "advance: configuration displacement -> moved",
        "The configuration at a displacement from another one.",
        kind_function("advance", NO_SOLUTION),
    ),
    _function(
        "difference: configuration goal -> displacement",
        "The displacement that leads from `configuration` to the configuration `goal`.",
        difference_of,
    ),
    _function(
        "velocity: configuration joint_velocities -> velocity",
        "The generalized velocity with these rates of the driven joints.",
        kind_function("velocity"),
    ),
    _function(
        "acceleration: configuration joint_velocities joint_accelerations -> acceleration",
        "The generalized acceleration with these rates and accelerations of the driven joints.",
        kind_function("acceleration"),
    ),
    _function(
        "joint_velocities: configuration velocity -> joint_velocities",
        "Rates of the driven joints.",
        kind_function("rates"),
    ),
    _function(
        "body_pose: configuration -> pose",
        "Pose of the platform or the tip.",
        kind_function("pose"),
    ),
    _function(
        "twist_jacobian: configuration -> jacobian",
        "Jacobian, by rows: maps the generalized velocity to the twist of the platform or the tip.",
        kind_function("jacobian"),
    ),
    _function(
        "condition_number: configuration length -> value",
        "Ratio of the largest to the smallest singular value of the Jacobian.",
        condition_number_of,
    ),
    _function(
        "side: configuration -> sign",
        "Side of the singularities of type 2, at which the motors do not determine the motion; the "
        "sign changes along a path only at such a singularity.",
        side_of,
    ),
    _function(
        "computed_torque: configuration velocity target_configuration target_velocity "
        "target_acceleration kp kv wrench base -> efforts",
        "Efforts that track a target motion, reduced to the limits of the actuators like those of "
        "`reduce_efforts`.",
        computed_torque_of,
    ),
    _function(
        "computed_torque_less: configuration velocity target_configuration target_velocity "
        "target_acceleration kp kv drive_efforts wrench base -> efforts",
        "Efforts of `computed_torque`, minus those that the drives themselves add.",
        computed_torque_less_of,
    ),
    _function(
        "reduce_efforts: configuration resting_efforts efforts -> efforts",
        "Efforts of an acceleration, reduced to the limits of the actuators: those of the largest "
        "fraction of the acceleration that stays within all limits. If no fraction does, "
        "efforts are cut one by one or in proportion, whichever causes the smaller error of the "
        "acceleration.",
        reduce_efforts_of,
    ),
    _function(
        "end_stop_efforts: configuration velocity dt -> efforts",
        "Efforts of the end stops, which `step` with steps of dt adds to those of the actuators.",
        end_stop_efforts_of,
    ),
    _function(
        "step: configuration velocity efforts wrench base dt steps -> configuration velocity",
        "The state after steps with constant efforts and wrench: Runge-Kutta of order 4, with "
        "friction, end stops and effort limits; on failure the state is not changed.",
        checked_step_of,
    ),
)

# Functions of a mechanism with elastic drives, which replace its step.
ELASTIC_FUNCTIONS = (
    _function(
        "link_dynamics: configuration velocity joint_efforts wrench base -> acceleration",
        "Acceleration caused by efforts on the joints, for the mechanism without its rotors, which "
        "move separately behind the elastic drives.",
        link_dynamics_of,
        fails_on_invalid=True,
    ),
    _function(
        "link_dynamics_derivatives: configuration velocity joint_efforts wrench base -> "
        "acceleration acceleration_by_configuration acceleration_by_velocity "
        "acceleration_by_efforts",
        "Acceleration from `link_dynamics`, with the derivatives that "
        "`forward_dynamics_derivatives` returns.",
        link_dynamics_derivatives_of,
        fails_on_invalid=True,
    ),
    _function(
        "step: configuration velocity motor_positions motor_velocities efforts wrench base dt "
        "steps -> configuration velocity motor_positions motor_velocities",
        "The state after steps with constant efforts of the motors and a constant wrench: "
        "Runge-Kutta of order 4, with elastic drives, friction, end stops and effort limits; on "
        "failure the state is not changed.",
        checked_elastic_step_of,
    ),
)
