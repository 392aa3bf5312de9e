# SPDX-License-Identifier: Apache-2.0

"""Arguments and results of the functions of an exported library, and their sources."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from robodyn.exporting.answers import Answers
from robodyn.mechanism.mechanism import Mechanism


class Argument(NamedTuple):
    """An argument in C: numbers at an address, or one number.

    Attributes:
        name: in the header.
        size: how many, in terms of NQ, NV and N; empty for one number.
        use: "in", "out", "inout"; "maybe" for one that may be NULL; or the C type of one number.
        meaning: unit and frame.
    """

    name: str
    size: str
    use: str
    meaning: str

    def count(self, sizes: Mapping[str, int]) -> int:
        """Return the number of its elements, by `sizes_of` a mechanism."""
        factors = self.size.split(" * ") if self.size else []
        return math.prod(sizes.get(factor) or int(factor) for factor in factors)


class Function(NamedTuple):
    """A function of the library.

    Attributes:
        name, about: in the header.
        arguments: of it.
        make: compiles it of `Answers` and a `Setting`.
        answers_at_once: whether arguments that are not valid have no result by themselves.
    """

    name: str
    about: str
    arguments: tuple[Argument, ...]
    make: Callable[[Answers, Setting], Any]
    answers_at_once: bool = False


class Setting(NamedTuple):
    """Data of a mechanism besides its answers.

    Attributes:
        mechanism: the mechanism.
        rest: answers of the mechanism without the friction that control compensates for the planned
            motion; its own if there is none.
        smooth: answers of the mechanism without dry friction; its own if there is none.
        damping: (n, nv) efforts for unit velocities of strong viscous friction, zero without any.
    """

    mechanism: Mechanism
    rest: Answers
    smooth: Answers
    damping: np.ndarray

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Of configuration, velocity and efforts."""
        nq, nv, n = sizes_of(self.mechanism).values()
        return nq, nv, n


def sizes_of(mechanism: Mechanism) -> dict[str, int]:
    """The lengths of a configuration, of a velocity and of efforts, by their names in C."""
    velocity, joints = mechanism.coordinates.velocity_size, mechanism.joint_names
    return {"NQ": len(mechanism.home), "NV": velocity, "N": len(joints)}
