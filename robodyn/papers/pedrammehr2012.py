# SPDX-License-Identifier: Apache-2.0

"""Figures 5 to 10 of Pedrammehr, Mahboubkhah and Khani (2012), section 9."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn.analysis.study import MotionStudy
from robodyn.arrays import FloatArray
from robodyn.papers.statements import Figure, Statement
from robodyn.report.chart import Chart, panels_of
from robodyn.report.study_charts import other_forces

_MOTION = (
    "Magnitudes with and without rotation of the legs about their own axes, and of the difference. "
)
_FORCES = (
    "Both models show the same trends with different amplitudes; the paper calls the "
    "differences significant. "
)


def figures_2012(studies: Mapping[str, MotionStudy]) -> list[Figure]:
    """Recompute the figures of Pedrammehr et al. (2012), and check its statements.

    Args:
        studies: motion studies by path name.

    Returns:
        A tuple for each figure: its name, its description in the paper, the recomputed chart, and
        the paper's statements compared with computed values.
    """
    line, first, second = studies["P1"], studies["I"], studies["II"]
    rate, acceleration = "angular velocity [rad/s]", "angular acceleration [rad/s²]"
    figures = []
    for name, study, path, order, unit, description in (
        ("5", line, "Path 1", 0, rate, "The paper describes pods 1, 2 and 6 as consistent."),
        ("6", line, "Path 1", 1, acceleration, "The paper describes pod 3 as consistent."),
        ("7", first, "Path 2", 0, rate, ""),
        ("8", first, "Path 2", 1, acceleration, ""),
    ):
        true, simple = leg_rotations(study)[order]
        curves = {"improved": _size(true), "simplified": _size(simple),
                  "difference": _size(true - simple)}  # fmt: skip
        chart = _chart(f"fig{name}_2012", f"{path}: {unit.split(' [')[0]} of the legs", study,
                       curves, unit)  # fmt: skip
        statements = _consistent(curves, {"5": (1, 2, 6), "6": (3,)}.get(name, ()))
        figures.append((f"Figure {name}, 2012", _MOTION + description, chart, statements))
    for name, study, path in (("9", first, "Path 2"), ("10", second, "Path 3")):
        improved = other_forces(study, "pedrammehr2012")
        curves = {"improved": improved, "simplified": study.forces,
                  "difference": improved - study.forces}  # fmt: skip
        chart = _chart(f"fig{name}_2012", f"{path}: pod forces", study, curves, "force [N]")
        exact = other_forces(study, "exact")
        figures.append((f"Figure {name}, 2012", _FORCES, chart, _trends(curves, exact)))
    return figures


def leg_rotations(study: MotionStudy) -> tuple[tuple[FloatArray, FloatArray], ...]:
    """Compute angular velocities and accelerations of legs, with and without spin.

    Spin is the rotation of a leg about its own axis; without it, the components along the leg are
    zero (1998, eq. 6 and 9). The acceleration perpendicular to the leg differs, too: the true one
    contains -(W.s) s x W, with the leg's angular velocity W and direction s.

    Args:
        study: study of a platform's motion at N instants.

    Returns:
        Angular velocities [rad/s] with and without spin, then angular accelerations [rad/s^2] with
        and without spin, (N, 6, 3) each.
    """
    platform: Any = study.mechanism
    motion = platform.leg_motion(*study.motion)
    W, A, s = motion.angular_velocity, motion.angular_acceleration, motion.direction
    spin = (W * s).sum(axis=-1, keepdims=True)
    W0 = W - spin * s
    A0 = A - (A * s).sum(axis=-1, keepdims=True) * s + spin * np.cross(s, W0)
    return (W, W0), (A, A0)


def _consistent(curves: Mapping[str, FloatArray], pods: tuple[int, ...]) -> list[Statement]:
    ratios = curves["difference"].max(axis=0) / curves["improved"].max(axis=0)
    percent = ", ".join(f"{100 * part:.0f}" for part in ratios)
    order = 1 + np.argsort(ratios)
    rotating = [int(pod) for pod in order if ratios[pod - 1] > 1e-9]
    if not pods:
        return [Statement("difference over peak, pods 1 to 6", "not the same where a pod rotates",
                      f"{percent} %", bool((ratios > 1e-9).all()), ratios.tolist())]  # fmt: skip
    still = [int(pod) for pod in order if ratios[pod - 1] <= 1e-9]
    none = f"; no rotation at all in pod {', '.join(map(str, still))}" if still else ""
    return [Statement("difference over peak, pods 1 to 6",
                  f"least in pod {', '.join(map(str, pods))}", f"{percent} %{none}",
                  set(rotating[: len(pods)]) == set(pods), ratios.tolist())]  # fmt: skip


def _trends(curves: Mapping[str, FloatArray], exact: FloatArray) -> list[Statement]:
    worst = float(np.abs(curves["difference"]).max())
    alike = min(
        float(np.corrcoef(a, b)[0, 1])
        for a, b in zip(curves["improved"].T, curves["simplified"].T, strict=True)
    )
    errors = [float(np.abs(curves[name] - exact).max()) for name in ("improved", "simplified")]
    return [
        Statement("trends", "similar", f"correlation at least {alike:.3f}", alike > 0.9, alike),
        Statement("differences", "quite obvious", f"up to {worst:.1f} N",
              worst > 0.01 * float(np.abs(exact).max()), worst),
        Statement("error of improved and simplified", "improved is more accurate",
              f"{errors[0]:.3g} N and {errors[1]:.3g} N from the exact forces",
              errors[0] < errors[1], errors),
    ]  # fmt: skip


def _chart(
    key: str, title: str, study: MotionStudy, curves: Mapping[str, FloatArray], unit: str
) -> Chart:
    panels = panels_of([f"pod {leg}" for leg in range(1, 7)], study.time, curves, [unit] * 6)
    return Chart(key, title, panels)


def _size(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(vectors, axis=-1))
