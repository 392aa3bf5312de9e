"""Actions on nodes, under upstream's names."""

from .node import Node
from .scope import (
    PushROSNamespace,
    PushRosNamespace,
    SetParameter,
    SetParametersFromFile,
    SetRemap,
    SetUseSimTime,
)

__all__ = [
    "Node",
    "PushROSNamespace",
    "PushRosNamespace",
    "SetParameter",
    "SetParametersFromFile",
    "SetRemap",
    "SetUseSimTime",
]
