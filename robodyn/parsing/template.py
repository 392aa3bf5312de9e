# SPDX-License-Identifier: Apache-2.0

"""Templates of model files, which a kind of mechanism provides by its adapter `template`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from robodyn.checks import as_scalar


@dataclass(frozen=True)
class Dimension:
    """Dimension of a machine, which is a parameter of its model-file template.

    Attributes:
        name: keyword of `Template.write` and name of the command-line option.
        default: default value, in `unit`.
        text: description.
        unit: SI unit.
    """

    name: str
    default: float
    text: str
    unit: str = "m"


@dataclass(frozen=True)
class Template:
    """Template of a model file: a file in `robodyn/templates` with placeholders for numbers.

    Attributes:
        what: name of the template and its files, such as `hexapod`, `arm` or `delta`.
        dimensions: parameters; empty for a file that is to be edited by hand.
        numbers: function that computes all further placeholders' values from the dimensions; it
            raises InvalidInput if they define no mechanism.
        beside: suffixes of files that the YAML file references.
    """

    what: str
    dimensions: tuple[Dimension, ...] = ()
    numbers: Callable[..., dict[str, Any]] = dict
    beside: tuple[str, ...] = ()

    def write(
        self, name: str = "", file: str = "", suffix: str = ".yaml", /, **given: float
    ) -> str:
        """Return a commented model file with the given dimensions, as a string.

        `load` can read the YAML file unchanged.

        Args:
            name: name of the model in the file.
            file: name of the YAML file, for comments.
            suffix: suffix of the requested file, `.yaml` or one of `beside`.
            given: dimensions by name; the others have their defaults.

        Returns:
            Content of the file.

        Raises:
            InvalidInput: a dimension is not positive, or the dimensions define no mechanism.
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
    """Return the content of a file of `robodyn/templates`.

    It contains placeholders in braces for `str.format`.
    """
    return (resources.files("robodyn") / "templates" / name).read_text(encoding="utf-8")


def cylinder_inertia(mass: float, radius: float, length: float = 0.0) -> tuple[float, float]:
    """Compute the principal moments of inertia of a solid cylinder.

    Args:
        mass: mass [kg].
        radius, length: dimensions [m]; a length of 0 describes a thin disk.

    Returns:
        The moments [kg m^2] about the cylinder's axis, and about a perpendicular axis through its
        center of mass.
    """
    return 0.5 * mass * radius**2, mass * (3.0 * radius**2 + length**2) / 12.0
