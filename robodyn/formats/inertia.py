# SPDX-License-Identifier: Apache-2.0

"""Checks that inertia tensors are physically possible.

The principal moments about the center of mass are sums of squares, I1 = sum m (y^2 + z^2) and so
on. So none of them is negative, and none exceeds the sum of the other two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import (
    MissingInertiaWarning,
    ModelError,
    UnphysicalInertia,
    UnphysicalInertiaWarning,
    warn,
)

# A thin rod and a flat plate are exactly on the bounds, which rounding may exceed.
TOLERANCE = 1e-9


class Finding(NamedTuple):
    """Result of a check: an inertia tensor that no rigid body can have.

    Attributes:
        bodies: names of the bodies with this tensor.
        moments: (3,) [kg m^2] principal moments, ascending.
        problem: description of the violated condition.
    """

    bodies: tuple[str, ...]
    moments: FloatArray
    problem: str

    def __str__(self) -> str:
        shown = ", ".join(f"{moment:.6g}" for moment in self.moments)
        return (
            f"{', '.join(self.bodies)}: no rigid body has the principal moments "
            f"({shown}) kg m^2: {self.problem}"
        )


def unphysical(inertia: ArrayLike) -> tuple[FloatArray, str] | None:
    """Check whether a rigid body can have an inertia tensor.

    Args:
        inertia: (3, 3) [kg m^2] about the center of mass.

    Returns:
        None if it can; otherwise the principal moments (3,) [kg m^2] and a description of the
        violated condition.
    """
    moments: FloatArray = np.linalg.eigvalsh(np.asarray(inertia, dtype=np.float64))
    slack = TOLERANCE * float(np.abs(moments).max())
    if moments[0] < -slack:
        return moments, "one of them is negative"
    if moments[2] > moments[0] + moments[1] + slack:
        return moments, "the largest exceeds the sum of the other two"
    return None


def findings(bodies: Iterable[tuple[str, ArrayLike]]) -> list[Finding]:
    """Check the inertia tensors of named bodies.

    Args:
        bodies: name and tensor (3, 3) [kg m^2] about the center of mass, for each body.

    Returns:
        The tensors that no rigid body can have; bodies with equal tensors share one finding.
    """
    groups: dict[bytes, tuple[FloatArray, list[str]]] = {}
    for name, inertia in bodies:
        tensor = np.ascontiguousarray(inertia, dtype=np.float64)
        groups.setdefault(tensor.tobytes(), (tensor, []))[1].append(name)
    checked = ((unphysical(tensor), names) for tensor, names in groups.values())
    return [Finding(tuple(names), *wrong) for wrong, names in checked if wrong is not None]


def check_inertias(
    source: str, bodies: Iterable[tuple[str, ArrayLike]], *, strict: bool = False
) -> list[Finding]:
    """Warn about inertia tensors that no rigid body can have; reject them if `strict`.

    Args:
        source: name of the model, for messages.
        bodies: name and tensor (3, 3) [kg m^2] about the center of mass, for each body.
        strict: raise an error instead of warning.

    Returns:
        The unphysical tensors; empty if all tensors are physical.

    Raises:
        UnphysicalInertia: a tensor is unphysical and `strict` is True; `value` contains its
            principal moments (3,).
    """
    found = findings(bodies)
    for finding in found:
        if strict:
            raise UnphysicalInertia(
                f"{source}: {finding}; correct the tensor or load without strict=True",
                value=finding.moments,
            )
        warn(f"{source}: {finding}", UnphysicalInertiaWarning)
    return found


def check_massless(source: str, links: Iterable[str], *, strict: bool = False) -> None:
    """Warn about moving links without an `<inertial>`, or reject them if `strict`.

    Args:
        source: name of the model, for messages.
        links: names of the links that a joint moves and that have no inertia.
        strict: raise an error instead of warning.

    Raises:
        ModelError: there is such a link and `strict` is True.
    """
    names = list(links)
    if not names:
        return
    what = f"link{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"
    if strict:
        raise ModelError(
            f"{source}: {what} is moved by a joint but has no <inertial>; add one, even with "
            "mass 0",
            value=names,
        )
    warn(f"{source}: {what} without <inertial>: taken as massless", MissingInertiaWarning)
