"""Substitutions, under upstream's names."""

from .logic import (
    AllSubstitution,
    AndSubstitution,
    AnySubstitution,
    EqualsSubstitution,
    IfElseSubstitution,
    NotEqualsSubstitution,
    NotSubstitution,
    OrSubstitution,
)
from .paths import FindExecutable, PathJoinSubstitution, ThisLaunchFile, ThisLaunchFileDir
from .programs import Command, PythonExpression
from .substitution_failure import SubstitutionFailure
from .values import EnvironmentVariable, LaunchConfiguration, LocalSubstitution, TextSubstitution

__all__ = [
    "AllSubstitution",
    "AndSubstitution",
    "AnySubstitution",
    "Command",
    "EnvironmentVariable",
    "EqualsSubstitution",
    "FindExecutable",
    "IfElseSubstitution",
    "LaunchConfiguration",
    "LocalSubstitution",
    "NotEqualsSubstitution",
    "NotSubstitution",
    "OrSubstitution",
    "PathJoinSubstitution",
    "PythonExpression",
    "SubstitutionFailure",
    "TextSubstitution",
    "ThisLaunchFile",
    "ThisLaunchFileDir",
]
