# SPDX-License-Identifier: Apache-2.0

"""What drives a joint: rotor, screw or gear, friction and motor; one model for every mechanism."""

from robodyn.actuators.actuator import Actuator as Actuator
