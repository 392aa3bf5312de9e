# SPDX-License-Identifier: Apache-2.0

"""Model of actuators: rotor, screw or gear, friction and motor."""

from robodyn.actuators.actuator import IDEAL, Actuator
from robodyn.actuators.description import actuator_from_params, params_of

__all__ = ["IDEAL", "Actuator", "actuator_from_params", "params_of"]
