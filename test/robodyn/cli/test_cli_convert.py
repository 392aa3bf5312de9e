# SPDX-License-Identifier: Apache-2.0

"""`robodyn convert`: another format by the file's ending."""

import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".sdf", ".urdf", ".yaml"])
def test_a_converted_model_is_the_same(tmp_path, ending):
    file = tmp_path / f"delta{ending}"
    done = CliRunner().invoke(app, ["convert", "delta", str(file)])
    assert (done.exit_code, str(file) in done.stdout) == (0, True), done.output
    assert rd.load(file) == rd.load("delta")
    again = CliRunner().invoke(app, ["convert", "delta", str(file)])
    assert again.exit_code == 1
    assert CliRunner().invoke(app, ["convert", "delta", str(file), "--force"]).exit_code == 0
