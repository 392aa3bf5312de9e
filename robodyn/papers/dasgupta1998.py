# SPDX-License-Identifier: Apache-2.0

"""Figures 4 to 10 of Dasgupta and Mruthyunjaya (1998), section 5."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from robodyn.analysis.study import MotionStudy, zero_crossings
from robodyn.arrays import FloatArray
from robodyn.papers.statements import Figure, Statement
from robodyn.presentation.numbers_as_text import number
from robodyn.report.chart import Chart
from robodyn.report.study_charts import (
    condition_chart,
    force_chart,
    fraction_chart,
    other_forces,
)


def figures_1998(studies: Mapping[str, MotionStudy]) -> list[Figure]:
    """Recompute the figures of Dasgupta and Mruthyunjaya (1998); check its statements.

    Args:
        studies: motion studies by path name, with the formulation printed in the paper.

    Returns:
        A tuple for each figure: its name, its description in the paper, the recomputed chart, and
        the paper's statements compared with computed values.
    """
    first, second, third = studies["I"], studies["II"], studies["III"]
    return [
        (
            "Figure 4, 1998",
            "The forces are moderate, of the order of the weight of the platform (40 kg), and vary "
            "smoothly. Line styles distinguish total, massless and dynamic forces.",
            _name_chart(force_chart(first), "fig4", "Path I: leg forces"),
            _forces_of_path_one(first),
        ),
        (
            "Figure 5, 1998",
            "The platform is quite well conditioned on this path, far from a singularity.",
            _name_chart(condition_chart(first), "fig5", "Path I: condition number"),
            [_below("condition number", "no sign of a singularity, well below the order of 100",
                    first.condition_number, 100.0)],
        ),
        (
            "Figure 6, 1998",
            "Legs commonly contribute about 20 % of the force, up to 40 % at most. The jumps in "
            "legs 5 and 6 mean little: the total force crosses zero there.",
            _name_chart(fraction_chart(first), "fig6", "Path I: dynamic fraction"),
            _fractions_of_path_one(first),
        ),
        (
            "Figure 7, 1998",
            "The same path ten times as fast: the bounds of the forces rise significantly, and "
            "they change steeply at a few instants, where the accelerations do.",
            _name_chart(force_chart(second), "fig7", "Path II: leg forces"),
            _forces_of_path_two(first, second),
        ),
        (
            "Figure 8, 1998",
            "The dynamic fractions rise as well, and are distributed differently over the legs.",
            _name_chart(fraction_chart(second), "fig8", "Path II: dynamic fraction"),
            _fractions_of_path_two(first, second),
        ),
        (
            "Figure 9, 1998",
            "A clear singularity, where the forces are suddenly of the order of 1e5 N.",
            _name_chart(force_chart(third), "fig9", "Path III: leg forces"),
            [_of_order("largest force, 0.1 s grid", "order of 1e5 N", third.forces, 1e5, "N")],
        ),
        (
            "Figure 10, 1998",
            "At exactly this point of the path the condition number rises sharply.",
            _name_chart(condition_chart(third), "fig10", "Path III: condition number"),
            _condition_of_path_three(third),
        ),
    ]  # fmt: skip


def _forces_of_path_one(study: MotionStudy) -> list[Statement]:
    weight = 40.0 * 9.81
    peak = float(np.abs(study.forces).max())
    middle = float(np.median(np.abs(study.forces)))
    rows = study.extremes()
    printed, exact = (
        [t for leg in (4, 5) for t in zero_crossings(study.time, forces[:, leg])]
        for forces in (study.forces, other_forces(study, "exact"))
    )
    texts = [", ".join(f"{t:.3f}" for t in times) for times in (printed, exact)]
    return [
        Statement("size of the forces", f"order of the platform's weight ({weight:.0f} N)",
              f"median {middle:.0f} N, peak {peak:.0f} N",
              0.1 * weight < middle < 10.0 * weight and peak < 10.0 * weight, peak),
        Statement("legs whose force crosses zero", "5 and 6",
              f"at {texts[0]} s; exact formulation {texts[1]} s",
              len(printed) == 2 and not any(row["zero_crossings"] for row in rows[:4]),
              {"printed": printed, "exact": exact}),
    ]  # fmt: skip


def _fractions_of_path_one(study: MotionStudy) -> list[Statement]:
    peaks = [row["peak_dynamic_fraction"] for row in study.extremes()[:4]]
    fraction = np.abs(study.dynamic_fraction)
    middle = float(np.median(fraction[np.isfinite(fraction)]))
    return [
        Statement("common fraction", "around 20 %", f"median {100 * middle:.0f} %",
              0.15 <= middle <= 0.25, middle),
        Statement("largest of legs 1 to 4", "up to 40 %",
              ", ".join(f"{peak:.3f}" for peak in peaks), abs(max(peaks) - 0.4) < 0.05, peaks),
    ]  # fmt: skip


def _forces_of_path_two(slow: MotionStudy, fast: MotionStudy) -> list[Statement]:
    before, after = (float(np.abs(study.forces).max()) for study in (slow, fast))
    # a step of the grid in which a force changes by more than a twentieth of its range
    jump = np.abs(np.diff(fast.forces, axis=0)) > 0.05 * np.ptp(fast.forces, axis=0)
    times = fast.time[:-1][jump.any(axis=1)]
    distinct = times[np.concatenate([[True], np.diff(times) > 0.01])] if times.size else times
    where = ", ".join(f"{t:.3f}" for t in distinct)
    return [
        Statement("bounds of the forces", "rise significantly", f"{before:.0f} N to {after:.0f} N",
              after > 1.2 * before, [before, after]),
        Statement("steep changes", "at a few instants", f"at {where} s", 1 <= distinct.size <= 6,
              distinct.tolist()),
    ]  # fmt: skip


def _fractions_of_path_two(slow: MotionStudy, fast: MotionStudy) -> list[Statement]:
    before, after = (
        [row["peak_dynamic_fraction"] for row in study.extremes()] for study in (slow, fast)
    )
    texts = [", ".join(f"{peak:.2f}" for peak in peaks) for peaks in (before[:3], after[:3])]
    return [Statement("peaks of legs 1 to 3", "rise significantly", f"{texts[0]} to {texts[1]}",
                  all(b > a for a, b in zip(before[:3], after[:3], strict=True)),
                  [before, after])]  # fmt: skip


def _condition_of_path_three(study: MotionStudy) -> list[Statement]:
    row, at = int(study.condition_number.argmax()), float(study.singular_times[0])
    time = float(study.time[row])
    strongest = float(study.time[np.abs(study.forces).max(axis=1).argmax()])
    return [
        Statement("time of the rise", "that of the largest forces",
              f"t = {time:.1f} s and {strongest:.1f} s",
              abs(time - strongest) < 0.051, [time, strongest]),
        Statement("the singularity itself", "predicted by the condition number", f"t = {at:.4f} s",
              abs(at - time) < 0.1, at),
        Statement("condition number on the grid", "sharp rise",
              number(float(study.condition_number.max())),
              bool(study.condition_number.max() > 1e3), float(study.condition_number.max())),
    ]  # fmt: skip


def _below(about: str, text: str, values: FloatArray, limit: float) -> Statement:
    low, high = float(values.min()), float(values.max())
    return Statement(about, text, f"{low:.1f} to {high:.1f}", high < limit, [low, high])


def _of_order(about: str, text: str, values: FloatArray, order: float, unit: str) -> Statement:
    peak = float(np.nanmax(np.abs(values)))
    return Statement(about, text, f"{number(peak)} {unit}", order <= peak < 10.0 * order, peak)


def _name_chart(chart: Chart, key: str, title: str) -> Chart:
    return replace(chart, key=key, title=title, text="")
