# SPDX-License-Identifier: Apache-2.0

"""Joint states of drivers: in several messages, without velocities, or with prefixed names.

`JointReadings` merges several messages into readings of all joints, and differentiates positions
if velocities are missing. Times are those of the readings, in nanoseconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput
from robodyn.numerics.turns import full_turns

# Gap [s] between readings after which differentiation starts again.
GAP = 0.5


class Reading(NamedTuple):
    """Positions (n,) [m or rad] and velocities (n,) of all joints at `time` [ns]."""

    time: int
    positions: FloatArray
    velocities: FloatArray


class JointReadings:
    """Merger of joint-state messages into readings of all joints of a mechanism.

    Args:
        names: (n,) names of the joints.
        wraps: (n,) whether positions of a joint that differ by a full turn are equal.
        differentiate: compute missing velocities as filtered finite differences of positions.
        cutoff: cutoff [rad/s] of the low-pass filter of these finite differences.
        max_age: largest difference [s] between the ages of the readings of two joints.
        needs_velocities: whether a reading must have velocities; otherwise missing ones are NaN.

    Attributes:
        differentiated: names of the joints whose velocities are finite differences of positions.
        is_merged: whether readings arrive in several messages.
    """

    def __init__(
        self,
        names: Sequence[str],
        wraps: Sequence[bool] = (),
        *,
        differentiate: bool = True,
        cutoff: float = 200.0,
        max_age: float = 0.1,
        needs_velocities: bool = True,
    ) -> None:
        self._names, self._places = tuple(names), {name: k for k, name in enumerate(names)}
        self._wraps = np.array(wraps or [False] * len(self._names))
        self._needs_velocities = needs_velocities
        self.differentiate = differentiate
        self.cutoff = as_scalar("cutoff", cutoff, "rad/s", above=0.0)
        self.max_age = as_scalar("max_age", max_age, "s", above=0.0)
        self._orders: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}
        self.reset()

    def reset(self) -> None:
        """Discard all readings."""
        count = len(self._names)
        self.differentiated: tuple[str, ...] = ()
        self.is_merged = False
        self._positions, self._velocities = np.full((2, count), np.nan)
        self._rates = np.full(count, np.nan)
        self._times = [0] * count
        self._known = [False] * count
        self._new = [False] * count

    def take(
        self, time: int, names: Sequence[str], positions: FloatArray, velocities: FloatArray
    ) -> Reading | None:
        """Add a message of some joints; return a `Reading` when all are updated.

        Args:
            time: time [ns] of the message.
            names: names of its joints; unknown ones are ignored.
            positions: [m or rad] positions of these joints.
            velocities: [m/s or rad/s] velocities of these joints; an array of another length, or
                NaN, if not measured.

        Returns:
            Positions and velocities of all joints, with the time of the newest message. None while
            joints await an update, or while a velocity needs one more reading to be computed.

        Raises:
            InvalidInput: positions have the wrong length or are not finite, velocities are missing
                and may not be differentiated, or a reading of a joint is too old.
        """
        sources, places = self._order(tuple(names))
        if len(positions) != len(names):
            raise InvalidInput(
                f"{len(names)} joint names but {len(positions)} positions", value=positions
            )
        position = np.asarray(positions, dtype=np.float64)[sources]
        if not np.isfinite(position).all():
            bad = int(np.flatnonzero(~np.isfinite(position))[0])
            raise InvalidInput(
                f"position of joint {self._names[places[bad]]} is {position[bad]}, must be finite",
                value=position,
            )
        velocity = np.full(len(places), np.nan)
        if len(velocities) == len(names):
            velocity = np.asarray(velocities, dtype=np.float64)[sources]
        if np.isinf(velocity).any():
            bad = int(np.flatnonzero(np.isinf(velocity))[0])
            raise InvalidInput(
                f"velocity of joint {self._names[places[bad]]} is {velocity[bad]}, must be finite",
                value=velocity,
            )
        missing = np.isnan(velocity)
        if missing.any() and self._needs_velocities and not self.differentiate:
            name = self._names[places[int(np.flatnonzero(missing)[0])]]
            raise InvalidInput(
                f"no velocity for joint {name}: set differentiate, or publish velocities",
                value=velocities,
            )
        known_before = [self._known[place] for place in places]
        if self._needs_velocities and (missing.any() or self.differentiated):
            velocity = self._differentiate(time, places, position, velocity, missing)
        for place, new in zip(places, position.tolist(), strict=True):
            self._positions[place] = new
            self._known[place] = self._new[place] = True
            self._times[place] = time
        self._velocities[places] = velocity
        if not all(self._known) or not all(self._new):
            self.is_merged = self.is_merged or all(known_before)
            return None
        return self._merged_reading()

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the joints that no message has contained so far."""
        return tuple(n for n, known in zip(self._names, self._known, strict=True) if not known)

    @property
    def pending(self) -> tuple[str, ...]:
        """Names of the joints that still await an update after others were updated."""
        if all(self._new) or not any(self._new):
            return ()
        return tuple(n for n, new in zip(self._names, self._new, strict=True) if not new)

    def _merged_reading(self) -> Reading | None:
        self._new = [False] * len(self._names)
        newest, oldest = max(self._times), min(self._times)
        if (newest - oldest) * 1e-9 > self.max_age:
            joint = self._names[self._times.index(oldest)]
            raise InvalidInput(
                f"the position of joint {joint} is {(newest - oldest) * 1e-9:.3g} s older than "
                f"the most recent position, more than max_age, {self.max_age:g} s",
                value=joint,
            )
        if self._needs_velocities and not np.isfinite(self._velocities).all():
            return None  # one more reading is needed for a difference
        return Reading(newest, self._positions.copy(), self._velocities.copy())

    def _order(self, names: tuple[str, ...]) -> tuple[list[int], list[int]]:
        """Return indices, in a message and among all joints, of the joints in both."""
        found = self._orders.get(names)
        if found is None:
            where = {self._places[n]: k for k, n in enumerate(names) if n in self._places}
            found = list(where.values()), list(where.keys())
            if len(self._orders) > 64:  # names differ in every message
                self._orders.clear()
            self._orders[names] = found
        return found

    def _differentiate(
        self,
        time: int,
        places: list[int],
        position: FloatArray,
        velocity: FloatArray,
        missing: FloatArray,
    ) -> FloatArray:
        """Return joint velocities (k,); replace missing ones by filtered differences."""
        out: FloatArray = velocity.copy()
        for k in np.flatnonzero(missing):
            place = places[k]
            step = (time - self._times[place]) * 1e-9
            if not self._known[place] or step > GAP or step < -GAP:
                self._rates[place] = np.nan
                out[k] = 0.0 if self._known[place] else np.nan
                continue
            if step <= 0.0:  # the same reading again
                out[k] = self._rates[place] if math.isfinite(self._rates[place]) else 0.0
                continue
            way = position[k] - self._positions[place]
            if self._wraps[place]:
                way -= float(full_turns(np.array(way)))
            rate, before = way / step, self._rates[place]
            if math.isfinite(before):
                rate = before + (1.0 - math.exp(-self.cutoff * step)) * (rate - before)
            self._rates[place] = out[k] = rate
        names = {self._names[places[k]] for k in np.flatnonzero(missing)}
        kept = {n for n in self.differentiated if self._places[n] not in places}
        self.differentiated = tuple(n for n in self._names if n in names | kept)
        return out


def foreign_names(given: Sequence[str], names: Sequence[str]) -> str:
    """Describe how joint names differ from the expected ones, e.g. by a prefix.

    Args:
        given: names in a message.
        names: expected names.

    Returns:
        A text that names an additional or missing prefix or, without one, lists both.
    """
    for own in names:
        for name in given:
            before = name[: -len(own)]
            if name != own and name.endswith(own) and before:
                return f"{name} where {own} is expected: the names have the prefix {before!r}"
            before = own[: -len(name)] if name else ""
            if name and own != name and own.endswith(name) and before:
                return f"{name} where {own} is expected: the prefix {before!r} is missing"
    return f"{', '.join(given[:6]) or 'no joint'} where {', '.join(names[:6])} are expected"
