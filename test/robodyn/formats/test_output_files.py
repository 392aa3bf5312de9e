# SPDX-License-Identifier: Apache-2.0

"""Files that are written again: the old file is replaced, never overwritten in place."""

import os

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis import execute
from robodyn.errors import OutputError
from robodyn.formats import atomic_write, write_columns, write_text
from robodyn.planning.workspace.surfaces import Surface
from robodyn.report import Chart, ChartLine, Panel

LINE = ChartLine(np.arange(3.0), np.arange(3.0))
CHARTS = [Chart("line", "Line", (Panel("line", (LINE,)),))]


def write_html(path):
    pytest.importorskip("bokeh", reason="the extra `report` is not installed")
    from robodyn.report.page import Page, write_page

    write_page(Page("page"), path)


def write_png(path):
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    from robodyn.report import images

    images.write_png(CHARTS, path.parent, dpi=20)


def write_image(path):
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    from robodyn.report import images

    images.write_image(CHARTS[0], path, dpi=20)


def write_pdf(path):
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    from robodyn.report import images

    images.write_pdf(CHARTS, path)


WRITERS = {
    "text.txt": lambda path: write_text(path, "new"),
    "table.csv": lambda path: write_columns(path, [("time", np.arange(3.0))]),
    "page.html": write_html,
    "line.png": write_png,
    "line.svg": write_image,
    "charts.pdf": write_pdf,
    "mesh.stl": lambda path: Surface(np.eye(3), np.array([[0, 1, 2]])).save(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_reader_of_the_old_file_keeps_it(tmp_path, name):
    """A hard link sees what somebody reads who opened the file before it was written again."""
    path, opened = tmp_path / name, tmp_path / "opened"
    path.write_text("old")
    os.link(path, opened)
    WRITERS[name](path)
    assert opened.read_text() == "old"
    assert path.read_bytes()[:3] != b"old"
    assert {*tmp_path.iterdir()} == {path, opened}


def test_a_run_replaces_its_summary(tmp_path, dasgupta):
    path = rd.paper_path("II")
    execute(dasgupta, path, "II", dt=0.005).write(tmp_path)
    opened = [tmp_path / "summary", tmp_path / "history"]
    os.link(tmp_path / "summary.json", opened[0])
    os.link(tmp_path / "history.csv", opened[1])
    before = [path.read_bytes() for path in opened]
    execute(dasgupta, path, "the other", dt=0.005).write(tmp_path)
    assert [path.read_bytes() for path in opened] == before
    assert (tmp_path / "summary.json").read_bytes() != before[0]


def write_half(path):
    path.write_text("ne")
    raise RuntimeError("half of it")


def test_a_ride_replaces_its_table(tmp_path):
    time = np.array([0.0, 0.02])
    force, rate = np.tile([0.0, 0.0, 9.81], (2, 1)), np.zeros((2, 3))
    ride = rd.ride(rd.load("motion_platform"), rd.VehicleMotion(time, force, rate))
    path, opened = tmp_path / "ride.csv", tmp_path / "opened"
    path.write_text("old")
    os.link(path, opened)
    ride.save(path)
    assert opened.read_text() == "old"
    assert path.read_text().startswith("time,")


def test_content_that_cannot_be_computed_leaves_the_old_file(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="half"), atomic_write(path) as draft:
        write_half(draft)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_a_missing_folder_is_named_before_the_content_is_computed(tmp_path):
    path = tmp_path / "missing" / "page.html"
    with pytest.raises(OutputError, match=r"page\.html: cannot be written"), atomic_write(path):
        pytest.fail("the content was computed")
