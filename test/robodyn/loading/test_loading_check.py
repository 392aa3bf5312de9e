# SPDX-License-Identifier: Apache-2.0

"""`robodyn check` and `robodyn models`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app

pytestmark = pytest.mark.slow

URDF = Path(__file__).parents[3] / "urdf"


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_the_models_command_lists_bundled_models(run):
    assert all(name in run("models").output for name in rd.models())
    rows = json.loads(run("models", "--json").output)
    assert [row["name"] for row in rows] == list(rd.models())


def test_check_agrees_with_the_urdf(run):
    result = run("check", "stewart_dasgupta", "--against", URDF / "stewart_dasgupta.urdf.xacro")
    assert result.exit_code == 0
    for text in ("agrees", "leg6_actuator", "64 kg in 13 bodies", "condition number", "unphysical"):
        assert text in result.output


def test_check_json(run, golden):
    found = json.loads(run("check", "stewart_dasgupta", "--json").output)
    assert found["kind"] == "stewart"
    assert found["mass"] == 64.0
    assert len(found["unphysical"]) == 3
    assert found["remarks"] == []
    # home is the start of Path I
    assert found["condition_number"]["value"] == pytest.approx(
        golden["stewart_dasgupta"]["paths"]["I"]["cond"][0], rel=1e-9
    )
    assert [joint["home"] for joint in found["joints"]] == pytest.approx(
        golden["stewart_dasgupta"]["paths"]["I"]["lengths"][0], rel=1e-9
    )


def test_check_names_what_differs(run):
    result = run("check", "stewart_dasgupta", "--against", "stewart_symmetric", "--json")
    assert result.exit_code == 1
    lines = json.loads(result.output)["against"]["differences"]
    assert any(line.startswith("platform.mass: 40.0 against 250.0") for line in lines)
    assert "differs" in run("check", "stewart_dasgupta", "--against", "stewart_symmetric").output


@pytest.mark.parametrize("words", [("nobody",), ("stewart_dasgupta", "--strict")])
def test_check_refuses_in_one_line(words, run):
    result = run("check", *words)
    assert result.exit_code == 1
    assert result.output.startswith("error: ")
    assert result.output.count("\n") == 1


def test_check_notes_a_home_out_of_reach(run, document, yaml_file):
    for leg in document["legs"]:
        leg["limits"]["length"] = [0.001, 50.0]
    document["legs"][1]["limits"]["length"] = [50.0, 60.0]
    result = run("check", yaml_file(document))
    assert result.exit_code == 0
    assert any("leg2_actuator" in note for note in result.output.split("note:")[1:])


def test_check_names_a_singular_home(run):
    """The wrist of the Puma is straight at home: axes 4 and 6 are in line."""
    assert (
        "condition number at home: infinite, home is a singular" in run("check", "puma560").output
    )


def test_check_tables_lose_no_digits_in_a_pipe(run):
    """The limits of the Puma's joints, -2.7925 to 2.7925 rad and others, with four digits."""
    output = run("check", "puma560").output
    assert "…" not in output
    limits = rd.load("puma560").position_limits
    assert all(f"{limit:.4g}" in output for limit in limits.ravel())


def test_check_without_home(run, document, yaml_file):
    del document["home"]
    found = json.loads(run("check", yaml_file(document), "--json").output)
    assert found["home"] is None
    assert "no home pose" in found["remarks"][0]
