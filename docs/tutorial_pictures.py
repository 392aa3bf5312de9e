# SPDX-License-Identifier: Apache-2.0

"""Pictures of the tutorials, drawn by the library when the site is built.

    python docs/tutorial_pictures.py [FOLDER]

Each function follows the steps of one tutorial and yields the charts that these steps show.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.motion_base.cueing.flight import Flight
from robodyn.report.chart import Chart
from robodyn.report.cueing_page import cueing_page
from robodyn.report.evaluation_page import evaluation_page
from robodyn.report.identification_page import identification_page
from robodyn.report.images import write_image
from robodyn.report.page import Page
from robodyn.report.path_views import home_chart, path_chart
from robodyn.report.recorded_run import PlanComparison
from robodyn.report.recorded_run_page import recorded_run_page
from robodyn.report.study_charts import force_chart
from robodyn.trajectories.joint_points import through_points

HEXAPOD = (
    "new hexapod base.yaml --base-radius 0.45 --platform-radius 0.25 --height 0.6 --stroke 0.3 "
    "--payload 20"
)
SCREW = (
    "actuator: {rotor_inertia: 2.0e-5, lead: 0.01, handed: right, coulomb: 15.0, "
    "torque_limit: 1.2, torque_constant: 0.08}"
)


def write_tutorial_pictures(folder: Path) -> None:
    """Write `folder`/<name>.png for every picture of the tutorials."""
    folder, here = folder.resolve(), Path.cwd()
    folder.mkdir(exist_ok=True)
    for tutorial in (hexapod, delta, arm, design, flight, identification):
        with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.chdir(scratch)
            try:
                for name, chart in tutorial():
                    write_image(chart, folder / f"{tutorial.__name__}_{name}.png", dpi=80.0)
            finally:
                os.chdir(here)


def hexapod() -> Iterator[tuple[str, Chart]]:
    """Draw the platform, its demonstration, and a motion to a goal."""
    command(HEXAPOD)
    file = Path("base.yaml")
    file.write_text(re.sub("# actuator: .*", SCREW, file.read_text()))
    m = rd.load(file)
    yield "home", home_chart(m)
    path = rd.load_path("demo", m)
    yield "path", path_chart(m, path.sample(np.linspace(0.0, path.duration, 400)).configuration)
    yield "forces", force_chart(rd.analyze(m, path, 0.01))
    goal = rd.pose_from_rpy([0.05, 0.0, 0.65], [0.0, 0.0, 0.0])
    motion = rd.plan_line(m.home, goal, duration=3.0)
    run = recorded_run_page(simulated(m, motion, plant=m.with_payload(10.0)))
    yield "payload", chart_of(run, "errors")


def delta() -> Iterator[tuple[str, Chart]]:
    """Draw the delta, and its demonstration."""
    command("new delta")
    m = rd.load("my_delta.yaml")
    yield "home", home_chart(m)
    path = rd.load_path("demo", m)
    yield "path", path_chart(m, path.sample(np.linspace(0.0, path.duration, 400)).configuration)
    run = recorded_run_page(simulated(m, path))
    yield "efforts", chart_of(run, "efforts")


def arm() -> Iterator[tuple[str, Chart]]:
    """Draw the arm and the first joint's swings."""
    m = rd.load("puma560")
    yield "home", home_chart(m)
    times = np.linspace(0.0, 10.0, 101)
    fade, w = np.sin(np.pi * times / 10.0) ** 2, np.pi
    slope = np.pi / 10.0 * np.sin(2.0 * np.pi * times / 10.0)
    positions, velocities = np.zeros((2, 101, 6))
    positions[:, 0] = 0.4 * fade * np.sin(w * times)
    velocities[:, 0] = 0.4 * (slope * np.sin(w * times) + fade * w * np.cos(w * times))
    velocities[-1] = 0.0
    run = recorded_run_page(simulated(m, through_points(times, positions, velocities)))
    yield "errors", chart_of(run, "errors")
    yield "efforts", chart_of(run, "efforts")


def design() -> Iterator[tuple[str, Chart]]:
    """Draw what a given platform lacks, and the platform that a search finds."""
    command("new requirements cockpit.yaml")
    requirements = rd.load_requirements("cockpit.yaml")
    page = evaluation_page(rd.evaluate(rd.load("motion_platform"), requirements))
    yield "motor", chart_of(page, "motor")
    found = rd.design("hexapod", requirements, catalog="sample",
                      objective=["price", "peak_effort"], evaluations=300)  # fmt: skip
    yield "found", home_chart(found.mechanism)
    yield "found_motor", chart_of(evaluation_page(found.evaluation), "motor")


def flight() -> Iterator[tuple[str, Chart]]:
    """Draw the platform, and what a pilot feels of a flight."""
    m = rd.load("motion_platform")
    yield "home", home_chart(m)
    airplane = Flight(0.02)
    rows = np.array([np.concatenate(airplane.step()) for _ in range(4500)])
    vehicle = rd.VehicleMotion(0.02 * np.arange(4500), rows[:, :3], rows[:, 3:])
    found = rd.ride(
        m, vehicle, rd.WashoutParameters.preset("airliner"), head=[0.0, 0.0, 1.1], dt=0.02
    )
    for chart in cueing_page(found, {}, []).charts:
        yield chart.key, chart


def identification() -> Iterator[tuple[str, Chart]]:
    """Draw measured and predicted efforts of an arm."""
    given = rd.load("puma560")
    true, noise = given.with_payload(1.5, [0.02, 0.0, 0.05]), np.random.default_rng(1)
    recordings = []
    for seed in (1, 2):
        motion = rd.exciting_trajectory(given, duration=8.0, seed=seed)
        times = np.arange(0.0, motion.duration, 0.005)
        q, v, a = motion.sample(times)
        efforts = true.inverse_dynamics(q, v, a)
        efforts += noise.normal(0.0, 0.01 * efforts.std(axis=0), efforts.shape)
        recordings.append(rd.Recording.from_arrays(given, times, q, efforts, velocity=v))
    result = rd.identify(given, recordings[:1])
    page = identification_page(result, result.validate(recordings[1:]))
    yield "efforts", chart_of(page, "efforts0")


def simulated(
    m: rd.Mechanism, motion: rd.Trajectory, plant: rd.Mechanism | None = None
) -> PlanComparison:
    """Simulate computed torque along a motion at 200 Hz and compare the run with its plan."""
    run = rd.simulate(plant or m, rd.ComputedTorque(m), motion, dt=1e-3, control_dt=5e-3)
    steps = len(run.effort)
    planned = motion.sample(run.time[:steps])
    return PlanComparison(
        m, run.time[:steps], run.configuration[:steps], planned,
        m.difference(planned.configuration, run.configuration[:steps]), run.effort,
        m.inverse_dynamics(*planned), 0.0, False,
    )  # fmt: skip


def chart_of(page: Page, key: str) -> Chart:
    """Return one chart of a page."""
    return next(chart for chart in page.charts if chart.key == key)


def command(line: str) -> None:
    """Run a `robodyn` command."""
    result = CliRunner().invoke(app, line.split())
    if result.exit_code:
        raise SystemExit(f"robodyn {line}: {result.output}")


if __name__ == "__main__":
    default = Path(__file__).parent / "tutorial_pictures"
    write_tutorial_pictures(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
