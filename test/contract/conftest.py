"""Fixtures of the contract of every kind: bundled models, random mechanisms and states."""

from __future__ import annotations

import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import UnphysicalInertiaWarning

# their folders are those of other tests
sys.path += [str(Path(__file__).parents[1] / "robodyn" / "solvers" / kind)
             for kind in ("tree", "serial", "stewart")]  # fmt: skip
from machines import walker, written
from random_mechanisms import branched, parallel, regular, single_loop
from serial_arms import random_arm
from stewart_mechanisms import random_platform

from robodyn.solvers.tree.closing import tangent


def steady(draw):
    """Draws a random loop that goes a way before it comes to a singularity."""

    def drawn(rng):
        while True:
            m = regular(rng, draw)[1]
            if np.abs(tangent(m, m.home)).max() < 2.0:
                return m

    return drawn


def two_motors(rng):
    """A random tripod whose third motor is a passive joint."""
    model = steady(parallel)(rng).model
    return rd.ClosedLoop(replace(model, driven=model.driven[:2]))


def cables(rng):
    """A platform on eight cables: more motors than freedoms, and they only pull."""
    with tempfile.TemporaryDirectory() as folder:
        return rd.load(written(Path(folder)))


RANDOM = {
    "random 6-UPS": random_platform,
    "random 6-SPS": lambda rng: random_platform(rng, "spherical"),
    "random arm": lambda rng: random_arm(rng, 7),
    "random loop": steady(single_loop),
    "random tripod": steady(parallel),
    "random planar tripod": steady(lambda rng: parallel(rng, ["revolute"] * 3, planar=True)),
    "random branches": steady(branched),
    "cables": cables,
}


# They have fewer motors than degrees of freedom, so inverse dynamics has no solution.
UNDER_ACTUATED = {
    "walker": lambda rng: rd.load(walker(), base="moving"),
    "random tripod with two motors": two_motors,
}


class State(NamedTuple):
    """A batch of closed configurations (..., nq) with velocity and acceleration (..., nv)."""

    configuration: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def load(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        return rd.load(name)


_LOADED = {}


@pytest.fixture
def named(random_numbers):
    """Mechanisms by name; all tests share them."""

    def find(name):
        if name not in _LOADED:
            draw = (RANDOM | UNDER_ACTUATED).get(name)
            _LOADED[name] = draw(random_numbers(name)) if draw else load(name)
        return _LOADED[name]

    return find


def each(*names):
    """A fixture of mechanisms by name."""

    @pytest.fixture(params=names)
    def mechanism(request, named):
        return named(request.param)

    return mechanism


bundled = each(*sorted(rd.models()))
# Files say all there is to them, and what is not driven has no armature.
described = each(*sorted(rd.models()), "random 6-UPS", "random arm", "cables", "walker")
actuated = each(*sorted(rd.models()), *RANDOM)
under_actuated = each(*UNDER_ACTUATED)
mechanism = each(*sorted(rd.models()), *RANDOM, *UNDER_ACTUATED)
CALLS = (
    *("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "jacobian"),
    *("condition_number", "body_pose", "joint_positions", "joint_velocities"),
)
ASKED = [
    (name, call)
    for name in (*sorted(rd.models()), *RANDOM, *UNDER_ACTUATED)
    for call in CALLS
    if name not in UNDER_ACTUATED or call != "inverse_dynamics"
]


@pytest.fixture(params=ASKED, ids="-".join)
def asked(request, named):
    """Return a mechanism, and the name of a call that it supports."""
    name, call = request.param
    return named(name), call


@pytest.fixture
def states(rng):
    """Draws states of a mechanism near its home, in a batch of any shape."""

    def draw(m, shape=()):
        nv = m.coordinates.velocity_size
        count = int(np.prod(shape))
        # every bundled mechanism moves freely by a twentieth of a meter or a radian from home
        steps = rng.uniform(-0.05, 0.05, (count, nv)) * min(1.0, 2.0 * m.size)
        configurations = np.array([m.advance(m.home, step) for step in steps])
        return State(
            configurations.reshape(*shape, m.coordinates.configuration_size),
            rng.uniform(-1.0, 1.0, (*shape, nv)),
            rng.uniform(-1.0, 1.0, (*shape, nv)),
        )

    return draw


@pytest.fixture
def questions():
    """Return the calls that every mechanism supports, and their arguments, by name."""

    def ask(m, state, efforts, wrench):
        q, v, a = state
        return {
            "inverse_dynamics": (q, v, a, wrench),
            "forward_dynamics": (q, v, efforts, wrench),
            "mass_matrix": (q,),
            "bias": (q, v),
            "jacobian": (q,),
            "condition_number": (q,),
            "body_pose": (q,),
            "joint_positions": (q,),
            "joint_velocities": (q, v),
        }

    return ask
