# SPDX-License-Identifier: Apache-2.0

"""What models have in common: comparison, and variants without friction or actuators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.errors import ModelError
from robodyn.model.comparison import differences
from robodyn.model.fields import altered, varied
from robodyn.model.joint import NO_FRICTION

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from typing_extensions import Self

    from robodyn.actuators import Actuator

# Two models are equal when their numbers agree within this, relative or absolute: the noise of
# turning a rotation into URDF's roll-pitch-yaw and back.
EQUALITY = 1e-12


class Compared:
    """Equal when it describes the same mechanism: every number that counts within `EQUALITY`."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return not differences(self, other, EQUALITY)

    __hash__ = None  # type: ignore[assignment]  # equal within rounding cannot hash alike


class WithJoints(Compared):
    """A model whose `joints` have friction and drives."""

    name: str
    source: str
    joints: tuple[Any, ...]

    def without_friction(self) -> Self:
        """The same mechanism with neither viscous nor Coulomb friction."""
        joints = (
            varied(joint, damping=0.0, friction=NO_FRICTION, drive=joint.frictionless_drive)
            for joint in self.joints
        )
        return varied(self, joints=tuple(joints))

    def without_dry_friction(self, undamped: Collection[str] = ()) -> Self:
        """The same mechanism without dry friction, and without damping at the joints named."""
        joints = (
            altered(
                joint,
                damping=0.0 if joint.name in undamped else joint.damping,
                friction=NO_FRICTION,
                drive=joint.drive.without_dry_friction(),
            )
            for joint in self.joints
        )
        return varied(self, joints=tuple(joints))

    def driven_by(self, actuators: Mapping[str, Actuator]) -> Self:
        """The same mechanism with other actuators, by the names of the joints they drive.

        Raises:
            ModelError: no such joint, or a screw on a joint that does not slide.
        """
        known = {joint.name for joint in self.joints if joint.kind not in ("floating", "fixed")}
        for name in actuators:
            if name not in known:
                raise ModelError(
                    f"{self.source or self.name}: no joint {name!r} that an actuator could drive; "
                    f"there are {', '.join(sorted(known))}",
                    value=name,
                )
        joints = (
            joint.driven_by(actuators[joint.name]) if joint.name in actuators else joint
            for joint in self.joints
        )
        return varied(self, joints=tuple(joints))
