# SPDX-License-Identifier: Apache-2.0

"""Serial arms from URDF and YAML, and a model file to start from."""

from robodyn.mechanisms.serial.description.from_urdf import serial_model_from_urdf
from robodyn.mechanisms.serial.description.from_yaml import serial_model_from_yaml

__all__ = ["serial_model_from_urdf", "serial_model_from_yaml"]
