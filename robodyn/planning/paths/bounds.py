# SPDX-License-Identifier: Apache-2.0
"""Bounds of a path: joint limits, conditioning, the sign of the determinant, and clearance.

Every bound is a margin: a continuous function of the configuration that is negative where the bound
is violated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from robodyn.algorithms import conditioning, travel
from robodyn.algorithms.motors import LIMIT_TOLERANCE
from robodyn.algorithms.travel import travel_limits, travel_positions
from robodyn.arrays import BoolArray, FloatArray
from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput, KinematicsError, NoPath
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.clearance import Clearance
from robodyn.presentation.nouns import nouns_of

# Default condition limit of mechanisms that can become uncontrollable.
SINGULAR = 1000.0


class BoundViolation(NamedTuple):
    """Violation of a bound by a configuration.

    Attributes:
        quantity: `position`, `condition number`, `singular value`, `singular surface`, `clearance`,
            or `geometry` if no solution of the kinematics exists.
        joint: name of the joint whose limit is violated; else empty.
        value, limit: value of the quantity at the configuration, and the value that it must not
            exceed or fall below, in the unit of the quantity.
        text: description of the value and its limit.
    """

    quantity: str
    joint: str
    value: float
    limit: float
    text: str

    def no_path(
        self, text: str, separated_by: str, configuration: FloatArray, **facts: Any
    ) -> NoPath:
        """Create the error that reports that this bound blocks the path.

        Args:
            text: error message.
            separated_by: obstacle, one of those listed in `NoPath`.
            configuration: (nq,) at which the bound is violated.
            facts: further attributes of the error.

        Returns:
            The error, with the details of this bound.
        """
        return NoPath(
            text,
            separated_by=separated_by,
            joint=self.joint,
            value=self.value,
            limit=self.limit,
            configuration=configuration,
            **facts,
        )


@dataclass(frozen=True)
class Bounds:
    """Bounds that every configuration of a planned path must respect.

    Attributes:
        mechanism: mechanism with the limits of its joints.
        condition_limit: largest permitted condition number of the Jacobian; infinite for no limit.
        singular_value_limit: least permitted singular value of the Jacobian; 0 for no limit.
        characteristic_length: [m] length by which moments are divided for both of these limits.
        within_limits: whether the position limits of all joints apply, see `travel_limits`.
        side: required sign of the determinant that vanishes on the singular surface, see
            `conditioning.side`; 0 if both signs are permitted.
        clearance: computation of the distances between links; None if no clearance is required.
    """

    mechanism: Mechanism
    condition_limit: float = np.inf
    singular_value_limit: float = 0.0
    characteristic_length: float = 1.0
    within_limits: bool = True
    side: float = 0.0
    clearance: Clearance | None = None

    def __post_init__(self) -> None:
        if self.condition_limit != np.inf:
            as_scalar("condition_limit", self.condition_limit, at_least=1.0)
        as_scalar("singular_value_limit", self.singular_value_limit, at_least=0.0)
        as_scalar("characteristic_length", self.characteristic_length, "m", above=0.0)
        for limit in travel_limits(self.mechanism):
            if limit.lower > limit.upper:
                raise InvalidInput(
                    f"the limits of {limit.name} contradict each other: at least "
                    f"{limit.lower:g}, at most {limit.upper:g}",
                    value=limit,
                )

    def margins(self, configurations: FloatArray) -> FloatArray:
        """Compute the margins (N, c) of configurations (N, nq) to each of c bounds.

        Margins are dimensionless. A margin is negative if the bound is violated, and minus
        infinity if no solution of the kinematics exists.
        """
        try:
            return self._margins(configurations)
        except KinematicsError:
            if len(configurations) == 1:
                return np.full((1, self.size), -np.inf)
        return np.concatenate([self.margins(one[None]) for one in configurations])

    def are_satisfied(
        self, configurations: FloatArray, least: FloatArray | float = 0.0
    ) -> BoolArray:
        """Return whether all margins of configurations (N, nq) are at least `least` (c,).

        Returns:
            Array (N,) of booleans, one for each configuration.
        """
        return np.asarray((self.margins(configurations) >= least).all(axis=1))

    @property
    def size(self) -> int:
        """Number of bounds, and so of margins of each configuration."""
        return 2 * len(travel_limits(self.mechanism)) * self.within_limits + 4

    def find_violation(self, configuration: FloatArray) -> BoundViolation | None:
        """Find the bound that a configuration (nq,) violates most.

        Returns:
            The violation; None if the configuration is within all bounds.
        """
        margins = self.margins(configuration[None])[0]
        if np.isneginf(margins).all():
            return BoundViolation(
                "geometry", "", np.nan, np.nan, self._geometry_failure(configuration)
            )
        if (margins >= 0.0).all():
            return None
        return self.nearest(configuration)

    def nearest(self, configuration: FloatArray) -> BoundViolation:
        """Find the bound with the smallest margin at a configuration (nq,).

        The configuration may be within all bounds.

        Returns:
            The bound, with its value at the configuration and its limit.
        """
        margins = self.margins(configuration[None])[0]
        column = int(margins.argmin())
        count = 2 * len(travel_limits(self.mechanism)) * self.within_limits
        if column < count:
            return self._limit_violation(configuration, *divmod(column, count // 2))
        which = column - count
        length = self.characteristic_length
        if which == 0:
            value = float(self.mechanism.condition_number(configuration, length))
            stated = conditioning.condition_text(value)
            text = f"the condition number is {stated}, the limit is {self.condition_limit:.4g}"
            return BoundViolation("condition number", "", value, self.condition_limit, text)
        if which == 1:
            value = float(conditioning.singular_values(self.mechanism, configuration, length)[-1])
            limit = self.singular_value_limit
            text = f"the smallest singular value is {value:.4g}, the minimum allowed is {limit:.4g}"
            return BoundViolation("singular value", "", value, limit, text)
        if which == 2:
            found = conditioning.side(self.mechanism, configuration)
            value = 0.0 if found is None else float(found)
            text = (
                f"the determinant is {value:.3g}: the configuration is beyond the singular surface"
            )
            return BoundViolation("singular surface", "", value, 0.0, text)
        assert self.clearance is not None
        return BoundViolation("clearance", *self.clearance.closest(configuration))

    def _margins(self, q: FloatArray) -> FloatArray:
        mechanism, length = self.mechanism, self.characteristic_length
        columns = []
        if self.within_limits:
            bounds = travel.travel_bounds(mechanism)
            (lower, upper), slack = bounds.T, travel.travel_slack(bounds)
            positions = travel_positions(mechanism, q)
            spans = np.where(np.isfinite(upper - lower), upper - lower, 1.0)
            spans = np.maximum(spans, 1e-9)
            columns += [(positions - lower + slack) / spans, (upper + slack - positions) / spans]
        rest = np.full((len(q), 4), np.inf)
        if self.condition_limit < np.inf:
            number = mechanism.condition_number(q, length)
            with np.errstate(divide="ignore"):
                rest[:, 0] = np.log(self.condition_limit * (1.0 + LIMIT_TOLERANCE) / number)
        if self.singular_value_limit > 0.0:
            smallest = conditioning.singular_values(mechanism, q, length)[:, -1]
            rest[:, 1] = smallest / self.singular_value_limit - 1.0 + LIMIT_TOLERANCE
        if self.side:
            found = conditioning.side(mechanism, q)
            if found is not None:
                rest[:, 2] = np.where(self.side * found > 0.0, np.inf, -1.0)
        if self.clearance is not None:
            rest[:, 3] = self.clearance.margins(q)
        return np.concatenate([*columns, rest], axis=1)

    def _limit_violation(self, configuration: FloatArray, above: int, joint: int) -> BoundViolation:
        mechanism = self.mechanism
        value = float(travel_positions(mechanism, configuration)[joint])
        name, unit, *ends = travel_limits(mechanism)[joint]
        limit = ends[above]
        side = "at most" if above else "at least"
        is_driven = joint < len(mechanism.joint_names)
        subject = (
            f"{nouns_of(mechanism).joint} {joint + 1} ({name})" if is_driven else f"passive {name}"
        )
        text = f"{subject} is at {value:.5g} {unit}, its limits allow {side} {limit:.5g} {unit}"
        return BoundViolation("position", name, value, limit, text)

    def _geometry_failure(self, configuration: FloatArray) -> str:
        try:
            self._margins(configuration[None])
        except KinematicsError as error:
            return error.reason
        return "the mechanism cannot reach this configuration"
