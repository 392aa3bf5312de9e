"""Mechanisms from files: bundled models, YAML, URDF and xacro."""
