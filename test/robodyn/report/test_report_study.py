# SPDX-License-Identifier: Apache-2.0

"""The page of a study: self-contained, small, complete; files of its charts."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import MissingExtra, OutputError
from robodyn.report import rises, study_charts, study_page

pytestmark = pytest.mark.slow

pytest.importorskip("bokeh", reason="the extra `report` is not installed")


def data_of(html):
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])


class Outline(HTMLParser):
    """Sections, and whether every element is closed."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, html):
        super().__init__()
        self.open, self.sections, self.links = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "section":
            self.sections.append(found["id"])
        if tag == "a":
            self.links.append(found["href"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def path_one(dasgupta):
    return rd.analyze(dasgupta, rd.paper_path("I"), 1e-3)


@pytest.fixture(scope="module")
def short(dasgupta):
    """A study of few instants, where it is not about numbers."""
    return rd.analyze(dasgupta, rd.paper_path("I"), 0.1)


@pytest.fixture(scope="module")
def html(path_one):
    return path_one.to_html(name="I", command="robodyn analyze")


def test_path_one_in_milliseconds_is_small(html):
    assert len(html.encode()) < 3e6
    assert data_of(html)["samples"] >= 6001


def test_the_page_needs_nothing_else_and_is_whole(html):
    scripts = re.findall(r"<script[^>]*>", html)
    assert len(scripts) == 7 + 3  # a chart's data each; the study's, Bokeh, the page's own
    assert not any("src" in script for script in scripts)
    markup = re.sub(r"(<script[^>]*>).*?</script>", r"\1</script>", html, flags=re.DOTALL)
    assert not re.search(r"(src|href)=\"(?!#)|url\(|@import|https?://", markup)
    outline = Outline(html)
    assert outline.open == []
    assert outline.sections == [
        "summary", "limits", "forces", "dynamic_fraction", "condition_number", "joints",
        "reactions", "formulations", "path", "parameters", "made"]  # fmt: skip
    assert outline.links == [f"#{key}" for key in outline.sections]
    assert rd.__version__ in html


def test_the_page_says_what_the_paper_says(html):
    data = data_of(html)
    rows = data["joints"]
    assert rows[4]["zero_crossings"] == [pytest.approx(3.018, abs=1e-3)]
    assert rows[5]["zero_crossings"] == [pytest.approx(4.341, abs=1e-3)]
    assert data["condition_number"]["min"] == pytest.approx(34.7, abs=0.05)
    assert data["condition_number"]["max"] == pytest.approx(47.2, abs=0.05)
    assert max(abs(row["peak_force"]) for row in rows) == pytest.approx(1434, abs=0.5)


def test_curves_are_the_study(path_one):
    charts = {chart.key: chart for chart in study_charts(path_one)}
    for leg, panel in enumerate(charts["forces"].panels):
        total, massless, dynamic = panel.curves
        np.testing.assert_array_equal(total.y, path_one.forces[:, leg])
        np.testing.assert_array_equal(massless.y, path_one.massless_forces[:, leg])
        np.testing.assert_array_equal(dynamic.y, path_one.dynamic_forces[:, leg])
        assert len({total.dash, massless.dash, dynamic.dash}) == 3
    for panel in (panel for chart in charts.values() for panel in chart.panels):
        assert panel.picture or ("[" in panel.x_label and "[" in panel.y_label)


def test_a_singularity_and_a_crossing_are_marked(dasgupta):
    study = rd.analyze(dasgupta, rd.paper_path("III"), 1e-2)
    html = study.to_html()
    assert "singular at 3.6705 s" in html
    times = rises(study.time, study.condition_number, 1000.0)
    assert f"above 1000 at {times[0]:.3f} s" in html
    assert dasgupta.condition_number(
        rd.paper_path("III").sample(times[0]).configuration
    ) == pytest.approx(1000.0, rel=1e-3)


def test_an_arm_has_a_page_too(puma):
    html = rd.analyze(puma, rd.trajectories.arm_path("puma")).to_html()
    outline = Outline(html)
    assert outline.open == []
    assert "reactions" not in outline.sections
    assert "armature" in html


def test_names_cannot_break_out_of_the_page(short, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # the page does without
    html = short.to_html(name="</script><script>alert(1)</script>")
    assert "<script>alert" not in html
    assert Outline(html).open == []


def test_a_page_that_cannot_be_written(short, tmp_path):
    with pytest.raises(OutputError, match=r"nowhere/page\.html: cannot be written"):
        short.to_html(tmp_path / "nowhere" / "page.html")


def test_files_of_charts(dasgupta, tmp_path):
    pytest.importorskip("matplotlib")
    from robodyn.report.images import write_pdf, write_png

    page = study_page(rd.analyze(dasgupta, rd.paper_path("III"), 0.1))
    charts = [chart for chart in page.charts if chart.key in ("condition_number", "path", "forces")]
    files = write_png(charts, tmp_path / "png", dpi=40)
    assert [file.stem for file in files] == [chart.key for chart in charts]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
    write_pdf(charts, tmp_path / "charts.pdf", "title")
    assert (tmp_path / "charts.pdf").read_bytes().count(b"/Type /Page ") == len(charts)


def test_images_without_matplotlib_are_refused_in_one_line(short, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "robodyn.report.images", raising=False)
    with pytest.raises(MissingExtra, match=r"matplotlib: .*pip install"):
        short.plot()


def test_a_page_without_bokeh_is_refused_in_one_line(short, monkeypatch):
    monkeypatch.setitem(sys.modules, "bokeh.resources", None)
    monkeypatch.delitem(sys.modules, "robodyn.report.html_charts", raising=False)
    with pytest.raises(MissingExtra, match=r"bokeh: .*pip install") as refused:
        short.to_html()
    assert "\n" not in str(refused.value)
