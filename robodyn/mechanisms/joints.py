# SPDX-License-Identifier: Apache-2.0

"""What a mechanism's model says of its joints and bodies, for every kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from robodyn.actuators import Actuator
from robodyn.arrays import BoolArray, FloatArray
from robodyn.checks import guard_methods
from robodyn.mechanisms.common.coordinates import Unit
from robodyn.mechanisms.common.description import DrivenJoint, EffortUnit, Nouns, driven_joint
from robodyn.model.body import Link
from robodyn.model.comparison import differences
from robodyn.model.model import Model

# Excess of a position over a limit, relative to the limit, that is taken as rounding.
LIMIT_TOLERANCE = 1e-9


class Joints(ABC):
    """The first part of `Mechanism`: names, bodies and lengths, and the joints, `n` of them driven.

    A mechanism may measure a driven joint differently from its URDF (a leg by its length):
    position = joint_signs * URDF position + joint_offsets.

    Attributes:
        kind: the name under which its kind is registered: `stewart`, `serial` ...
        model: the description it was built from, as frozen data.
        nouns: words for messages, labels and tables.
        default_paths: names of the paths that models of a paper or of the package show, by model.
    """

    kind: str
    model: Any
    nouns: Nouns = Nouns(mechanism="arm", joint="joint", body="tip", effort="torque")
    default_paths: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Wrap the public methods of a kind, so that wrong arguments end in `InvalidInput`."""
        super().__init_subclass__(**options)
        guard_methods(cls)

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return str(self.model.name)

    @property
    def source(self) -> str:
        """File or model the description was read from; empty if it was built in code."""
        return str(self.model.source)

    @cached_property
    def frames(self) -> tuple[str, str]:
        """Names of the base frame, and of the frame of the platform or the arm's tip."""
        return self.model.base_link, self.model.tip_link

    @property
    def wrapping_joints(self) -> frozenset[str]:
        """Names of the joints whose positions a full turn apart are the same: continuous ones.

        The difference of two positions of such a joint is the short way, at most half a turn. A
        joint with limits, a revolute joint without, and one that others follow count their turns.
        """
        return frozenset(getattr(self.model, "wrapping_joints", ()))

    @property
    def gravity_vector(self) -> FloatArray:
        """(3,) [m/s^2] base frame."""
        gravity: FloatArray = self.model.gravity
        return gravity

    @property
    def options(self) -> tuple[object, ...]:
        """What its class takes besides the model, as frozen data."""
        return ()

    @property
    def compared(self) -> Any:
        """What of the model counts where mechanisms are compared, as frozen data."""
        return self.model

    @property
    def description(self) -> tuple[object, ...]:
        """What the mechanism was built from, as far as it counts: model and further options."""
        return self.compared, *(self.options or ("",))

    def differences(self, other: Any) -> list[str]:
        """Differences from another mechanism's model, one line per field; empty if equal."""
        return differences(self.compared, getattr(other, "compared", None))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Joints) or other.kind != self.kind:
            return NotImplemented
        return self.description == other.description

    __hash__ = None  # type: ignore[assignment]  # equal within rounding cannot hash alike

    @property
    def default_path(self) -> str:
        """Name of the path of a paper's or a bundled mechanism; empty for all others."""
        return self.default_paths.get(self.name, "")

    @property
    @abstractmethod
    def bodies(self) -> Sequence[Link]:
        """The bodies that move, with their masses and inertias."""

    @property
    def moving_mass(self) -> float:
        """[kg] the mass that a payload is compared with: a platform, or all bodies that move."""
        return float(sum(body.mass for body in self.bodies))

    @property
    def largest_payload(self) -> float:
        """[kg] upper end of the range from which a user may choose a payload."""
        return 0.25 * self.moving_mass

    @property
    def characteristic_length(self) -> float:
        """[m] that makes the condition number independent of units; 1 where none is natural."""
        return 1.0

    @property
    @abstractmethod
    def size(self) -> float:
        """[m] a length of the order of the whole mechanism, positive."""

    @cached_property
    def driven_joints(self) -> tuple[DrivenJoint, ...]:
        """(n,) what the model says of them; a kind gives this, or their names, units and limits."""
        if isinstance(self.model, Model):
            return tuple(map(driven_joint, self.model.driven_joints))
        given = zip(
            self.joint_names, self.joint_units, self.position_limits, self.velocity_limits,
            self.effort_limits, strict=True,
        )  # fmt: skip
        return tuple(DrivenJoint(*row, Actuator()) for row in given)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """(n,) the driven joints, in the order of every effort array."""
        return tuple(joint.name for joint in self.driven_joints)

    @property
    def all_joint_names(self) -> tuple[str, ...]:
        """All joints of `joint_states`, passive ones included."""
        return self.joint_names

    @property
    def passive_joint_names(self) -> tuple[str, ...]:
        """The joints of `all_joint_names` that are not driven."""
        return tuple(name for name in self.all_joint_names if name not in self.joint_names)

    @cached_property
    def joint_units(self) -> tuple[Unit, ...]:
        """(n,) `m` or `rad` of the driven joints' positions."""
        return tuple(joint.unit for joint in self.driven_joints)

    @cached_property
    def effort_units(self) -> tuple[EffortUnit, ...]:
        """(n,) `N` or `N m` of the driven joints."""
        return tuple("N" if unit == "m" else "N m" for unit in self.joint_units)

    @property
    def joint_signs(self) -> FloatArray:
        """(n,) 1 or -1; see the class."""
        return np.ones(len(self.joint_names))

    @property
    def joint_offsets(self) -> FloatArray:
        """(n,) [m or rad]; see the class."""
        return np.zeros(len(self.joint_names))

    @property
    def effort_limits(self) -> FloatArray:
        """(n,) [N or N m], infinite where the model gives none; of its motor at standstill."""
        return np.array(self._limits[:, 3])

    @cached_property
    def effort_ranges(self) -> FloatArray:
        """(n, 2) [N or N m] least and largest efforts at standstill: of cables of one sign."""
        drives = [(drive.least_effort, drive.largest_effort) for drive in self.actuators]
        ends = np.array(drives, dtype=np.float64).reshape(-1, 2)
        return np.clip(ends, -self.effort_limits[:, None], self.effort_limits[:, None])

    def cut_efforts(self, efforts: FloatArray, limits: FloatArray | None = None, /) -> FloatArray:
        """Efforts (..., n) cut to limits (..., n), of both signs, by default those at standstill.

        A drive whose efforts are of one sign has none where it is asked for the other.
        """
        least, largest = self.effort_ends
        if limits is not None:
            least, largest = np.maximum(-limits, least), np.minimum(limits, largest)
        return np.asarray(np.clip(efforts, least, largest))

    @cached_property
    def effort_ends(self) -> FloatArray:
        """(2, n) [N or N m] least and largest that the drives can have: a slack cable has none."""
        least, largest = self.effort_ranges.T
        return np.stack([np.minimum(least, 0.0), np.maximum(largest, 0.0)])

    @property
    def position_limits(self) -> FloatArray:
        """(n, 2) [m or rad] of the driven joints, infinite where the model gives none."""
        return np.array(self._limits[:, :2])

    def within_position_limits(self, positions: FloatArray, /) -> BoolArray:
        """Whether positions (..., n) of the driven joints are finite and within their limits.

        But for rounding.
        """
        limits = self.position_limits
        room = np.where(np.isfinite(limits), np.abs(limits), 0.0) * LIMIT_TOLERANCE
        inside = (positions >= limits[:, 0] - room[:, 0]) & (positions <= limits[:, 1] + room[:, 1])
        return np.asarray((inside & np.isfinite(positions)).all(axis=-1))

    @property
    def velocity_limits(self) -> FloatArray:
        """(n,) [m/s or rad/s] of the driven joints and their motors, infinite if not given."""
        return np.array(self._limits[:, 2])

    @cached_property
    def _limits(self) -> FloatArray:
        """(n, 4) of positions, rates and efforts; the smaller of a joint's and its motor's."""
        rows = []
        for joint in self.driven_joints:
            motor = joint.actuator
            rate = min(joint.velocity, motor.rate_limit)
            rows.append([*np.asarray(joint.position), rate, min(joint.effort, motor.effort_limit)])
        return np.array(rows, dtype=np.float64)

    @property
    def joint_friction(self) -> Sequence[dict[str, Any]]:
        """Friction of each driven joint or leg, by name; numbers or arrays.

        Of a joint viscous damping, Coulomb friction in both directions, and armature.
        """
        return tuple(
            {
                "damping": joint.damping,
                "friction": joint.friction,
                "armature": joint.reflected_inertia,
            }
            for joint in self.model.driven_joints
        )

    @cached_property
    def actuators(self) -> Sequence[Actuator]:
        """(n,) what drives each joint, as described; ideal where the description is silent."""
        return tuple(joint.actuator for joint in self.driven_joints)


guard_methods(Joints)
