# SPDX-License-Identifier: Apache-2.0

"""Thousands of public calls with hostile arguments: a result, or an error in robodyn's words."""

from __future__ import annotations

import inspect
import re
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd

# Hostile calls that take some 20 s in all, compilation apart.
USUAL = 700
NAMES = ("puma560", "stewart_symmetric", "fivebar")
# Names that take seconds; that cannot be instantiated; and settings of the process.
LEFT_OUT = ("assemblies", "Mechanism", "Trajectory", "exciting_trajectory", "export",
            "set_threads", "workspace", "plot", "to_html", "to_xarray")  # fmt: skip
# Durations of motions, and of what takes a budget [s].
SHORT = 0.02


class Odd:
    """An object that is nothing else."""


def junk(rng):
    """Make something that is hardly an argument."""
    size = int(rng.choice([0, 1, 2, 3, 5, 6, 7, 8, 9, 13]))
    return CHOICES[int(rng.integers(len(CHOICES)))](rng, size)


CHOICES = (
    lambda rng, n: None,
    lambda rng, n: "x" * n,
    lambda rng, n: b"\0" * n,
    lambda rng, n: Odd(),
    lambda rng, n: Odd,
    lambda rng, n: {"a": n},
    lambda rng, n: [Odd()] * n,
    lambda rng, n: ["1"] * n,
    lambda rng, n: [None] * n,
    lambda rng, n: [[1.0] * n, [1.0]],
    lambda rng, n: rng.uniform(-1, 1, n),
    lambda rng, n: rng.uniform(-1, 1, n).tolist(),
    lambda rng, n: rng.uniform(-1, 1, (2, n)),
    lambda rng, n: rng.uniform(-1, 1, (n, 2, 3)),
    lambda rng, n: rng.uniform(-1, 1, n).astype(np.float32),
    lambda rng, n: rng.uniform(-1, 1, n) * 1j,
    lambda rng, n: np.full(n, np.nan),
    lambda rng, n: np.full(n, np.inf),
    lambda rng, n: np.full(n, 1e308),
    lambda rng, n: np.full(n, 1e-320),
    lambda rng, n: np.full(n, 1e12),
    lambda rng, n: np.zeros(n, dtype=object),
    lambda rng, n: np.array([Odd()] * n, dtype=object),
    lambda rng, n: np.zeros(n, dtype=bool),
    lambda rng, n: np.arange(n),
    lambda rng, n: np.zeros(n, dtype="datetime64[s]"),
    lambda rng, n: np.array(["x"] * n),
    lambda rng, n: np.zeros(n, dtype=[("a", float)]),
    lambda rng, n: float(n),
    lambda rng, n: -n,
    lambda rng, n: 10**400,
    lambda rng, n: 1j,
    lambda rng, n: True,
    lambda rng, n: float("nan"),
    lambda rng, n: lambda *_: n,
    lambda rng, n: range(n),
    lambda rng, n: iter(range(n)),
    lambda rng, n: Path("x"),
)


def good(name, annotation, mechanism, rng):
    """An argument that is right by its name, or none."""
    home, size = mechanism.home, mechanism.coordinates.velocity_size
    if name in ("m", "mechanism"):
        return mechanism
    if name in ("path", "trajectory") and "Trajectory" in annotation:
        return rd.plan_straight(mechanism, home, home, duration=SHORT)
    if name == "controller":
        return rd.ComputedTorque(mechanism)
    if name in ("duration", "budget"):
        return SHORT
    if name in ("q", "configuration", "start", "goal", "guess", "pose"):
        return home
    if "ArrayLike" in annotation or "FloatArray" in annotation:
        return rng.uniform(-0.1, 0.1, size)
    if annotation == "str":
        return mechanism.frames[-1]
    return 1.0 if "float" in annotation else 1


def objects(m):
    """A mechanism, and objects and results of it that have methods."""
    size = m.coordinates.velocity_size
    path = rd.plan_straight(m, m.home, m.advance(m.home, np.full(size, 0.01)), duration=0.1)
    control = rd.ComputedTorque(m)
    batch = rd.BatchPlant(m, count=3, dt=1e-3)
    result = rd.simulate(m, control, path, dt=1e-3)
    motion = rd.time_optimal(m, path)
    observer = rd.WrenchObserver(m, 0.01)
    yield from (m, m.drives, path, control, batch, result, motion, observer)
    yield from (rd.Plant(m), rd.analyze(m, path), rd.workspace(m, budget=1.0))


def calls():
    """Names and functions: methods of objects, and functions of the package."""
    mechanisms = [rd.load(name) for name in NAMES]
    found = []
    for mechanism in mechanisms:
        for made in objects(mechanism):
            kind = type(made)
            for name in dir(kind):
                method = getattr(made, name) if inspect.isfunction(getattr(kind, name)) else None
                if inspect.ismethod(method) and not name.startswith("_") and name not in LEFT_OUT:
                    found.append((f"{mechanism.name}.{kind.__name__}.{name}", method, mechanism))
    public = {name: getattr(rd, name) for name in rd.__all__ if name not in LEFT_OUT}
    return found + [
        (name, value, mechanism)
        for name, value in public.items()
        if not (inspect.isclass(value) and issubclass(value, Exception)) and callable(value)
        for mechanism in mechanisms
    ]


def arguments(function, mechanism, rng):
    """Most arguments right, one or more hostile."""
    given, keywords = [], {}
    parameters = list(inspect.signature(function).parameters.values())
    hostile = int(rng.integers(max(len(parameters), 1)))
    for number, each in enumerate(parameters):
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        wrong = number == hostile or rng.uniform() < 0.15
        value = junk(rng) if wrong else good(each.name, str(each.annotation), mechanism, rng)
        if not wrong and each.default is not each.empty and each.name not in ("duration", "budget"):
            continue
        if each.kind == each.KEYWORD_ONLY or given is None or len(given) < number:
            if each.kind != each.POSITIONAL_ONLY:
                keywords[each.name] = value
        else:
            given.append(value)
    return given, keywords


def run(function, given, keywords):
    """The error of another kind than robodyn's that a call ends in, and what it ended in."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            function(*given, **keywords)
        except rd.RobodynError as error:
            return (error, "too long") if len(str(error)) > 4000 else (None, "refused")
        except Exception as error:
            return error, "fault"
    return None, "accepted"


def place_of(error):
    """The last line of the package in an error's traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [(Path(each.filename), each.lineno) for each in frames]
    inside = [f"{file.name}:{line}" for file, line in own if "robodyn" in file.parts]
    return inside[-1] if inside else ""


def storm_of_calls(rng, rounds):
    """Faults by kind and place, and how many calls ended in what."""
    found, faults = calls(), {}
    outcomes = {"accepted": 0, "refused": 0}
    for _ in rounds:
        name, function, mechanism = found[int(rng.integers(len(found)))]
        given, keywords = arguments(function, mechanism, rng)
        try:
            inspect.signature(function).bind(*given, **keywords)
        except TypeError:
            continue
        error, ended = run(function, given, keywords)
        outcomes[ended] = outcomes.get(ended, 0) + 1
        if error is not None:
            shown = re.sub(r"\s+", " ", f"{given} {keywords}")[:300]
            key = f"{type(error).__name__} in {name} at {place_of(error)}"
            faults.setdefault(key, f"{str(error)[:200]} of {shown}")
    return faults, outcomes


@pytest.mark.filterwarnings("ignore")
def test_hostile_calls_end_in_a_result_or_in_a_robodyn_error(rng, storm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    faults, outcomes = storm_of_calls(rng, storm(USUAL))
    assert not faults
    assert min(outcomes.values()) > 0
