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

"""The charts of a study: forces and their parts, conditioning, joints, reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.dynamic_fraction import SMALLEST_FORCE
from robodyn.errors import KinematicsError
from robodyn.report.chart import (
    COLORS,
    DASHED,
    DASHES,
    DOTTED,
    GREY,
    SOLID,
    Chart,
    Curve,
    Mark,
    Panel,
)
from robodyn.report.parameters import number
from robodyn.report.path_views import path_chart
from robodyn.report.scales import scale_of

if TYPE_CHECKING:
    from robodyn.analysis.study import Study
    from robodyn.arrays import FloatArray


WARN, ERROR = 100.0, 1000.0
# Total solid, massless dashed, dynamic dotted, as in the 1998 paper; an arm has more parts.
PART_DASHES = (DASHED, DOTTED, *DASHES[3:], (2.5, 2.5))
_REACTIONS = {
    "spherical_force": ("spherical joint", "force [N]"),
    "prismatic_force": ("prismatic joint", "force [N]"),
    "prismatic_moment": ("prismatic joint", "moment [N m]"),
    "universal_force": ("universal joint", "force [N]"),
    "universal_moment": ("universal joint", "moment [N m]"),
}


def study_charts(study: Study) -> list[Chart]:
    """All that a study has to show, in the order in which it is read."""
    charts = [force_chart(study)]
    if "massless" in study.terms:
        charts.append(fraction_chart(study))
    charts += [condition_chart(study), *joint_charts(study)]
    if study.reactions is not None:
        charts.append(reaction_chart(study))
    if study.mechanism.kind == "stewart":
        charts.append(formulation_chart(study))
    return [*charts, path_chart(study.mechanism, study.motion.configuration)]


def force_chart(study: Study) -> Chart:
    """Total force of every joint and its parts, all on the same axis."""
    platform = study.mechanism.kind == "stewart"
    names, unit = joint_titles(study), "force [N]"
    histories = [study.forces, *study.terms.values()]
    scale = scale_of(histories) if platform else "linear"
    ends = np.concatenate([each[np.isfinite(each)] for each in histories])
    # the same axis for all legs shows which of them carries the load
    room = 0.05 * float(np.ptp(ends))
    limits = (float(ends.min()) - room, float(ends.max()) + room) if platform else None
    panels = []
    for i, name in enumerate(names):
        curves = [Curve(study.time, study.forces[:, i], "total", COLORS[0], SOLID, 1.8)]
        for (part, values), dash, color in zip(
            study.terms.items(), PART_DASHES, (*COLORS[1:], GREY), strict=False
        ):
            curves.append(Curve(study.time, values[:, i], part, color, dash))
        if not platform:
            unit = joint_unit(study, i, "force [N]", "torque [N m]")
        panels.append(
            Panel(name, tuple(curves), y_label=unit, marks=_singular(study),
                  scale=scale, limits=limits)
        )  # fmt: skip
    text = (
        "Massless: what legs without mass and friction would need. Dynamic: the rest, which the "
        "legs' own mass and friction ask for."
        if platform
        else "The parts add up to the total."
    )
    if scale == "symlog":
        text += " The axis is logarithmic in both directions, linear about zero."
    return Chart("forces", "Leg forces" if platform else "Joint efforts", tuple(panels), text)


def fraction_chart(study: Study) -> Chart:
    """Dynamic over total force, where the total is not near zero."""
    fraction = study.dynamic_fraction.copy()
    size = np.abs(study.forces)
    peak = np.nanmax(size, axis=0)
    if not study.singular_times.size:
        fraction[size < SMALLEST_FORCE * peak] = np.nan
    fraction[~(np.abs(fraction) <= 1.0)] = np.nan
    panels = tuple(
        Panel(name, (Curve(study.time, fraction[:, i], color=COLORS[0]),),
              y_label="dynamic / total [-]", limits=(-1.0, 1.0),
              marks=(Mark(0.0), *_singular(study)))
        for i, name in enumerate(joint_titles(study))
    )  # fmt: skip
    text = (
        "The share of a leg's force that its own mass and friction ask for. Gaps: the total force "
        "passes through zero there, and the fraction says nothing."
    )
    return Chart("dynamic_fraction", "Dynamic fraction", panels, text)


def condition_chart(study: Study) -> Chart:
    """Condition number, its thresholds, and when it rises above them."""
    number = study.condition_number
    curves = [Curve(study.time, number, "SI units", COLORS[0], SOLID, 1.8)]
    if study.characteristic_length != 1.0:
        label = f"moments over {study.characteristic_length:g} m"
        curves.append(Curve(study.time, study.scaled_condition_number, label, COLORS[1], DASHED))
    marks = [Mark(WARN, f"warning {WARN:g}", color="#b07d00"),
             Mark(ERROR, f"error {ERROR:g}", color="#b3261e")]  # fmt: skip
    marks += [
        Mark(t, f"above {level:g} at {t:.3f} s", True, "#b07d00" if level == WARN else "#b3261e")
        for level in (WARN, ERROR)
        for t in rises(study.time, number, level)[:3]
    ]
    marks += list(_singular(study))
    panel = Panel("Ratio of the extreme singular values", tuple(curves),
                  y_label="condition number [-]", marks=tuple(marks), scale="log")  # fmt: skip
    return Chart("condition_number", "Condition number", (panel,), columns=1)


def joint_charts(study: Study) -> list[Chart]:
    """Positions and rates of the driven joints."""
    platform = study.mechanism.kind == "stewart"
    names = joint_titles(study)
    label = ("length [m]", "rate [m/s]") if platform else (
        "position [rad, m]", "rate [rad/s, m/s]")  # fmt: skip
    panels = tuple(
        Panel(title, colored(study.time, values, names), y_label=y_label)
        for title, values, y_label in (
            ("Positions", study.joint_positions, label[0]),
            ("Rates", study.joint_velocities, label[1]),
        )
    )
    return [Chart("joints", "Leg lengths and rates" if platform else "Joint motion",
                  panels, columns=2)]  # fmt: skip


def reaction_chart(study: Study) -> Chart:
    """Magnitudes of what the legs' joints bear."""
    assert study.reactions is not None
    panels = []
    for name, values in study.reactions._asdict().items():
        joint, y_label = _REACTIONS[name]
        size = np.linalg.norm(values, axis=-1)
        panels.append(
            Panel(f"{joint}, {y_label.split()[0]}".capitalize(),
                  colored(study.time, size, joint_titles(study)),
                  y_label=y_label, marks=_singular(study),
                  scale="log" if scale_of([size]) == "symlog" and (size > 0).all() else "linear")
        )  # fmt: skip
    text = (
        "Magnitudes of the constraint forces and moments between the parts of each leg; the "
        "prismatic joint's without the actuator's share, about the base point."
    )
    return Chart("reactions", "Reactions", tuple(panels), text)


def formulation_chart(study: Study) -> Chart:
    """What the two papers' formulations, as printed, miss along this motion."""
    found = {name: other_forces(study, name) for name in ("dasgupta1998", "pedrammehr2012")}
    exact = other_forces(study, "exact")
    errors = {name: forces - exact for name, forces in found.items()}
    scale = scale_of(errors.values())
    panels = tuple(
        Panel(name, tuple(
            Curve(study.time, error[:, i], f"{label} − exact", COLORS[j], (SOLID, DASHED)[j])
            for j, (label, error) in enumerate(errors.items())),
            y_label="difference [N]", marks=_singular(study), scale=scale)
        for i, name in enumerate(joint_titles(study))
    )  # fmt: skip
    worst = ", ".join(
        f"{name} by up to {number(_largest(error))} N" for name, error in errors.items()
    )
    text = f"Inverse dynamics as two papers print it departs from the exact one: {worst}."
    return Chart("formulations", "Formulations compared", panels, text)


def _largest(values: FloatArray) -> float:
    """Three digits of the largest magnitude."""
    return float(f"{float(np.nanmax(np.abs(values))):.3g}")


def other_forces(study: Study, formulation: str) -> FloatArray:
    """(N, 6) [N] of the same motion by another formulation; NaN where there are none."""
    if formulation == study.formulation:
        return study.forces
    platform: Any = study.mechanism
    motion = study.motion
    try:
        return np.asarray(platform.inverse_dynamics(*motion, formulation=formulation))
    except KinematicsError:
        known = np.isfinite(study.forces).all(axis=1)
        forces = np.full_like(study.forces, np.nan)
        some = (part[known] for part in motion)
        forces[known] = platform.inverse_dynamics(*some, formulation=formulation)
        return forces


def joint_titles(study: Study) -> list[str]:
    """What to call the driven joints: `leg 1` of a platform, the joint's own name of an arm."""
    names = study.mechanism.joint_names
    if study.mechanism.kind == "stewart":
        return [f"leg {i}" for i in range(1, len(names) + 1)]
    return list(names)


def joint_unit(study: Study, index: int, linear: str, angular: str) -> str:
    """One of two labels, by the kind of an arm's joint."""
    arm: Any = study.mechanism
    return linear if arm.model.joints[index].kind == "prismatic" else angular


def colored(time: FloatArray, values: FloatArray, labels: list[str]) -> tuple[Curve, ...]:
    """A curve a column, each with its own colour and dashes."""
    return tuple(
        Curve(time, values[:, i], label, COLORS[i % len(COLORS)], DASHES[i % len(DASHES)])
        for i, label in enumerate(labels)
    )


def rises(time: FloatArray, number: FloatArray, level: float) -> list[float]:
    """Times [s] at which a condition number rises above a level, interpolated in its logarithm."""
    with np.errstate(divide="ignore"):
        above = np.log(number / level)
    rows = np.flatnonzero((above[:-1] <= 0.0) & (above[1:] > 0.0))
    share = np.where(np.isfinite(above[rows + 1]), -above[rows] / (above[rows + 1] - above[rows]),
                     1.0)  # fmt: skip
    return [float(t) for t in time[rows] + share * (time[rows + 1] - time[rows])]


def _singular(study: Study) -> tuple[Mark, ...]:
    return tuple(
        Mark(float(t), f"singular at {t:.4f} s", True, "#b3261e") for t in study.singular_times
    )
