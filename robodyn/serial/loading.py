"""Serial arms from documents, under one roof for `robodyn.load`."""

from robodyn.serial.from_urdf import serial_model_from_urdf
from robodyn.serial.from_yaml import serial_model_from_yaml
from robodyn.serial.motors import read_motors

__all__ = ["read_motors", "serial_model_from_urdf", "serial_model_from_yaml"]
