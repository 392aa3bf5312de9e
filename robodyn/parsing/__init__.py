# SPDX-License-Identifier: Apache-2.0

"""Readers of mechanism files and texts: URDF, SDF, MJCF."""

from robodyn.parsing.mjcf.reader import read_mjcf
from robodyn.parsing.sdf.reader import read_sdf
from robodyn.parsing.source import MODELS
from robodyn.parsing.urdf import parse_urdf

__all__ = ["MODELS", "parse_urdf", "read_mjcf", "read_sdf"]
