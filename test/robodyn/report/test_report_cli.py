# SPDX-License-Identifier: Apache-2.0

"""Report commands: files at the given paths, one line if that is impossible."""

import json

import pytest
from typer.testing import CliRunner

from robodyn.cli import app

pytestmark = pytest.mark.slow

ANALYZE = ["analyze", "stewart_dasgupta", "--path", "II", "--dt", "0.01"]


def robodyn(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def refused(result):
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_analyze_writes_a_page(tmp_path):
    pytest.importorskip("bokeh", reason="the extra `report` is not installed")
    result = robodyn(*ANALYZE, "--html", tmp_path / "page.html", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["path"] == "II"
    assert "path II" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("option", ["--html", "--pdf"])
def test_a_file_that_cannot_be_written(tmp_path, option):
    pytest.importorskip("matplotlib" if option == "--pdf" else "bokeh")
    assert "cannot be written" in refused(robodyn(*ANALYZE, option, tmp_path / "no" / "file"))


def test_a_folder_that_is_a_file(tmp_path):
    pytest.importorskip("bokeh", reason="the extra `report` is not installed")
    (tmp_path / "file").write_text("")
    assert "cannot be created" in refused(robodyn("report", "puma", "--output", tmp_path / "file"))


def test_reports_are_named(tmp_path):
    assert "known reports are paper, puma" in refused(
        robodyn("report", "fig4", "--output", tmp_path)
    )


def test_report_puma(tmp_path):
    pytest.importorskip("bokeh", reason="the extra `report` is not installed")
    result = robodyn("report", "puma", "--output", tmp_path / "new")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "new" / "puma.html").stat().st_size < 3e6


def test_a_bag_that_is_none(tmp_path):
    pytest.importorskip("rosbags")
    missing = tmp_path / "none.mcap"
    reported = refused(robodyn("analyze", "stewart_dasgupta", "--bag", missing))
    assert str(missing) in reported
    assert "no such file" in reported
    message = refused(robodyn(*ANALYZE, "--bag", missing, "--csv", tmp_path / "x.csv"))
    assert "--csv" in message
