# SPDX-License-Identifier: Apache-2.0

"""A kind of mechanism from a file of its own: loaded, planned, simulated and analyzed."""

from __future__ import annotations

import json
import subprocess
import sys

import cart_pendulum
import numpy as np
import pytest
from cart_pendulum import CartPendulum, Model

import robodyn as rd
from robodyn import loading
from robodyn.analysis import execute
from robodyn.control import joint_motion, weakest_direction
from robodyn.trajectories import SampledTrajectory, demonstration, knot_times
from robodyn.warmup import warm_up, warm_up_watching

pytestmark = pytest.mark.slow


@pytest.fixture
def crane(registered, description):
    return rd.load(description)


def test_yaml_and_urdf_are_recognized_and_agree(crane, description, tmp_path):
    assert isinstance(crane, CartPendulum)
    assert isinstance(crane, rd.Mechanism)
    text = loading.robot_description(description, crane, ros2_control=True)
    assert "ros2_control" in text
    assert rd.load(text) == crane
    read, warned = loading.read(str(description), False)
    assert loading.describe(read, warned, "")["kind"] == "cart_pendulum"
    assert loading.comparison_report(read, text, False)["differences"] == []
    heavier = tmp_path / "heavier.yaml"
    heavier.write_text(description.read_text().replace("0.5", "0.6"))
    differences = loading.comparison_report(read, str(heavier), False)
    assert differences["differences"] == ["bob: 0.5 against 0.6 (by 0.1)"]


def test_a_kind_without_links_and_joints_is_saved_as_urdf_alone(crane, tmp_path):
    rd.save(crane, tmp_path / "crane.urdf")
    assert rd.load(tmp_path / "crane.urdf") == crane
    with pytest.raises(rd.InvalidInput, match="register the kind with an adapter `written_model`"):
        rd.save(crane, tmp_path / "crane.sdf")


def test_dynamics_of_the_cart_are_those_of_an_arm_of_the_same_urdf(crane, description):
    # the same two joints as an open chain of the recursive equations
    arm = rd.load(loading.robot_description(description, crane), kind="serial", tip_link="bob")
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, 20, 2))
    wrench = rng.normal(size=(20, 6))
    np.testing.assert_allclose(crane.body_pose(q), arm.body_pose(q), atol=1e-12)
    np.testing.assert_allclose(crane.jacobian(q), arm.jacobian(q), atol=1e-12)
    np.testing.assert_allclose(
        crane.inverse_dynamics(q, qd, qdd, wrench),
        arm.inverse_dynamics(q, qd, qdd, wrench),
        atol=1e-11,
    )


def test_a_free_pendulum_swings_at_its_natural_frequency(registered):
    # linearized: (1 + m/M) g/l for a point mass m on a free cart of mass M
    crane = CartPendulum(Model(cart=2.0, bob=0.5, length=0.4))
    omega = np.sqrt(1.25 * 9.81 / 0.4)
    period = 2.0 * np.pi / omega
    start = np.array([0.0, 1e-3]), np.zeros(2)
    still = rd.plan_joints(start[0], start[0], period)
    result = rd.simulate(
        crane, rd.ConstantEffort(np.zeros(2)), still, 1e-3, 0.02, initial=start, duration=period
    )
    # after one period at its first amplitude again, half-way through at the opposite one
    middle = np.interp(0.5 * period, result.time, result.configuration[:, 1])
    assert result.configuration[-1, 1] == pytest.approx(1e-3, rel=1e-5)
    assert middle == pytest.approx(-1e-3, rel=5e-3)
    # nothing pushes sideways: the common center of mass stays where it is
    x, angle = result.configuration.T
    center = x + 0.2 * 0.4 * np.sin(angle)
    np.testing.assert_allclose(center, center[0], atol=1e-9)


def test_the_third_kind_is_planned_followed_and_summed_up(crane, tmp_path):
    path = demonstration(crane)
    times = knot_times(path.duration, path.switching_times, 0.01)
    sampled = SampledTrajectory(crane, times, path.sample(times))
    np.testing.assert_allclose(
        sampled.sample(1.234).configuration, path.sample(1.234).configuration, atol=1e-6
    )
    motion = joint_motion(crane, path, times)
    np.testing.assert_allclose(motion.positions, path.sample(times).configuration)
    assert rd.check_limits(crane, path) is None
    run = execute(crane, path, "demo", control_dt=0.01)
    summary = run.summary()
    assert summary["status"] == "completed"
    assert len(summary["peak_effort"]) == 2
    assert summary["tracking"]["joints"] < 0.01
    run.write(tmp_path / "run")
    head = (tmp_path / "run" / "history.csv").read_text().splitlines()[0]
    assert head.startswith("time,slider,hinge,rate_slider,rate_hinge,planned_slider")


def test_a_limit_it_breaks_is_reported_in_its_own_units(crane):
    out = rd.plan_joints([0.0, 0.0], [1.5, 0.0], 4.0)
    assert "slider reaches 1.500 m" in rd.check_limits(crane, out).text
    turn = rd.plan_joints([0.0, 0.0], [0.0, 2.5], 4.0)
    assert "hinge reaches 2.500 rad" in rd.check_limits(crane, turn).text


def test_the_third_kind_is_analyzed_and_its_terms_add_up(crane, tmp_path):
    study = rd.analyze(
        crane, rd.plan_joints([0.0, -0.5], [0.4, 0.8], 1.0), wrench=[1, 0, 2, 0, 0, 0]
    )
    np.testing.assert_allclose(sum(study.terms.values()), study.forces, atol=1e-12)
    np.testing.assert_allclose(
        study.terms["gravity"][:, 1], 0.5 * 9.81 * 0.4 * np.sin(study.motion.configuration[:, 1])
    )
    assert len(study.extremes()) == 2
    study.write_csv(tmp_path / "study.csv")
    head = (tmp_path / "study.csv").read_text().splitlines()[0]
    assert head.startswith("time,configuration_slider,configuration_hinge,velocity_slider")
    # it moves in the plane of x and z only
    direction, _ = weakest_direction(crane, np.array([0.2, 0.3]))
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    np.testing.assert_allclose(direction[[1, 3, 5]], 0.0, atol=1e-12)


def test_the_third_kind_is_compiled_by_the_warmup(crane):
    warm_up(crane)
    warm_up_watching(crane)


def test_other_processes_find_it_by_its_entry_point(installed, description):
    def run(*arguments):
        call = "import sys; from robodyn.cli import main; sys.argv[0] = 'robodyn'; main()"
        return subprocess.run(
            [sys.executable, "-c", call, *arguments],
            env=installed,
            capture_output=True,
            text=True,
            timeout=120.0,
        )

    checked = run("check", str(description), "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["kind"] == "cart_pendulum"
    simulated = run("simulate", str(description), "--json")
    assert simulated.returncode == 0, simulated.stderr
    assert json.loads(simulated.stdout)["path"] == "demo"
    analyzed = run("analyze", str(description))
    assert analyzed.returncode == 0, analyzed.stderr
    assert "hinge" in analyzed.stdout


def test_a_package_that_fails_does_not_keep_others_from_loading(installed, tmp_path):
    entry = tmp_path / "site" / "cart_pendulum-1.0.dist-info" / "entry_points.txt"
    entry.write_text("[robodyn.mechanisms]\nbroken = no_such_module:KIND\n")
    call = "import robodyn as rd; print(rd.load('puma560').kind, list(rd.kinds()))"
    done = subprocess.run(
        [sys.executable, "-c", call], env=installed, capture_output=True, text=True, timeout=120.0
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "serial ['stewart', 'closed_loop', 'serial']"
    assert "broken = no_such_module:KIND" in done.stderr


def test_registering_twice_is_fine_and_a_name_that_is_taken_is_not(registered):
    assert rd.register_kind(registered) is registered
    for name in ("cart_pendulum", "serial"):
        with pytest.raises(rd.InvalidInput, match=f"'{name}' is registered already"):
            rd.register_kind(rd.Kind(name))
    with pytest.raises(rd.InvalidInput, match="go together"):
        rd.Kind("other", recognizes_urdf=cart_pendulum.recognizes)


def test_an_unknown_kind_is_refused_with_those_there_are(description):
    with pytest.raises(rd.ModelError, match="stewart"):
        rd.load(description)
    with pytest.raises(rd.ModelError, match="kind is 'hexapod'"):
        rd.load("puma560", kind="hexapod")
    with pytest.raises(rd.ModelError, match="requested kind"):
        rd.load("puma560", kind="stewart")


def test_loading_one_kind_does_not_import_another():
    call = """
import sys, warnings
import robodyn as rd
assert "numpy" not in sys.modules
warnings.simplefilter("ignore")
rd.load("stewart_dasgupta")
print([name for name in sys.modules if name.startswith("robodyn.solvers.serial.")])
"""
    done = subprocess.run(
        [sys.executable, "-c", call], capture_output=True, text=True, timeout=120.0
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['robodyn.solvers.serial.kind']"
