# SPDX-License-Identifier: Apache-2.0

"""Designs are as good as another optimizer's, are described correctly, and fly."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import differential_evolution
from six_legs import six_legs, with_legs
from typer.testing import CliRunner

import robodyn as rd
from robodyn.algorithms import motions, travel
from robodyn.cli import app
from robodyn.designing import FAMILIES, rows_of
from robodyn.designing.search import Descent, Point, sobol_points
from robodyn.errors import ResumeRefused
from robodyn.presentation import presentation
from robodyn.report.design_tables import rotor_sentences
from robodyn.trajectories import SampledTrajectory

COCKPIT = {
    "payload": {"mass": 250.0, "com": [0.0, 0.0, 0.35]},
    "motions": [
        {"name": "heave", "heave": "150 mm", "frequency": 1.0},
        {"name": "surge", "surge": "0.5 g", "frequency": 1.5},
        {"name": "pitch", "pitch": "20 deg", "frequency": 0.25},
    ],
}
TOGETHER = {
    **COCKPIT,
    "motions": [
        {
            "name": "all",
            "heave": {"amplitude": "150 mm", "frequency": 1.0},
            "surge": {"acceleration": "0.5 g", "frequency": 1.5},
            "pitch": {"amplitude": "20 deg", "frequency": 0.25},
        }
    ],
}
SMALL = {
    "payload": {"mass": 0.5},
    "margins": {"stroke": 0.01, "force": 1.2},
    "limits": {"condition_number": 40.0},
    "motions": [{"heave": "5 mm", "frequency": 1.0}, {"surge": "5 mm", "frequency": 1.0}],
}


def hexapod(base_radius, platform_radius, height, spread_angle, required):
    parameters = {
        "base_radius": base_radius, "platform_radius": platform_radius, "height": height,
        "base_spread": np.radians(spread_angle), "platform_spread": np.radians(spread_angle),
    }  # fmt: skip
    return FAMILIES["hexapod"].mechanism(parameters, required)


def test_the_cockpit_needs_what_was_worked_out_by_hand():
    alone, together = (rd.load_requirements(each) for each in (COCKPIT, TOGETHER))
    need = rd.evaluate(hexapod(0.81, 0.44, 0.46, 4.0, alone), alone).needed
    assert need.stroke.max() == pytest.approx(0.17, abs=0.01)
    assert need.speed.max() == pytest.approx(0.55, abs=0.02)
    assert need.peak_effort.max() == pytest.approx(1.7e3, rel=0.05)
    need = rd.evaluate(hexapod(0.75, 0.32, 0.81, 9.0, together), together).needed
    assert need.stroke.max() == pytest.approx(0.41, abs=0.02)
    assert need.speed.max() == pytest.approx(1.07, abs=0.02)
    assert need.peak_power.max() == pytest.approx(1.3e3, rel=0.1)
    # frequencies that differ drift in phase
    phases = np.pi / 4 * np.arange(8)
    shifted = [
        TOGETHER["motions"][0]
        | {"name": f"{a:g} {b:g}"}
        | {"surge": {"acceleration": "0.5 g", "frequency": 1.5, "phase": float(a)}}
        | {"pitch": {"amplitude": "20 deg", "frequency": 0.25, "phase": float(b)}}
        for a in phases
        for b in phases
    ]
    drifting = rd.load_requirements({**COCKPIT, "motions": shifted})
    need = rd.evaluate(hexapod(0.75, 0.32, 0.81, 9.0, drifting), drifting).needed
    assert need.peak_effort.max() == pytest.approx(2.3e3, rel=0.05)


def test_a_rotor_on_a_fine_screw_doubles_the_force_of_the_cockpit():
    required = rd.load_requirements(TOGETHER)
    m = hexapod(0.75, 0.32, 0.81, 9.0, required)
    screw = rd.Actuator(rotor_inertia=1.2e-4, lead=0.005)
    fine = with_legs(m, [replace(leg, actuator=screw) for leg in six_legs(m).legs])
    plain, heavy = (rd.evaluate(each, required) for each in (m, fine))
    factor = heavy.needed.peak_effort.max() / plain.needed.peak_effort.max()
    assert 1.6 < factor < 2.4
    assert "189.5 kg at the joint" in rotor_sentences(heavy)[0]


@pytest.mark.slow
def test_a_design_is_as_good_as_differential_evolution_with_ten_times_the_evaluations():
    limits = {"footprint_radius": 0.9, "condition_number": 5.0, "joint_angle": "30 deg"}
    required = rd.load_requirements(COCKPIT | {"limits": limits})
    family = FAMILIES["hexapod"]
    bounds = {"base_spread": (0.07, 0.07), "platform_spread": (0.46, 0.46)}
    found = rd.design("hexapod", required, bounds=bounds, evaluations=80)
    lower, upper = np.array(list((family.bounds | bounds).values())).T

    def penalized(x):
        values = lower + np.append(x, [0.0, 0.0]) * (upper - lower)
        parameters = dict(zip(family.bounds, values.tolist(), strict=True))
        e = rd.evaluate(family.mechanism(parameters, required), required, variants={})
        return e.needed.peak_effort.max() if e.satisfied else 1e5 * (1.0 + e.excess)

    box, ten_times = [(0.0, 1.0)] * 3, 25
    other = differential_evolution(
        penalized, box, popsize=10, maxiter=ten_times, polish=False, rng=0, tol=0.0, init="sobol"
    )
    assert other.nfev >= 800
    assert found.examined <= 80
    assert found.evaluation.satisfied
    assert found.evaluation.needed.peak_effort.max() <= 1.001 * other.fun


@pytest.mark.slow
def test_every_design_of_a_front_satisfies_what_it_says_and_none_beats_another():
    required = rd.load_requirements(COCKPIT)
    names = "peak_effort", "stroke"
    found = rd.design("hexapod", required, objective=names, evaluations=60)
    assert len(found.front) > 3
    table = np.array([[point.values[name] for name in names] for point in found.front])
    for k, point in enumerate(found.front):
        e = rd.evaluate(point.mechanism, required)
        assert e.satisfied
        need = [e.needed.peak_effort.max(), e.needed.stroke.max()]
        np.testing.assert_allclose(need, table[k], rtol=1e-9)
        assert not (np.delete(table, k, axis=0) <= table[k]).all(axis=1).any()
    assert found.evaluation.needed.peak_effort.max() == pytest.approx(table[:, 0].min())
    # as a table prints them, no two are equal
    assert len({tuple(f"{value:.4g}" for value in row) for row in table}) == len(table)


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_design_of_each_family_flies_its_motions_within_its_limits(family, tmp_path):
    # a tripod does not surge
    motions_of = {"3-rps": [{"heave": "5 mm", "frequency": 1.0}, {"roll": 0.05, "frequency": 1.0}]}
    required = rd.load_requirements({**SMALL, "motions": motions_of.get(family, SMALL["motions"])})
    found = rd.design(family, required, evaluations=40)
    assert found.evaluation.satisfied
    # as the file that it is written to
    rd.save(found.mechanism, tmp_path / "machine.yaml")
    m = rd.load(tmp_path / "machine.yaml").with_payload(0.5)
    check_flies(m, required.motions[0])


def check_flies(m, motion, error=1e-4):
    """Fly a motion of the body under computed torque, within all limits."""
    times = np.linspace(0.0, 1.0, 2001)
    body = rows_of(motion, times, m.body_pose(m.home))
    moving = motions.motions_of_body(m, *body, np.repeat(m.home[None], len(times), axis=0))
    assert travel.within_travel(m, moving.configuration).all()
    _, rates, _ = motions.driven_motion(m, *moving)
    efforts = m.inverse_dynamics(*moving)
    assert (np.abs(rates) <= m.velocity_limits).all()
    assert (np.abs(efforts) <= m.drives.effort_limits_at(rates)).all()
    path = SampledTrajectory(m, times, moving, of_body=True)
    run = rd.simulate(m, rd.ComputedTorque(m), path, control_dt=1e-3)
    # neither an end stop nor a saturated drive
    assert run.events == []
    gap = m.body_pose(run.configuration) - m.body_pose(run.desired.configuration)
    assert np.abs(gap).max() < error


def test_a_payload_without_an_inertia_is_a_ball_that_a_controller_can_hold():
    """On its legs a platform is an inverted pendulum, which a point mass tilts in an instant."""
    motion = {"name": "roll", "roll": 0.05, "frequency": 1.0}
    margins = {"stroke": 0.01, "force": 1.2}
    required = rd.load_requirements({"payload": {"mass": 100.0}, "margins": margins,
                                     "motions": [motion]})  # fmt: skip
    ball = required.payload
    radius = np.cbrt(0.75 / np.pi * 0.1)  # of 0.1 m^3 of water
    np.testing.assert_allclose(ball.inertia, 40.0 * radius**2 * np.eye(3), rtol=1e-12)
    dimensions = {"base_radius": 1.08, "platform_radius": 0.379, "height": 0.357}
    family = FAMILIES["3-rps"]
    need = rd.evaluate(family.mechanism(dimensions, required), required, variants={}).needed
    m = family.mechanism(dimensions, required, need=need)
    check_flies(m.with_payload(ball.mass, ball.com, ball.inertia), required.motions[0], 2e-4)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_design_and_a_search_resumes(tmp_path):
    required = rd.load_requirements(SMALL)
    kept = tmp_path / "search.jsonl"
    first = rd.design("linear-delta", required, evaluations=60, resume=kept)
    lines = kept.read_text().splitlines()
    # killed in the middle of a line
    kept.write_text("\n".join(lines[:5]) + "\n" + lines[5][:20])
    again = rd.design("linear-delta", required, evaluations=60, resume=kept)
    assert again.parameters == pickle.loads(pickle.dumps(first)).parameters
    # only the machines that the file lacked were evaluated; the broken line stays
    after = kept.read_text().splitlines()
    assert set(lines) < set(after)
    assert len(after) == len(lines) + 1


@pytest.mark.slow
@pytest.mark.parametrize("other", ["older version", "requirements", "family", "catalog"])
def test_a_search_resumes_from_no_file_of_another_search(other, tmp_path):
    file = tmp_path / "search.jsonl"
    slow = [{"name": "m/s", "speed": 1, "stroke": 1, "peak_effort": 100, "lead": 0.02}]
    fast = [slow[0] | {"speed": 2}]  # the same name
    rd.design("linear-delta", rd.load_requirements(SMALL), slow, evaluations=2, resume=file)
    required, family, catalog = SMALL, "linear-delta", slow
    if other == "older version":
        file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
        other = "another version of robodyn"
    elif other == "requirements":
        required = SMALL | {"payload": {"mass": 0.6}}
    elif other == "family":
        family = "hexapod"
    else:
        catalog = fast
    text = file.read_text()
    with pytest.raises(ResumeRefused, match=rf"search\.jsonl: was written by .*{other}.*remove"):
        rd.design(family, rd.load_requirements(required), catalog, evaluations=2, resume=file)
    assert file.read_text() == text


@pytest.mark.slow
def test_a_catalog_gives_the_cheapest_actuator_that_is_enough():
    required = rd.load_requirements(COCKPIT)
    base = {"stroke": "0.5 m", "closed_length": 0.7, "rotor_inertia": 1e-4, "lead": "20 mm",
            "mass": 10}  # fmt: skip
    rows = [
        base | {"name": "weak", "speed": 2.0, "peak_effort": "0.3 kN", "price": 1},
        base | {"name": "slow", "speed": 0.1, "peak_effort": "9 kN", "price": 2},
        base
        | {"name": "hot", "speed": 2, "peak_effort": 9e3, "continuous_effort": 100, "price": 3},
        base | {"name": "right", "speed": 2.0, "peak_effort": "9 kN", "price": 4},
        base | {"name": "dear", "speed": 3.0, "peak_effort": "20 kN", "price": 9},
    ]
    found = rd.design("hexapod", required, rows, "price", evaluations=150)
    assert found.evaluation.satisfied
    assert found.actuator.name == "right"
    assert found.mechanism.effort_limits.tolist() == [9000.0] * 6
    assert found.front[0].values["price"] == 24.0
    poor = rd.design("hexapod", required, rows[2:3], evaluations=60)
    assert not poor.evaluation.satisfied
    assert any(text.startswith("continuous_effort: none of the") for text in poor.conflicts)


@pytest.mark.slow
def test_requirements_that_conflict_are_named():
    limits = {"height": 0.4, "condition_number": 3.0}
    required = rd.load_requirements(COCKPIT | {"limits": limits})
    found = rd.design("hexapod", required, evaluations=60)
    assert not found.evaluation.satisfied
    assert found.front == ()
    assert any("height" in text for text in found.conflicts)


@pytest.mark.slow
def test_machines_that_cannot_move_as_required_do_not_end_a_search():
    required = rd.load_requirements(SMALL)

    def mine(height: float) -> rd.Mechanism:
        # below a height it is a machine that has no surge
        return rd.load("delta") if height < 0.5 else hexapod(0.4, 0.2, height, 8.0, required)

    tilting = rd.load_requirements({"motions": [{"roll": "2 deg", "frequency": 1.0}]})
    found = rd.design(mine, tilting, bounds={"height": (0.3, 0.8)}, evaluations=40)
    assert found.evaluation.satisfied
    assert found.parameters["height"] >= 0.5
    with pytest.raises(rd.InvalidInput, match="requires roll, but delta moves its body only in"):
        rd.design(mine, tilting, bounds={"height": (0.3, 0.4)}, evaluations=10)


FIXED = {"base_radius": (0.8, 0.8), "base_spread": (0.2, 0.2), "platform_spread": (0.2, 0.2)}


@pytest.mark.slow
def test_design_for_the_largest_workspace_beats_the_design_for_the_smallest_effort():
    row = {"name": "screw", "stroke": 0.45, "closed_length": 0.72, "speed": 1.3,
           "peak_effort": 4500.0, "lead": 0.02}  # fmt: skip
    motions = [{"name": "heave", "heave": 0.1, "frequency": 1.0}]
    limits = {"footprint_radius": 1.0, "condition_number": 20.0}
    required = rd.load_requirements({**COCKPIT, "motions": motions, "limits": limits})
    widest, weakest = (
        rd.design("hexapod", required, [row], objective, FIXED, evaluations=24)
        for objective in ("workspace", "peak_effort")
    )
    assert widest.evaluation.satisfied
    volumes = [
        rd.workspace(each.mechanism, condition_limit=20.0).volume for each in (widest, weakest)
    ]
    assert volumes[0] > 1.05 * volumes[1]
    found = max(point.values["workspace"] for point in widest.front)
    assert found == pytest.approx(volumes[0], rel=0.05)


@pytest.mark.slow
def test_the_stiffest_design_is_stiffer_than_the_one_with_the_smallest_effort():
    row = {"name": "screw", "stroke": 0.45, "closed_length": 0.72, "speed": 1.3,
           "peak_effort": 4500.0, "lead": 0.02, "stiffness": 2e7}  # fmt: skip
    motions = [{"name": "heave", "heave": 0.1, "frequency": 1.0}]
    limits = {"footprint_radius": 1.0, "condition_number": 20.0}
    required = rd.load_requirements({**COCKPIT, "motions": motions, "limits": limits})
    stiff, weak = (
        rd.design("hexapod", required, [row], objective, FIXED, evaluations=40)
        for objective in ("stiffness", "peak_effort")
    )
    assert stiff.evaluation.satisfied
    assert stiff.evaluation.stiffness > 1.05 * weak.evaluation.stiffness
    m = stiff.mechanism.with_payload(required.payload.mass, required.payload.com)
    softest = np.linalg.eigvalsh(m.compliance(m.home)[:3, :3])[-1]
    assert stiff.evaluation.stiffness <= 1.001 / softest
    rigid = {key: value for key, value in row.items() if key != "stiffness"}
    with pytest.raises(rd.InvalidInput, match="the objective is stiffness, but the drives are"):
        rd.design("hexapod", required, [rigid], "stiffness", FIXED, evaluations=4)


def test_a_function_of_parameters_is_designed_too():
    required = rd.load_requirements(SMALL)

    def mine(height: float, radius: float) -> rd.Mechanism:
        return hexapod(0.4, radius, height, 8.0, required)

    bounds = {"height": (0.3, 0.8), "radius": (0.1, 0.4)}
    found = rd.design(mine, required, objective="stroke", bounds=bounds, evaluations=60)
    assert found.family == "mine"
    assert found.evaluation.satisfied
    # legs that lie flat move least
    assert found.parameters["height"] < 0.35
    with pytest.raises(rd.InvalidInput, match="parameters height, radius"):
        rd.design(mine, required, bounds={"height": (0.3, 0.8)})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"family": "octopod"}, "family is 'octopod', expected one of hexapod"),
        ({"objective": "beauty"}, "objective is 'beauty', expected one of peak_effort"),
        ({"objective": "price"}, "price, mass, workspace, stiffness need a catalog"),
        ({"bounds": {"width": (0, 1)}},
         "bounds of 'width': hexapod has no such parameter, expected one of base_radius, "),
        ({"bounds": {"height": (2, 1)}}, r"bounds of height are \(2, 1\), expected lower <= upper"),
        ({"catalog": [{"name": "a", "stroke": 1, "speed": 1, "peak_effort": 1}]},
         "needs actuators that slide"),
        ({"catalog": [{"name": "a", "stroke": "1 kg", "speed": 1, "peak_effort": 1, "lead": 1}]},
         "actuator 1.stroke is '1 kg', expected a number"),
        ({"catalog": [{"name": "a", "strok": 1}]}, "unknown field actuator 1.strok"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(arguments, message):
    given = {"family": "hexapod", "requirements": rd.load_requirements(SMALL)} | arguments
    with pytest.raises(rd.InvalidInput, match=message):
        rd.design(**given)


def test_the_sample_catalog_is_read_and_csv_and_yaml_say_the_same(tmp_path):
    assert len(rd.load_catalog("sample")) > 8
    (tmp_path / "a.csv").write_text("name,stroke,speed,peak_effort,lead\ns,300 mm,0.5,2 kN,0.01\n")
    (tmp_path / "a.yaml").write_text(
        "actuators:\n- {name: s, stroke: 0.3, speed: 0.5, peak_effort: 2000, lead: 10 mm}\n"
    )
    (one,), (two,) = (rd.load_catalog(tmp_path / f"a.{ending}") for ending in ("csv", "yaml"))
    assert one == two


def test_a_catalog_takes_the_units_that_it_states(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("name,stroke,speed,peak_effort,stiffness\nr,90 deg,30 rpm,2 kN m,5 Nm/rad\n")
    (made,) = rd.load_catalog(file)
    assert (made.peak_effort, made.stiffness) == (2000.0, 5.0)
    file.write_text("name,stroke,speed,peak_effort,lead\ns,1,1,5 Nm,0.01\n")
    with pytest.raises(rd.InvalidInput, match=r"peak_effort is '5 Nm'.*\[N\]; units are N, kN"):
        rd.load_catalog(file)


def test_the_search_finds_minima_with_kinks_inside_and_on_constraints():
    def examine(points):
        # the larger of two slopes, least where both are equal, and the first two add up to 1
        found = []
        for x in points:
            parts = np.array([x[0] + x[2], 1.0 - x[2], (x[1] - 0.2) ** 2])
            bound = np.array([1.0 - x[0] - x[1]])
            found.append(Point(x, float(np.exp(parts.max())), bound, (parts,), bound))
        return found

    start = min(examine(sobol_points(3, 16, 0)), key=lambda point: point.rank)
    descent = Descent(examine, start, np.ones(1))
    descent.advance(20)
    near = descent.best
    descent.advance(100, tolerance=0.0)
    found = descent.best
    assert found.rank < near.rank < start.rank
    # x = (0, 1, 1/2) needs 0.64 of the third part, so that more of the first is better
    y = 1.0 - found.x[0]
    # slopes are differences over 1e-5
    assert found.x[0] + found.x[1] == pytest.approx(1.0, abs=2e-5)
    assert found.x[0] + found.x[2] == pytest.approx(1.0 - found.x[2], abs=2e-5)
    assert (y - 0.2) ** 2 == pytest.approx(1.0 - found.x[2], abs=2e-5)


def test_the_search_follows_a_narrow_curved_valley():
    """A condition number is such a valley where its singular values nearly cross."""

    def examine(points):
        found = []
        for x in points:
            across = np.hypot(x[1] - x[0] ** 2, 0.02)
            parts, bound = np.array([-x[0]]), np.array([x[0] - 0.8 + 20.0 * across])
            found.append(Point(x, float(np.exp(parts.max())), bound, (parts,), bound))
        return found

    (start,) = examine([np.array([0.1, 0.01])])
    descent = Descent(examine, start, np.ones(1))
    descent.advance(80, tolerance=0.0)
    # the bottom of the valley, where 0.8 - 20 * 0.02 is left
    assert descent.best.violations.max() <= 0.0
    np.testing.assert_allclose(descent.best.x, [0.4, 0.16], atol=1e-5)


def test_the_search_ends_where_machines_end():
    """Toward a dead point of a crank, its sine falls ever faster, and there is nothing beyond."""

    def examine(points):
        found = []
        for x in points:
            end = x @ x - 0.64
            parts, bound = (np.array([-x[0] - 0.5 * x[1]]),), np.array([end])
            if end > 0.0:
                found.append(Point(x, np.inf, bound, (), np.empty(0)))
            else:
                found.append(Point(x, float(np.exp(parts[0].max())), bound, parts, bound, 1))
        return found

    (start,) = examine([np.array([0.1, 0.1])])
    descent = Descent(examine, start, np.ones(1))
    descent.advance(39, tolerance=0.0)
    best = np.array([2.0, 1.0]) * 0.8 / np.sqrt(5.0)
    np.testing.assert_allclose(descent.best.x, best, atol=2e-3)
    # beside a point without machines, as finite differences find them
    (edge,) = examine([np.array([0.3, np.sqrt(0.55 - 1e-9)])])
    descent = Descent(examine, edge, np.ones(1))
    descent.advance(39, tolerance=0.0)
    assert descent.best.rank <= edge.rank


@pytest.mark.slow
def test_the_command_writes_a_model_that_meets_the_requirements(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "req.yaml").write_text(json.dumps(SMALL))
    words = ["design", "hexapod", "req.yaml", "--evaluations", "40", "--output", "m.yaml"]
    run = CliRunner().invoke(app, [*words, "--html", "page.html", "--json"])
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    assert found["evaluation"]["satisfied"]
    assert CliRunner().invoke(app, ["evaluate", "m.yaml", "req.yaml"]).exit_code == 0
    bare, loaded = rd.load("m.yaml"), rd.load("m_loaded.yaml")
    assert presentation.moving_mass(loaded) - presentation.moving_mass(bare) == pytest.approx(0.5)
    page = (tmp_path / "page.html").read_text()
    assert 'id="front"' in page
    assert "model file of design 1" in page
    assert CliRunner().invoke(app, words).exit_code == 1  # m.yaml exists
