# SPDX-License-Identifier: Apache-2.0

"""Figures of the two Stewart papers, recomputed, and the statements of their texts."""

from __future__ import annotations

from robodyn.mechanism.mechanism import Mechanism
from robodyn.papers.dasgupta1998 import figures_1998
from robodyn.papers.pedrammehr2012 import figures_2012
from robodyn.papers.statements import statements_data, statements_html
from robodyn.report.page import Page
from robodyn.report.study import analyze
from robodyn.trajectories import paper_path

# The papers' own steps are 0.1 s and 0.01 s. Finer steps draw smoother curves. On Path III the
# paper's step is kept, as the peak at the singularity depends on how close a sample is to it.
STEPS = {"I": 0.01, "II": 0.001, "III": 0.1, "P1": 0.01}


def paper_page(platform: Mechanism) -> Page:
    """Create the report page on the figures of the Stewart papers of 1998 and 2012.

    Args:
        platform: model of the test manipulator of both papers.

    Returns:
        The page, with figures 4 to 10 of 1998, figures 5 to 10 of 2012, and the papers' statements
        about them.
    """
    studies = {
        path: analyze(platform, paper_path(path), step, formulation="dasgupta1998")
        for path, step in STEPS.items()
    }
    page = Page(
        "The figures of two papers on the Stewart platform",
        "Dasgupta and Mruthyunjaya, Mech. Mach. Theory 33 (1998) 1135–1152, figures 4 to 10, and "
        "Pedrammehr, Mahboubkhah and Khani, J. Mech. Sci. Technol. 26 (2012), figures 5 to 10: "
        "computed by the formulations as printed",
        {"figures": {}},
    )
    for name, description, chart, statements in [*figures_1998(studies), *figures_2012(studies)]:
        page.data["figures"][chart.key] = statements_data(statements)
        page.add_chart(chart, statements_html(name, description, statements))
    page.sources["model"] = platform.name
    return page
