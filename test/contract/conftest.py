"""What every kind must do: the bundled models, random mechanisms, and random states of them."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import UnphysicalInertiaWarning

# their folders are those of other tests
sys.path += [str(Path(__file__).parents[1] / "robodyn" / "mechanisms" / kind)
             for kind in ("closed_loop", "serial", "stewart")]  # fmt: skip
from random_mechanisms import branched, parallel, regular, single_loop
from serial_arms import random_arm
from stewart_mechanisms import random_platform


def steady(draw):
    """Draws a random loop that goes a way before it comes to a singularity."""

    def drawn(rng):
        while True:
            m = regular(rng, draw)[1]
            if np.abs(m.tangent(m.home)).max() < 2.0:
                return m

    return drawn


RANDOM = {
    "random 6-UPS": random_platform,
    "random 6-SPS": lambda rng: random_platform(rng, "spherical"),
    "random arm": lambda rng: random_arm(rng, 7),
    "random loop": steady(single_loop),
    "random tripod": steady(parallel),
    "random planar tripod": steady(lambda rng: parallel(rng, ["revolute"] * 3, planar=True)),
    "random branches": steady(branched),
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


_LOADED = {name: load(name) for name in rd.models()}


def each(*names):
    """A fixture of mechanisms by name; all tests share them."""

    @pytest.fixture(params=names)
    def mechanism(request, random_numbers):
        name = request.param
        if name not in _LOADED:
            _LOADED[name] = RANDOM[name](random_numbers(name))
        return _LOADED[name]

    return mechanism


bundled = each(*sorted(rd.models()))
# Files say all there is to them, and what is not driven has no armature.
described = each(*sorted(rd.models()), "random 6-UPS", "random arm")
mechanism = each(*sorted(rd.models()), *RANDOM)


@pytest.fixture
def states(rng):
    """Draws states of a mechanism near its home, in a batch of any shape."""

    def draw(m, shape=()):
        nv = m.coordinates.velocity_size
        count = int(np.prod(shape))
        # every bundled mechanism moves freely by a twentieth of a metre or a radian from home
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
    """The calls that every mechanism answers, by name: a state's arguments in their order."""

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
            "singular_values": (q,),
        }

    return ask
