# SPDX-License-Identifier: Apache-2.0

"""A model file to start from, which a kind of mechanism offers by its adapter `template`."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Dimension:
    """A number that a template asks for.

    Attributes:
        name: keyword of `Template.write`; its option is called the same.
        default: in `unit`.
        unit: SI.
        text: what it is.
    """

    name: str
    default: float
    unit: str
    text: str


@dataclass(frozen=True)
class Template:
    """A model file to start from.

    Attributes:
        what: the word by which it is asked for: `hexapod`, `arm`, `delta`.
        write: makes YAML text of the model's name, the file's name (keyword `file`) and dimensions
            (keywords); raises InvalidInput for dimensions that make no mechanism.
        dimensions: that may be chosen; none for a file that is to be edited throughout.
        beside: files that the YAML file names, by their suffix, which take the place of its own;
            each written with the same arguments.
    """

    what: str
    write: Callable[..., str]
    dimensions: tuple[Dimension, ...] = ()
    beside: Mapping[str, Callable[..., str]] = field(default_factory=dict)


def text_of(name: str) -> str:
    """A file of `robodyn/templates`: text with fields in braces, as `str.format` fills them in."""
    return (resources.files("robodyn") / "templates" / name).read_text(encoding="utf-8")


def cylinder_inertia(mass: float, radius: float, length: float = 0.0) -> tuple[float, float]:
    """Moments of inertia [kg m^2] of a solid cylinder about its axis, and across it at its centre.

    Args:
        mass: [kg].
        radius, length: [m]; without a length it is a disc.
    """
    return 0.5 * mass * radius**2, mass * (3.0 * radius**2 + length**2) / 12.0
