# SPDX-License-Identifier: Apache-2.0

"""`robodyn new` and `robodyn schema`: files that load as they are and that an editor can check."""

import json
import warnings
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from six_legs import six_legs
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.errors import OutputError
from robodyn.formats import write_text

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        ("hexapod", "stewart"),
        ("arm", "serial"),
        *((what, "closed_loop") for what in ("delta", "servo-hexapod", "ball-balancer",
                                             "linear-delta", "tripod", "rail-hexapod", "five-bar")),
    ],
)  # fmt: skip
def test_a_new_file_loads_strictly_names_no_path_and_keeps_to_the_schema_of_its_kind(
    run, tmp_path, what, kind
):
    result = run("new", what)
    assert (result.exit_code, result.stderr) == (0, "")
    file = tmp_path / f"my_{what}.yaml"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mechanism = rd.load(file, strict=True)
    assert (mechanism.name, mechanism.kind) == (f"my_{what}", kind)
    text = file.read_text()
    assert not any(str(folder) in text for folder in (Path.home(), Path(rd.__file__).parent))
    assert f"robodyn schema {kind} --line" in result.stdout
    line = run("schema", kind, "--line").stdout
    assert line.startswith("# yaml-language-server: $schema=")
    with open(line.strip().partition("=")[2]) as stream:
        known = json.load(stream)
    jsonschema.validate(yaml.safe_load(text), known)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text) | {"tyop": 1}, known)


def test_dimensions_of_a_hexapod_are_those_asked_for(run, tmp_path):
    options = "--base-radius", 0.5, "--platform-radius", 0.3, "--height", 0.6, "--stroke", 0.2
    assert run("new", "hexapod", "lab.yaml", *options, "--payload", 40).exit_code == 0
    platform = rd.load(tmp_path / "lab.yaml")
    assert platform.name == "lab"
    assert np.ptp(platform.position_limits, axis=1) == pytest.approx(0.2, abs=2e-4)
    assert platform.home[2] == 0.6
    assert six_legs(platform).platform.mass == 40.0
    radii = [np.linalg.norm(leg.base) for leg in six_legs(platform).legs]
    assert radii == pytest.approx([0.5] * 6, abs=1e-4)


def test_a_delta_of_any_size_holds_itself_and_is_written_with_its_urdf(run, tmp_path):
    sizes = {"base_radius": 0.1, "platform_radius": 0.03, "arm": 0.12, "rod": 0.3, "payload": 0.1}
    options = [
        word for name, size in sizes.items() for word in (f"--{name.replace('_', '-')}", size)
    ]
    assert run("new", "delta", "lab.yaml", *options).exit_code == 0
    delta = rd.load(tmp_path / "lab.yaml", strict=True)
    # the platform hangs where three spheres about the elbows meet, and stays level
    arm, away = sizes["arm"], sizes["base_radius"] - sizes["platform_radius"]
    span = away + arm * np.cos(0.35)
    drop = arm * np.sin(0.35) + np.sqrt(sizes["rod"] ** 2 - span**2)
    pose = delta.link_pose(delta.home, "platform_link")
    np.testing.assert_allclose(pose, [0, 0, -drop, 0, 0, 0, 1], rtol=0, atol=1e-6)
    assert delta.condition_number(delta.home) < 5.0
    assert (np.abs(delta.gravity(delta.home)) < 0.5 * delta.effort_limits).all()
    (tmp_path / "lab.yaml").unlink()
    refused = run("new", "delta", "lab.yaml")
    assert "lab.urdf exists" in refused.stderr
    assert not (tmp_path / "lab.yaml").exists()


def test_a_file_is_not_written_over_unless_asked(run, tmp_path):
    (tmp_path / "mine.yaml").write_text("a day's work")
    refused = run("new", "hexapod", "mine.yaml")
    assert refused.exit_code == 1
    assert "mine.yaml exists" in refused.stderr
    assert "--force" in refused.stderr
    assert (tmp_path / "mine.yaml").read_text() == "a day's work"
    assert run("new", "hexapod", "mine.yaml", "--force").exit_code == 0
    assert rd.load(tmp_path / "mine.yaml").kind == "stewart"


@pytest.mark.parametrize("name", ["yes", "12", "a: b", 'the "blue" one', "two\nlines", "Hexe #2"])
def test_a_name_that_yaml_takes_for_something_else_stays_a_name(run, tmp_path, name):
    assert run("new", "hexapod", "x.yaml", "--name", name).exit_code == 0
    assert rd.load(tmp_path / "x.yaml").name == name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("robot",), "hexapod, delta, servo-hexapod, ball-balancer"),
        (("arm", "--stroke", "0.1"), "--stroke"),
        (("hexapod", "--stroke", "nan"), "--stroke"),
        (("hexapod", "--stroke", "9"), "below"),
        (("hexapod", "--payload", "-1"), "payload"),
        (("delta", "--rod", "0.4"), "too short"),
        (("delta", "other.txt"), "other.yaml"),
        (("hexapod", "somewhere/else.yaml"), "cannot be written"),
        (("hexapod", "plain"), "plain.yaml"),
    ],
)
def test_new_rejects_invalid_arguments_in_one_line_and_writes_nothing(
    run, tmp_path, arguments, words
):
    result = run("new", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: ")
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_schemas_are_listed_printed_and_found(run):
    listed = dict(line.split(": ") for line in run("schema").stdout.splitlines())
    assert {"serial", "stewart", "waypoints"} <= set(listed)
    for name, file in listed.items():
        assert run("schema", name, "--path").stdout == f"{file}\n"
        with open(file) as stream:
            assert json.loads(run("schema", name).stdout) == json.load(stream)
        assert run("schema", name, "--line").stdout.endswith(f"$schema={file}\n")
    assert "waypoints" in run("schema", "poses").stderr


def test_check_says_how_every_number_of_a_new_hexapod_was_understood(run, tmp_path):
    pytest.importorskip("matplotlib")
    run("new", "hexapod")
    result = run("check", "my_hexapod.yaml", "--png", "home.png")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    for words in (
        "base frame base_link, moving frame platform_link",
        "platform joint in the platform's frame",
        "base joint [m]",
        "inertia about it",
        "Reach from home",
        "payload held at home",
    ):
        assert words in text
    assert (tmp_path / "home.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(run("check", "my_hexapod.yaml", "--json").stdout)
    assert [row["variable"] for row in found["at_home"]["reach"]][-1] == "yaw"
    assert found["at_home"]["payload"]["mass"] > 0.0
    assert found["joints"][0]["unit"] == "m"


def test_check_of_an_arm_reports_where_its_joints_are_at_home(run):
    run("new", "arm")
    found = json.loads(run("check", "my_arm.yaml", "--json").stdout)
    table = next(t for t in found["parameters"] if t["title"].startswith("Joints at home"))
    assert table["rows"][0][2:] == ["0, 0, 0", "0, 0, 1"]
    assert table["rows"][1][2] == "0, 0, 0.15"
    assert "position [rad, m]" in table["columns"]


def test_check_refuses_a_picture_that_cannot_be_drawn(run):
    pytest.importorskip("matplotlib")
    result = run("check", "puma560", "--png", "home.nonsense")
    assert result.exit_code == 1
    assert "home.nonsense" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "model.yaml"
    file.write_text("old")
    write = Path.write_text

    def fail(path, text, **more):
        write(path, text[:3], **more)
        raise OSError("no space left on device")

    with monkeypatch.context() as context:
        context.setattr(Path, "write_text", fail)
        with pytest.raises(OutputError, match="no space left"):
            write_text(file, "all new")
    assert file.read_text() == "old"
    assert [*tmp_path.iterdir()] == [file]
    write_text(file, "all new")
    assert file.read_text() == "all new"
    assert write_text(Path("/dev/stdout"), "") == Path("/dev/stdout")
