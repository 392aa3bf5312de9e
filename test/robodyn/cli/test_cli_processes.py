# SPDX-License-Identifier: Apache-2.0

"""The command as a separate process, with the installed typer, click and numba.

`make test-versions` runs these tests with the oldest and the newest of them.
"""

import inspect
import json
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from typer.testing import CliRunner

import robodyn
from robodyn.cli import app
from robodyn.cli.commands import add_command, application, declaration, options_of

pytestmark = pytest.mark.slow


def robodyn_command(*arguments):
    command = [sys.executable, "-m", "robodyn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def plain(text):
    """Without the frames that rich draws, in one line."""
    return " ".join(text.replace("│", " ").split())


def test_declarations_are_in_the_form_that_every_typer_understands():
    # typer 0.4 knows no Annotated; typer 0.9 misses it where annotations are strings
    assert len(app.registered_commands) >= 9
    for command in app.registered_commands:
        for name, parameter in inspect.signature(command.callback).parameters.items():
            assert not isinstance(parameter.annotation, str), name
            assert typing.get_origin(parameter.annotation) is not typing.Annotated, name
            assert type(parameter.default).__name__ in ("OptionInfo", "ArgumentInfo"), name


def test_a_parameter_without_a_description_is_refused():
    def command(file: "str", /, *, depth: "int" = 1) -> None:
        """A command.

        Args:
            depth: How deep.
        """

    with pytest.raises(TypeError, match="parameter 'file' of type str is not described"):
        declaration(command)


def test_options_of_a_library_function_have_its_types_defaults_and_help():
    def library(
        rate: "float" = 2.5,
        *,
        steps: "int | None" = None,
        at: "ArrayLike" = (),  # noqa: F821
    ) -> None:
        """Return the names that are called.

        Args:
            rate: [Hz] of the
                samples.
            steps, at: (n,) further numbers.
        """

    def command(
        *, given: "dict" = options_of(library, "steps", vectors="at", speed="rate")
    ) -> None:
        """A command."""
        seen.append(given)

    seen = []
    app = application("app", "About.")
    add_command(app, "command", declaration(command, steps="-n"), lambda: command)
    add_command(app, "other", declaration(command), lambda: command)
    run = CliRunner().invoke
    assert run(app, ["command", "-n", "3", "--at", "1 2"]).exit_code == 0
    assert run(app, ["other", "--speed", "7"]).exit_code == 0
    assert seen == [
        {"steps": 3, "at": [1.0, 2.0], "rate": 2.5},
        {"steps": None, "at": None, "rate": 7.0},
    ]
    text = plain(run(app, ["command", "--help"]).stdout)
    assert "[Hz] of the samples. [default: 2.5]" in text
    assert "Further numbers." in text
    refused = run(app, ["other", "--at", "1 b"])
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)


def test_the_command_prints_its_version():
    result = robodyn_command("--version")
    assert (result.returncode, result.stdout) == (0, f"robodyn {robodyn.__version__}\n")


def test_help_shows_options_as_options_with_their_defaults_and_units():
    result = robodyn_command("analyze", "--help")
    assert result.returncode == 0
    text = plain(result.stdout)
    assert "--characteristic-length" in text
    assert "--json" in text
    assert "Sampling interval [s]." in text
    assert "[default: 0.001]" in text
    assert "Bundled name, or path to a .urdf, .xacro, .sdf, .xml or .yaml file" in text


def test_completion_is_offered():
    assert "--install-completion" in robodyn_command("--help").stdout


def test_json_and_exit_codes():
    models = robodyn_command("models", "--json")
    assert models.returncode == 0
    assert "puma560" in [row["name"] for row in json.loads(models.stdout)]
    refused = robodyn_command("check", "no_such_robot", "--json")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("error: no model or file named 'no_such_robot'")
    assert len(refused.stderr.splitlines()) == 1
    misspelt = robodyn_command("check", "puma560", "--jsn")
    assert misspelt.returncode == 2
    assert "--jsn" in misspelt.stderr


def test_a_warning_about_a_file_is_one_line_without_the_code_that_raised_it(tmp_path):
    text = (Path(robodyn.__file__).parent / "bundled" / "delta.urdf").read_text()
    foreign = '<gazebo reference="base_link"><selfCollide>true</selfCollide></gazebo></robot>'
    (tmp_path / "robot.urdf").write_text(text.replace("</robot>", foreign))
    converted = robodyn_command(
        "convert", str(tmp_path / "robot.urdf"), str(tmp_path / "robot.sdf")
    )
    (line,) = [line for line in converted.stderr.splitlines() if "<selfCollide>" in line]
    assert line.startswith("warning: ")
    assert "robot.urdf" in line
    assert ".py" not in converted.stderr


def test_options_take_values_and_lists():
    options = "--path", "I", "--dt", "0.5", "--json", "--formulation", "massless"
    found = json.loads(robodyn_command("analyze", "stewart_dasgupta", *options).stdout)
    assert (found["path"], found["formulation"], found["duration"]) == ("I", "massless", 6.0)
    assert found["samples"] < 20  # one every 0.5 s, and the ends of the blends
    several = robodyn_command("map", "puma560", "joint1=0:1:2", "joint1=0", "-o", "map.zarr")
    assert (several.returncode, several.stderr) == (1, "error: axis joint1 is given twice\n")
    assert "required" in plain(robodyn_command("map", "--help").stdout)


def test_commands_that_take_a_model_say_how_its_file_is_read():
    reading = {"base_link", "tip_link", "hold_branches", "driven", "xacro_arg", "package_path"}
    found = {
        command.name: reading <= set(inspect.signature(command.callback).parameters)
        for command in app.registered_commands
    }
    without = {"models", "new", "schema", "report", "compile", "doctor", "design"}
    assert {name for name, has in found.items() if not has} == without
