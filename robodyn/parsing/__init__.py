# SPDX-License-Identifier: Apache-2.0

"""Readers of mechanism files and texts: URDF, SDF, MJCF."""

from robodyn.parsing.model_file import actuator_fields, body_fields
from robodyn.parsing.source import MODELS
from robodyn.parsing.urdf import parse_urdf

__all__ = ["MODELS", "actuator_fields", "body_fields", "parse_urdf"]
