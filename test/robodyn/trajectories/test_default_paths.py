# SPDX-License-Identifier: Apache-2.0

"""Every mechanism has a default path of its own."""

import json
import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.cli.session import mechanism_and_path
from robodyn.solvers.tree.closing import GlobalAssemblySearch
from robodyn.trajectories import default_path, demonstration, load_path

LOOPS = Path(__file__).parents[2] / "reference" / "closed_loops"


def load(name: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rd.load(name)


@pytest.mark.parametrize("name", rd.models())
def test_a_demonstration_keeps_to_all_limits_and_moves(name):
    mechanism = load(name)
    path = rd.load_path("demo", mechanism)
    assert rd.check_limits(mechanism, path) is None
    joints = mechanism.joint_positions(
        path.sample(np.linspace(0, path.duration, 500)).configuration
    )
    assert (np.ptp(joints, axis=0) > 0.01).all()


class Stopped(rd.ClosedLoop):
    """A loop that does not follow where its first joint is more than 0.01 rad beyond home."""

    def __init__(self, model):
        super().__init__(model)
        self.solver.unchecked = _StoppedCalls(self, self.solver.unchecked)


class _StoppedCalls:
    def __init__(self, mechanism, calls):
        self._mechanism, self._calls = mechanism, calls

    def __getattr__(self, name):
        return getattr(self._calls, name)

    def try_advance(self, configuration, displacement):
        joints = self._mechanism.joint_positions
        goal = joints(configuration)[0] + displacement[0]
        if goal > joints(self._mechanism.home)[0] + 0.01:
            return None
        return self._calls.try_advance(configuration, displacement)


def test_ways_on_which_loops_do_not_close_are_left_out():
    stopped = Stopped(load("fivebar").model)
    path = rd.load_path("demo", stopped)
    q = path.sample(np.linspace(0.0, path.duration, 500)).configuration
    first = stopped.joint_positions(q)[:, 0] - stopped.joint_positions(stopped.home)[0]
    assert first.min() < -0.05
    assert first.max() < 0.01


@pytest.mark.slow
def test_nothing_is_searched_from_afar_for_a_demonstration(monkeypatch):
    """A rail-driven hexapod whose loops do not close at the ends of many ways."""
    mechanism = load(LOOPS / "hexaglide.yaml")

    def refuse(*_):
        raise AssertionError("a search from afar takes a twentieth of a second a sample")

    monkeypatch.setattr(GlobalAssemblySearch, "__init__", refuse)
    path = rd.load_path("demo", mechanism)
    assert rd.check_limits(mechanism, path) is None
    assert path.duration > 2.0


def test_a_demonstration_has_a_largest_number_of_paths_and_reports_what_it_leaves_out(
    caplog, capsys
):
    arm = load("stanford_arm")
    path = demonstration(arm, largest=2)
    whole = rd.load_path("demo", arm)
    assert path.duration < whole.duration
    times = np.linspace(0.0, path.duration, 50)
    np.testing.assert_array_equal(path.sample(times).configuration,
                                  whole.sample(times).configuration)  # fmt: skip
    # launch, where it is imported, puts its own root of loggers in the place of pytest's
    reported = caplog.text + capsys.readouterr().err
    assert "the demonstration contains only 2 of 12 paths" in reported


def test_slower_where_a_motor_is_slow_and_shorter_where_it_is_weak():
    arm = load("stanford_arm")
    fast = rd.load_path("demo", arm)
    assert fast.duration == pytest.approx(4 * arm.n)
    slow = rd.SerialArm(
        replace(arm.model, joints=tuple(replace(j, velocity=0.2) for j in arm.model.joints))
    )
    path = rd.load_path("demo", slow)
    assert path.duration > fast.duration
    assert rd.check_limits(slow, path) is None


def test_paths_of_papers_and_bundled_ones_belong_to_their_mechanisms():
    chosen = {name: default_path(load(name)) for name in rd.models()}
    own = {"puma560": "puma", "stewart_dasgupta": "I"}
    own |= {"delta": "pick_and_place", "fivebar": "star", "hexapod_rotary": "dance"}
    assert chosen == {name: own.get(name, "demo") for name in rd.models()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart_symmetric", "stanford_arm"])
def test_simulate_moves_any_bundled_model(name):
    result = CliRunner().invoke(app, ["simulate", name, "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["path"] == "demo"


def test_a_path_beyond_a_joints_travel_says_so_first_and_fails():
    result = CliRunner().invoke(app, ["simulate", "stewart_symmetric", "--path", "I"])
    assert result.exit_code == 1
    assert "its limit is 0.900 m" in result.output
    first = result.output.split("warnings raised")[1].splitlines()[1]
    assert "leg1_actuator reaches 0.695 m" in first


def test_a_run_without_friction_says_so():
    runs = {
        flag: json.loads(CliRunner().invoke(app, ["simulate", "puma560", flag, "--json"]).stdout)
        for flag in ("--friction", "--no-friction")
    }
    assert "friction" not in runs["--friction"]
    assert runs["--no-friction"]["friction"] is False


def test_a_demonstration_reports_how_far_its_planning_is(monkeypatch):
    """To the caller of `load`, and as a bar on a terminal."""
    reported = []
    load_path("demo", rd.load("fivebar"), progress=reported.append)
    assert reported == [0.25, 0.5, 0.75, 1.0]

    bars = {}

    @contextmanager
    def bar(what, total):
        yield bars.setdefault(what, []).append

    monkeypatch.setattr("robodyn.cli.session.progress_bar", bar)
    mechanism_and_path("fivebar", "demo")
    assert bars == {"path demo": reported}
