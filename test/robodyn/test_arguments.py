# SPDX-License-Identifier: Apache-2.0

"""Wrong arguments of public functions are refused by name; other errors stay what they are."""

from __future__ import annotations

import importlib
import inspect
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Literal, get_args, get_type_hints

import numpy as np
import pytest

import robodyn as rd
from robodyn.arguments import with_checked_arguments
from robodyn.designing.design import OBJECTIVES
from robodyn.errors import InvalidInput


@pytest.fixture(scope="module")
def arm():
    return rd.load("puma560")


class Odd:
    """An object that is nothing else."""


WRONG = {
    "mechanism": (lambda m: rd.workspace(Odd()), "mechanism is a Odd, expected Mechanism"),
    "settings": (lambda m: rd.workspace(m, settings={}), "settings is a dict, expected Workspace"),
    "path": (lambda m: rd.save(m, 7), "file is 7, expected a path"),
    "text": (lambda m: rd.paper_path([]), "name is a list, expected a string"),
    "word": (
        lambda m: rd.plan_joints(m.home, m.home, 1.0, profile=np.array(["lspb"] * 2)),
        "expected one of lspb, cubic, quintic, cycloidal",
    ),
    "callable": (
        lambda m: rd.analyze(m, rd.plan_joints(m.home, m.home + 0.1, 1.0), progress=1j),
        "progress is 1j, expected Callable",
    ),
    "protocol": (lambda m: rd.analyze(m, np.zeros(6)), "trajectory is a ndarray, expected Traj"),
    "collection": (lambda m: m.without_dry_friction(1j), "undamped is 1j, expected Collection"),
    "elements": (lambda m: rd.sweep(m, {}, 7), "quantities is 7, expected Collection[str]"),
    "constructor": (lambda m: rd.ComputedTorque(Odd()), "mechanism is a Odd, expected Mechanism"),
    "number": (lambda m: m.with_payload([Odd()]), "mass must be numbers"),
    "arity": (lambda m: rd.plan_path(m, m.home, m.home, progress=Odd), "progress is a type, exp"),
    "count": (lambda m: rd.exciting_trajectory(m, trials=10**9), "a whole number from 1 to"),
    "scheduler": (
        lambda m: rd.workspace(m, scheduler=np.zeros(3)),
        "scheduler is a ndarray, expected the address of a Dask scheduler",
    ),
    "ragged": (
        lambda m: rd.PredictiveParameters(horizon=[[1.0, 2.0], [1.0]]),
        "horizon",
    ),
    "overflow": (lambda m: rd.exciting_trajectory(m, trials=10**400), "too large to convert"),
}


@pytest.mark.parametrize(("call", "words"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_refused_by_its_name(arm, call, words):
    with pytest.raises(rd.RobodynError) as caught:
        call(arm)
    assert words in str(caught.value)


def test_errors_that_no_argument_explains_stay_what_they_are(arm):
    def fail(part):
        raise ValueError("of the caller")

    with pytest.raises(ValueError, match="of the caller"):
        rd.analyze(arm, rd.plan_joints(arm.home, arm.home + 0.1, 1.0), progress=fail)

    @with_checked_arguments
    def faulty(count: int) -> float:
        return {}[count]

    with pytest.raises(KeyError):
        faulty(3)
    with pytest.raises(InvalidInput, match="count must be numbers"):
        faulty("x")


def test_every_public_function_and_constructor_is_guarded():
    for name in rd.__all__:
        public = getattr(rd, name)
        if inspect.isfunction(public):
            assert hasattr(public, "guards"), name
        elif "__init__" in vars(public) and not issubclass(public, Exception):
            assert hasattr(vars(public)["__init__"], "guards") or public is rd.Trajectory, name


def test_results_of_functions_are_guarded_before_their_class_is_named():
    done = subprocess.run([sys.executable, "-c", RESULTS], capture_output=True, text=True)
    assert done.stdout.split() == ["InvalidInput"] * 3, done.stderr


RESULTS = """
import robodyn as rd
m = rd.load("fivebar")
path = rd.plan_straight(m, m.home, m.home, duration=0.1)
region, study = rd.workspace(m, budget=1.0), rd.analyze(m, path)
cut = m.drives.cut_efforts
for call in (lambda: region.save([1.0]), lambda: study.write_csv(3), lambda: cut("x")):
    try:
        call()
    except Exception as error:
        print(type(error).__name__)
"""


def test_no_folder_or_module_takes_the_place_of_a_public_name():
    """`import robodyn.models` would replace the function `rd.models` if a folder had this name."""
    package = Path(rd.__file__).parent
    assert not {each.stem for each in package.iterdir()} & set(rd.__all__)
    assert importlib.import_module("robodyn.bundled")
    assert "puma560" in rd.models()


def test_public_functions_can_be_pickled():
    assert pickle.loads(pickle.dumps(rd.plan_joints)) is rd.plan_joints


def test_words_are_literals_that_editors_know():
    hints = get_type_hints(rd.plan_line)
    assert set(get_args(hints["profile"])) == {"lspb", "cubic", "quintic", "cycloidal"}
    for word in get_args(hints["profile"]):
        assert rd.plan_joints(np.zeros(1), np.ones(1), 1.0, profile=word).duration == 1.0
    assert "pedrammehr2012" in get_args(get_type_hints(rd.analyze)["formulation"])
    objective = get_args(get_type_hints(rd.design)["objective"])[0]
    assert set(get_args(objective)) == set(OBJECTIVES)
    integrators = Literal["rk4", "semi_implicit", "dop853"]
    assert get_type_hints(rd.SimulationSettings)["integrator"] == integrators
