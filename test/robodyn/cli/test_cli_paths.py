# SPDX-License-Identifier: Apache-2.0

"""`robodyn analyze` and `robodyn simulate`: what they print, and errors in one line."""

import csv
import json
import re
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from robodyn.cli import app
from robodyn.cli.session import progress_bar

pytestmark = pytest.mark.slow


@pytest.fixture
def run():
    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


def test_analyze_prints_the_studies_of_path_one(run):
    result = run("analyze", "stewart_dasgupta", "--path", "I")
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].startswith("stewart_dasgupta, path I, exact: 6 s, ")
    assert lines[4].split()[:3] == ["leg3_actuator", "1434", "0"]
    assert "condition number 34.69 to 47.19 (at t = 6.000 s)" in lines
    assert lines[1].endswith("zero at [s]")
    assert lines[6].split()[::9] == ["leg5_actuator", "3.018"]
    assert max(map(len, lines)) <= 120


def test_analyze_says_where_a_path_is_singular(run):
    result = run("analyze", "stewart_dasgupta", "--path", "III", "--dt", "0.1")
    assert "singular at t = 3.670504110 s" in result.stdout


def test_analyze_for_machines(run, tmp_path):
    file = tmp_path / "history.csv"
    options = "--json", "--csv", file, "--dt", "0.1", "--formulation", "dasgupta1998"
    result = run("analyze", "stewart_dasgupta", *options, "--characteristic-length", "0.3")
    found = json.loads(result.stdout)
    assert (found["path"], found["formulation"]) == ("I", "dasgupta1998")
    assert found["scaled_condition_number"]["characteristic_length"] == 0.3
    assert len(found["joints"]) == 6
    with file.open() as lines:
        assert len(list(csv.reader(lines))) == found["samples"] + 1


def test_analyze_an_arm(run):
    result = run("analyze", "puma560")
    assert result.exit_code == 0
    for part in ("inertial", "coriolis", "gravity", "friction"):
        assert part in result.stdout.splitlines()[1]


def test_simulate_sums_up_path_one(run, tmp_path):
    result = run("simulate", "stewart_dasgupta", "--path", "I", "--output", tmp_path / "run")
    assert result.exit_code == 0
    assert result.stderr == ""
    first, *_ = result.stdout.splitlines()
    assert first == "stewart_dasgupta, path I, computed_torque: completed"
    error = re.search(r"largest tracking error ([\d.]+) mm, ([\d.]+) mrad", result.stdout)
    assert float(error[1]) < 1.0
    assert float(error[2]) < 2.0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["status"] == "completed"
    assert (tmp_path / "run" / "history.csv").exists()


def test_simulate_for_machines(run):
    options = "--mode", "feedforward", "--control-rate", "1000", "--json"
    result = run("simulate", "stewart_dasgupta", "--path", "II", *options)
    summary = json.loads(result.stdout)
    assert (summary["mode"], summary["path"], summary["samples"]) == ("feedforward", "II", 601)


def test_a_waypoint_file_is_a_path(run, tmp_path):
    file = tmp_path / "up.yaml"
    file.write_text(
        "waypoints:\n- {xyz: [0.1, 0, 0.4], rpy: [0, 0, 0]}\n"
        "- {xyz: [0.1, 0, 0.45], rpy: [0, 0, 0], duration: 1}\n"
    )
    assert "1 s, 1003 samples" in run("analyze", "stewart_dasgupta", "--path", file).stdout
    assert ": completed" in run("simulate", "stewart_dasgupta", "--path", file).stdout


@pytest.mark.parametrize("command", ["analyze", "simulate"])
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("nowhere",), "no model or file named 'nowhere'"),
        (("stewart_dasgupta", "--path", "IV"), "no path 'IV'"),
        (
            ("puma560", "--path", "I"),
            "path 'I' consists of poses of a platform, but puma560 requires 6 joint",
        ),
        (("stewart_dasgupta", "--dt", "0"), "dt is 0.0, must be above 0.0 [s]"),
        (("stewart_dasgupta", "--dt", "nan"), "dt is nan"),
    ],
)
def test_errors_are_one_line_and_exit_code_1(run, command, arguments, text):
    result = run(command, *arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert text in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("analyze", "stewart_dasgupta", "--formulation", "best"), "formulation is 'best'"),
        (("analyze", "stewart_dasgupta", "--dt", "1", "--csv", "/"), "cannot be written"),
        (("simulate", "stewart_dasgupta", "--mode", "open"), "mode is 'open'"),
        (("simulate", "stewart_dasgupta", "--control-rate", "0"), "control_rate is 0.0"),
        (("simulate", "stewart_dasgupta", "--kp", "-1"), "kp is -1."),
        (("simulate", "stewart_dasgupta", "--path", "II", "--output", "/dev/null/x"), "cannot be"),
    ],
)
def test_errors_of_one_command(run, arguments, text):
    result = run(*arguments)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert text in result.stderr


@pytest.mark.parametrize("command", ["analyze", "simulate"])
def test_help_explains(run, command):
    text = " ".join(run(command, "--help").stdout.replace("│", " ").split())
    assert "waypoint file" in text
    assert "--json" in text


def test_a_real_process_without_traceback():
    command = [sys.executable, "-c", "from robodyn.cli import main; main()"]
    good = subprocess.run(
        [*command, "simulate", "stewart_dasgupta", "--path", "II", "--json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(good.stdout)["status"] == "completed"
    assert good.stderr == ""
    bad = subprocess.run(
        [*command, "analyze", "no.yaml"], capture_output=True, text=True, check=False, timeout=60
    )
    assert bad.returncode == 1
    assert bad.stderr.startswith("error: ")
    assert "Traceback" not in bad.stderr


def test_progress_shows_after_two_seconds_on_a_terminal_only(monkeypatch, capsys):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def work():
        with progress_bar("flying", 1.0) as report_progress:
            for clock[0] in (0.0, 1.0, 3.0, 4.0):
                report_progress(clock[0] / 4.0)
        return capsys.readouterr().err

    clock[0] = 0.0
    assert work() == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # which rich takes for a terminal
    clock[0] = 0.0
    assert "flying" in work()
