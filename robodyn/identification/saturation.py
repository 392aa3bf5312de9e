# SPDX-License-Identifier: Apache-2.0

"""Samples whose effort was cut off: at a limit of the model, or by the range of a sensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism

# Efforts this close to the limit count as at the limit.
AT_LIMIT = 0.999
# A flat top has at least this many equal samples in a row, and is this many times longer than the
# runs of equal samples elsewhere, which a sensor of coarse resolution has everywhere.
FLAT, LONGER = 5, 3


def saturated_samples(
    m: Mechanism, position: FloatArray, effort: FloatArray
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Which efforts (N, n) were cut off, and one line for each joint of which some were."""
    found = np.zeros(effort.shape, dtype=bool)
    notes = []
    for joint, name in enumerate(m.joint_names):
        limit = m.effort_limits[joint]
        at_limit = np.abs(effort[:, joint]) >= AT_LIMIT * limit
        flat = _flat_tops(position[:, joint], effort[:, joint]) & ~at_limit
        found[:, joint] = at_limit | flat
        unit = m.effort_units[joint]
        if at_limit.any():
            notes.append(
                f"{name}: {_samples(at_limit)} at or beyond the model's effort limit of "
                f"{limit:g} {unit}, marked as saturated"
            )
        if flat.any():
            top = float(np.abs(effort[flat, joint]).max())
            notes.append(
                f"{name}: {_samples(flat)} cut off flat at {top:g} {unit}, marked as saturated"
            )
    return found, tuple(notes)


def _samples(which: NDArray[np.bool_]) -> str:
    count = int(np.count_nonzero(which))
    return f"{count} sample" + ("" if count == 1 else "s")


def _flat_tops(position: FloatArray, effort: FloatArray) -> NDArray[np.bool_]:
    """Whether each sample is of a run at the largest or smallest effort, while the joint moves."""
    flat = np.zeros(len(effort), dtype=bool)
    if len(effort) < FLAT or np.ptp(effort) == 0.0:
        return flat
    edges = np.concatenate([[0], np.flatnonzero(np.diff(effort) != 0.0) + 1, [len(effort)]])
    lengths = np.diff(edges)
    values = effort[edges[:-1]]
    # a joint at rest is held by a constant effort
    moved = np.abs(position[edges[1:] - 1] - position[edges[:-1]]) > 1e-6 * np.ptp(position)
    top = (values == effort.max()) | (values == effort.min())
    elsewhere = lengths[moved & ~top].max(initial=1)
    cut = top & moved & (lengths >= FLAT) & (lengths > LONGER * elsewhere)
    for start, end in zip(edges[:-1][cut], edges[1:][cut], strict=True):
        flat[start:end] = True
    return flat
