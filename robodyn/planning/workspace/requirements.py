# SPDX-License-Identifier: Apache-2.0
"""Requirements of a workspace, as a margin of each configuration: negative if one is violated.

The requirements concern joint limits, conditioning, efforts at rest, and elasticity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from robodyn.algorithms import conditioning, elasticity
from robodyn.algorithms.motors import LIMIT_TOLERANCE
from robodyn.algorithms.travel import with_cones
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_scalar
from robodyn.errors import KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.bounds import Bounds
from robodyn.planning.time_optimal.constraints.efforts import lower_and_upper_limits

# Condition number above which no static efforts are computed, as there may be none.
HOPELESS = 1e8


def _first_frequency(
    mechanism: Mechanism, configurations: FloatArray, wrench: FloatArray | None
) -> FloatArray:
    """Compute the first natural frequency (N,) [Hz] at N configurations."""
    return elasticity.modes(mechanism, configurations, wrench).frequencies[..., 0]


# Unit and function of the quantities of mechanisms with elastic drives.
ELASTIC: dict[str, tuple[str, Callable[..., FloatArray]]] = {
    "stiffness": ("N/m", elasticity.smallest_stiffness),
    "natural_frequency": ("Hz", _first_frequency),
}


@dataclass(frozen=True)
class WorkspaceSettings:
    """Settings for computing a workspace: requirements and resolution.

    Attributes:
        xyz: (3,) position [m] of an orientation workspace; by default the home position.
        rpy: (3,) roll, pitch, yaw [rad] of a constant-orientation workspace; by default those of
            home.
        orientations: (k, 3) roll, pitch, yaw [rad] of a reachable or dexterous workspace; or one
            angle a, for all combinations of -a, 0 and a about the three axes.
        condition_limit: largest permitted condition number of the Jacobian.
        characteristic_length: length [m] by which moments are divided in the condition number.
        effort_limits: limits of the efforts that hold the mechanism at rest: True for the limits of
            the model; one number or (n,) [N or N m] for symmetric limits; (n, 2) for lower and
            upper limits; None for no limits.
        wrench: (6,) [N, N m] wrench of the environment on the body, base frame, for effort limits
            and stiffness.
        stiffness: least stiffness [N/m] of the body against a force in any direction, with locked
            motors; for mechanisms with elastic drives.
        natural_frequency: least first natural frequency [Hz]; for mechanisms with elastic drives.
        base_cone, body_cone: largest deflection [rad] from home of the joints at the ends of a leg,
            instead of the values of the model.
        within_limits: whether to respect the position limits of all joints, passive ones included.
        bounds: (3, 2) box to search; by default a box that contains all positions within the legs'
            reach.
        error: requested relative error of the volume (three standard deviations).
        resolution: number of grid cells along each axis, for boundary and singular surface.
        seed: seed of the random samples.
        budget: [s] time limit for computing the cells of a mechanism other than a platform; if the
            time does not suffice for `resolution`, the cells are coarser, and the region's text
            states this.
    """

    xyz: ArrayLike | None = None
    rpy: ArrayLike | None = None
    orientations: ArrayLike | None = None
    condition_limit: float = np.inf
    characteristic_length: float = 1.0
    effort_limits: bool | ArrayLike | None = None
    wrench: ArrayLike | None = None
    stiffness: float | None = None
    natural_frequency: float | None = None
    base_cone: float | None = None
    body_cone: float | None = None
    within_limits: bool = True
    bounds: ArrayLike | None = None
    error: float = 0.01
    resolution: int = 40
    seed: int = 0
    budget: float = 30.0


class WorkspaceOptions(TypedDict, total=False):
    """Fields of `WorkspaceSettings` as keyword arguments."""

    xyz: ArrayLike | None
    rpy: ArrayLike | None
    orientations: ArrayLike | None
    condition_limit: float
    characteristic_length: float
    effort_limits: bool | ArrayLike | None
    wrench: ArrayLike | None
    stiffness: float | None
    natural_frequency: float | None
    base_cone: float | None
    body_cone: float | None
    within_limits: bool
    bounds: ArrayLike | None
    error: float
    resolution: int
    seed: int
    budget: float


class Requirements:
    """Requirements of configurations in a workspace.

    Args:
        mechanism: mechanism of any kind.
        settings: settings of the workspace.

    Attributes:
        bounds: limits of joints and conditioning.
        efforts: (n, 2) [N or N m] least and largest efforts at rest; None for no limit.
        least: least permitted values by name of the quantity, a key of `ELASTIC`.

    Raises:
        InvalidInput: shapes are wrong, numbers are out of range, or rigid drives have no stiffness.
    """

    def __init__(self, mechanism: Mechanism, settings: WorkspaceSettings) -> None:
        if (settings.base_cone, settings.body_cone) != (None, None):
            for name in ("base_cone", "body_cone"):
                if getattr(settings, name) is not None:
                    as_scalar(name, getattr(settings, name), "rad", above=0.0)
            mechanism = with_cones(mechanism, settings.base_cone, settings.body_cone)
        self.mechanism = mechanism
        limit, length = settings.condition_limit, settings.characteristic_length
        self.bounds = Bounds(
            mechanism, limit, 0.0, length, settings.within_limits, _side_of_home(mechanism)
        )
        self.efforts: FloatArray | None = None
        if settings.effort_limits is True:
            self.efforts = mechanism.drives.effort_ranges
        elif settings.effort_limits is not None and settings.effort_limits is not False:
            self.efforts = lower_and_upper_limits(
                "effort_limits", settings.effort_limits, mechanism
            )
        wrench = settings.wrench
        self._wrench = None if wrench is None else as_exact("wrench", wrench, (6,), "N, N m")
        self.least = {
            name: as_scalar(name, getattr(settings, name), unit, above=0.0)
            for name, (unit, _) in ELASTIC.items()
            if getattr(settings, name) is not None
        }
        if self.least:
            elasticity.drive_elasticity(mechanism)  # raises an error for rigid drives

    def margins(self, configurations: FloatArray) -> FloatArray:
        """Compute the smallest margin (N,) of configurations (N, nq) to all requirements.

        Margins are clipped to -1 to 1; a margin is negative if a requirement is violated.
        """
        found = self.bounds.margins(configurations).min(axis=1)
        if self.efforts is not None:
            open_ = np.flatnonzero(found > -1.0)
            if open_.size:
                held = self._effort_margins(configurations[open_])
                found[open_] = np.minimum(found[open_], held)
        for name in self.least:
            open_ = np.flatnonzero(found > -1.0)
            if open_.size:
                found[open_] = np.minimum(
                    found[open_], self._elastic_margins(name, configurations[open_])
                )
        return np.asarray(np.clip(np.nan_to_num(found, nan=-1.0), -1.0, 1.0))

    def name(self, configuration: FloatArray) -> str:
        """Return the name of the requirement with the least margin at a configuration.

        The configuration is (nq,). Example: `position of joint2`.
        """
        bound = float(self.bounds.margins(configuration[None]).min())
        for name in self.least:
            if float(self._elastic_margins(name, configuration[None])[0]) < bound:
                return name.replace("_", " ")
        if self.efforts is not None and float(self._effort_margins(configuration[None])[0]) < bound:
            return "effort"
        broken = self.bounds.nearest(configuration)
        return f"{broken[0]} of {broken[1]}" if broken[1] else broken[0]

    def worst(self, configuration: FloatArray) -> str:
        """Describe the requirement with the smallest margin at a configuration (nq,).

        The returned text states the value and the limit of the limited quantity.
        """
        parts = [(float(self.bounds.margins(configuration[None]).min()), "bounds")]
        if self.efforts is not None:
            parts.append((float(self._effort_margins(configuration[None])[0]), "efforts"))
        parts += [
            (float(self._elastic_margins(name, configuration[None])[0]), name)
            for name in self.least
        ]
        _, which = min(parts)
        if which in self.least:
            unit, found = ELASTIC[which][0], self._elastic_values(which, configuration[None])[0]
            return (
                f"the {which.replace('_', ' ')} is {found:.4g} {unit}, the minimum allowed is "
                f"{self.least[which]:.4g} {unit}"
            )
        if which == "bounds":
            return self.bounds.nearest(configuration).text
        assert self.efforts is not None
        held = self._holding_efforts(configuration[None])[0]
        if not np.isfinite(held).all():
            return "no efforts can hold the mechanism at rest"
        joint = int(self._used_fractions(held).argmax())
        unit, (least, largest) = self.mechanism.drives.effort_units[joint], self.efforts[joint]
        limit = f"limit is {largest:.4g}"
        if least != -largest:
            limit = f"limits are {least:.4g} and {largest:.4g}"
        return (
            f"{self.mechanism.joint_names[joint]} needs {held[joint]:.4g} {unit} to hold the "
            f"mechanism at rest, but its {limit} {unit}"
        )

    def _elastic_margins(self, name: str, configurations: FloatArray) -> FloatArray:
        """Compute the margin (N,) of a stiffness or frequency above its required minimum.

        The margin is -1 where the quantity is not positive.
        """
        found, least = self._elastic_values(name, configurations), self.least[name]
        with np.errstate(invalid="ignore"):
            margin = 1.0 - 2.0 * least / (found + least)
        return np.asarray(np.where(found > 0.0, margin, -1.0))

    def _elastic_values(self, name: str, configurations: FloatArray) -> FloatArray:
        """Compute stiffness [N/m] or natural frequency [Hz]; NaN at singularities."""
        try:
            return ELASTIC[name][1](self.mechanism, configurations, self._wrench)
        except KinematicsError:
            if len(configurations) > 1:
                return np.concatenate(
                    [self._elastic_values(name, one[None]) for one in configurations]
                )
        return np.full(1, np.nan)

    def _used_fractions(self, held: FloatArray) -> FloatArray:
        """Compute holding efforts as fractions (..., n) of the effort limits."""
        assert self.efforts is not None
        (least, largest), most = self.efforts.T, np.abs(self.efforts).max(axis=1)
        excess = np.maximum(least - held, held - largest) / most
        return np.asarray(np.where(excess > LIMIT_TOLERANCE, 1.0 + excess, np.abs(held) / most))

    def _effort_margins(self, configurations: FloatArray) -> FloatArray:
        fraction = self._used_fractions(self._holding_efforts(configurations))
        largest = np.nan_to_num(fraction, nan=np.inf).max(axis=1)
        return np.asarray(
            np.where(largest > 1.0, 1.0 / np.maximum(largest, 1.0), 2.0 - largest) - 1.0
        )

    def _holding_efforts(self, configurations: FloatArray) -> FloatArray:
        """Compute the joint efforts (N, n) at rest; NaN at singular configurations."""
        mechanism = self.mechanism
        out = np.full((len(configurations), len(mechanism.joint_names)), np.nan)
        try:
            regular = mechanism.condition_number(configurations) < HOPELESS
            if conditioning.determinant(mechanism, configurations[:1]) is None:
                regular[:] = True
            rest = np.zeros((int(regular.sum()), mechanism.coordinates.velocity_size))
            out[regular] = mechanism.inverse_dynamics(
                configurations[regular], rest, rest, self._wrench
            )
        except KinematicsError:
            if len(configurations) > 1:
                return np.concatenate([self._holding_efforts(one[None]) for one in configurations])
        return out


def _side_of_home(mechanism: Mechanism) -> float:
    """Return the sign of a closed loop's Jacobian determinant at home; otherwise 0.

    The sign identifies the assembly mode: the motors can reach another one only through a
    singularity.
    """
    if mechanism.coordinates.is_pose:
        return 0.0
    try:
        side = conditioning.side(mechanism, mechanism.home)
    except KinematicsError:
        return 0.0
    return 0.0 if side is None else float(np.sign(side))
