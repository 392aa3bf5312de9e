# SPDX-License-Identifier: Apache-2.0

"""Declarations of the functions in an exported library, and data for their compilation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from robodyn.exporting.kind_functions import KindFunctions
from robodyn.mechanism.mechanism import Mechanism


class Argument(NamedTuple):
    """Argument of an exported C function: an array at an address, or one number.

    Attributes:
        name: name in the header.
        size: number of elements, in terms of NQ, NV and N; empty for one number.
        use: "in", "out" or "inout"; "maybe" for an input that may be NULL; or the C type of one
            number.
        meaning: unit and frame.
    """

    name: str
    size: str
    use: str
    meaning: str

    def count(self, sizes: Mapping[str, int]) -> int:
        """Return the number of elements, given the sizes NQ, NV and N from `sizes_of`."""
        factors = self.size.split(" * ") if self.size else []
        return math.prod(sizes.get(factor) or int(factor) for factor in factors)


class Function(NamedTuple):
    """Declaration of an exported function, and how to compile it.

    Attributes:
        name, about: name and description in the header.
        arguments: its arguments.
        make: function that creates the exported function, not yet compiled, from `KindFunctions`
            and a `Setting`.
        fails_on_invalid: whether the function fails for invalid arguments even without checks.
    """

    name: str
    about: str
    arguments: tuple[Argument, ...]
    make: Callable[[KindFunctions, Setting], Any]
    fails_on_invalid: bool = False


class Setting(NamedTuple):
    """Variants of a mechanism's `KindFunctions`, from which its library functions are created.

    `rest`, `smooth` and `frictionless` omit some friction; if the mechanism has no such friction,
    they are its own functions.

    Attributes:
        mechanism: exported mechanism.
        rest: functions without the friction that a controller compensates for the planned instead
            of the measured velocity.
        smooth: functions without dry friction.
        frictionless: functions without friction in the joints.
        damping: (n, nv) efforts of strong viscous friction per unit of generalized velocity; zero
            if there is none.
        links: setting of the mechanism behind its elastic drives, without their rotors and their
            dry friction; None if the drives are rigid.
    """

    mechanism: Mechanism
    rest: KindFunctions
    smooth: KindFunctions
    frictionless: KindFunctions
    damping: np.ndarray
    links: Setting | None = None

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Sizes (nq, nv, n) of configuration, velocity and efforts of the mechanism."""
        nq, nv, n = sizes_of(self.mechanism).values()
        return nq, nv, n


def sizes_of(mechanism: Mechanism) -> dict[str, int]:
    """Return the sizes of configuration (NQ), velocity (NV) and efforts (N), by key."""
    velocity, joints = mechanism.coordinates.velocity_size, mechanism.joint_names
    return {"NQ": len(mechanism.home), "NV": velocity, "N": len(joints)}
