# SPDX-License-Identifier: Apache-2.0

"""Charts of a motion study: efforts and their terms, condition number, joints, reactions."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.algorithms.effort_terms import formulations
from robodyn.analysis.study import SMALLEST_FORCE, MotionStudy
from robodyn.arrays import FloatArray
from robodyn.errors import KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.presentation.nouns import nouns_of
from robodyn.presentation.numbers_as_text import number
from robodyn.report import chart
from robodyn.report.axis_ranges import LINEAR, LOG, SYMLOG, scale_of
from robodyn.report.labels import (
    effort_labels,
    effort_name,
    joint_titles,
    position_name,
    units_in_one,
)
from robodyn.report.path_views import path_chart

# Total solid, massless dashed, dynamic dotted, as in the 1998 paper; an arm has more parts.
PART_DASHES = (chart.DASHED, chart.DOTTED, *chart.DASHES[3:], (2.5, 2.5))
_REACTION_UNITS = {"force": "N", "moment": "N m"}


def study_charts(study: MotionStudy, formulations: bool | None = None) -> list[chart.Chart]:
    """Create all charts of a motion study, in reading order.

    Args:
        study: motion study.
        formulations: whether to compare the papers' formulations; by default for the mechanisms of
            the papers, and for a study with one of these formulations.
    """
    charts = [force_chart(study)]
    if "massless" in study.terms:
        charts.append(fraction_chart(study))
    charts += [condition_chart(study), *joint_charts(study)]
    if study.reactions is not None:
        charts.append(reaction_chart(study))
    if formulations is None:
        formulations = _is_published(study)
    if formulations and published_formulations(study.mechanism):
        charts.append(formulation_chart(study))
    return [*charts, path_chart(study.mechanism, study.motion.configuration)]


def force_chart(study: MotionStudy) -> chart.Chart:
    """Create a chart of each joint's effort over time and the terms that add up to it.

    All legs of a platform have a common scale.
    """
    mechanism = study.mechanism
    names, labels = joint_titles(mechanism), effort_labels(mechanism)
    histories = [study.forces, *study.terms.values()]
    shared = presentation.has_legs(mechanism)
    scale = scale_of(histories) if shared else LINEAR
    ends = np.concatenate([each[np.isfinite(each)] for each in histories])
    room = 0.05 * float(np.ptp(ends))
    limits = (float(ends.min()) - room, float(ends.max()) + room) if shared else None
    panels = []
    for i, name in enumerate(names):
        curves = [
            chart.ChartLine(
                study.time, study.forces[:, i], "total", chart.COLORS[0], chart.SOLID, 1.8
            )
        ]
        for (part, values), dash, color in zip(
            study.terms.items(), PART_DASHES, (*chart.COLORS[1:], chart.GRAY), strict=False
        ):
            curves.append(chart.ChartLine(study.time, values[:, i], part, color, dash))
        panels.append(
            chart.Panel(name, tuple(curves), y_label=labels[i], marks=_marks(study), scale=scale,
                  limits=limits)
        )  # fmt: skip
    effort, joint = effort_name(mechanism), nouns_of(mechanism).joint
    text = f"The parts add up to the total {effort}."
    if "massless" in study.terms:
        text = (
            f"Massless: the {effort}s if the {joint}s had neither mass nor friction. Dynamic: the "
            f"rest, due to the mass and friction of the {joint}s."
        )
    if scale == SYMLOG:
        text += " The axis is linear near zero, and logarithmic for larger magnitudes."
    return chart.Chart("forces", f"{joint.capitalize()} {effort}s", tuple(panels), text)


def fraction_chart(study: MotionStudy) -> chart.Chart:
    """Create a chart of the fraction of leg forces due to the legs' own dynamics.

    The fraction is drawn over time, with gaps where the total force passes through zero.
    """
    fraction = study.dynamic_fraction.copy()
    size = np.abs(study.forces)
    peak = np.nanmax(size, axis=0)
    if not study.singular_times.size:
        fraction[size < SMALLEST_FORCE * peak] = np.nan
    fraction[~(np.abs(fraction) <= 1.0)] = np.nan
    titles = joint_titles(study.mechanism)
    panels = chart.panels_of(
        titles, study.time, {"": fraction}, ["dynamic / total [-]"] * len(titles),
        limits=(-1.0, 1.0), marks=(chart.Mark(0.0), *_marks(study)),
    )  # fmt: skip
    effort, joint = effort_name(study.mechanism), nouns_of(study.mechanism).joint
    text = (
        f"The share of each {joint}'s {effort} that is due to the mass and friction of the "
        f"{joint}s. In the gaps, the total {effort} passes through zero, so that the fraction is "
        "meaningless."
    )
    return chart.Chart("dynamic_fraction", "Dynamic fraction", panels, text)


def condition_chart(study: MotionStudy) -> chart.Chart:
    """Create a chart of the Jacobian's condition number over time, with thresholds."""
    values = study.condition_number
    curves = [chart.ChartLine(study.time, values, "SI units", chart.COLORS[0], chart.SOLID, 1.8)]
    if study.characteristic_length != 1.0:
        label = f"moments divided by {study.characteristic_length:g} m"
        curves.append(
            chart.ChartLine(
                study.time, study.scaled_condition_number, label, chart.COLORS[1], chart.DASHED
            )
        )
    marks = [
        chart.Mark(t, f"above {level:g} at {t:.3f} s", True, color)
        for _, level, color in chart.CONDITION
        for t in rises(study.time, values, level)[:3]
    ]
    title = "Ratio of the Jacobian's largest to its smallest singular value"
    panels = chart.condition_panel(title, curves, [*marks, *_marks(study)])
    return chart.Chart("condition_number", "Condition number", panels, columns=1)


def joint_charts(study: MotionStudy) -> list[chart.Chart]:
    """Create a chart of positions and velocities of the driven joints over time.

    Returns:
        A list with this chart.
    """
    mechanism = study.mechanism
    names, units = joint_titles(mechanism), mechanism.drives.units
    position, joint = position_name(mechanism), nouns_of(mechanism).joint
    panels = tuple(
        chart.Panel(title, chart.curves_of(study.time, names, values), y_label=label)
        for title, values, label in (
            (f"{position.capitalize()}s", study.joint_positions,
             f"{position} [{units_in_one(units)}]"),
            ("Rates", study.joint_velocities, f"rate [{units_in_one(units, '/s')}]"),
        )
    )  # fmt: skip
    title = f"{joint.capitalize()} {position}s and rates"
    return [chart.Chart("joints", title, panels, columns=2)]


def reaction_chart(study: MotionStudy) -> chart.Chart:
    """Create a chart of the magnitudes of the joints' constraint forces and moments.

    They are drawn over time; the study must contain reactions.
    """
    assert study.reactions is not None
    panels = []
    for name, values in study.reactions._asdict().items():
        # `spherical_force`: of the spherical joint
        joint, what = name.rsplit("_", 1)
        size = np.linalg.norm(values, axis=-1)
        log = scale_of([size]) == SYMLOG and bool((size > 0).all())
        titles = joint_titles(study.mechanism)
        if len(titles) != size.shape[1]:  # numbered if they are not the driven joints
            titles = [str(i) for i in range(1, size.shape[1] + 1)]
        panels.append(
            chart.Panel(f"{joint} joint, {what}".replace("_", " ").capitalize(),
                  chart.curves_of(study.time, titles, size),
                  y_label=f"{what} [{_REACTION_UNITS[what]}]", marks=_marks(study),
                  scale=LOG if log else LINEAR)
        )  # fmt: skip
    text = (
        "Magnitudes of the constraint forces and moments between the parts of each "
        f"{nouns_of(study.mechanism).joint}. Those of the prismatic joint exclude the "
        "actuator's "
        "force; its moment is about the base joint."
    )
    return chart.Chart("reactions", "Reactions", tuple(panels), text)


def published_formulations(mechanism: Mechanism) -> list[str]:
    """Return the names of a mechanism's inverse-dynamics formulations from papers.

    The list is empty for mechanisms that have only exact and massless formulations.
    """
    return [name for name in formulations(mechanism) if name not in ("exact", "massless")]


def _is_published(study: MotionStudy) -> bool:
    """Return whether a study's report compares the papers' formulations by default."""
    m = study.mechanism
    return m.name in presentation.published_models(
        m
    ) or study.formulation in published_formulations(m)


def formulation_chart(study: MotionStudy) -> chart.Chart:
    """Create a chart of the deviations of papers' formulations from exact dynamics.

    Each curve is a joint's effort by one formulation minus that by exact inverse dynamics, over
    time.
    """
    exact = other_forces(study, "exact")
    errors = {
        f"{name} − exact": other_forces(study, name) - exact
        for name in published_formulations(study.mechanism)
    }
    panels = chart.panels_of(
        joint_titles(study.mechanism),
        study.time,
        errors,
        [f"difference {label[label.index('[') :]}" for label in effort_labels(study.mechanism)],
        marks=_marks(study),
        scale=scale_of(errors.values()),
    )
    worst = ", ".join(
        f"{name.split()[0]} by up to {number(float(np.nanmax(np.abs(error))))} "
        f"{units_in_one(study.mechanism.drives.effort_units)}"
        for name, error in errors.items()
    )
    text = f"Inverse dynamics as printed in the papers differs from the exact one: {worst}."
    return chart.Chart("formulations", "Formulations compared", panels, text)


def other_forces(study: MotionStudy, formulation: str) -> FloatArray:
    """Compute a study's efforts with another formulation of the inverse dynamics.

    Args:
        study: study of N instants.
        formulation: name of the formulation.

    Returns:
        Efforts (N, n) [N or N m], NaN at configurations without a solution.
    """
    if formulation == study.formulation:
        return study.forces
    mechanism: Any = study.mechanism
    motion = study.motion
    try:
        return np.asarray(mechanism.inverse_dynamics(*motion, formulation=formulation))
    except KinematicsError:
        known = np.isfinite(study.forces).all(axis=1)
        forces = np.full_like(study.forces, np.nan)
        some = (part[known] for part in motion)
        forces[known] = mechanism.inverse_dynamics(*some, formulation=formulation)
        return forces


def rises(time: FloatArray, values: FloatArray, level: float) -> list[float]:
    """Return the times [s] at which positive values rise above a level.

    Args:
        time: (N,) [s] times of the values.
        values: (N,) positive values, interpolated logarithmically.
        level: level to exceed.
    """
    with np.errstate(divide="ignore"):
        above = np.log(values / level)
    rows = np.flatnonzero((above[:-1] <= 0.0) & (above[1:] > 0.0))
    before, after = above[rows], above[rows + 1]
    fraction = np.where(np.isfinite(after), -before / (after - before), 1.0)
    return [float(t) for t in time[rows] + fraction * (time[rows + 1] - time[rows])]


def _marks(study: MotionStudy) -> tuple[chart.Mark, ...]:
    return tuple(
        chart.Mark(float(t), f"singular at {t:.4f} s", True, "#b3261e")
        for t in study.singular_times
    )
