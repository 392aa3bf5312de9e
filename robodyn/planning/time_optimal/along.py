# SPDX-License-Identifier: Apache-2.0

"""A piece of a path in intervals: where the mechanism is along it, and how its joints move."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray, Indices
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.planning.kernels.intervals import PLACES
from robodyn.planning.time_optimal.path import Piece
from robodyn.trajectories.base import Motion
from robodyn.trajectories.sampled import SampledTrajectory

# Places in an interval, in which a result is verified; within, so that a knot's sides are apart.
VERIFIED = np.array([1e-6, 0.25, 0.5, 0.75, 1.0 - 1e-6])
# Those at which limits are imposed.
IMPOSED = VERIFIED[::2]


class Along(NamedTuple):
    """A piece of a path in N intervals, at M places in each.

    Attributes:
        motion: (N, M, ...) configuration, dq/ds and d2q/ds2.
        rates, bends: (N, M, n) of the driven joints: dp/ds and d2p/ds2.
        positions: (N, M, n) of the driven joints.
        tip: (N, M) [m] dx/ds of the body.
        turned: (N, M, n) [N or N m] by how much an effort jumps next to a place at which its joint
            turns round, for the friction on the other side; else 0.
        steps: (N,) lengths of the intervals.
        imposed: which of the M places are those at which limits are imposed.
    """

    motion: Motion
    rates: FloatArray
    bends: FloatArray
    positions: FloatArray
    tip: FloatArray
    turned: FloatArray
    steps: FloatArray
    imposed: slice

    def part(self, rows: Indices | slice) -> Along:
        """Some of its intervals."""
        return self._of(lambda values: values[rows])._replace(steps=self.steps[rows])

    def middle(self) -> Along:
        """The middle of every interval (N, 1)."""
        at = [self.rates.shape[1] // 2]
        return self._of(lambda values: values[:, at])

    def _of(self, take: Callable[[FloatArray], FloatArray]) -> Along:
        return self._replace(
            motion=type(self.motion)(*(take(values) for values in self.motion)),
            rates=take(self.rates),
            bends=take(self.bends),
            positions=take(self.positions),
            tip=take(self.tip),
            turned=take(self.turned),
        )


def along(mechanism: Mechanism, piece: Piece, *, tip: bool, places: FloatArray = VERIFIED) -> Along:
    """A piece at places in every interval, by default those where results are verified.

    Raises:
        KinematicsError: a configuration that cannot be; `index` says where in (N, M).
    """
    steps = np.diff(piece.nodes)
    assert isinstance(piece.curve, SampledTrajectory)  # as pieces are until they are made smooth
    motion = piece.curve.between_knots(places)
    return along_motion(mechanism, motion, steps, tip=tip)


def along_motion(mechanism: Mechanism, motion: Motion, steps: FloatArray, *, tip: bool) -> Along:
    """A piece at places (N, M) of which the motion is known; see `Along`.

    Raises:
        KinematicsError: as `along`.
    """
    positions, rates, bends = mechanism.driven_motion(*motion)
    speed = np.zeros(rates.shape[:2])
    if tip:
        speed = _tip_speed(mechanism, motion)
    imposed = slice(None, None, (rates.shape[1] - 1) // (PLACES - 1))
    turned = _turned(mechanism, rates)
    return Along(motion, rates, bends, positions, speed, turned, steps, imposed)


def _turned(mechanism: Mechanism, rates: FloatArray) -> FloatArray:
    """See `Along.turned`."""
    out = np.zeros(rates.shape)
    for i, actuator in enumerate(mechanism.actuators):
        forward, backward = (float(actuator.dry_friction(sign * 1e-300)) for sign in (1.0, -1.0))
        if forward == backward:
            continue
        rate = rates[..., i]
        crosses = rate[:, 1:] * rate[:, :-1] < 0.0
        beside = np.zeros(rate.shape, dtype=bool)
        beside[:, 1:] |= crosses
        beside[:, :-1] |= crosses
        out[..., i] = np.where(beside, -np.sign(rate) * (forward - backward), 0.0)
    return out


def _tip_speed(mechanism: Mechanism, motion: Motion) -> FloatArray:
    """[m] dx/ds (N, M) of the body, by central differences of its position."""
    step = 1e-6
    ahead, behind = (
        mechanism.body_pose(mechanism.advance(motion.configuration, sign * step * motion.velocity))
        for sign in (1.0, -1.0)
    )
    return np.asarray(np.linalg.norm(ahead[..., :3] - behind[..., :3], axis=-1) / (2.0 * step))
