# SPDX-License-Identifier: Apache-2.0

"""How far all joints may move: driven ones, passive ones, mimics, and joints at the legs' ends.

Everything that keeps or checks limits of positions takes them from here.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, BoolArray, FloatArray
from robodyn.errors import KinematicsError
from robodyn.mechanisms.common.coordinates import Unit
from robodyn.mechanisms.joints import LIMIT_TOLERANCE
from robodyn.mechanisms.kinematics import Kinematics
from robodyn.model.model import Model

# Limits of an angle that are this far apart leave every direction free.
WHOLE_TURN = 2.0 * np.pi * (1.0 - 1e-12)


class TravelLimit(NamedTuple):
    """Limits of one coordinate.

    Attributes:
        name: of the joint, or of a leg's end and its cone.
        unit: `m` or `rad`.
        lower, upper: infinite where there is none.
    """

    name: str
    unit: Unit
    lower: float
    upper: float


class Travel(Kinematics):
    """The fourth part of `Mechanism`: every coordinate whose travel is limited.

    The driven joints come first, all `n` of them and as the mechanism measures them. Then come
    passive joints with limits, joints that follow others (`mimic`) included, as the URDF measures
    them. Last come the angles by which legs bend from home at the base and at the moving body, if
    the model limits them (`base_cone`, `body_cone`).
    """

    @cached_property
    def travel_limits(self) -> tuple[TravelLimit, ...]:
        """(k,) of the coordinates of `travel`; the first n are those of the driven joints."""
        driven = zip(self.joint_names, self.joint_units, self.position_limits, strict=True)
        limits = [TravelLimit(name, unit, *ends.tolist()) for name, unit, ends in driven]
        limits += [limit for limit, _, _ in self._passive_travel]
        for end, cone in zip(("base", "body"), self.cones, strict=True):
            if np.isfinite(cone):
                names = self.leg_names
                limits += [
                    TravelLimit(f"{leg} at the {end}", "rad", -np.inf, cone) for leg in names
                ]
        return tuple(limits)

    @cached_property
    def travel_bounds(self) -> FloatArray:
        """(k, 2) [m or rad] lower and upper limits of the coordinates of `travel`."""
        return np.array([limit[2:] for limit in self.travel_limits]).reshape(-1, 2)

    def travel(self, configuration: ArrayLike, /) -> FloatArray:
        """Values (..., k) [m or rad] of every coordinate whose travel is limited.

        An angle of a passive joint is the one nearest to the middle of its limits, as whole turns
        of it mean nothing.

        Raises:
            KinematicsError: the mechanism cannot be in that configuration.
        """
        columns = [self.joint_positions(configuration)]
        if self._passive_travel:
            _, places, middles = zip(*self._passive_travel, strict=True)
            values = self.all_joint_positions(configuration)[..., list(places)]
            middle = np.array(middles)
            wraps = np.isfinite(middle)
            turns = np.where(wraps, (values - np.where(wraps, middle, 0.0)) / (2.0 * np.pi), 0.0)
            columns.append(values - 2.0 * np.pi * np.round(turns))
        if np.isfinite(self.cones).any():
            bends = self.leg_bends(configuration)
            columns += [bends[..., k, :] for k in range(2) if np.isfinite(self.cones[k])]
        return np.concatenate(columns, axis=-1)

    def within_travel(self, configuration: ArrayLike, /) -> BoolArray:
        """Whether all coordinates of configurations (..., nq) are within their limits.

        But for rounding; false if the mechanism cannot be in one of them.
        """
        try:
            values = self.travel(configuration)
        except KinematicsError:
            return np.zeros(np.shape(configuration)[:-1], dtype=bool)
        lower, upper = self.travel_bounds.T
        slack = travel_slack(self.travel_bounds)
        return np.asarray(((values >= lower - slack) & (values <= upper + slack)).all(axis=-1))

    def all_joint_positions(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., j) [m or rad] of the joints of `all_joint_names`, as the URDF measures them."""
        return self.joint_states(configuration).positions

    @property
    def passive_limits(self) -> dict[str, FloatArray]:
        """Limits (2,) [rad or m] of joints that are not driven, as the URDF measures them."""
        if not isinstance(self.model, Model):
            return {}
        driven = set(self.joint_names)
        return {j.name: j.position for j in self.model.joints if j.name not in driven}

    @cached_property
    def _passive_travel(self) -> list[tuple[TravelLimit, int, float]]:
        """Limits of passive joints, their places in a joint state, and middles of angles."""
        found = []
        limits = self.passive_limits
        joints = {joint.name: joint for joint in getattr(self.model, "joints", ())}
        for place, name in enumerate(self.all_joint_names):
            ends = limits.get(name)
            if ends is None or not np.isfinite(ends).any():
                continue
            lower, upper = ends.tolist()
            turns = joints[name].kind != "prismatic"
            # what a joint follows counts its turns
            alone = turns and joints[name].mimic is None
            if alone and upper - lower >= WHOLE_TURN:
                continue
            middle = 0.5 * (lower + upper) if alone else np.nan
            limit = TravelLimit(name, "rad" if turns else "m", lower, upper)
            found.append((limit, place, middle if np.isfinite(middle) else np.nan))
        return found

    @property
    def cones(self) -> tuple[float, float]:
        """[rad] how far legs may bend from home at the base and at the body; infinite for any."""
        model = self.model
        return getattr(model, "base_cone", np.inf), getattr(model, "body_cone", np.inf)

    @property
    def leg_names(self) -> tuple[str, ...]:
        """(k,) of the straight legs between the base and the moving body; empty for others."""
        return ()

    def leg_axes(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., 2, k, 3) unit vectors along legs, in the frames that they bend against.

        First in the frames of the links on which the legs stand, then in those that they hold.
        """
        shape = np.shape(configuration)[:-1]
        return np.empty((*shape, 2, 0, 3))

    def leg_bends(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., 2, k) [rad] angles of the legs from home at the base and at the body."""
        half = 0.5 * np.linalg.norm(self.leg_axes(configuration) - self._home_axes, axis=-1)
        return np.asarray(2.0 * np.arcsin(np.minimum(half, 1.0)))

    @cached_property
    def _home_axes(self) -> FloatArray:
        return self.leg_axes(self.home)


def travel_slack(bounds: FloatArray) -> FloatArray:
    """Return the excess (k,) over limits (k, 2) that counts as rounding."""
    finite = np.where(np.isfinite(bounds), np.abs(bounds), 0.0)
    return np.asarray(LIMIT_TOLERANCE * finite.max(axis=-1))
