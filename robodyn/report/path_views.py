# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A path seen in space: the mechanism's frame, its start and its end, by parallel projection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.report.chart import COLORS, DASHED, DOTTED, GREY, INK, SOLID, Chart, Curve, Note, Panel

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism


AZIMUTH, ELEVATION = np.deg2rad(-55.0), np.deg2rad(22.0)


def path_chart(mechanism: Mechanism, configurations: FloatArray) -> Chart:
    """The way of the platform or the tip, in space and by coordinate planes."""
    poses = mechanism.body_pose(configurations)
    body = "platform" if mechanism.kind == "stewart" else "tip"
    label = f"path of the {body}"
    xyz = poses[:, :3]
    planes = tuple(
        Panel(f"{b} over {a}", (Curve(xyz[:, i], xyz[:, j], label, COLORS[1], SOLID, 2.4),),
              f"{a} [m]", f"{b} [m]", limits=_room(xyz[:, j]))
        for (i, a), (j, b) in (((0, "x"), (1, "y")), ((0, "x"), (2, "z")), ((1, "y"), (2, "z")))
        if np.ptp(xyz[:, i]) > 1e-9
    )  # fmt: skip
    panels = (_view(mechanism, configurations, label), *planes)
    return Chart("path", "The path in space", panels, columns=2)


def _view(mechanism: Mechanism, configurations: FloatArray, label: str) -> Panel:
    poses = mechanism.body_pose(configurations)
    curves, notes = [], []
    points = [poses[:, :3]]
    if mechanism.kind == "stewart":
        platform: Any = mechanism
        base = np.array([leg.base for leg in platform.model.legs])
        local = np.array([leg.platform for leg in platform.model.legs])
        ring = _around(base)
        curves.append(_curve(base[ring], "base", INK, SOLID, 2.0))
        for pose, name, dash in ((poses[0], "start", DASHED), (poses[-1], "end", SOLID)):
            tips = pose[:3] + local @ rotation(pose[3:]).T
            curves.append(_curve(tips[_around(local)], f"platform at the {name}", COLORS[0], dash))
            for foot, tip in zip(base, tips, strict=True):
                line = DOTTED if name == "start" else SOLID
                curves.append(_curve(np.array([foot, tip]), f"legs at the {name}", GREY, line, 0.9))
            points.append(tips)
        points.append(base)
    else:
        arm: Any = mechanism
        figure = arm.figure()
        for i, name, dash in ((0, "start", DASHED), (-1, "end", SOLID)):
            angles = dict(zip(arm.joint_names, configurations[i], strict=True))
            links = figure.link_frames(angles)[:, :3, 3]
            curves.append(_curve(links, f"arm at the {name}", COLORS[0], dash))
            points.append(links)
    curves.append(_curve(poses[:, :3], label, COLORS[1], SOLID, 2.4))
    every = np.concatenate(points)
    low, high = every.min(axis=0), every.max(axis=0)
    step = _round_step(float((high - low).max()))
    low, high = np.floor(low / step) * step, np.ceil(high / step) * step
    high = np.maximum(high, low + step)
    for axis, name in enumerate("xyz"):
        start = np.array([low[0], low[1], low[2]])
        if axis == 2:
            start[1] = high[1]
        if axis == 1:
            start[0] = high[0]
        end = start.copy()
        end[axis] = high[axis]
        curves.append(_curve(np.array([start, end]), "", GREY, SOLID, 1.0))
        # every other place has its number: more would run into each other
        for value in np.arange(low[axis], high[axis] + 0.5 * step, 2.0 * step):
            at = start.copy()
            at[axis] = value
            u, v = _projected(at)
            text = f"{value:.3g}".replace("-", "−") if abs(value) > 1e-9 else "0"
            side = {0: (-0.15, -0.22), 1: (0.15, -0.22), 2: (-0.12, -0.03)}[axis]
            anchor = {0: "end", 1: "start", 2: "end"}[axis]
            notes.append(Note(u + side[0] * step * 0.4, v + side[1] * step * 0.5, text, anchor))
        middle = 0.5 * (start + end)
        u, v = _projected(middle)
        off = {0: (-0.6, -1.2), 1: (0.9, -0.9), 2: (-1.6, 0.2)}[axis]
        anchor = {0: "end", 1: "start", 2: "end"}[axis]
        notes.append(Note(u + off[0] * step * 0.6, v + off[1] * step * 0.6, f"{name} [m]", anchor))
    return Panel("In space", tuple(curves), notes=tuple(notes), picture=True,
                 x_label="", y_label="")  # fmt: skip


def rotation(quaternion: FloatArray) -> FloatArray:
    """(3, 3) of a unit quaternion (x, y, z, w)."""
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _projected(points: FloatArray) -> FloatArray:
    """(..., 2) to the right and up, of points (..., 3) seen from far away."""
    x, y, z = np.moveaxis(points, -1, 0)
    right = -np.sin(AZIMUTH) * x + np.cos(AZIMUTH) * y
    near = np.cos(AZIMUTH) * x + np.sin(AZIMUTH) * y
    return np.stack([right, np.cos(ELEVATION) * z - np.sin(ELEVATION) * near], axis=-1)


def _curve(
    points: FloatArray, label: str, color: str, dash: tuple[float, ...], width: float = 1.6
) -> Curve:
    flat = _projected(points)
    return Curve(flat[:, 0], flat[:, 1], label, color, dash, width)


def _around(points: FloatArray) -> list[int]:
    """Indices of points (n, 3) in the order of their angle about the middle, closed."""
    off = points - points.mean(axis=0)
    order = np.argsort(np.arctan2(off[:, 1], off[:, 0])).tolist()
    return [*order, order[0]]


def _round_step(span: float) -> float:
    unit = 10.0 ** np.floor(np.log10(max(span, 1e-6) / 5.0))
    return float(next(m * unit for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * unit >= span / 6.0))


def _room(values: FloatArray) -> tuple[float, float] | None:
    """Limits about a coordinate that does not change, save for rounding."""
    low, high = float(values.min()), float(values.max())
    return (low - 0.1, high + 0.1) if high - low < 1e-9 else None
