"""What every kind of mechanism must do: the bundled models, and random states of them."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import UnphysicalInertiaWarning


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


@pytest.fixture(params=sorted(_LOADED))
def mechanism(request):
    """Each bundled model; they are frozen, so all tests share them."""
    return _LOADED[request.param]


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
