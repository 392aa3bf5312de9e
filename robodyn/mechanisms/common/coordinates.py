# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""In which coordinates a kind of mechanism describes its configuration and its velocity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Unit = Literal["m", "rad"]
Form = Literal["pose", "joints"]


@dataclass(frozen=True)
class Coordinates:
    """The coordinates of a configuration and of its velocity and acceleration.

    A configuration may have more numbers than a velocity: a quaternion has four for three rates,
    and a closed loop is described by all its joints but moves with its mobility.

    Attributes:
        form: `pose` where the configuration is the pose (7,) of one body, `joints` where it is
            made of joint positions.
        configuration_names: of each number of a configuration.
        velocity_names: of each number of a velocity; in the form `joints` names of joints.
        acceleration_names: of each number of an acceleration; likewise.
        units: `m` or `rad` of each velocity coordinate, as a displacement; velocities are per
            second, accelerations per second squared.
        quaternions: where unit quaternions (x, y, z, w) stand in a configuration.
        rotation: where in a displacement a rotation vector, and in a velocity the angular
            velocity that goes with it, stands; None where coordinates are independent numbers.
    """

    form: Form
    configuration_names: tuple[str, ...]
    velocity_names: tuple[str, ...]
    acceleration_names: tuple[str, ...]
    units: tuple[Unit, ...]
    quaternions: tuple[slice, ...] = ()
    rotation: slice | None = None

    @property
    def configuration_size(self) -> int:
        """Numbers of a configuration."""
        return len(self.configuration_names)

    @property
    def velocity_size(self) -> int:
        """Numbers of a velocity, an acceleration and a displacement."""
        return len(self.velocity_names)

    @property
    def is_pose(self) -> bool:
        """Whether a configuration is the pose of one body."""
        return self.form == "pose"

    @property
    def text(self) -> str:
        """What a configuration is, in words, in the plural."""
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
    rotation=slice(3, 6),
)


def joint_coordinates(names: Sequence[str], units: Sequence[Unit]) -> Coordinates:
    """Coordinates of a mechanism whose configuration is one position for each named joint."""
    joints = tuple(names)
    return Coordinates("joints", joints, joints, joints, tuple(units))
