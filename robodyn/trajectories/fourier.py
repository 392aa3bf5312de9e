# SPDX-License-Identifier: Apache-2.0

"""Motions of the independent joints as Fourier series that start and end at rest.

    x(t) = c + w(t) sum_k [a_k sin(2 pi k t / T) + b_k cos(2 pi k t / T)]

w rises from 0 to 1 in a first part of the duration T and falls again in the last part, by the
polynomial of degree five whose first two derivatives are zero at its ends. The motion therefore
starts and ends at c with zero velocity and acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robodyn.algorithms import motions
from robodyn.arrays import FloatArray
from robodyn.errors import OutputError, PathError, RobodynError
from robodyn.formats.documents import Fields
from robodyn.formats.output_file import write_text
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.profiles import quintic
from robodyn.trajectories.sampled import SampledTrajectory

KNOTS = 200.0  # per second


@dataclass(frozen=True)
class FourierSeries:
    """Fourier series of m coordinates with ramps to rest at both ends.

    Attributes:
        duration: duration T [s] of the motion.
        ramp: time [s] in which w rises at the start and falls at the end.
        center: (m,) [m or rad] initial and final position c.
        sine, cosine: (h, m) [m or rad] amplitudes a_k and b_k of h harmonics.
    """

    duration: float
    ramp: float
    center: FloatArray
    sine: FloatArray
    cosine: FloatArray

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return positions, velocities and accelerations (N, m) at times (N,) [s]."""
        rising = t <= 0.5 * self.duration
        window = quintic(self.ramp).sample(np.where(rising, t, self.duration - t))
        w, dw, ddw = (part[:, None] for part in window)
        dw = np.where(rising[:, None], dw, -dw)
        pulse = 2.0 * np.pi / self.duration * np.arange(1, len(self.sine) + 1)
        s, c = np.sin(np.outer(t, pulse)), np.cos(np.outer(t, pulse))
        x = s @ self.sine + c @ self.cosine
        dx = (c * pulse) @ self.sine - (s * pulse) @ self.cosine
        ddx = -(s * pulse**2) @ self.sine - (c * pulse**2) @ self.cosine
        return self.center + w * x, dw * x + w * dx, ddw * x + 2.0 * dw * dx + w * ddx

    def scale(self, factor: float) -> FourierSeries:
        """Return the series with all amplitudes multiplied by a factor."""
        return replace(self, sine=factor * self.sine, cosine=factor * self.cosine)


class FourierTrajectory(SampledTrajectory):
    """Trajectory whose independent joints follow a Fourier series.

    Args:
        mechanism: mechanism that moves.
        series: positions of its independent joints as a Fourier series.
        name: name for files.

    Raises:
        NoSolution, SingularConfiguration: the mechanism cannot follow the series.
    """

    def __init__(self, mechanism: Mechanism, series: FourierSeries, name: str = "") -> None:
        self.series, self.name = series, name
        times = np.linspace(0.0, series.duration, max(2, round(KNOTS * series.duration) + 1))
        motion = motions.motion_of_independent(mechanism, *series.at(times), mechanism.home)
        super().__init__(mechanism, times, motion)
        self.joint_names = mechanism.independent_joints

    def save(self, path: Path) -> None:
        """Write the series to a YAML file that `load_path` and `robodyn simulate` accept.

        Raises:
            OutputError: the file cannot be written, or its name does not end in .yaml.
        """
        if path.suffix.lower() not in (".yaml", ".yml"):
            raise OutputError(f"{path}: paths are written as .yaml files", value=str(path))
        series = self.series
        document: dict[str, Any] = {
            "type": "fourier",
            "name": self.name or "exciting",
            "duration": series.duration,
            "ramp": series.ramp,
            "joints": list(self.joint_names),
            "center": series.center.tolist(),
            "sine": series.sine.tolist(),
            "cosine": series.cosine.tolist(),
        }
        text = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=100)
        write_text(path, text)


def fourier_from_fields(top: Fields, mechanism: Mechanism) -> FourierTrajectory:
    """Create a trajectory from the fields of a path file with `type: fourier`.

    Returns:
        The trajectory of the mechanism.

    Raises:
        PathError: a field is missing or wrong, the joints differ, or the mechanism cannot follow.
    """
    top.only("type", "name", "duration", "ramp", "joints", "center", "sine", "cosine")
    joints = top.get("joints", "a list of the independent joints' names")
    if tuple(joints) != mechanism.independent_joints:
        raise top.refuse("joints", joints, f"{list(mechanism.independent_joints)}, in this order")
    m, rows = len(joints), top.get("sine", "a list with a row for each harmonic")
    shape = (len(rows) if isinstance(rows, list) else 0, m)
    duration = top.number("duration", "s", above=0.0)
    series = FourierSeries(
        duration,
        top.number("ramp", "s", above=0.0),
        top.array("center", (m,), "m or rad"),
        top.array("sine", shape, "m or rad"),
        top.array("cosine", shape, "m or rad"),
    )
    if series.ramp > 0.5 * duration:
        raise top.refuse("ramp", series.ramp, f"at most half of the duration, {0.5 * duration:g} s")
    try:
        return FourierTrajectory(mechanism, series, top.text("name", "exciting"))
    except RobodynError as error:
        raise PathError(f"{top.source}: {error}", value=error.value) from error
