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


def shorten(text: str, most: int | None = None) -> str:
    """Shorten long words of a message, and cut it to `most` characters.

    If `most` is given, the message becomes one line, with unprintable characters escaped.
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
        value: offending value, or None. Some classes have further attributes.
    """

    def __init__(self, message: str, *, value: Any = None, **details: Any) -> None:
        super().__init__(shorten(message))
        self.value = value
        for name, fact in details.items():
            setattr(self, name, fact)


class InvalidInput(RobodynError, ValueError):
    """Error raised if an argument has the wrong shape, is not finite, or is out of range."""


class ModelError(RobodynError, ValueError):
    """Error raised if a model description is malformed, incomplete or contradictory."""


class ModelNotFound(ModelError):
    """Error raised for a model that is neither a bundled name nor a file.

    `value` is the requested name.
    """


class UnphysicalInertia(ModelError):
    """Error raised with `strict=True` for an inertia tensor that no rigid body can have."""


class UnphysicalInertiaWarning(UserWarning):
    """Warning about an inertia tensor that no rigid body can have; it is used unchanged."""


class MissingInertiaWarning(UnphysicalInertiaWarning):
    """Warning about a moving link without inertia, which is treated as massless."""


class LeftOutWarning(UserWarning):
    """Warning about an element of a model description that is ignored.

    The message names the element.
    """


class IncompleteBagWarning(UserWarning):
    """Warning about an incomplete or damaged bag; the message states what was read."""


def warn(message: str, category: type[Warning] = LeftOutWarning) -> None:
    """Issue a warning that refers to the line of user code that called robodyn.

    Args:
        message: text of the warning.
        category: class of the warning.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("robodyn."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class PathError(RobodynError, ValueError):
    """Error raised if a path name is unknown or a waypoint file is invalid."""


class InfeasibleTrajectory(RobodynError, ValueError):
    """Error raised if a motion is not possible within its duration or limits."""


class NoPath(RobodynError, ValueError):
    """Error raised if no path between two configurations exists or is found.

    Attributes:
        separated_by: obstacle between the configurations: `start` or `goal`, which violates a bound
            itself; `singular surface`; `assembly mode`, a singular surface between two
            configurations with the same positions of the driven joints; `condition limit`, if a
            path exists without it; `limit` of a joint; `clearance`; or `unknown`.
        certain: whether there is certainly no path; False if a search merely found none.
        joint: joint of the limit, if any; empty otherwise.
        limit: value of the bound.
        configuration: configuration (nq,) that violates the bound, or None.
        resolution: resolution [rad] of an exhaustive search, or None.

    `value` is the value of the bounded quantity at `configuration`.
    """

    separated_by: str
    certain: bool = False
    joint: str = ""
    limit: float | None = None
    configuration: Any = None
    resolution: float | None = None


class KinematicsError(RobodynError, ArithmeticError):
    """Error raised if the mechanism's equations have no solution at a configuration.

    Attributes:
        index: index of the failed element in the batch, a tuple; empty for a single call.
    """

    index: tuple[int, ...] = ()

    @property
    def reason(self) -> str:
        """Message without the place of the failed element in the batch."""
        place = str(list(self.index))
        return str(self).replace(f" (element {place})", "").replace(f" at element {place}", "")


class ZeroLegLength(KinematicsError):
    """Error raised if the end points of a leg coincide; attribute `leg` (1..6)."""

    leg: int


class UniversalJointSingularity(ZeroLegLength):
    """Error raised if a leg lies along the fixed axis of its universal joint.

    The attribute `leg` (1..6) is its number.
    """


class UnreachablePose(KinematicsError):
    """Error raised if a pose requires a leg length outside its limits.

    The attribute `leg` (1..6) is the leg's number.
    """

    leg: int


class SingularConfiguration(KinematicsError):
    """Error raised at a configuration with a singular force Jacobian.

    Attributes: `smallest_singular_value` of this Jacobian, and `direction` (6,), the unit wrench
    [force; moment] in the base frame that no leg forces can produce.
    """

    smallest_singular_value: float
    direction: Any


class NoSolution(KinematicsError):
    """Error raised if an iteration does not converge.

    The attribute `residual` is the largest remaining error.
    """

    residual: float


class UnderActuated(RobodynError, ValueError):
    """Error raised if a mechanism has fewer driven joints than degrees of freedom.

    Inverse dynamics then has no solution, but forward dynamics and simulation work. The attribute
    `joints` lists the joints that can move while all motors are locked.
    """

    joints: tuple[str, ...]


class SimulationFailed(RobodynError, ArithmeticError):
    """Error raised if a simulation reaches an infinite or NaN state.

    The attribute `time` [s] is that of the last valid state.
    """

    time: float


class MissingExtra(RobodynError, ImportError):
    """Error raised if an optional package of a feature is not installed.

    The message states how to install it.
    """


class SingularMassMatrix(KinematicsError):
    """Error raised if a joint of a serial arm has no inertia, so no acceleration exists."""


class OutputError(RobodynError, OSError):
    """Error raised if a result file or folder is not writable; `value` is its path."""


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Convert an OSError about a path within this context to an `OutputError`."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written: {error.strerror or error}", value=str(path)
        ) from error


class ResumeRefused(RobodynError, ValueError):
    """Error raised if existing output does not belong to the requested sweep or design."""


class ClusterError(RobodynError, RuntimeError):
    """Error raised if a Dask cluster does not respond, is lost, or has another robodyn version."""
