# SPDX-License-Identifier: Apache-2.0

"""All limits of a motion: the requested limits, and by default those of the mechanism."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.kernels.intervals import Intervals
from robodyn.planning.time_optimal.constraints import kinematic
from robodyn.planning.time_optimal.constraints.base import (
    SPEED_MARGIN,
    SPEED_MARGIN_BETWEEN,
    FirstOrder,
    positive_limits,
)
from robodyn.planning.time_optimal.constraints.effort_rates import EffortRates
from robodyn.planning.time_optimal.constraints.efforts import Efforts, lower_and_upper_limits
from robodyn.planning.time_optimal.constraints.motor_curves import MotorCurves
from robodyn.planning.time_optimal.constraints.redundant_efforts import RedundantEfforts
from robodyn.planning.time_optimal.sampled_path import SampledPath
from robodyn.planning.time_optimal.settings import TimeOptimalSettings

# x above any limit; finite, for arithmetic.
UNBOUNDED = 1e30


class Constraints:
    """All limits of a motion along a path, grouped by the order of derivative they constrain.

    Args:
        mechanism: mechanism that moves.
        settings: requested limits.

    Attributes:
        first, second, third: all limits by their order; see `constraints.base`.
        efforts: effort limits, the first of the second-order limits.
        condition: largest permitted condition number of the Jacobian along the path.
        characteristic_length: length [m] by which moments are divided in the condition number.

    Raises:
        InvalidInput: numbers are not valid limits or contradict each other.
    """

    def __init__(self, mechanism: Mechanism, settings: TimeOptimalSettings) -> None:
        self.mechanism = mechanism
        reserve = settings.reserve
        fraction = 1.0 - as_scalar("reserve", reserve, at_least=0.0)
        if not fraction > 0.0:
            raise InvalidInput(f"reserve is {reserve:g}, expected a number below 1", value=reserve)
        count = len(mechanism.joint_names)

        def limit(name: str, default: ArrayLike = np.inf, size: int = count) -> FloatArray:
            given = getattr(settings, name)
            return positive_limits(name, default if given is None else given, size)

        given_limits, wrench = settings.effort_limits, settings.wrench
        effort = mechanism.drives.effort_ranges if given_limits is None else given_limits
        curves = MotorCurves.of(mechanism)
        curves = curves._replace(efforts=fraction * curves.efforts)
        load = None if wrench is None else as_exact("wrench", wrench, (6,), "N, N m")
        bounds = fraction * lower_and_upper_limits("effort_limits", effort, mechanism)
        redundant = count > mechanism.coordinates.velocity_size
        self.efforts = (RedundantEfforts if redundant else Efforts)(mechanism, bounds, curves, load)
        accelerations = kinematic.Accelerations(mechanism, limit("acceleration_limits"))
        self.second = (self.efforts, accelerations) if accelerations.names else (self.efforts,)
        self.first: list[FirstOrder] = [
            kinematic.Rates(mechanism, limit("velocity_limits", mechanism.velocity_limits))
        ]
        speed = float(limit("tip_speed", size=1)[0])
        if np.isfinite(speed):
            self.first.append(kinematic.TipSpeed(mechanism, speed))
        self.condition = float(limit("condition_limit", size=1)[0])
        changing = limit("effort_rate_limits")
        if redundant and np.isfinite(changing).any():
            raise InvalidInput(
                "effort_rate_limits are not supported with more drives than degrees of freedom, "
                "because the motion does not determine the efforts; omit them",
                value=settings.effort_rate_limits,
            )
        length = settings.characteristic_length
        self.characteristic_length = as_scalar("characteristic_length", length, "m", above=0.0)
        jerk, rates = limit("jerk_limits"), EffortRates(mechanism, changing, load)
        self.third = [each for each in (kinematic.Jerk(mechanism, jerk), rates) if each.names]

    def intervals(self, path: SampledPath, ends: tuple[float, float]) -> Intervals:
        """Convert all limits along a piece of a path to `Intervals`.

        `ends` are the squared path speeds s'^2 at the ends of the piece.

        Returns:
            The limited quantities and their limits in the intervals of the path.

        Raises:
            KinematicsError: no efforts exist at a configuration; `index` is its index in (N, 3).
        """
        parts = [each.coefficients(path, ends) for each in self.second]
        terms = np.concatenate([part.terms for part in parts], axis=2)
        upper = np.concatenate([part.upper for part in parts], axis=1)
        lower = np.concatenate([part.lower for part in parts], axis=1)
        curved = any(part.curved for part in parts)
        if not curved:
            terms[..., 2] = 0.0
        with np.errstate(divide="ignore"):
            bound = np.minimum.reduce([each.bound(path) for each in self.first])
        bounds = np.ascontiguousarray((((1.0 - SPEED_MARGIN) * bound) ** 2)[:, path.imposed])
        for k, x in zip((0, -1), ends, strict=True):
            if x > 0.0:
                # an adopted motion may use between its points the margin that it has at them
                bounds[k] *= ((1.0 - SPEED_MARGIN_BETWEEN) / (1.0 - SPEED_MARGIN)) ** 2
        caps = np.full(len(path.steps) + 1, UNBOUNDED)
        caps[:-1] = np.minimum(caps[:-1], bounds[:, 0])
        caps[1:] = np.minimum(caps[1:], bounds[:, -1])
        curves = self.efforts.curves.pad(terms.shape[2])
        steps = np.ascontiguousarray(path.steps)
        return Intervals(steps, terms, upper, lower, bounds, caps, *curves, curved)
