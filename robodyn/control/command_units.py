# SPDX-License-Identifier: Apache-2.0

"""Units of commands: efforts of the joints, torques of the motors, or currents."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import check_choice
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism

# Joint efforts [N or N m], motor torques [N m], currents [A].
COMMAND_UNITS = ("effort", "torque", "current")


class CommandUnit:
    """Converter between joint efforts and commands, for the actuators of a mechanism.

    Args:
        mechanism: mechanism whose actuators state screws, gears and torque constants.
        unit: one of `COMMAND_UNITS`.

    Raises:
        InvalidInput: the unit is unknown, or the actuators do not determine it: a prismatic joint
            without the lead of its screw, or a motor without a torque constant.
    """

    def __init__(self, mechanism: Mechanism, unit: str) -> None:
        check_choice("command_unit", unit, COMMAND_UNITS)
        self.unit = unit
        self._mechanism = mechanism
        still = np.zeros(len(mechanism.joint_names))
        if unit == "torque":
            mechanism.motor_torques(still)
        elif unit == "current":
            mechanism.drives.currents(still)

    @property
    def is_effort(self) -> bool:
        """Whether commands are joint efforts."""
        return self.unit == "effort"

    def of_efforts(self, efforts: FloatArray, rates: ArrayLike | None = None) -> FloatArray:
        """Convert joint efforts (..., n) [N or N m] to commands (..., n).

        `rates` (..., n) [m/s or rad/s] are the joint velocities.

        Returns:
            Commands: efforts [N or N m], motor torques [N m] or currents [A], depending on the
            unit.
        """
        if self.unit == "torque":
            return self._mechanism.motor_torques(efforts, rates)
        if self.unit == "current":
            return self._mechanism.drives.currents(efforts, rates)
        return efforts

    def to_efforts(self, commands: FloatArray, rates: ArrayLike | None = None) -> FloatArray:
        """Convert commands (..., n) to joint efforts (..., n) [N or N m].

        `rates` (..., n) [m/s or rad/s] are the joint velocities.
        """
        if self.unit == "torque":
            return self._mechanism.efforts_of(commands, rates)
        if self.unit == "current":
            return self._mechanism.drives.efforts_of_currents(commands, rates)
        return commands

    def refuse_other(self, given: str) -> None:
        """Raise an error if a command states a unit other than this one.

        Raises:
            InvalidInput: the stated unit differs.
        """
        if given in COMMAND_UNITS and given != self.unit:
            raise InvalidInput(
                f"the command is in units of {given}, expected {self.unit}: set the parameter "
                "command_unit to the same value in the node that sends commands and in the one "
                "that receives them",
                value=given,
            )
