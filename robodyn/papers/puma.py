# SPDX-License-Identifier: Apache-2.0

"""The six error plots of Lee, Chung, Mudge and Turney: the PUMA under computed torque."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.control import ComputedTorque
from robodyn.mechanism.mechanism import Mechanism
from robodyn.papers.statements import Statement, statements_data, statements_html
from robodyn.presentation.numbers_as_text import decimal
from robodyn.report.chart import COLORS, DASHED, DOTTED, SOLID, Chart, ChartLine, Mark, Panel
from robodyn.report.page import Page
from robodyn.simulation import simulate
from robodyn.trajectories import arm_path, plan_joints

# One bit of a 12-bit converter [rad], and the paper's control period [s].
BOUND, PERIOD = 4.26e-4, 0.01


def puma_page(arm: Mechanism, progress: Callable[[float], None] | None = None) -> Page:
    """Create the report page that recomputes figures 3 to 8 of the paper on the PUMA.

    Args:
        arm: model of the PUMA 560.
        progress: called with the completed fraction, 0 to 1.

    Returns:
        The page, with the tracking errors of motions that fit the paper's description.
    """
    # Coulomb friction is discontinuous at rest, so a constant torque cannot compensate it; the
    # paper has no friction.
    smooth = arm.without_friction()
    start = arm_path("puma").sample(0.0).configuration
    goal = arm_path("puma").sample(arm_path("puma").duration).configuration
    half = 0.5 * PERIOD
    runs = (
        ("cubic, 2 s", arm_path("puma"), 0.0, SOLID),
        ("cycloidal, 2 s", arm_path("puma_cycloidal"), 0.0, DASHED),
        ("cycloidal, 2.4 s", plan_joints(start, goal, 2.4, profile="cycloidal"), 0.0, (9.0, 2.5)),
        ("cubic, 1 s", arm_path("puma_fast"), 0.0, (6.0, 2.0, 1.2, 2.0)),
        ("cubic, 1 s, desired acceleration half a sample ahead", arm_path("puma_fast"), half,
         DOTTED),
    )  # fmt: skip
    curves: list[list[ChartLine]] = [[] for _ in arm.joint_names]
    statements = []
    for i, (label, path, preview, dash) in enumerate(runs):
        if progress is not None:
            progress(i / len(runs))
        controller = ComputedTorque(smooth, 100.0, 20.0, preview)
        result = simulate(smooth, controller, path, 1e-3, PERIOD)
        error = -result.error  # the paper plots desired minus actual position
        for joint, values in enumerate(error.T):
            curves[joint].append(ChartLine(result.time, values, label, COLORS[i], dash))
        peak = float(np.abs(error).max())
        statements.append(
            Statement(label, f"below {_size(BOUND)}", _size(peak), peak < BOUND, peak)
        )
    marks = (Mark(BOUND, "one bit, 4.26e−4 rad"), Mark(-BOUND))
    panels = tuple(
        Panel(f"Figure {3 + i}: {name}", tuple(curves[i]), y_label="position error [rad]",
              marks=marks)
        for i, name in enumerate(arm.joint_names)
    )  # fmt: skip
    page = Page(
        f"{arm.name} under computed torque",
        "Lee, Chung, Mudge and Turney: position errors of the six joints, figures 3 to 8; from "
        "(90, 0, 90, 0, 0, 0) to (45, 30, 0, 45, 60, 90) degrees, gains 100 and 20, 100 Hz",
        {"bound": BOUND, "errors": statements_data(statements)},
    )
    description = (
        "The errors oscillate slightly, yet stay well below one bit of a 12-bit converter, "
        "4.26e−4 rad. The paper prints neither the move's duration nor its profile. With an exact "
        "model, motor inertia included and friction left out, what remains is the half-sample "
        "delay of the held torque, about (T/2) jerk / kp, which decides for which moves the errors "
        "stay below the bound."
    )
    chart = Chart("errors", "Position errors", panels)
    page.add_chart(chart, statements_html("Figures 3 to 8", description, statements))
    page.sources["model"] = arm.name
    return page


def _size(angle: float) -> str:
    return f"{decimal(float(f'{angle:.3g}'))} rad"
