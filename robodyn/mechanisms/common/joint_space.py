# SPDX-License-Identifier: Apache-2.0


"""What mechanisms whose configuration is the positions of their driven joints have in common."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.checks import as_array
from robodyn.errors import InvalidInput
from robodyn.mechanisms.common.comparison import differences
from robodyn.mechanisms.common.coordinates import joint_coordinates
from robodyn.mechanisms.common.description import Nouns, effort_units
from robodyn.mechanisms.common.joint_presentation import JointPresentation
from robodyn.mechanisms.common.joint_states import DrivenMotion, JointStates
from robodyn.mechanisms.common.motion import Motion
from robodyn.mechanisms.common.singularities import TYPE_1, Singularity
from robodyn.mechanisms.common.tracking import JOINT_TRACKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.coordinates import Coordinates, JacobianMap, Unit
    from robodyn.mechanisms.common.description import EffortUnit
    from robodyn.mechanisms.common.tracking import Tracking


class JointSpace(JointPresentation):
    """Base class: every joint is driven, and a configuration is one position for each.

    A subclass provides `joint_names`, `joint_units` and its equations of motion.
    """

    jacobian_maps: JacobianMap = "rates to twist"
    nouns = Nouns(mechanism="arm", joint="joint", body="tip", effort="torque")
    tracking: Tracking = JOINT_TRACKING
    formulations: tuple[str, ...] = ("exact",)
    characteristic_length = 1.0
    kind: str
    model: Any

    @property
    def default_path(self) -> str:
        """None of the papers' paths: a demonstration."""
        return ""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Of the driven joints."""
        raise NotImplementedError

    @property
    def joint_units(self) -> tuple[Unit, ...]:
        """Of the driven joints' positions."""
        raise NotImplementedError

    @cached_property
    def coordinates(self) -> Coordinates:
        """One position for each joint."""
        return joint_coordinates(self.joint_names, self.joint_units)

    @cached_property
    def effort_units(self) -> tuple[EffortUnit, ...]:
        """(n,) `N` for prismatic joints, `N m` for revolute ones."""
        return effort_units(self.joint_units)

    @property
    def all_joint_names(self) -> tuple[str, ...]:
        """The driven joints; all joints are driven."""
        return self.joint_names

    @property
    def passive_joint_names(self) -> tuple[str, ...]:
        """None: every joint is driven."""
        return ()

    @property
    def joint_signs(self) -> FloatArray:
        """(n,) all one: positions are those of the URDF."""
        return np.ones(len(self.joint_names))

    @property
    def joint_offsets(self) -> FloatArray:
        """(n,) all zero: positions are those of the URDF."""
        return np.zeros(len(self.joint_names))

    def joint_states(
        self, configuration: ArrayLike, velocity: ArrayLike | None = None
    ) -> JointStates:
        """Names, positions (..., n) and velocities (..., n) of all joints."""
        positions = self._joints("configuration", configuration)
        rates = np.zeros(len(self.joint_names)) if velocity is None else velocity
        velocities = self._joints("velocity", rates)
        shape = np.broadcast_shapes(positions.shape, velocities.shape)
        return JointStates(
            self.joint_names,
            np.broadcast_to(positions, shape),
            np.broadcast_to(velocities, shape),
        )

    def driven_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
    ) -> DrivenMotion:
        """The motion itself, (..., n) each."""
        return DrivenMotion(
            *(np.asarray(value, dtype=np.float64)
              for value in (configuration, velocity, acceleration))
        )  # fmt: skip

    def motion_of_joints(
        self,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> Motion:
        """The motion itself, (..., n) each; accelerations are zero where not given."""
        q, qd = self._joints("positions", positions), self._joints("velocities", velocities)
        if accelerations is None:
            return Motion(q, qd, np.zeros_like(qd))
        return Motion(q, qd, self._joints("accelerations", accelerations))

    def assemble(self, driven: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """The configuration (..., n) with these positions of the driven joints: the same."""
        return self._joints("driven", driven)

    def determinant(self, configuration: ArrayLike) -> FloatArray | None:
        """None: an open chain has efforts for every motion, singular or not."""
        return None

    def side(self, configuration: ArrayLike) -> FloatArray | None:
        """None: as `determinant`."""
        return None

    @property
    def singularities(self) -> tuple[Singularity, ...]:
        """Type 1 where six joints move the tip, det J is zero there; see `singularities`."""
        own: Any = self
        if len(self.joint_names) != 6:
            return ()
        return (
            Singularity(
                TYPE_1,
                "the tip cannot move in every direction",
                own._tip_number,
                True,
                own.condition_number,
                takes_effort=False,
            ),
        )

    def _tip_number(self, q: FloatArray) -> FloatArray:
        """Zero (k,) where six joints do not move the tip in every direction."""
        own: Any = self
        return np.asarray(np.linalg.det(own.jacobian(q)))

    def configuration_at(self, pose: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """Refused unless a subclass has inverse kinematics.

        Raises:
            InvalidInput: always.
        """
        raise self._moved_by_joints()

    def motion_of_body(
        self,
        times: FloatArray,
        poses: FloatArray,
        twists: FloatArray,
        accels: FloatArray,
        start: ArrayLike,
    ) -> Motion:
        """Refused unless a subclass has inverse kinematics.

        Raises:
            InvalidInput: always.
        """
        raise self._moved_by_joints()

    def _moved_by_joints(self) -> InvalidInput:
        return InvalidInput(
            f"{self.kind} mechanisms have no inverse kinematics here: give joint positions, not "
            "poses",
            value=self.kind,
        )

    def loops_found(self) -> dict[str, Any]:
        """Nothing: there are no loops."""
        return {}

    def differences(self, other: Any) -> list[str]:
        """Differences from another mechanism's model, one line per field."""
        return differences(self.model, getattr(other, "model", None))

    def _joints(self, name: str, value: ArrayLike) -> FloatArray:
        n = len(self.joint_names)
        return as_array(name, value, (n,), f"{n} joints, rad or m")
