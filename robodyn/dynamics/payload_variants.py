# SPDX-License-Identifier: Apache-2.0

"""Variants of one mechanism with different payloads, for batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput, ModelError
from robodyn.model.body import Body, Link, combine
from robodyn.model.fields import copy_unchecked, frozen
from robodyn.model.model import Model

T = TypeVar("T")
# Tolerance of symmetry and positive semidefiniteness, relative to the largest entry of an inertia.
ROUNDING = 1e-9
_NOTHING = Body(0.0, np.zeros(3), np.zeros((3, 3)))


class PayloadVariants(Sequence[Any]):
    """Variants of a mechanism with different payloads; each is built when it is indexed.

    `BatchPlant` packs the parameters of all variants without building them.

    Args:
        mechanism: mechanism without these payloads.
        mass: (N,) [kg].
        com: (3,) or (N, 3) [m] centers of mass in the frame of the moving body.
        inertia: (3, 3) or (N, 3, 3) [kg m^2] about them in the same axes; point masses by default.

    Raises:
        InvalidInput: `mechanism` is not a mechanism.
        ModelError: a shape is wrong, a mass is negative, or an inertia is not symmetric and
            positive semidefinite.
    """

    def __init__(
        self,
        mechanism: Any,
        mass: ArrayLike,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
    ) -> None:
        model = getattr(mechanism, "model", None)
        if not isinstance(model, Model):
            raise InvalidInput(
                f"mechanism is {mechanism!r:.100}, expected a Mechanism", value=mechanism
            )
        self.mechanism = mechanism
        self._tip = next(link for link in model.links if link.name == model.tip_link)
        self.mass = frozen("payload: mass", mass, (np.size(mass),), "kg")
        if (self.mass < 0.0).any():
            least = float(self.mass.min())
            raise ModelError(f"payload: mass contains {least:g}, must be at least 0", value=least)
        count = len(self.mass)
        self.com = frozen("payload: com", _each(com, (count, 3)), (count, 3), "m")
        tensors = _each(np.zeros((3, 3)) if inertia is None else inertia, (count, 3, 3))
        tensors = frozen("payload: inertia", tensors, (count, 3, 3), "kg m^2")
        turned = tensors.swapaxes(1, 2)
        allowed = ROUNDING * np.abs(tensors).max(axis=(1, 2), initial=0.0)
        least = np.linalg.eigvalsh(tensors).min(axis=1, initial=np.inf)
        wrong = (np.abs(tensors - turned).max(axis=(1, 2), initial=0.0) > allowed) | (
            least < -allowed
        )
        if wrong.any():
            k = int(wrong.argmax())
            raise ModelError(
                f"payload: inertia {k} is {tensors[k].tolist()}, must be symmetric and positive "
                "semidefinite",
                value=tensors[k],
            )
        self.inertia = 0.5 * (tensors + turned)

    def __len__(self) -> int:
        return len(self.mass)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            chosen = self.mass[index], self.com[index], self.inertia[index]
            return PayloadVariants(self.mechanism, *chosen)
        return self.mechanism.with_payload(self.mass[index], self.com[index], self.inertia[index])

    def tip_links(self) -> Iterator[Link]:
        """Iterate over the tip links of the N variants, each including its payload."""
        return map(self.tip_link, range(len(self)))

    def tip_link(self, k: int) -> Link:
        """Return the tip link of variant k, including its payload."""
        parts = {"mass": float(self.mass[k]), "com": self.com[k], "inertia": self.inertia[k]}
        return copy_unchecked(self._tip, **combine(self._tip, copy_unchecked(_NOTHING, **parts)))


def representative_mechanisms(rows: Sequence[T]) -> Sequence[T]:
    """Return the mechanisms that represent all motors, friction and dimensions of a batch.

    Args:
        rows: mechanisms of a batch.

    Returns:
        All of them; for `PayloadVariants` only the mechanism without payloads, because a payload
        changes none of these, and never makes velocities decay faster by viscous friction.
    """
    return [rows.mechanism] if isinstance(rows, PayloadVariants) else rows


def _each(value: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Repeat a scalar for each of N rows; return arrays of N values unchanged."""
    array: FloatArray = np.asarray(value, dtype=np.float64)
    return np.broadcast_to(array, shape) if array.shape == shape[1:] else array
