"""Mechanisms from files: bundled models, YAML, URDF and xacro."""

from robodyn.loading.sources import load, models

__all__ = ["load", "models"]
