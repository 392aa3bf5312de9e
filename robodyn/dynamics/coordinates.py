# SPDX-License-Identifier: Apache-2.0

"""Coordinates of the configuration and velocity of a kind of mechanism."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact, as_pose
from robodyn.numerics.turns import full_turns, unwrap

Unit = Literal["m", "rad"]
Form = Literal["pose", "joints"]


@dataclass(frozen=True)
class Coordinates:
    """Description of a mechanism's coordinates: names, units, quaternions and rotations.

    A configuration may have more components than a velocity: a quaternion has four for three rates,
    and a closed loop is described by all its joints but has only as many velocities as its
    mobility.

    Attributes:
        form: `pose` if the configuration is the pose (7,) of one body, `joints` if it consists of
            joint positions.
        configuration_names: name of each component of a configuration.
        velocity_names: name of each component of a velocity; in the form `joints` names of joints.
        acceleration_names: name of each component of an acceleration.
        units: `m` or `rad` of each velocity coordinate, as a displacement; velocities are per
            second, accelerations per second squared.
        quaternions: slices of a configuration that are unit quaternions (x, y, z, w).
        rotations: slices of a displacement that are rotation vectors, and of a velocity that are
            the corresponding angular velocities.
        wrapping: names of joints whose positions a full turn apart are equal.
    """

    form: Form
    configuration_names: tuple[str, ...]
    velocity_names: tuple[str, ...]
    acceleration_names: tuple[str, ...]
    units: tuple[Unit, ...]
    quaternions: tuple[slice, ...] = ()
    rotations: tuple[slice, ...] = ()
    wrapping: frozenset[str] = frozenset()

    @cached_property
    def _wrapping_columns(self) -> list[int]:
        """Indices of displacement components that belong to periodic joints."""
        names = () if self.is_pose else self.velocity_names
        return [column for column, name in enumerate(names) if name in self.wrapping]

    @cached_property
    def _wrapping_places(self) -> list[int]:
        """Indices of configuration components that belong to periodic joints."""
        names = self.configuration_names
        return [place for place, name in enumerate(names) if name in self.wrapping]

    def shortest(self, displacement: FloatArray, expected: FloatArray | float = 0.0) -> FloatArray:
        """Return displacements (..., nv) without full turns of periodic joints.

        Args:
            displacement: (..., nv).
            expected: (..., nv) approximate displacement; the result is within half a turn of it.

        Returns:
            Displacements (..., nv) of the same motion.
        """
        columns = self._wrapping_columns
        if not columns:
            return displacement
        out = np.array(displacement)
        near = np.broadcast_to(expected, out.shape)[..., columns]
        out[..., columns] -= full_turns(out[..., columns] - near)
        return out

    def wrap_near(self, configuration: FloatArray, near: FloatArray) -> FloatArray:
        """Shift periodic joints by full turns to within half a turn of other configurations.

        Args:
            configuration: (..., nq) configurations to shift.
            near: (..., nq) the other configurations.

        Returns:
            The shifted configurations (..., nq).
        """
        places = self._wrapping_places
        if not places:
            return configuration
        out = np.array(configuration)
        out[..., places] -= full_turns(out[..., places] - np.asarray(near)[..., places])
        return out

    def unwrapped(
        self, configurations: FloatArray, expected: FloatArray | None = None
    ) -> FloatArray:
        """Unwrap configurations (K, nq) so that joints turn at most half a turn per step.

        Args:
            configurations: (K, nq), as reported by periodic encoders.
            expected: (K - 1, nv) approximate displacements from each configuration to the next;
                each step is then within half a turn of the expected one. Zero by default.

        Returns:
            The configurations (K, nq), changed by full turns of periodic joints.
        """
        places = self._wrapping_places
        if not places or len(configurations) < 2:
            return configurations
        near = np.zeros((len(configurations) - 1, len(places)))
        if expected is not None:
            columns = {name: column for column, name in enumerate(self.velocity_names)}
            for k, place in enumerate(places):
                column = columns.get(self.configuration_names[place])
                if column is not None:
                    near[:, k] = expected[:, column]
        out = np.array(configurations)
        out[:, places] = unwrap(out[:, places], near)
        return out

    @property
    def configuration_size(self) -> int:
        """Number nq of components of a configuration."""
        return len(self.configuration_names)

    @property
    def velocity_size(self) -> int:
        """Number nv of components of a velocity, an acceleration and a displacement."""
        return len(self.velocity_names)

    @property
    def is_pose(self) -> bool:
        """Whether a configuration is the pose of one body."""
        return self.form == "pose"

    @property
    def is_constrained(self) -> bool:
        """Whether configurations satisfy equations, so that a displacement may be infeasible."""
        if self.is_pose:
            return False
        return bool(self.quaternions) or self.configuration_size != self.velocity_size

    @property
    def displacement_names(self) -> tuple[str, ...]:
        """Name of each displacement component: an axis of the base frame, or a joint."""
        return ("x", "y", "z") * 2 if self.is_pose else self.velocity_names

    def columns(self, part: str, prefix: str) -> tuple[str, ...]:
        """Return the column headings of one quantity of a motion, for tables and CSV files.

        Args:
            part: `configuration`, `velocity` or `acceleration`.
            prefix: prefix for names that several quantities share, such as joint names.

        Returns:
            A heading for each component; only those of joints have the prefix, before an
            underscore.
        """
        names: tuple[str, ...] = getattr(self, f"{part}_names")
        return names if self.is_pose else tuple(f"{prefix}_{name}" for name in names)

    def checked(self, name: str, value: ArrayLike) -> FloatArray:
        """Check configurations (..., nq); return them with normalized quaternions.

        Raises:
            InvalidInput: the shape is wrong, a value is not finite, or a quaternion is far from
                unit length.
        """
        if self.is_pose:
            return as_pose(name, value)
        given = as_array(name, value, (self.configuration_size,))
        if not self.quaternions:
            return given
        out = np.array(given)
        for place in self.quaternions:
            # checked as the orientation of a pose at the origin
            poses = np.zeros((*out.shape[:-1], 7))
            poses[..., 3:] = out[..., place]
            out[..., place] = as_pose(f"{name}[{place.start}:{place.stop}]", poses)[..., 3:]
        return out

    def single(self, name: str, value: ArrayLike) -> FloatArray:
        """Check one configuration (nq,); return it with normalized quaternions.

        Raises:
            InvalidInput: as for `checked`, or there is more than one configuration.
        """
        given = as_exact(name, value, (self.configuration_size,))
        return self.checked(name, given) if self.quaternions else given

    @property
    def text(self) -> str:
        """Noun phrase that describes configurations in messages, in the plural."""
        if self.is_pose:
            return "poses of a platform"
        return f"{self.configuration_size} joint positions"


POSE = Coordinates(
    form="pose",
    configuration_names=("x", "y", "z", "qx", "qy", "qz", "qw"),
    velocity_names=("vx", "vy", "vz", "wx", "wy", "wz"),
    acceleration_names=("ax", "ay", "az", "alx", "aly", "alz"),
    units=("m", "m", "m", "rad", "rad", "rad"),
    quaternions=(slice(3, 7),),
    rotations=(slice(3, 6),),
)


def joint_coordinates(
    names: Sequence[str], units: Sequence[Unit], wrapping: Collection[str] = ()
) -> Coordinates:
    """Create `Coordinates` whose configuration is a position for each named joint.

    Args:
        names: names of the joints.
        units: `m` or `rad` of each position.
        wrapping: names of the joints whose positions a full turn apart are equal.
    """
    joints = tuple(names)
    return Coordinates("joints", joints, joints, joints, tuple(units), wrapping=frozenset(wrapping))
