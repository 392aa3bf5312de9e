# SPDX-License-Identifier: Apache-2.0

"""Effort limits of the drives, which bound acceleration and speed along the path.

Inverse dynamics is linear in the acceleration and, without friction, in the squared speed: A s'' +
B s'^2 + D, computed for the mechanism without friction. Viscous friction adds C s'. Dry friction
adds a constant and the Stribeck part S / (1 + G s'^2), both known from the actuators.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.time_optimal.constraints.base import (
    MARGIN,
    MARGIN_BETWEEN,
    Coefficients,
    Excess,
    SecondOrder,
    as_numbers,
    positive_limits,
)
from robodyn.planning.time_optimal.constraints.motor_curves import MotorCurves
from robodyn.planning.time_optimal.sampled_path import SampledPath

# Function of a mechanism, velocities and accelerations (N, M, nv) that returns (N, M, K).
Quantities = Callable[[Mechanism, FloatArray, FloatArray], FloatArray]
# Rate below which a joint's direction may be rounding, relative to its largest along the path.
STANDING = 1e-7
# The mechanism of the last plan, and its variant without friction; None if it has none.
_LAST: list[tuple[weakref.ref[Mechanism], Mechanism | None] | None] = [None]


class Efforts(SecondOrder):
    """Limits of the driven joints' efforts, including the motors' torque-speed curves.

    Attributes:
        limits: (n, 2) [N or N m] least and largest efforts.
        curves: torque-speed curves of the motors.
        names, sizes: see `SecondOrder`.
        subjects: (n,) names of the joints that the efforts act on, for messages.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        limits: FloatArray,
        curves: MotorCurves,
        wrench: FloatArray | None,
    ) -> None:
        self._mechanism, self._wrench = mechanism, wrench
        self.limits, self.curves = limits, curves
        self.subjects = list(mechanism.joint_names)
        self.names = [f"effort of {name}" for name in self.subjects]
        self.sizes = np.maximum(np.abs(limits), 1e-12).T

    def coefficients(self, path: SampledPath, ends: tuple[float, float]) -> Coefficients:
        """Compute the coefficients of the joint efforts along a path, and their limits.

        For arguments and results see `SecondOrder.coefficients`.
        """
        mechanism, ideal = self._mechanism, without_friction(self._mechanism)
        q, u, w = (values[:, path.imposed] for values in path.motion)
        rates, of = self._rates(path), self._quantities(q)
        rest = np.zeros(u.shape)
        D = of(ideal, rest, rest)
        A = of(ideal, rest, u) - D
        B = of(ideal, u, w) - D
        C, S, G = np.zeros((3, *A.shape))
        count = len(path.steps)
        upper, lower = (np.tile((1.0 - MARGIN) * self.limits[:, k], (count, 1)) for k in (1, 0))
        if ideal is not mechanism:
            once = of(mechanism, u, w) - B - D
            twice = of(mechanism, 2.0 * u, 4.0 * w) - 4.0 * B - D
            for i, actuator in enumerate(mechanism.actuators):
                forward, backward, curvature = actuator.stribeck_terms
                rate = rates[..., i]
                S[..., i] = np.where(rate > 0.0, forward, np.where(rate < 0.0, -backward, 0.0))
                G[..., i] = curvature * rate**2
            once = once - S / (1.0 + G)
            twice = twice - S / (1.0 + 4.0 * G)
            C = twice - once
            dry = once - C
            # friction may have either sign if the joint's direction is unknown
            unsure = np.abs(rates) < STANDING * np.abs(rates).max()
            unsure &= rates != 0.0
            standing = np.where(unsure, np.abs(dry + S), 0.0).max(axis=1)
            dry, S = np.where(unsure, 0.0, dry), np.where(unsure, 0.0, S)
            D = D + dry
            upper -= standing
            lower += standing
            for k, x in zip((0, -1), ends, strict=True):
                if x == 0.0:
                    # at the instant of rest no friction supports the mechanism
                    upper[k] += np.minimum((dry + S)[k], 0.0).min(axis=0)
                    lower[k] += np.maximum((dry + S)[k], 0.0).max(axis=0)
        terms = np.empty((*A.shape, 7))
        for k, term in enumerate((A, B, C, D, S, G, np.abs(rates))):
            terms[..., k] = term
        viscous = np.abs(C).max() > 1e-9 * np.abs(terms[..., :4]).max()
        curved = bool(self.curves.counts.any() or S.any() or viscous)
        return Coefficients(terms, upper, lower, curved)

    def excess(self, path: SampledPath, square: FloatArray, acceleration: FloatArray) -> Excess:
        """Compute joint efforts along a path, and how far they exceed their limits.

        `square` is s'^2 and `acceleration` s'' (N, M, 1), where s is the path parameter. The result
        is that of `SecondOrder.excess`.
        """
        speed = np.sqrt(square)
        q, u, w = path.motion
        effort = self._quantities(q)(self._mechanism, u * speed, u * acceleration + w * square)
        available = self.curves.at(path.rates * speed) if self.curves.counts.any() else np.inf
        least = (1.0 - MARGIN_BETWEEN) * np.maximum(self.limits[:, 0], -available)
        most = (1.0 - MARGIN_BETWEEN) * np.minimum(self.limits[:, 1], available)
        turned = self._effort_jumps(path.rates)
        with np.errstate(invalid="ignore"):  # infinite limits
            return Excess(
                effort,
                (effort + np.maximum(turned, 0.0) - most) / self.sizes[1],
                (least - effort - np.minimum(turned, 0.0)) / self.sizes[0],
            )

    def describe_shortage(self, row: int, value: float, where: str) -> str:
        """Return the message that even slow motion exceeds an effort limit at a point.

        Args:
            row: index of the driven joint.
            value: effort [N or N m] that a slow motion needs.
            where: text that describes the point on the path.
        """
        unit, (lower, upper) = self._mechanism.drives.effort_units[row], self.limits[row]
        bound = upper if value > upper else lower
        return (
            f"{self.subjects[row]} needs {value:.6g} {unit} to move slowly at {where}, but its "
            f"limit is {bound:.6g} {unit}"
        )

    def _rates(self, path: SampledPath) -> FloatArray:
        """Return derivatives dp/ds (N, 3, K) of joint positions where limits are imposed."""
        return path.rates[:, path.imposed]

    def _quantities(self, q: FloatArray) -> Quantities:
        """Return a function that computes joint efforts at configurations (N, M, nq)."""
        return lambda mechanism, v, a: mechanism.inverse_dynamics(q, v, a, self._wrench)

    def _effort_jumps(self, rates: FloatArray) -> FloatArray:
        """Compute the jumps (N, M, n) of dry friction at samples next to joint reversals.

        A jump is the friction on the other side of the reversal minus the friction at the point; it
        is 0 at all other points.
        """
        out, crosses = np.zeros(rates.shape), rates[:, 1:] * rates[:, :-1] < 0.0
        for i in np.flatnonzero(crosses.any(axis=(0, 1))):
            law = self._mechanism.actuators[int(i)].dry_friction
            jump = float(law(1e-300)) - float(law(-1e-300))
            beside = np.zeros(rates.shape[:2], dtype=bool)
            beside[:, 1:] |= crosses[..., i]
            beside[:, :-1] |= crosses[..., i]
            out[..., i] = np.where(beside, -np.sign(rates[..., i]) * jump, 0.0)
        return out


def without_friction(mechanism: Mechanism) -> Mechanism:
    """Return a copy of the mechanism without friction.

    The copy is cached for the next call; a mechanism without friction is returned unchanged.
    """
    kept = _LAST[0]
    if kept is None or kept[0]() is not mechanism:
        smooth = mechanism.without_friction()
        kept = _LAST[0] = weakref.ref(mechanism), None if smooth == mechanism else smooth
    return mechanism if kept[1] is None else kept[1]


def lower_and_upper_limits(name: str, value: ArrayLike, mechanism: Mechanism) -> FloatArray:
    """Convert effort limits to an array (n, 2) of lower and upper limits.

    Args:
        name: name of the value in error messages.
        value: symmetric limits, one number or (n,), or lower and upper limits (n, 2).
        mechanism: mechanism with n driven joints.

    Returns:
        Lower and upper limits (n, 2).

    Raises:
        InvalidInput: the values are not valid limits, or a lower limit is not below its upper
            limit.
    """
    array = as_numbers(name, value)
    count = len(mechanism.joint_names)
    if array.shape != (count, 2):
        bound = positive_limits(name, value, count)
        return np.stack([-bound, bound], axis=1)
    crossed = np.flatnonzero(array[:, 0] >= array[:, 1])
    if crossed.size:
        joint = int(crossed[0])
        raise InvalidInput(
            f"{name}: the limits of {mechanism.joint_names[joint]} contradict each other: at least "
            f"{array[joint, 0]:g} and at most {array[joint, 1]:g} "
            f"{mechanism.drives.effort_units[joint]}",
            value=value,
        )
    return np.array(array)
