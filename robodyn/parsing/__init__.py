# SPDX-License-Identifier: Apache-2.0

"""Files and texts of mechanisms as parts of a model: URDF, SDF, MJCF."""

from robodyn.parsing.source import MODELS
from robodyn.parsing.urdf import parse_urdf

__all__ = ["MODELS", "parse_urdf"]
