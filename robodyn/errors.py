# SPDX-License-Identifier: Apache-2.0

"""Errors of the library, each a class with the offending value.

The message states where (file, field, leg or joint), the value found and the expected one; the same
facts are attributes, so a caller need not parse the text.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Longest word in a message: names in files and messages may be of any length.
WORD = 400
_LONG_WORD = re.compile(rf"\S{{{WORD + 1},}}")


def shortened(text: str, most: int | None = None) -> str:
    """Shorten the long words of a text, and the text to `most` characters.

    With `most` the text becomes one line with unprintable characters escaped.
    """
    text = _LONG_WORD.sub(lambda word: _cut(word[0], WORD), text)
    if most is None:
        return text
    text = " ".join(text.split())[: 2 * most]
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return _cut(text, most)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


class RobodynError(Exception):
    """Base class of all errors that robodyn raises on purpose.

    Attributes:
        value: offending value; some classes have further attributes.
    """

    def __init__(self, message: str, *, value: Any = None, **details: Any) -> None:
        super().__init__(shortened(message))
        self.value = value
        for name, fact in details.items():
            setattr(self, name, fact)


class InvalidInput(RobodynError, ValueError):
    """Argument that has the wrong shape, is not finite, or is out of range."""


class ModelError(RobodynError, ValueError):
    """Model description that is malformed, incomplete or contradictory."""


class ModelNotFound(ModelError):
    """Unknown model: neither a bundled name nor a file; `value` is the requested name."""


class UnphysicalInertia(ModelError):
    """Inertia tensor that no rigid body can have; raised only by `strict=True`."""


class UnphysicalInertiaWarning(UserWarning):
    """Warning of an inertia tensor that no rigid body can have, used unchanged."""


class MissingInertiaWarning(UnphysicalInertiaWarning):
    """Warning of a moving link without inertia, treated as massless."""


class LeftOutWarning(UserWarning):
    """Warning of a part of a description that is not modeled; the message names it."""


class IncompleteBagWarning(UserWarning):
    """Warning of an incomplete or damaged bag; the message states what was read."""


def warn(message: str, category: type[Warning] = LeftOutWarning) -> None:
    """Issue a warning that points to the calling line outside robodyn."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("robodyn."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class PathError(RobodynError, ValueError):
    """Unknown path name, or an invalid waypoint file."""


class InfeasibleTrajectory(RobodynError, ValueError):
    """Motion that is not possible within its duration or limits."""


class NoPath(RobodynError, ValueError):
    """No path between two configurations is within the bounds, or none was found.

    Attributes:
        separated_by: obstacle: `start` or `goal`, which violates a bound itself; `singular
            surface`; `assembly mode`, a singular surface between two configurations with the same
            positions of the driven joints; `condition limit`, if a path exists without it; `limit`
            of a joint; `clearance`; or `unknown`.
        certain: whether it is proven that there is no path; False if a search merely found none.
        joint: joint of the limit, if any; empty otherwise.
        limit: value of the bound.
        configuration: configuration (nq,) that violates the bound, or None.
        resolution: [rad] of an exhaustive search, or None.

    `value` is the value of the bounded quantity there.
    """

    separated_by: str
    certain: bool = False
    joint: str = ""
    limit: float | None = None
    configuration: Any = None
    resolution: float | None = None


class KinematicsError(RobodynError, ArithmeticError):
    """Configuration in which the mechanism's equations have no solution.

    Attributes: `index`, the element of the batch (a tuple, empty for a single call).
    """

    index: tuple[int, ...] = ()


class ZeroLegLength(KinematicsError):
    """Leg whose end points coincide; attribute `leg` (1..6)."""

    leg: int


class UniversalJointSingularity(ZeroLegLength):
    """Leg along the fixed axis of its universal joint; attribute `leg` (1..6)."""


class UnreachablePose(KinematicsError):
    """Pose that requires a leg length outside its limits; attribute `leg` (1..6)."""

    leg: int


class SingularConfiguration(KinematicsError):
    """Configuration in which the force Jacobian H is singular.

    Attributes: `smallest_singular_value`, and `direction` (6,), the unit wrench
    [force; moment] in the base frame that no leg forces can produce.
    """

    smallest_singular_value: float
    direction: Any


class NoSolution(KinematicsError):
    """Iteration that did not converge; the attribute `residual` is the largest remaining error."""

    residual: float


class UnderActuated(RobodynError, ValueError):
    """Mechanism with fewer driven joints than degrees of freedom.

    Inverse dynamics then has no solution, but forward dynamics and simulation work. The attribute
    `joints` lists the joints that can move while all motors are locked.
    """

    joints: tuple[str, ...]


class SimulationFailed(RobodynError, ArithmeticError):
    """Simulation with an infinite or NaN state; `time` [s] is that of the last valid state."""

    time: float


class MissingExtra(RobodynError, ImportError):
    """Feature whose optional package is not installed; the message states how to install it."""


class SingularMassMatrix(KinematicsError):
    """Joint of a serial arm without inertia, so that no acceleration exists."""


class OutputError(RobodynError, OSError):
    """Result file or folder that is not writable; `value` is its path."""


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Convert system errors about a file or folder that is not writable to `OutputError`."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written: {error.strerror or error}", value=str(path)
        ) from error


class ResumeRefused(RobodynError, ValueError):
    """Existing output that does not belong to the requested sweep."""


class ClusterError(RobodynError, RuntimeError):
    """Cluster that does not respond, is lost, or has another version of the library."""
