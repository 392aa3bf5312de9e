# SPDX-License-Identifier: Apache-2.0

"""A model file to start from, which a kind of mechanism offers by its adapter `template`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from robodyn.checks import as_scalar


@dataclass(frozen=True)
class Dimension:
    """A number that a template asks for.

    Attributes:
        name: keyword of `Template.write`; its option is called the same.
        default: in `unit`.
        text: what it is.
        unit: SI.
    """

    name: str
    default: float
    text: str
    unit: str = "m"


@dataclass(frozen=True)
class Template:
    """A model file to start from: a file of `robodyn/templates`, its numbers left open.

    Attributes:
        what: the word by which it is asked for: `hexapod`, `arm`, `delta`; the files' name.
        dimensions: that may be chosen; none for a file that is to be edited throughout.
        numbers: all further fields, from the dimensions; raises InvalidInput for dimensions that
            make no mechanism.
        beside: suffixes of files that the YAML file names.
    """

    what: str
    dimensions: tuple[Dimension, ...] = ()
    numbers: Callable[..., dict[str, Any]] = dict
    beside: tuple[str, ...] = ()

    def write(
        self, name: str = "", file: str = "", suffix: str = ".yaml", /, **given: float
    ) -> str:
        """Commented text; `load` reads the YAML file unchanged.

        Args:
            name: of the model, as the file is to have it.
            file: the YAML file's name, for comments.
            suffix: of the file that is wanted, of those in `beside`, too.
            given: dimensions; others have their defaults.

        Raises:
            InvalidInput: a dimension that is not positive, or dimensions that do not fit.
        """
        from xml.sax.saxutils import quoteattr  # loads ssl

        name = name or f"my_{self.what}"
        values = {d.name: given.get(d.name, d.default) for d in self.dimensions}
        for d in self.dimensions:
            as_scalar(d.name, values[d.name], d.unit, above=0.0)
        file = file or f"{name}.yaml"
        words = {"name": name, "quoted": quoteattr(name), "file": file, "stem": Path(file).stem}
        return template_text(self.what + suffix).format(**words, **values, **self.numbers(**values))


def template_text(name: str) -> str:
    """A file of `robodyn/templates`: text with fields in braces, as `str.format` fills them in."""
    return (resources.files("robodyn") / "templates" / name).read_text(encoding="utf-8")


def cylinder_inertia(mass: float, radius: float, length: float = 0.0) -> tuple[float, float]:
    """Moments of inertia [kg m^2] of a solid cylinder about its axis, and across it at its center.

    Args:
        mass: [kg].
        radius, length: [m]; without a length it is a disc.
    """
    return 0.5 * mass * radius**2, mass * (3.0 * radius**2 + length**2) / 12.0
