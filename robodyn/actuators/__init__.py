# SPDX-License-Identifier: Apache-2.0

"""Actuators: rotor, screw or gear, friction and motor; one model for every mechanism."""

from robodyn.actuators.actuator import Actuator as Actuator
