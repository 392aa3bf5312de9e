# SPDX-License-Identifier: Apache-2.0

"""Permitted configurations of a machine: within joint ranges and away from singularities."""

from __future__ import annotations

import numpy as np

from robodyn.algorithms import conditioning, motions, travel
from robodyn.algorithms.travel import travel_limits, travel_positions
from robodyn.arrays import FloatArray
from robodyn.errors import KinematicsError, NoSolution
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.kernels.nearest_step import nearest_step

# Step [m, rad] of finite differences; fractions of a step to try.
DIFFERENCE, FRACTIONS = 1e-5, np.array([0.1, 0.25, 0.5, 1.0])
# Longest step [m, rad] of a search; longer steps take more time, and their results are less
# certain.
LONGEST = 0.2
# Logarithm of the condition number over its limit above which steps consider its gradient.
NEAR = -1.0
# Tolerance [m, rad] of joint limits for rounding.
ROUNDING = 1e-9


def twist_weights(mechanism: Mechanism) -> FloatArray:
    """Return factors that convert all components of a body's twist to lengths.

    Returns:
        Factors (6,): 1 for translations, and the characteristic length [m] for rotations.
    """
    return np.repeat([1.0, mechanism.characteristic_length], 3)


class Workspace:
    """Permitted configurations of a machine, and the one that is nearest to a target.

    All limits of `travel_limits` apply, including those of passive joints and of the cones at the
    legs' ends. Singularities of type 2, at which efforts do not suffice, are excluded too; an arm,
    whose joints are commanded, has none of these.

    Args:
        mechanism: mechanism whose condition number, with its characteristic length, is limited.
        positions: (n, 2) ranges of the driven joints.
        condition_limit: largest permitted condition number of the Jacobian; if 1.5 times the
            condition number at home is larger, that value is the limit.
    """

    def __init__(
        self, mechanism: Mechanism, positions: FloatArray, condition_limit: float = 60.0
    ) -> None:
        self._mechanism = mechanism
        self.lower, self.upper = positions[:, 0], positions[:, 1]
        self._driven = len(positions)
        bounds = np.vstack([positions, travel.travel_bounds(mechanism)[self._driven :]])
        self._least, self._largest = bounds.T
        self._has_passive = len(bounds) > self._driven
        side = conditioning.side(mechanism, mechanism.home)
        self._side = 0.0 if side is None else float(np.sign(side))
        self._limit = np.inf
        if self._side:
            self._limit = max(condition_limit, 1.5 * float(self._condition(mechanism.home)))
        self._weights = twist_weights(mechanism)
        self._last = np.empty(0), np.empty(0)  # configuration that was found, and its excess

    def violation(self, configuration: FloatArray) -> str:
        """Return why a configuration (nq,) is not permitted; empty if it is permitted."""
        value = self._excess(configuration)
        worst = int(np.argmax(value))
        if value[worst] <= ROUNDING:
            return self._side_violation(configuration)
        if worst == 2 * len(self._least):
            number = conditioning.condition_text(self._limit * np.exp(value[worst]))
            return f"the condition number is {number}, its limit is {self._limit:g}"
        return self._describe(worst, value[worst])

    def _describe(self, place: int, excess: float) -> str:
        """Describe by how much a joint exceeds its lower or upper limit.

        `place` is the index of the limit: first all upper, then all lower ones.
        """
        is_above, joint = place < len(self._least), place % len(self._least)
        end, limits = ("upper limit", self._largest) if is_above else ("lower limit", self._least)
        name, unit, *_ = travel_limits(self._mechanism)[joint]
        return f"{name} would be {excess:.4g} {unit} beyond its {end}, {limits[joint]:.4g} {unit}"

    def path_violation(self, configurations: FloatArray) -> str:
        """Return why a motion through configurations (k, nq) is not permitted.

        The ranges of driven joints are not checked. A machine beyond a limit of a passive joint, or
        of the condition number, may move back towards it.

        Returns:
            The reason; empty if the motion is permitted.
        """
        if self._has_passive:
            excess = self._positions_excess(configurations)
            worst = excess[1:].max(axis=0)
            worst[np.arange(len(worst)) % len(self._least) < self._driven] = -np.inf
            worst[worst <= excess[0]] = -np.inf
            if worst.max() > ROUNDING:
                return self._describe(int(worst.argmax()), float(worst.max()))
        if not self._side:
            return ""
        first, *others = self._condition(configurations).tolist()
        number = max(others)
        if number > self._limit and number > first:
            stated = conditioning.condition_text(number)
            return f"the condition number would be {stated}, its limit is {self._limit:g}"
        return self._side_violation(configurations[1:])

    def is_conditioned(self, configurations: FloatArray) -> bool:
        """Return whether all configurations (k, nq) respect the condition number's limit.

        The result is one boolean for the whole motion.
        """
        return not self._side or bool((self._condition(configurations) <= self._limit).all())

    def passive_margins(self, configurations: FloatArray, spare: float) -> FloatArray:
        """Compute the least margin of any passive joint to its limits.

        A fraction `spare` of each joint's range is reserved.

        Returns:
            Margins (k,) for the configurations (k, nq); infinite without passive joints.
        """
        if not self._has_passive:
            return np.full(len(configurations), np.inf)
        width = np.tile(self._largest - self._least, 2)
        room = -self._positions_excess(configurations)
        room -= spare * np.where(np.isfinite(width), width, 0.0)
        passive = np.arange(len(width)) % len(self._least) >= self._driven
        return np.asarray(room[:, passive].min(axis=1))

    def nearest(self, target: FloatArray, inside: FloatArray) -> FloatArray:
        """Compute the permitted configuration nearest to a target (nq,).

        The result is one step away from the permitted configuration `inside` (nq,). Distances are
        those of the body: displacement, and rotation times the characteristic length. The step
        leads to the nearest permitted point to first order, or part of the way.

        Returns:
            Permitted configuration (nq,); `inside` itself if no step is possible.
        """
        mechanism = self._mechanism
        try:
            excess, slopes = self._linearize(inside)
            way = mechanism.difference(inside, target)
            body = self._weights[:, None] * mechanism.twist_jacobian(inside)
            step = np.empty_like(way)
            nearest_step(body, slopes, excess, way, step)
            if np.isfinite(step).all():
                step *= min(1.0, LONGEST / max(float(np.abs(step).max()), LONGEST))
                return self._step_within_limits(inside, step, max(float(excess.max()), ROUNDING))
        except KinematicsError:
            pass
        return inside

    def _linearize(self, here: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute how far each quantity exceeds its limit, and the gradients.

        Returns:
            Excesses (k,), negative within the limits, and their gradients (k, nv). Infinite limits
            are left out.
        """
        mechanism, joints = self._mechanism, self._mechanism.joint_jacobian(here)
        number, (found, excess) = np.zeros(joints.shape[1]), self._last
        if found is not here:
            excess = self._excess(here)
        if self._has_passive or excess[-1] > NEAR:
            ways = DIFFERENCE * np.eye(len(number))
            beside = motions.advance_along(mechanism, here, ways)
            if len(beside) < len(ways):
                raise NoSolution(
                    "the loops do not close near this configuration", residual=np.inf, value=here
                )
        if self._has_passive:
            places = travel_positions(mechanism, np.vstack([here, beside]))
            moved = (places[1:] - places[0]) / DIFFERENCE
            joints = np.vstack([joints, moved.T[self._driven :]])
        if excess[-1] > NEAR:
            number = (np.log(self._condition(beside) / self._limit) - excess[-1]) / DIFFERENCE
        slopes = np.vstack([joints, -joints, number])
        known = np.isfinite(excess) & np.isfinite(slopes).all(axis=1)
        return excess[known], slopes[known]

    def _step_within_limits(self, here: FloatArray, step: FloatArray, most: float) -> FloatArray:
        """Return the configuration after the largest permitted fraction of a step.

        A fraction is permitted if no limit is exceeded by more than `most`.
        """
        q = motions.advance_along(self._mechanism, here, FRACTIONS[:, None] * step)
        if len(q):
            excess = self._excess(q)
            for k in np.flatnonzero(excess.max(axis=1) <= most)[::-1]:
                if not self._side_violation(q[k]):
                    self._last = q[k], excess[k]
                    return self._last[0]
        return here

    def _positions_excess(self, configurations: FloatArray) -> FloatArray:
        """Compute how far each joint is beyond its upper and its lower position limit.

        Returns:
            Excesses (..., 2 k) of the k joints, negative within the limits.
        """
        m = self._mechanism
        if self._has_passive:
            positions = travel_positions(m, configurations)
        else:
            positions = m.joint_positions(configurations)
        return np.concatenate([positions - self._largest, self._least - positions], axis=-1)

    def _excess(self, configuration: FloatArray) -> FloatArray:
        """Compute how far joints and the condition number are beyond their limits.

        Returns:
            Excesses (..., 2 k + 1), negative within the limits: beyond upper joint limits, beyond
            lower joint limits, and the logarithm of the condition number over its limit.
        """
        positions, number = self._positions_excess(configuration), np.array([-np.inf])
        if self._side:  # the logarithm of the condition number over its limit
            number = np.log(self._condition(configuration) / self._limit)[..., None]
        return np.concatenate([positions, np.broadcast_to(number, (*positions.shape[:-1], 1))], -1)

    def _condition(self, configuration: FloatArray) -> FloatArray:
        return self._mechanism.condition_number(
            configuration, self._mechanism.characteristic_length
        )

    def _side_violation(self, configurations: FloatArray) -> str:
        """Return a message if a singularity separates one of the configurations from home.

        The configurations are (..., nq). The message is empty if there is no such singularity.
        """
        side = conditioning.side(self._mechanism, configurations) if self._side else None
        if side is None or bool((side * self._side > 0.0).all()):
            return ""
        return "the motion to the target passes through a singularity"
