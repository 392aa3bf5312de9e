# SPDX-License-Identifier: Apache-2.0

"""Reports of the papers: computed numbers compared with their texts and our references."""

import pytest

from robodyn.papers import BOUND, paper_page, puma_page

pytestmark = pytest.mark.slow

pytest.importorskip("bokeh", reason="the extra `report` is not installed")


@pytest.fixture(scope="module")
def paper(dasgupta):
    return paper_page(dasgupta)


@pytest.fixture(scope="module")
def figures(paper):
    return paper.data["figures"]


def computed(figures, key, about):
    return next(row["computed"] for row in figures[key] if row["about"] == about)


def test_every_figure_is_there(paper):
    assert [chart.key for chart in paper.charts] == [
        *(f"fig{i}" for i in range(4, 11)), *(f"fig{i}_2012" for i in range(5, 11))]  # fmt: skip
    assert len(paper.html().encode()) < 3e6


def test_all_of_1998_agrees_with_its_text(figures):
    found = [row for key, rows in figures.items() if "2012" not in key for row in rows]
    assert all(row["agrees"] for row in found), [row for row in found if not row["agrees"]]


def test_dynamic_fractions_as_printed(figures):
    peaks = computed(figures, "fig6", "largest of legs 1 to 4")
    assert peaks == pytest.approx([0.276, 0.202, 0.184, 0.405], abs=6e-4)
    assert computed(figures, "fig6", "common fraction") == pytest.approx(0.2, abs=0.05)


def test_signs_change_where_they_do(figures):
    times = computed(figures, "fig4", "legs whose force crosses zero")
    assert times["exact"] == pytest.approx([3.018, 4.341], abs=1e-3)
    assert times["printed"] == pytest.approx(times["exact"], abs=0.03)


def test_path_three_is_singular_with_forces_of_1e5_newtons(figures):
    assert computed(figures, "fig10", "the singularity itself") == pytest.approx(3.670504, abs=1e-5)
    number = computed(figures, "fig10", "condition number on the grid")
    assert number == pytest.approx(2.1e4, rel=0.01)
    assert 1e5 < computed(figures, "fig9", "largest force, 0.1 s grid") < 1e6


def test_formulations_err_as_much_as_they_do(figures):
    assert computed(figures, "fig9_2012", "error of improved and simplified") == [
        pytest.approx(1.19, abs=0.01), pytest.approx(27.7, abs=0.05)]  # fmt: skip
    assert computed(figures, "fig10_2012", "error of improved and simplified") == [
        pytest.approx(118, abs=1), pytest.approx(104, abs=0.5)]  # fmt: skip


def test_errors_of_the_puma(puma):
    page = puma_page(puma)
    peaks = {row["about"]: row["computed"] for row in page.data["errors"]}
    assert peaks["cubic, 1 s"] == pytest.approx(1.3e-3, rel=0.05)
    assert peaks["cubic, 2 s"] == pytest.approx(3.3e-4, rel=0.05)
    assert peaks["cycloidal, 2 s"] == pytest.approx(5.9e-4, rel=0.05)
    assert peaks["cycloidal, 2.4 s"] < BOUND
    assert peaks["cubic, 1 s, desired acceleration half a sample ahead"] < BOUND
    assert len(page.charts[0].panels) == 6
    assert "4.26e−4" in page.html()
