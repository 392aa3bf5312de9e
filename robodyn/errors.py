# SPDX-License-Identifier: Apache-2.0

"""The library's errors, each a class that carries the offending value.

The message says where (file, field, leg or joint), what was found and what is expected; the same
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

# Characters of a word in a message: names in files and messages may be of any length.
WORD = 400
_LONG_WORD = re.compile(rf"\S{{{WORD + 1},}}")


def shortened(text: str, most: int | None = None) -> str:
    """Cut the long words of a text for a person to read, and the text to `most` characters.

    With `most` the text becomes one line, and what cannot be printed is escaped.
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
    """Base of all errors raised on purpose by robodyn.

    Attributes:
        value: the offending value; further data of a class are attributes, too.
    """

    def __init__(self, message: str, *, value: Any = None, **details: Any) -> None:
        super().__init__(shortened(message))
        self.value = value
        for name, fact in details.items():
            setattr(self, name, fact)


class InvalidInput(RobodynError, ValueError):
    """An argument of the wrong shape, not finite, or outside its domain."""


class ModelError(RobodynError, ValueError):
    """An invalid model description: malformed, incomplete or contradictory."""


class ModelNotFound(ModelError):
    """No bundled model or file has that name; `value` is the name requested."""


class UnphysicalInertia(ModelError):
    """An inertia tensor no rigid body can have; raised on loading with `strict=True` only."""


class UnphysicalInertiaWarning(UserWarning):
    """The same finding on an ordinary load: the model is used unchanged."""


class MissingInertiaWarning(UnphysicalInertiaWarning):
    """A moving link has no inertial and is treated as massless."""


class LeftOutWarning(UserWarning):
    """Something of a description is left out, as it is not modeled; the message names it."""


class IncompleteBagWarning(UserWarning):
    """A bag was not completed, or has messages that are none; the message says what was read."""


def warn(message: str, category: type[Warning] = LeftOutWarning) -> None:
    """Issue a warning that shows the line outside robodyn which led to it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("robodyn."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class PathError(RobodynError, ValueError):
    """An unknown path name, or an invalid waypoint file."""


class InfeasibleTrajectory(RobodynError, ValueError):
    """A motion that its duration and speed limits do not allow."""


class NoPath(RobodynError, ValueError):
    """No path between two configurations keeps to the bounds, or none was found.

    Attributes:
        separated_by: what is in the way: `start` or `goal`, which breaks a bound itself;
            `singular surface`; `assembly mode`, a singular surface between two configurations
            with the same positions of the driven joints; `condition limit`, which a path exceeds
            that could be found otherwise; `limit` of a joint; `clearance`; or `unknown`.
        certain: whether it is proven, not only that a search ended without a path.
        joint: whose limit it is, if it is a joint's; empty otherwise.
        limit: what the bound allows.
        configuration: where it is broken, (nq,), or None.
        resolution: [rad] of an exhaustive search, or None.

    `value` is what the bounded quantity is there.
    """

    separated_by: str
    certain: bool = False
    joint: str = ""
    limit: float | None = None
    configuration: Any = None
    resolution: float | None = None


class KinematicsError(RobodynError, ArithmeticError):
    """A configuration in which the mechanism's equations have no solution.

    Attributes: `index`, the element of the batch (a tuple, empty for a single call).
    """

    index: tuple[int, ...] = ()


class ZeroLegLength(KinematicsError):
    """A leg's two end points coincide; attribute `leg` (1..6)."""

    leg: int


class UniversalJointSingularity(ZeroLegLength):
    """A leg lies along the fixed axis of its universal joint; attribute `leg` (1..6)."""


class UnreachablePose(KinematicsError):
    """A pose that requires a leg length outside its limits; attribute `leg` (1..6)."""

    leg: int


class SingularConfiguration(KinematicsError):
    """The force Jacobian H cannot be inverted.

    Attributes: `smallest_singular_value`, and `direction` (6,), the unit wrench
    [force; moment] in the base frame that no leg forces can produce.
    """

    smallest_singular_value: float
    direction: Any


class NoSolution(KinematicsError):
    """An iteration that did not converge; attribute `residual`, the largest remaining error."""

    residual: float


class UnderActuated(RobodynError, ValueError):
    """Fewer driven joints than freedoms; `joints` are those that move while all motors are locked.

    Inverse dynamics has no answer then; forward dynamics and simulation do.
    """

    joints: tuple[str, ...]


class SimulationFailed(RobodynError, ArithmeticError):
    """The integrated state is no longer finite; attribute `time` [s] of the last valid state."""

    time: float


class MissingExtra(RobodynError, ImportError):
    """A feature whose optional package is not installed; the message says how to install it."""


class SingularMassMatrix(KinematicsError):
    """A joint of a serial arm has no inertia to accelerate, so no acceleration follows."""


class OutputError(RobodynError, OSError):
    """A result file or folder that is not writable; `value` is its path."""


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn what the system says of a file or folder that is not writable into an `OutputError`."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written: {error.strerror or error}", value=str(path)
        ) from error


class ResumeRefused(RobodynError, ValueError):
    """An output that already exists and is not from the requested sweep."""


class ClusterError(RobodynError, RuntimeError):
    """A cluster that does not respond, is lost, or has another version of the library."""
