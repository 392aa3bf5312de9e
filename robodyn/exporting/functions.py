# SPDX-License-Identifier: Apache-2.0

"""What an exported library offers, and how each function is made of a kind's `Answers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robodyn.errors import ModelError
from robodyn.exporting.answers import (
    FINE,
    INVALID,
    LIMITED,
    NO_BASE,
    NO_RESULT,
    NO_SOLUTION,
    Answers,
    are_finite,
    copied,
)
from robodyn.exporting.lending import address, constant, is_null, null, rows, vector
from robodyn.mechanisms.common.joint_friction import WATCHED
from robodyn.mechanisms.common.joint_table import joint_table
from robodyn.mechanisms.common.kernels.control_laws import corrected_acceleration, cut
from robodyn.mechanisms.common.kernels.end_stops import motor_limits
from robodyn.mechanisms.registry import kinds
from robodyn.numerics.array_arguments import borrowed_array, stack
from robodyn.numerics.compiler import inner

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.mechanisms.mechanism import Mechanism


class Argument(NamedTuple):
    """An argument in C: numbers at an address, or one number.

    Attributes:
        name: in the header.
        size: how many, in terms of NQ, NV and N; empty for one number.
        use: "in", "out", "inout"; "maybe" for one that may be NULL; or the C type of one number.
        meaning: unit and frame.
    """

    name: str
    size: str
    use: str
    meaning: str


class Function(NamedTuple):
    """A function of the library; `make` compiles it of `Answers` and a `Setting`."""

    name: str
    about: str
    arguments: tuple[Argument, ...]
    make: Callable[[Answers, Setting], Any]


class Setting(NamedTuple):
    """What is known of a mechanism beside its answers.

    Attributes:
        mechanism: itself.
        rest: answers of the mechanism without the friction that control compensates for the
            planned motion; its own if there is none.
        gain: (n, nv) efforts for unit rates of strong viscous friction, zero without any.
    """

    mechanism: Mechanism
    rest: Answers
    damping: np.ndarray

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Of configuration, velocity and efforts."""
        m = self.mechanism
        return len(m.home), m.coordinates.velocity_size, len(m.joint_names)


CONFIGURATION = Argument("configuration", "NQ", "in", "")
VELOCITY = Argument("velocity", "NV", "in", "")
ACCELERATION = Argument("acceleration", "NV", "in", "")
EFFORTS = Argument("efforts", "N", "in", "")
WRENCH = Argument("wrench", "6", "maybe", "on the body, force [N], moment [N m], base frame")
BASE = Argument("base", "9", "maybe", "must be NULL: this library has no motion of the base")


def out(argument: Argument, **changes: str) -> Argument:
    """The same as a result."""
    return argument._replace(use="out", **changes)


def functions_of(mechanism: Mechanism) -> dict[Function, Any]:
    """All functions of a mechanism, compiled of nothing yet.

    Raises:
        ModelError: a mechanism that cannot be exported, or not entirely.
    """
    make = kinds()[mechanism.kind].adapter("export")
    if make is None:
        raise ModelError(
            f"{mechanism.name} cannot be exported: mechanisms of the kind {mechanism.kind!r} are "
            "not known to the exporter"
        )
    own = make(mechanism)
    rest = mechanism.without_planned_friction
    setting = Setting(
        mechanism, own if rest is mechanism else make(rest), _damping(mechanism, rest)
    )
    return {function: function.make(own, setting) for function in FUNCTIONS}


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


def _checked(answers: Answers, setting: Setting) -> Any:
    """(q, v, third, its size, wrench) -> why a state has no result."""
    is_configuration, (_, nv, _) = answers.is_configuration, setting.sizes

    @inner
    def why(q: Any, v: Any, third: Any, size: int, wrench: Any) -> int:
        valid = is_configuration(q) and are_finite(v, nv) and are_finite(third, size)
        if not is_null(wrench):
            valid = valid and are_finite(wrench, 6)
        return NO_RESULT if valid else INVALID

    return why


def _inverse(answers: Answers, setting: Setting) -> Any:
    call, why, nv = answers.inverse, _checked(answers, setting), setting.sizes[1]

    def inverse_dynamics(q: Any, v: Any, a: Any, wrench: Any, base: Any, out: Any) -> int:
        if not is_null(base):
            return NO_BASE
        return FINE if call(q, v, a, wrench, out) else why(q, v, a, nv, wrench)

    return inverse_dynamics


def _forward(answers: Answers, setting: Setting) -> Any:
    call, why, n = answers.forward, _checked(answers, setting), setting.sizes[2]

    def forward_dynamics(q: Any, v: Any, efforts: Any, wrench: Any, base: Any, out: Any) -> int:
        if not is_null(base):
            return NO_BASE
        return FINE if call(q, v, efforts, wrench, out) else why(q, v, efforts, n, wrench)

    return forward_dynamics


def _of_configuration(name: str) -> Callable[[Answers, Setting], Any]:
    def make(answers: Answers, setting: Setting) -> Any:
        call, is_configuration = getattr(answers, name), answers.is_configuration

        def of_configuration(q: Any, out: Any) -> int:
            if not is_configuration(q):
                return INVALID
            return FINE if call(q, out) else NO_RESULT

        return of_configuration

    return make


def _of_rates(name: str, size: int) -> Callable[[Answers, Setting], Any]:
    def make(answers: Answers, setting: Setting) -> Any:
        call, is_configuration = getattr(answers, name), answers.is_configuration
        width = setting.sizes[size]

        def of_rates(q: Any, rates: Any, out: Any) -> int:
            if not (is_configuration(q) and are_finite(rates, width)):
                return INVALID
            return FINE if call(q, rates, out) else NO_RESULT

        return of_rates

    return make


def _acceleration(answers: Answers, setting: Setting) -> Any:
    call, is_configuration, n = answers.acceleration, answers.is_configuration, setting.sizes[2]

    def acceleration(q: Any, rates: Any, changes: Any, out: Any) -> int:
        if not (is_configuration(q) and are_finite(rates, n) and are_finite(changes, n)):
            return INVALID
        return FINE if call(q, rates, changes, out) else NO_RESULT

    return acceleration


def _bias(answers: Answers, setting: Setting) -> Any:
    call, is_configuration, nv = answers.bias, answers.is_configuration, setting.sizes[1]

    def bias(q: Any, v: Any, base: Any, out: Any) -> int:
        if not is_null(base):
            return NO_BASE
        if not (is_configuration(q) and are_finite(v, nv)):
            return INVALID
        return FINE if call(q, v, out) else NO_RESULT

    return bias


def _close(answers: Answers, setting: Setting) -> Any:
    call, is_configuration, n = answers.close, answers.is_configuration, setting.sizes[2]

    def configuration(positions: Any, q: Any) -> int:
        if not (are_finite(positions, n) and is_configuration(q)):
            return INVALID
        return FINE if call(positions, q) else NO_SOLUTION

    return configuration


def _condition(answers: Answers, setting: Setting) -> Any:
    call, is_configuration = answers.condition, answers.is_configuration

    def condition_number(q: Any, length: float, out: Any) -> int:
        if not (is_configuration(q) and 0.0 < length < np.inf):
            return INVALID
        out[0] = call(q, length)
        return FINE if out[0] >= 0.0 else NO_RESULT

    return condition_number


def _computed_torque(answers: Answers, setting: Setting) -> Any:
    whole, rest, rates_of = answers.inverse, setting.rest.inverse, answers.rates
    difference, why = answers.difference, _checked(answers, setting)
    is_configuration = answers.is_configuration
    planned, damped = setting.rest is not answers, bool(setting.damping.any())
    at_gain = constant(setting.damping)
    _, nv, n = setting.sizes
    m = setting.mechanism
    table = joint_table(m.position_limits, m.actuators)
    columns, curves = table.shape[1], m.has_torque_speed_curve
    at_table, at_limits = constant(table), constant(m.effort_limits)

    def computed_torque(
        q: Any, v: Any, goal: Any, rate: Any, change: Any, kp: Any, kv: Any, wrench: Any,
        base: Any, out: Any,
    ) -> int:  # fmt: skip
        if not is_null(base):
            return NO_BASE
        valid = is_configuration(q) and is_configuration(goal) and are_finite(v, nv)
        valid = valid and are_finite(rate, nv) and are_finite(change, nv)
        if not (valid and are_finite(kp, nv) and are_finite(kv, nv)):
            return INVALID
        work, P, V = stack(5, nv), stack(nv, nv), stack(nv, nv)
        error, here, wanted, ahead, corrected = work[0], work[1], work[2], work[3], work[4]
        for i in range(nv):
            for j in range(nv):
                P[i, j] = kp[i] if i == j else 0.0
                V[i, j] = kv[i] if i == j else 0.0
        difference(q, goal, error)
        copied(v, nv, here)
        copied(rate, nv, wanted)
        copied(change, nv, ahead)
        corrected_acceleration(P, V, error, here, wanted, ahead, corrected)
        efforts, more = stack(2, n), stack(2, n)
        if not rest(q, v, address(corrected), wrench, address(efforts[0])):
            reason: int = why(q, v, change, nv, wrench)
            return reason
        if planned:
            if not (
                whole(goal, rate, change, null(), address(more[0]))
                and rest(goal, rate, change, null(), address(more[1]))
            ):
                return NO_RESULT
            for i in range(n):
                total = more[0, i] - more[1, i]
                if damped:
                    for j in range(nv):
                        total += at_gain()[i * nv + j] * (kp[j] / kv[j]) * error[j]
                efforts[0, i] += total
        limits, speeds = stack(1, n), stack(1, n)
        copied(at_limits(), n, limits[0])
        if curves:
            if not rates_of(q, v, address(speeds)):
                return NO_RESULT
            motor_limits(
                speeds, borrowed_array(vector(at_limits(), (n,))),
                borrowed_array(rows(at_table(), (n, columns))), limits,
            )  # fmt: skip
        if not cut(efforts[0], limits[0], efforts[1]):
            return NO_RESULT
        status = FINE
        for i in range(n):
            out[i] = efforts[1, i]
            if efforts[1, i] != efforts[0, i]:
                status = LIMITED
        return status

    return computed_torque


def _step(answers: Answers, setting: Setting) -> Any:
    call, is_configuration, (_, nv, n) = answers.step, answers.is_configuration, setting.sizes
    friction = setting.mechanism.friction
    dry, decay = friction.is_dry, friction.decay
    at_limits, at_rest = constant(setting.mechanism.effort_limits), constant(np.zeros(6))

    def step(q: Any, v: Any, efforts: Any, wrench: Any, base: Any, dt: float, steps: int) -> int:
        if not is_null(base):
            return NO_BASE
        valid = is_configuration(q) and are_finite(v, nv) and are_finite(efforts, n)
        if not (valid and 0.0 < dt < np.inf and steps > 0):
            return INVALID
        load = at_rest() if is_null(wrench) else wrench
        if not are_finite(load, 6):
            return INVALID
        options, held = stack(1, 2), stack(1, n)
        watched = decay * dt > WATCHED
        options[0, 0] = 1.0 if dry or watched else 0.0
        options[0, 1] = 1.0 if watched else 0.0
        for i in range(n):
            most = at_limits()[i]
            held[0, i] = min(max(efforts[i], -most), most)
        status: int = call(q, v, address(held), load, address(options), dt, steps)
        return status

    return step


STATE = (CONFIGURATION, VELOCITY)
FUNCTIONS = (
    Function(
        "inverse_dynamics",
        "Efforts of a motion.",
        (*STATE, ACCELERATION, WRENCH, BASE, out(EFFORTS)),
        _inverse,
    ),
    Function(
        "forward_dynamics",
        "The acceleration that efforts cause; joints at rest have no dry friction here.",
        (*STATE, EFFORTS, WRENCH, BASE, out(ACCELERATION)),
        _forward,
    ),
    Function(
        "mass_matrix",
        "Mass matrix, by rows.",
        (CONFIGURATION, Argument("matrix", "NV * NV", "out", "symmetric")),
        _of_configuration("mass"),
    ),
    Function(
        "bias",
        "Gravity, velocity terms and friction, as generalized efforts by velocity.",
        (*STATE, BASE, Argument("bias", "NV", "out", "")),
        _bias,
    ),
    Function(
        "joint_positions",
        "Positions of the driven joints: inverse kinematics.",
        (CONFIGURATION, Argument("positions", "N", "out", "")),
        _of_configuration("positions"),
    ),
    Function(
        "configuration",
        "The configuration with these positions of the driven joints: forward kinematics.",
        (
            Argument("positions", "N", "in", ""),
            CONFIGURATION._replace(use="inout", meaning="in: a guess; out: the solution near it"),
        ),
        _close,
    ),
    Function(
        "velocity",
        "The velocity of the mechanism with these rates of the driven joints.",
        (CONFIGURATION, Argument("joint_velocities", "N", "in", ""), out(VELOCITY)),
        _of_rates("velocity", 2),
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
        _acceleration,
    ),
    Function(
        "joint_velocities",
        "Rates of the driven joints.",
        (*STATE, Argument("joint_velocities", "N", "out", "")),
        _of_rates("rates", 1),
    ),
    Function(
        "body_pose",
        "Pose of the platform or the tip.",
        (CONFIGURATION, Argument("pose", "7", "out", "x y z [m], quaternion x y z w, base frame")),
        _of_configuration("pose"),
    ),
    Function(
        "twist_jacobian",
        "From velocity to the twist of the platform or the tip, by rows.",
        (CONFIGURATION, Argument("jacobian", "6 * NV", "out", "linear over angular, base frame")),
        _of_configuration("jacobian"),
    ),
    Function(
        "condition_number",
        "Ratio of the extreme singular values of the Jacobian.",
        (
            CONFIGURATION,
            Argument("length", "", "double", "[m] that makes moments comparable with forces"),
            Argument("value", "1", "out", "1 at best, infinite where it is singular"),
        ),
        _condition,
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
        _computed_torque,
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
        _step,
    ),
)
