# SPDX-License-Identifier: Apache-2.0

"""Actuators: rotor, screw or gear, friction and motor; one model for every mechanism."""

from robodyn.actuators.actuator import IDEAL, Actuator
from robodyn.actuators.description import actuator_from_params, params_of

__all__ = ["IDEAL", "Actuator", "actuator_from_params", "params_of"]
