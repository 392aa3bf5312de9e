# SPDX-License-Identifier: Apache-2.0

"""Argument types of `load`, from which type checkers infer the class of the returned mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from robodyn.arrays import ArrayLike

# Name, path or text of a model, or the content of a YAML model file.
Source = str | Path | Mapping[str, Any]
# Bundled models by kind.
StewartName = Literal["motion_platform", "stewart_dasgupta", "stewart_symmetric"]
SerialName = Literal["puma560", "stanford_arm"]
LoopName = Literal["delta", "fivebar", "hexapod_rotary"]
Base = Literal["moving", "fixed"]


class ReadingOptions(TypedDict, total=False):
    """Keyword arguments of `load` that do not affect the class of the returned mechanism."""

    strict: bool
    base_link: str | None
    tip_link: str | None
    hold_branches: bool
    gravity: ArrayLike | None
    xacro_args: Mapping[str, str] | None


class LoadOptions(ReadingOptions, total=False):
    """Keyword arguments of `load`."""

    driven: str | Sequence[str] | None
    kind: str | None
    base: str | None
