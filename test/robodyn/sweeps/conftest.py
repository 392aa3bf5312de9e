# SPDX-License-Identifier: Apache-2.0

"""Fixtures of the sweeps' tests: a platform that is symmetric to the last digit, and sweeps."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from six_legs import six_legs, with_legs

import robodyn as rd
from robodyn.sweeps import make_plan

if any(find_spec(name) is None for name in ("dask", "distributed", "xarray", "zarr", "netCDF4")):
    # rejections without the extra `sweep` are tested without it
    collect_ignore_glob = ["test_sweep_[!m]*.py"]


def _on_circle(radius, degrees):
    angle = np.radians(degrees)
    return np.array([radius * np.cos(angle), radius * np.sin(angle), 0.0])


@pytest.fixture(scope="session")
def symmetric():
    """The bundled platform, its joints on exact angles instead of rounded to 0.1 mm."""
    platform = rd.load("stewart_symmetric")
    legs = []
    for i, leg in enumerate(six_legs(platform).legs):
        turn, second = 120.0 * (i // 2), i % 2
        base = turn + (111.0 if second else 9.0)
        tip = turn + (69.0 if second else 51.0)
        axis = _on_circle(1.0, base + 90.0) * (-1.0 if second else 1.0)
        legs.append(
            replace(
                leg,
                base=_on_circle(1.2, base),
                platform=_on_circle(0.8, tip),
                universal_axis=axis,
            )
        )
    return with_legs(platform, legs)


@pytest.fixture
def plan(symmetric):
    """A sweep of 24 chunks, some poses out of reach."""

    def make(**changes):
        axes = {"x": "-0.3:0.3:12", "z": "0.6:1.1:10", "roll": "-0.2:0.2:6"}
        given = {"quantities": ("condition_number", "effort"), "chunk": 30} | changes
        return make_plan(symmetric, given.pop("axes", axes), **given)

    return make
