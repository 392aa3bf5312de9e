# SPDX-License-Identifier: Apache-2.0

"""A study that can show itself: `robodyn.analyze`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from robodyn.analysis.study import MotionStudy
from robodyn.arrays import ArrayLike
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Study(MotionStudy):
    """A study with charts and a report; see `robodyn.analysis.study.MotionStudy`."""

    def plot(self, *, formulations: bool | None = None) -> dict[str, Figure]:
        """The charts of its report as figures, by name; nothing is shown or saved.

        Args:
            formulations: whether to compare the papers' formulations; by default for the papers'
                mechanisms only.

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
        formulations: bool | None = None,
    ) -> str:
        """One self-contained HTML page with everything: charts, extremes, the model's parameters.

        Args:
            path: file to write it to, if any.
            name: of the motion.
            command: that asked for the page, to be printed on it.
            formulations: as for `plot`.

        Raises:
            OutputError: the file cannot be written.
        """
        from robodyn.report.page import write_page
        from robodyn.report.study_page import study_page

        page = study_page(self, name, command, formulations)
        return page.html() if path is None else write_page(page, path)


def analyze(
    mechanism: Mechanism,
    trajectory: Trajectory,
    dt: float = 0.01,
    *,
    formulation: str = "exact",
    wrench: ArrayLike | None = None,
    characteristic_length: float = 1.0,
    progress: Callable[[float], None] | None = None,
) -> Study:
    """Examine the forces and the conditioning of a planned motion.

    Args:
        mechanism: of any kind.
        trajectory: the motion.
        dt: [s] between the instants examined; the trajectory's switching times and its end are
            examined as well.
        formulation: of the inverse dynamics, one of `mechanism.formulations`: exact; of a platform
            massless, dasgupta1998 or pedrammehr2012, too.
        wrench: (6,) [N, N m] what the surroundings exert on the mechanism, constant.
        characteristic_length: [m] of the scaled condition number.
        progress: called with the share done, 0 to 1, now and then.

    Raises:
        InvalidInput: arguments out of range, or an unknown formulation.
        KinematicsError: a configuration without geometry. Forces at a singularity are NaN instead.
    """
    return Study.along(
        mechanism, trajectory, dt, formulation, wrench, characteristic_length, progress
    )
