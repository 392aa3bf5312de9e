# SPDX-License-Identifier: Apache-2.0

"""Invalid specifications of sweeps are rejected in one line with the remedy."""

import math
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.errors import InvalidInput, ModelError, OutputError, RobodynError


@pytest.mark.parametrize(
    ("axes", "text"),
    [
        ({}, "no axis to sweep along"),
        ({"z": 0.8}, "no axis to sweep along"),
        ({"xx": "0:1:3"}, "no coordinate 'xx' to sweep; did you mean"),
        ({"joint1": "0:1:3"}, "no coordinate 'joint1' to sweep; .* x, y, z, roll"),
        ({"x": "nan:1:3"}, "axis x=nan:1:3 is not finite"),
        ({"x": "0:inf:3"}, "is not finite"),
        ({"x": "-1.7e308:1.7e308:3"}, "is not finite"),
        ({"x": "0.2:-0.2:41"}, "runs from 0.2 to -0.2, expected low < high"),
        ({"x": "0.2:0.2:41"}, "expected low < high"),
        ({"x": "0:1:0"}, "number of values is '0'"),
        ({"x": "0:1:-5"}, "number of values is '-5'"),
        ({"x": "0:1:2.5"}, "number of values is '2.5'"),
        ({"x": "0:1:1e3"}, "number of values is '1e3'"),
        ({"x": "0:1:99999999999999999999999"}, "expected a whole number from 1 to 1000000"),
        ({"x": "0:1:3:4"}, "has 4 parts"),
        ({"x": "0:1"}, "lacks its number of values: write x=0:1:21"),
        ({"x": ""}, "'' is not a number"),
        ({"x": "::"}, "'' is not a number"),
        ({"x": "a:b:c"}, "'a' is not a number"),
        ({"x": "0,1,0.5"}, "must be strictly increasing"),
        ({"x": "0,nan"}, r"axis x\[1\] is nan"),
        ({"x": "nan"}, "axis x is nan"),
        ({"x": []}, r"has shape \(0,\)"),
        ({"x": [[0.0, 1.0]]}, r"has shape \(1, 2\)"),
        ({"x": [1.0, 1.0]}, "must be strictly increasing"),
        ({"x": None}, "axis x is nan"),
        ({"x": [1.0, "b"]}, "axis x must be numbers"),
        ({"x": "1:1.0000000000000002:3"}, "cannot be distinguished"),
        ({"payload": "-1:1:3"}, "axis payload has the value -1, must be at least 0"),
        ({"x": "0:1:3", "payload": -1.0}, "must be at least 0"),
        ({"base_scale": "0:1:3"}, "must be at least 1e-06"),
        ({"x": "0:1:1000000", "y": "0:1:1000000"}, "more than 1e[+]11 states"),
        ({"x": "0:1:100000", "y": "0:1:1000000"}, "use coarser axes or a larger chunk"),
    ],
)
def test_bad_axes(symmetric, axes, text):
    with pytest.raises(InvalidInput, match=text) as refused:
        rd.sweep(symmetric, axes)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"quantities": ["beauty"]}, "no quantity 'beauty'; expected one of condition_number"),
        ({"characteristic_length": 0.0}, "characteristic_length is 0.0, must be above 0"),
        ({"characteristic_length": math.nan}, "characteristic_length is nan"),
        ({"accelerations": [1.0, 2.0]}, r"accelerations has shape \(2,\), expected"),
        ({"wrenches": [-1.0, 0, 0, 0, 0, 0]}, "expected half-widths of at least 0"),
        ({"chunk": 0}, "chunk is 0"),
        ({"chunk": 1e9}, "chunk is 1000000000.0, expected a whole number from 1 to 1000000"),
        ({"samples": 0}, "samples is 0"),
        ({"samples": 1.5}, "samples is 1.5, expected a whole number"),
        ({"samples": 10, "seed": -1}, "seed is -1"),
        ({"samples": 10, "method": "guess"}, "method is 'guess', expected one of sobol, random"),
        ({"samples": 2**25}, "expected at most 16777216 with a Sobol sequence"),
        (
            {"samples": 10, "axes": {"x": "0:1:3"}},
            "3 values, but samples were requested: write x=0:1",
        ),
        ({"samples": 10, "axes": {"x": [0.0, 1.0]}}, "list of values, but samples"),
        ({"samples": 10, "axes": {"x": 0.1}}, "no range to sample"),
        ({"samples": 10, "axes": {"x": "1:0"}}, "expected low < high"),
    ],
)
def test_invalid_arguments_of_a_sweep_are_refused(symmetric, changes, text):
    axes = changes.pop("axes", {"x": "0:0.1" if "samples" in changes else "0:0.1:3"})
    with pytest.raises(InvalidInput, match=text):
        rd.sweep(symmetric, axes, **changes)


def test_no_mechanism_no_axes(symmetric):
    with pytest.raises(InvalidInput, match="axes is 'x=0:1:2', expected a dictionary"):
        rd.sweep(symmetric, "x=0:1:2")
    with pytest.raises(InvalidInput, match="mechanism is 3"):
        rd.sweep(3, {"x": "0:1:2"})
    with pytest.raises(ModelError, match="no model or file"):
        rd.sweep("nowhere", {"x": "0:1:2"})


@pytest.mark.parametrize("name", ["map", "map.csv", ".zarr", "map.nc.gz", ""])
def test_outputs_of_no_known_kind(symmetric, tmp_path, name):
    with pytest.raises(OutputError, match=r"ends in \.zarr or \.nc"):
        rd.sweep(symmetric, {"x": "0:0.1:2"}, output=str(tmp_path / name) if name else "")


def test_an_output_that_cannot_be_written(symmetric):
    with pytest.raises(OutputError, match="cannot be written"):
        rd.sweep(symmetric, {"x": "0:0.1:2"}, output="/dev/null/map.zarr")


def test_random_specifications_are_swept_or_refused_in_a_line(symmetric, rng):
    words = ["x", "payload", "wrist", "0", "1", "-3e400", "nan", ":", "::", ",", "1e-320", "é", "5"]
    refused = []
    for _ in range(400):
        text = "".join(rng.choice(words, size=rng.integers(0, 6)))
        name = str(rng.choice(["x", "yaw", "payload", "force_x", "", "x=", "\n"]))
        try:
            data = rd.sweep(symmetric, {name: text, "y": [0.0]})
            assert data.reachable.size > 0
        except RobodynError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert {len(text.splitlines()) for text in refused} == {1}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("x",), "axis is 'x', expected a form such as x=-0.2:0.2:41"),
        (("=0:1:2",), "expected a form such as"),
        (("x=0:1:2", "x=0:1:3"), "axis x is given twice"),
        (("x=1:0:2",), "expected low < high"),
        (("x=0:1:2", "--accelerations", "1,b"), "accelerations is '1,b', expected numbers"),
        (("x=0:1:2", "--wrenches", "1,2"), "wrenches has shape (2,)"),
        (("x=0:1:2", "-q", "beauty"), "no quantity 'beauty'"),
        (("x=0:1:2", "--output", "map.txt"), "ends in .zarr or .nc"),
        (("x=0:1:2", "--scheduler", "nonsense://nowhere"), "no Dask scheduler"),
    ],
)
def test_the_command_refuses_in_one_line(tmp_path, arguments, text):
    shutil.rmtree(tmp_path / "map.zarr.unfinished", ignore_errors=True)
    given = ["map", "stewart_symmetric", "--output", str(tmp_path / "map.zarr"), *arguments]
    result = CliRunner().invoke(app, given)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: ")
    assert text in result.stderr
    assert result.stderr.count("\n") == 1


def test_numbers_beyond_floating_point_are_out_of_reach(symmetric):
    data = rd.sweep(symmetric, {"x": [0.0, 1e200, 1e308], "force_x": 1e300}, ["effort"])
    assert data.reachable.values.tolist() == [True, False, False]
    assert np.isnan(data.effort[1:]).all()
