# SPDX-License-Identifier: Apache-2.0

"""How a mechanism is shown and measured: numbers for people, drawings, tables, dimensions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput, ModelError
from robodyn.mechanisms.common.estimation import Encoders, Estimator
from robodyn.mechanisms.common.figure import Figure, joint_axis_arrows
from robodyn.mechanisms.common.geometry import Geometry
from robodyn.mechanisms.common.report_answers import OutlinePart, ParameterTable, body_table
from robodyn.mechanisms.common.variables import Variable, joint_variables
from robodyn.mechanisms.conditioning import Conditioning


class Presentation(Conditioning):
    """The sixth part of `Mechanism`; everything in the base frame unless stated otherwise.

    Attributes:
        acts_along_legs: whether the actuators push on the moving body along legs; see `leg_ends`.
        needs_estimator: whether the readings of a real one leave a state to be estimated.
        published_models: names of those that papers compute with formulations of their own.
    """

    acts_along_legs = False
    needs_estimator = False
    published_models: ClassVar[Collection[str]] = ()

    @property
    def variables(self) -> Mapping[str, Variable]:
        """By name: positions, velocities, accelerations and properties of the model.

        The number of positions may differ from the size of a configuration: an orientation is
        stated by roll, pitch and yaw, a closed loop by its independent joints.
        """
        return joint_variables(self.independent_joints, self.coordinates.units)

    def values_of(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., k) [m or rad] the position variables of configurations (..., nq)."""
        return np.asarray(configuration, dtype=np.float64)

    def configuration_of(self, values: ArrayLike, /) -> FloatArray:
        """Configurations (..., nq) of position variables (..., k) [m or rad].

        Raises:
            KinematicsError: there is no such configuration.
        """
        return np.asarray(values, dtype=np.float64)

    @property
    def typical_effort(self) -> float:
        """[N or N m] lower bound of the effort that is drawn as an arrow of standard length.

        0.3 of the largest effort limit; 0 where there is none.
        """
        finite = self.effort_limits[np.isfinite(self.effort_limits)]
        return 0.3 * float(finite.max()) if len(finite) else 0.0

    def leg_ends(self, configuration: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Ends (k, 3) [m] of straight legs, at the base and at the moving body; k is 0 or n."""
        return np.empty((0, 3)), np.empty((0, 3))

    def leg_directions(self, configuration: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Points (k, 3) [m] at which legs hold the moving body, and the legs' unit vectors (k, 3).

        Raises:
            KinematicsError: a leg without a direction.
        """
        return np.empty((0, 3)), np.empty((0, 3))

    def floating_poses(self, configuration: FloatArray, /) -> Mapping[tuple[str, str], FloatArray]:
        """Poses (7,) of links that no joint of `joint_states` places: those on floating joints.

        By the names of parent and child; each the pose of the child in the frame of its parent.
        """
        return {}

    @abstractmethod
    def figure(self) -> Figure:
        """The mechanism drawn from its model alone, for models without a URDF."""

    def outline(self, configuration: FloatArray, /) -> list[OutlinePart]:
        """Its parts as lines at a configuration (nq,), for reports; empty where none is known."""
        return []

    def parameter_tables(self) -> list[ParameterTable]:
        """Its parameters, for reports: its bodies and its driven joints, if no more is known."""
        noun, names = self.nouns.joint, self.joint_names
        if noun != "joint":
            names = tuple(f"{noun} {i}" for i in range(1, len(names) + 1))
        limits = self.position_limits, self.velocity_limits, self.effort_limits
        rows = zip(names, self.joint_units, *limits, strict=True)
        return [
            body_table(self.bodies),
            ParameterTable(
                "Driven joints",
                (noun, "unit", "from", "to", "speed [1/s]", "effort [N m, N]"),
                [(name, unit, *ends, speed, effort) for name, unit, ends, speed, effort in rows],
            ),
        ]

    def geometry(self) -> Geometry:
        """The dimensions that a calibration may change.

        Raises:
            InvalidInput: a kind that has none.
        """
        raise InvalidInput(
            f"{self.name}: mechanisms of the kind {self.kind!r} have no dimensions to calibrate",
            value=self.kind,
        )

    def state_estimator(self, initial_pose: ArrayLike | None, encoders: Encoders) -> Estimator:
        """Its state from readings of its driven joints, one after another.

        The search begins where the body has the initial pose (7,), by default at home.

        Raises:
            ModelError: a kind that needs none.
            RobodynError: joints that do not determine the state, encoders or a pose that are none.
        """
        raise ModelError(
            f"{self.name} needs no estimator: the joint_states of a real {self.nouns.mechanism} "
            "are its state"
        )

    def effort_arrows(
        self, figure: Figure, frames: FloatArray, configuration: FloatArray, lengths: FloatArray, /
    ) -> FloatArray:
        """Arrows (n, 2, 3) [m] from tail to head for the actuators' efforts.

        Args:
            figure: what is drawn.
            frames: (L, 4, 4) of its links in the frame of its root; the arrows are in it, too.
            configuration: the one that the frames belong to.
            lengths: (n,) [m] of the arrows, with the signs of the efforts.
        """
        return joint_axis_arrows(figure, frames, self.joint_names, lengths, self.size)
