# SPDX-License-Identifier: Apache-2.0

"""`robodyn.analyze`: a study with charts and a report page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from robodyn.analysis.study import MotionStudy
from robodyn.arrays import ArrayLike
from robodyn.mechanism.mechanism import Mechanism
from robodyn.solvers.stewart.formulations import FormulationName
from robodyn.trajectories.base import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Study(MotionStudy):
    """Motion study with charts and a report page; result of `analyze`.

    See `robodyn.analysis.study.MotionStudy` for its attributes.
    """

    def plot(self, *, formulations: bool | None = None) -> dict[str, Figure]:
        """Return the charts of the report as matplotlib figures, without showing them.

        Args:
            formulations: whether to compare the papers' formulations; by default for the papers'
                mechanisms only.

        Returns:
            The matplotlib figures, by the keys of their charts.

        Raises:
            MissingExtra: matplotlib is not installed.
        """
        from robodyn.report.images import draw
        from robodyn.report.study_charts import study_charts

        return {chart.key: draw(chart) for chart in study_charts(self, formulations)}

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        name: str = "",
        command: str = "",
    ) -> str:
        """Create an HTML page with charts, extreme values and the model's parameters.

        Args:
            path: file to write the page to, if any.
            name: name of the motion.
            command: command line that made the page, shown at its end.

        Returns:
            The HTML document.

        Raises:
            OutputError: the file cannot be written.
        """
        from robodyn.report.page import write_page
        from robodyn.report.study_page import study_page

        page = study_page(self, name)
        return page.html(command) if path is None else write_page(page, path, command)


def analyze(
    mechanism: Mechanism,
    trajectory: Trajectory,
    dt: float = 0.01,
    *,
    formulation: FormulationName = "exact",
    wrench: ArrayLike | None = None,
    characteristic_length: float = 1.0,
    progress: Callable[[float], None] | None = None,
) -> Study:
    """Compute the joint efforts and the condition number along a planned motion.

    Args:
        mechanism: mechanism of any kind.
        trajectory: the motion.
        dt: interval [s] of the evaluated instants, in addition to the switching times and the end
            of the trajectory.
        formulation: formulation of the inverse dynamics, one of `mechanism.formulations`: exact;
            for a platform also massless, dasgupta1998 or pedrammehr2012.
        wrench: (6,) [N, N m] constant wrench of the environment on the body, about the body's
            reference point, base frame.
        characteristic_length: length [m] for the scaled condition number.
        progress: called with the completed fraction, from 0 to 1.

    Returns:
        The study, with charts, tables and a page.

    Raises:
        InvalidInput: arguments are out of range, or the formulation is unknown.
        KinematicsError: the kinematics have no solution at a configuration. At a singularity,
            forces are NaN instead.
    """
    return Study.along(
        mechanism, trajectory, dt, formulation, wrench, characteristic_length, progress
    )
