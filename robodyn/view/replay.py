# SPDX-License-Identifier: Apache-2.0

"""Playback of a recorded run, with play, pause and seek."""

from __future__ import annotations

import threading
import time

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.mechanism.mechanism import Mechanism
from robodyn.view.snapshot import Snapshot, snapshot_of


class Replay:
    """Player of a recorded run in real time, at an adjustable speed.

    Args:
        mechanism: recorded mechanism.
        times: (N,) [s] increasing times.
        configurations: (N, nq) recorded configurations.
        efforts: (N, n) [N or N m] recorded efforts.

    Attributes:
        mechanism, times, configurations, efforts: as given.
        duration: duration [s] of the recording.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        times: FloatArray,
        configurations: FloatArray,
        efforts: FloatArray,
    ) -> None:
        self.mechanism = mechanism
        self.duration = float(times[-1] - times[0])
        self.times, self.configurations, self.efforts = times, configurations, efforts
        self._lock = threading.Lock()
        self._at, self._wall = 0.0, time.monotonic()
        self._playing, self._speed = True, 1.0

    @property
    def body_poses(self) -> FloatArray:
        """Recorded poses (N, 7) of the body, thinned to a few hundred."""
        step = max(len(self.times) // 400, 1)
        return self.mechanism.body_pose(self.configurations[::step])

    def snapshot(self) -> Snapshot:
        """Return the recorded state at the current time of the playback."""
        with self._lock:
            at, playing = self._advance(), self._playing
        index = int(np.searchsorted(self.times, self.times[0] + at, side="right")) - 1
        return snapshot_of(
            self.mechanism,
            float(self.times[index]),
            self.configurations[index],
            self.efforts[index],
            playing,
        )

    def set_playing(self, playing: bool) -> None:
        """Resume or pause the playback."""
        with self._lock:
            self._advance()
            self._playing = playing

    @property
    def speed(self) -> float:
        """Playback speed: recorded seconds per second of real time."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        speed = as_scalar("speed", value, above=0.0)
        with self._lock:
            self._advance()
            self._speed = speed

    def seek(self, since_start: float) -> None:
        """Jump to a time [s] since the start of the recording, clipped to its duration."""
        with self._lock:
            self._at, self._wall = float(np.clip(since_start, 0.0, self.duration)), time.monotonic()

    def reset(self) -> None:
        """Return to the start of the recording."""
        self.seek(0.0)

    def _advance(self) -> float:
        now = time.monotonic()
        if self._playing:
            self._at = min(self._at + (now - self._wall) * self._speed, self.duration)
        self._wall = now
        return self._at
