# SPDX-License-Identifier: Apache-2.0

"""Recording of a robot's motion: positions and efforts of its driven joints over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import ArrayLike, BoolArray, FloatArray, short_repr
from robodyn.checks import as_exact
from robodyn.errors import InvalidInput
from robodyn.formats.csv_text import write_columns
from robodyn.identification.signals import segments_of
from robodyn.mechanism.mechanism import Mechanism


@dataclass(frozen=True)
class Recording:
    """Recorded motion and efforts of the driven joints of a mechanism; SI units.

    Attributes:
        source: file or folder of the recording.
        joint_names: the n driven joints, in the mechanism's order.
        time: (N,) [s] from the recording's first sample, strictly increasing.
        position: (N, n) [m or rad] as the mechanism measures it, for example leg lengths; angles
            are unwrapped.
        velocity: (N, n) [m/s or rad/s] as measured, or None.
        effort: (N, n) [N or N m].
        saturated: (N, n) whether the effort was cut off, at a limit or by the range of its sensor.
        notes: observations about the source, and their treatment.
    """

    source: str
    joint_names: tuple[str, ...]
    time: FloatArray
    position: FloatArray
    velocity: FloatArray | None
    effort: FloatArray
    saturated: BoolArray
    notes: tuple[str, ...] = ()

    __repr__ = short_repr

    @classmethod
    def from_arrays(
        cls,
        m: Mechanism,
        time: ArrayLike,
        position: ArrayLike,
        effort: ArrayLike,
        velocity: ArrayLike | None = None,
        *,
        source: str = "",
        notes: tuple[str, ...] = (),
    ) -> Recording:
        """Create a recording from samples, for example of a simulation.

        Args:
            m: mechanism that moved.
            time: (N,) [s], strictly increasing.
            position, effort, velocity: (N, n), see the class.
            source: origin of the samples, for messages.
            notes: remarks about the samples.

        Returns:
            Checked recording, in which saturated efforts are marked.

        Raises:
            InvalidInput: shapes are wrong, values are not finite, or times do not increase.
        """
        times = np.asarray(time, dtype=np.float64)
        shape = (times.size, len(m.joint_names))
        times = as_exact("time", times, (times.size,), "s")
        if (np.diff(times) <= 0.0).any():
            raise InvalidInput("time must be strictly increasing", value=time)
        where, efforts = as_exact("position", position, shape), as_exact("effort", effort, shape)
        rates = None if velocity is None else as_exact("velocity", velocity, shape)
        saturated, text = saturated_samples(m, where, efforts)
        notes = (*notes, *text)
        return cls(source, m.joint_names, times, where, rates, efforts, saturated, notes)

    @cached_property
    def segments(self) -> list[slice]:
        """Slices of the samples between gaps in time; together they contain all of them."""
        return segments_of(self.time)

    @property
    def period(self) -> float:
        """Median sampling interval [s]."""
        return float(np.median(np.diff(self.time)))

    @property
    def where(self) -> str:
        """Name that identifies the recording in messages."""
        return self.source or "the recording"

    def refuse_other_joints(self, m: Mechanism) -> None:
        """Reject a mechanism with other driven joints.

        Raises:
            InvalidInput: the driven joints differ.
        """
        if m.joint_names != self.joint_names:
            raise InvalidInput(
                f"{self.where} has the joints {', '.join(self.joint_names)}, but {m.name} drives "
                f"{', '.join(m.joint_names)}",
                value=m.joint_names,
            )

    def configuration(self, m: Mechanism, guess: ArrayLike | None = None) -> FloatArray:
        """Compute the mechanism's configurations, by forward kinematics if necessary.

        The search for each configuration starts at the previous one; the first starts at the guess,
        by default home.

        Args:
            m: mechanism that moved.
            guess: (nq,) near the first configuration.

        Returns:
            Configurations (N, nq), one for each sample.

        Raises:
            NoSolution: no configuration has the recorded positions.
            InvalidInput: the mechanism has other driven joints.
        """
        self.refuse_other_joints(m)
        found = np.empty((len(self.time), len(m.home)))
        near = m.home if guess is None else np.asarray(guess, dtype=np.float64)
        for part in self.segments:
            where = self.position[part]
            # the motion across a gap is unknown, so the first configuration after it is assembled
            near = m.assemble(where[0], near)
            found[part] = motions.motion_of_joints(
                m, where, np.zeros_like(where), None, near
            ).configuration
            near = found[part][-1]
        return found

    def to_csv(self, path: str | Path) -> None:
        """Write time, positions, velocities and efforts to a CSV file.

        Velocities are omitted if they are unknown. `read_recording` reads the file.

        Args:
            path: file to write.

        Raises:
            OutputError: the file cannot be written.
        """
        parts = {"position": self.position, "velocity": self.velocity, "effort": self.effort}
        known = {name: values for name, values in parts.items() if values is not None}
        columns = [
            (f"{joint}.{name}", column)
            for name, values in known.items()
            for joint, column in zip(self.joint_names, values.T, strict=True)
        ]
        write_columns(path, [("time", self.time), *columns])


# Relative distance to the limit below which an effort counts as saturated.
AT_LIMIT = 0.999
# Least number of equal samples in a row of a flat top, and its length relative to runs of equal
# samples elsewhere, which a sensor of coarse resolution has everywhere.
FLAT, LONGER = 5, 3


def saturated_samples(
    m: Mechanism, position: FloatArray, effort: FloatArray
) -> tuple[BoolArray, tuple[str, ...]]:
    """Find efforts that were cut off at an effort limit or at the range of a sensor.

    `position` and `effort` (N, n) are those of the n driven joints at N samples.

    Returns:
        Whether each effort (N, n) is saturated, and a remark on each joint with saturated ones.
    """
    found = np.zeros(effort.shape, dtype=bool)
    notes = []
    for joint, name in enumerate(m.joint_names):
        limit = m.effort_limits[joint]
        at_limit = np.abs(effort[:, joint]) >= AT_LIMIT * limit
        flat = _flat_tops(position[:, joint], effort[:, joint]) & ~at_limit
        found[:, joint] = at_limit | flat
        unit = m.drives.effort_units[joint]
        if at_limit.any():
            notes.append(
                f"{name}: {_count_text(at_limit)} at or beyond the model's effort limit of "
                f"{limit:g} {unit}, marked as saturated"
            )
        if flat.any():
            top = float(np.abs(effort[flat, joint]).max())
            notes.append(
                f"{name}: {_count_text(flat)} clipped at {top:g} {unit}, marked as saturated"
            )
    return found, tuple(notes)


def _count_text(which: BoolArray) -> str:
    count = int(np.count_nonzero(which))
    return f"{count} sample" + ("" if count == 1 else "s")


def _flat_tops(position: FloatArray, effort: FloatArray) -> BoolArray:
    """Find runs of a joint's largest or smallest effort during motion (saturation).

    Returns:
        Whether each sample belongs to such a run.
    """
    flat = np.zeros(len(effort), dtype=bool)
    if len(effort) < FLAT or np.ptp(effort) == 0.0:
        return flat
    edges = np.concatenate([[0], np.flatnonzero(np.diff(effort) != 0.0) + 1, [len(effort)]])
    lengths = np.diff(edges)
    values = effort[edges[:-1]]
    # the effort of a joint at rest is constant
    moved = np.abs(position[edges[1:] - 1] - position[edges[:-1]]) > 1e-6 * np.ptp(position)
    top = (values == effort.max()) | (values == effort.min())
    elsewhere = lengths[moved & ~top].max(initial=1)
    cut = top & moved & (lengths >= FLAT) & (lengths > LONGER * elsewhere)
    for start, end in zip(edges[:-1][cut], edges[1:][cut], strict=True):
        flat[start:end] = True
    return flat
