# SPDX-License-Identifier: Apache-2.0

"""What an exported library offers: its functions, each with how it is made of `Answers`."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.errors import ModelError
from robodyn.exporting.answers import Answers
from robodyn.exporting.checked_calls import (
    acceleration_of,
    bias_of,
    condition_number_of,
    configuration_of,
    forward_dynamics_of,
    inverse_dynamics_of,
    of_configuration,
    of_rates,
)
from robodyn.exporting.control import checked_step_of, computed_torque_of, end_stop_efforts_of
from robodyn.exporting.derivatives import (
    forward_dynamics_derivatives_of,
    inverse_dynamics_derivatives_of,
)
from robodyn.exporting.signatures import (
    ACCELERATION,
    BASE,
    CONFIGURATION,
    EFFORTS,
    VELOCITY,
    WRENCH,
    Argument,
    Function,
    Setting,
    out,
)
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.mechanisms.registry import kinds
from robodyn.numerics.compiler import noinline


def functions_of(mechanism: Mechanism) -> dict[Function, Any]:
    """All functions of a mechanism, compiled of nothing yet.

    Raises:
        ModelError: a mechanism that cannot be exported, or not entirely.
    """
    adapter = kinds()[mechanism.kind].adapter("export")
    if adapter is None:
        raise ModelError(
            f"{mechanism.name} cannot be exported: mechanisms of the kind {mechanism.kind!r} are "
            "not known to the exporter"
        )

    def make(of: Mechanism) -> Answers:
        answers: Answers = adapter(of)
        # called by all that asks for them, and compiled once: most of a library is their code
        return answers._replace(inverse=_called(answers.inverse), forward=_called(answers.forward))

    own = make(mechanism)
    rest, friction = mechanism.without_planned_friction, mechanism.friction
    at_rest = own if rest is mechanism else make(rest)
    smooth = at_rest
    if friction.is_fast.any():
        smooth = make(mechanism.without_dry_friction()) if friction.is_dry else own
    setting = Setting(mechanism, at_rest, smooth, _damping(mechanism, rest))
    return {function: function.make(own, setting) for function in FUNCTIONS}


def _called(call: Any) -> Any:
    """Dynamics that are called, not inlined."""

    @noinline
    def dynamics(q: Any, v: Any, load: Any, wrench: Any, base: Any, out: Any) -> bool:
        found: bool = call(q, v, load, wrench, base, out)
        return found

    return dynamics


def _damping(mechanism: Mechanism, rest: Mechanism) -> np.ndarray:
    """As `control.computed_torque.PlannedFriction` has it."""
    n, nv = len(mechanism.joint_names), mechanism.coordinates.velocity_size
    if rest is mechanism or not mechanism.friction.is_fast.any():
        return np.zeros((n, nv))
    home, still = np.broadcast_to(mechanism.home, (nv, len(mechanism.home))), np.zeros((nv, nv))
    slow, quick = (
        mechanism.inverse_dynamics(home, rate * np.eye(nv), still)
        - rest.inverse_dynamics(home, rate * np.eye(nv), still)
        for rate in (1.0, 2.0)
    )
    return np.asarray((quick - slow).T)


def _slopes(of: str, rows: str, by: tuple[str, ...]) -> tuple[Argument, ...]:
    """Derivatives as results."""
    return tuple(
        Argument(
            f"{of}_by_{name}", f"{rows} * {'N' if name == 'efforts' else 'NV'}", "out", "by rows"
        )
        for name in by
    )


STATE = (CONFIGURATION, VELOCITY)
FUNCTIONS = (
    Function(
        "inverse_dynamics",
        "Efforts of a motion.",
        (*STATE, ACCELERATION, WRENCH, BASE, out(EFFORTS)),
        inverse_dynamics_of,
    ),
    Function(
        "forward_dynamics",
        "The acceleration that efforts cause; joints at rest have no dry friction here.",
        (*STATE, EFFORTS, WRENCH, BASE, out(ACCELERATION)),
        forward_dynamics_of,
    ),
    Function(
        "inverse_dynamics_derivatives",
        "Efforts of a motion, and their derivatives, by rows: by a displacement of the "
        "configuration, by velocity and by acceleration. Dry friction is differentiated where no "
        "driven joint's rate is about to change its sign; loops with dry friction in "
        "passive joints have no derivatives here.",
        (
            *STATE,
            ACCELERATION,
            WRENCH,
            BASE,
            out(EFFORTS),
            *_slopes("efforts", "N", ("configuration", "velocity", "acceleration")),
        ),
        inverse_dynamics_derivatives_of,
    ),
    Function(
        "forward_dynamics_derivatives",
        "The acceleration that efforts cause, and its derivatives likewise.",
        (
            *STATE,
            EFFORTS,
            WRENCH,
            BASE,
            out(ACCELERATION),
            *_slopes("acceleration", "NV", ("configuration", "velocity", "efforts")),
        ),
        forward_dynamics_derivatives_of,
    ),
    Function(
        "mass_matrix",
        "Mass matrix, by rows.",
        (CONFIGURATION, Argument("matrix", "NV * NV", "out", "symmetric")),
        of_configuration("mass"),
    ),
    Function(
        "bias",
        "Gravity, velocity terms and friction, as generalized efforts by velocity.",
        (*STATE, BASE, Argument("bias", "NV", "out", "")),
        bias_of,
    ),
    Function(
        "joint_positions",
        "Positions of the driven joints: inverse kinematics.",
        (CONFIGURATION, Argument("positions", "N", "out", "")),
        of_configuration("positions"),
    ),
    Function(
        "configuration",
        "The configuration with these positions of the driven joints: forward kinematics.",
        (
            Argument("positions", "N", "in", ""),
            CONFIGURATION._replace(use="inout", meaning="in: a guess; out: the solution near it"),
        ),
        configuration_of,
    ),
    Function(
        "velocity",
        "The velocity of the mechanism with these rates of the driven joints.",
        (CONFIGURATION, Argument("joint_velocities", "N", "in", ""), out(VELOCITY)),
        of_rates("velocity", 2),
    ),
    Function(
        "acceleration",
        "The acceleration with these rates and accelerations of the driven joints.",
        (
            CONFIGURATION,
            Argument("joint_velocities", "N", "in", ""),
            Argument("joint_accelerations", "N", "in", ""),
            out(ACCELERATION),
        ),
        acceleration_of,
    ),
    Function(
        "joint_velocities",
        "Rates of the driven joints.",
        (*STATE, Argument("joint_velocities", "N", "out", "")),
        of_rates("rates", 1),
    ),
    Function(
        "body_pose",
        "Pose of the platform or the tip.",
        (CONFIGURATION, Argument("pose", "7", "out", "x y z [m], quaternion x y z w, base frame")),
        of_configuration("pose"),
    ),
    Function(
        "twist_jacobian",
        "From velocity to the twist of the platform or the tip, by rows.",
        (CONFIGURATION, Argument("jacobian", "6 * NV", "out", "linear over angular, base frame")),
        of_configuration("jacobian"),
    ),
    Function(
        "condition_number",
        "Ratio of the extreme singular values of the Jacobian.",
        (
            CONFIGURATION,
            Argument("length", "", "double", "[m] that makes moments comparable with forces"),
            Argument("value", "1", "out", "1 at best, infinite where it is singular"),
        ),
        condition_number_of,
    ),
    Function(
        "computed_torque",
        "Efforts that lead back to a target motion, cut to what the actuators have.",
        (
            *STATE,
            CONFIGURATION._replace(name="target_configuration"),
            VELOCITY._replace(name="target_velocity"),
            ACCELERATION._replace(name="target_acceleration"),
            Argument("kp", "NV", "in", "[1/s^2] gains of the displacement"),
            Argument("kv", "NV", "in", "[1/s] gains of the difference of velocities, above zero"),
            WRENCH,
            BASE,
            out(EFFORTS),
        ),
        computed_torque_of,
    ),
    Function(
        "end_stop_efforts",
        "Efforts of the end stops that `step` adds to those of the actuators.",
        (
            Argument("positions", "N", "in", "of the driven joints"),
            Argument("joint_velocities", "N", "in", ""),
            out(EFFORTS),
        ),
        end_stop_efforts_of,
    ),
    Function(
        "step",
        "The state after steps, efforts and wrench held: Runge-Kutta of order 4, with friction, "
        "end stops and effort limits; left as it was where there is none.",
        (
            CONFIGURATION._replace(use="inout"),
            VELOCITY._replace(use="inout"),
            EFFORTS,
            WRENCH,
            BASE,
            Argument("dt", "", "double", "[s] length of a step"),
            Argument("steps", "", "int", "how many, at least 1"),
        ),
        checked_step_of,
    ),
)
