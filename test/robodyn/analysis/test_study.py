# SPDX-License-Identifier: Apache-2.0

"""Studies of whole paths, compared with the 1998 paper and the mechanism."""

import csv
import json
import sys

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis import as_json
from robodyn.errors import InvalidInput, MissingExtra, OutputError
from robodyn.trajectories import plan_line_rpy


@pytest.fixture(scope="module")
def path_one(dasgupta):
    return rd.analyze(dasgupta, rd.paper_path("I"))


def test_path_one_is_what_the_paper_says_of_it(path_one):
    rows = path_one.extremes()
    assert rows[4]["zero_crossings"] == [pytest.approx(3.018, abs=1e-3)]
    assert rows[5]["zero_crossings"] == [pytest.approx(4.341, abs=1e-3)]
    assert path_one.condition_number.min() == pytest.approx(34.7, abs=0.05)
    assert path_one.condition_number.max() == pytest.approx(47.2, abs=0.05)
    assert max(abs(row["peak_force"]) for row in rows) == pytest.approx(1434, abs=0.5)
    assert path_one.singular_times.size == 0


def test_dynamic_fractions_of_1998_as_printed(dasgupta):
    study = rd.analyze(dasgupta, rd.paper_path("I"), formulation="dasgupta1998")
    peaks = [row["peak_dynamic_fraction"] for row in study.extremes()[:4]]
    np.testing.assert_allclose(peaks, [0.276, 0.202, 0.184, 0.405], atol=6e-4)


def test_path_three_on_the_grid_of_the_paper(dasgupta):
    study = rd.analyze(dasgupta, rd.paper_path("III"), 0.1)
    np.testing.assert_allclose(study.singular_times, [3.670504110], atol=1e-6)
    assert study.condition_number.max() == pytest.approx(2.1e4, rel=0.01)
    assert np.abs(study.forces).max() == pytest.approx(9.7e5, rel=0.01)


def test_every_part_is_what_the_mechanism_says(dasgupta, rng):
    wrench = 100 * rng.normal(size=6)
    path = rd.paper_path("II")
    study = rd.analyze(dasgupta, path, 0.02, wrench=wrench, characteristic_length=0.3)
    motion = path.sample(study.time)
    forces = dasgupta.inverse_dynamics(*motion, wrench)
    np.testing.assert_array_equal(study.forces, forces)
    massless = dasgupta.inverse_dynamics(*motion, wrench, formulation="massless")
    np.testing.assert_array_equal(study.massless_forces, massless)
    np.testing.assert_allclose(study.massless_forces + study.dynamic_forces, forces)
    np.testing.assert_allclose(study.dynamic_fraction, (forces - massless) / forces)
    np.testing.assert_allclose(
        study.scaled_condition_number, dasgupta.condition_number(motion.configuration, 0.3)
    )
    lengths = dasgupta.inverse_kinematics(motion.configuration)
    np.testing.assert_array_equal(study.joint_positions, lengths)
    rates = dasgupta.leg_motion(motion.configuration, motion.velocity).rate
    np.testing.assert_allclose(study.joint_velocities, rates, atol=1e-14)
    for found, expected in zip(study.reactions, dasgupta.reactions(*motion, wrench), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_times_are_a_grid_with_the_switches_and_the_end(dasgupta):
    path = rd.paper_path("II")
    study = rd.analyze(dasgupta, path, 0.25)
    np.testing.assert_allclose(study.time, sorted([0, 0.25, 0.5, 0.6, *path.switching_times[:3]]))


def test_many_samples_are_examined_in_parts(dasgupta, monkeypatch):
    whole = rd.analyze(dasgupta, rd.paper_path("I"), 0.05)
    monkeypatch.setattr("robodyn.analysis.study.CHUNK", 7)
    reported = []
    parts = rd.analyze(dasgupta, rd.paper_path("I"), 0.05, progress=reported.append)
    np.testing.assert_array_equal(parts.forces, whole.forces)
    np.testing.assert_array_equal(parts.motion.configuration, whole.motion.configuration)
    np.testing.assert_array_equal(
        parts.reactions.universal_moment, whole.reactions.universal_moment
    )
    np.testing.assert_allclose(np.diff(reported), 7 / len(whole.time))


def test_where_no_forces_exist_they_are_not_numbers():
    symmetric = rd.load("stewart_symmetric")
    here = symmetric.home[:3]
    path = plan_line_rpy(
        [here, here], [[0, 0, 0], [0, 0, np.pi]], 2.0
    )  # singular at a quarter turn
    study = rd.analyze(symmetric, path, 0.5)
    assert np.isnan(study.forces[study.time == 1.0]).all()
    assert np.isfinite(study.forces[study.time < 0.9]).all()
    assert np.isnan(study.reactions.spherical_force[study.time == 1.0]).all()
    np.testing.assert_allclose(study.singular_times, [1.0], atol=1e-9)
    assert np.isfinite(study.extremes()[0]["peak_force"])
    row = int(np.flatnonzero(study.time == 1.0)[0])
    assert json.loads(as_json(study.to_dict()))["histories"]["forces"][row] == [None] * 6


def test_the_parts_of_an_arms_torques_add_up(puma, rng):
    path = rd.plan_joints(rng.normal(size=6), rng.normal(size=6), duration=1.5, profile="quintic")
    wrench = 10 * rng.normal(size=6)
    study = rd.analyze(puma, path, 0.05, wrench=wrench)
    assert list(study.terms) == ["inertial", "coriolis", "gravity", "friction", "wrench"]
    np.testing.assert_allclose(sum(study.terms.values()), study.forces, atol=1e-12)
    q, qd, qdd = path.sample(study.time)
    np.testing.assert_allclose(study.terms["gravity"], puma.gravity(q), atol=1e-12)
    inertial = np.einsum("nij,nj->ni", puma.mass_matrix(q), qdd)
    np.testing.assert_allclose(study.terms["inertial"], inertial, atol=1e-10)
    coriolis = np.einsum("nij,nj->ni", puma.coriolis_matrix(q, qd), qd)
    np.testing.assert_allclose(study.terms["coriolis"], coriolis, atol=1e-10)
    load = -np.einsum("nij,i->nj", puma.jacobian(q), wrench)
    np.testing.assert_allclose(study.terms["wrench"], load, atol=1e-10)
    assert study.reactions is None
    with pytest.raises(InvalidInput, match="puma560 has no effort term massless; its terms are"):
        _ = study.dynamic_fraction


@pytest.mark.slow
def test_a_study_as_a_dictionary(path_one):
    found = json.loads(as_json(path_one.to_dict()))
    assert found["samples"] == len(found["histories"]["time"])
    np.testing.assert_array_equal(found["histories"]["massless_forces"], path_one.massless_forces)
    assert np.shape(found["histories"]["reactions"]["spherical_force"]) == (
        len(path_one.time),
        6,
        3,
    )
    assert "histories" not in path_one.to_dict(histories=False)


@pytest.mark.parametrize("kind", ["platform", "arm"])
def test_a_study_as_a_file(path_one, puma, tmp_path, kind):
    study = path_one
    if kind == "arm":
        study = rd.analyze(puma, rd.plan_joints(np.zeros(6), np.ones(6), duration=1.0), 0.1)
    file = tmp_path / "study.csv"
    study.write_csv(file)
    header, *rows = csv.reader(file.read_text().splitlines())
    assert len(set(header)) == len(header)
    table = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    last = study.mechanism.joint_names[-1]
    np.testing.assert_array_equal(table["time"], study.time)
    np.testing.assert_array_equal(table[f"force_{last}"], study.forces[:, -1])
    np.testing.assert_array_equal(table[f"rate_{last}"], study.joint_velocities[:, -1])
    if kind == "platform":
        np.testing.assert_array_equal(
            table["universal_moment_6z"], study.reactions.universal_moment[:, 5, 2]
        )
    with pytest.raises(OutputError, match="cannot be written"):
        study.write_csv(tmp_path)


@pytest.mark.slow
def test_figures_of_a_platform_and_of_an_arm(path_one, puma, tmp_path):
    pytest.importorskip("matplotlib")
    figures = path_one.plot()
    assert set(figures) == {
        "forces", "dynamic_fraction", "condition_number", "joints", "reactions", "formulations",
        "path"}  # fmt: skip
    axes = figures["forces"].axes
    assert len(axes) == 6
    assert len({line.get_linestyle() for line in axes[0].lines}) == 2  # solid, and two of dashes
    shown = axes[2].lines[0].get_ydata()
    assert shown.max() == path_one.forces[:, 2].max()
    assert shown.min() == path_one.forces[:, 2].min()
    figures["forces"].savefig(tmp_path / "forces.png", dpi=30)
    study = rd.analyze(puma, rd.plan_joints(np.zeros(6), np.ones(6), duration=1.0), 0.1)
    assert set(study.plot()) == {"forces", "condition_number", "joints", "path"}


def test_figures_need_matplotlib(path_one, monkeypatch):
    monkeypatch.delitem(sys.modules, "robodyn.report.images", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"matplotlib.*: .*pip install"):
        path_one.plot()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"dt": 0.0}, "dt is 0.0, must be above"),
        ({"formulation": "best"}, "formulation is 'best', expected one of exact"),
        ({"wrench": [1.0]}, r"wrench has shape \(1,\)"),
        ({"characteristic_length": -1.0}, "characteristic_length is -1.0"),
    ],
)
def test_arguments_out_of_range_are_refused(dasgupta, arguments, text):
    with pytest.raises(InvalidInput, match=text):
        rd.analyze(dasgupta, rd.paper_path("I"), **arguments)


def test_an_arm_has_one_formulation(puma):
    with pytest.raises(InvalidInput, match="an arm has only exact"):
        rd.analyze(puma, rd.load_path("puma"), formulation="massless")
