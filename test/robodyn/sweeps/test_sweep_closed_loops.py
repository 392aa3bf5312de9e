# SPDX-License-Identifier: Apache-2.0

"""Sweeps of a mechanism with closed loops, over its independent joints and a payload."""

from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.presentation import presentation

pytest.importorskip("xarray")
FILE = Path(__file__).parents[2] / "reference" / "closed_loops" / "fivebar.urdf"


@pytest.mark.slow
def test_where_the_loops_do_not_close_there_is_nothing_and_elsewhere_the_same_as_alone():
    fivebar = rd.load(FILE)
    first, second = fivebar.independent_joints
    axes = {first: np.linspace(-3.0, 3.0, 3), second: np.linspace(-3.0, 3.0, 3)}
    axes["payload"] = np.array([0.0, 0.5])
    found = rd.sweep(fivebar, axes, ("condition_number", "effort"), beyond_limits=True)
    heavy, rest = fivebar.with_payload(0.5), np.zeros(2)
    closed = np.zeros((3, 3), dtype=bool)
    for i, a in enumerate(axes[first]):
        for j, b in enumerate(axes[second]):
            here = found.isel({first: i, second: j})
            try:
                q = presentation.configuration_of(fivebar, [a, b])
            except rd.NoSolution:
                assert np.isnan(here.condition_number).all()
                assert np.isnan(here.effort).all()
            else:
                closed[i, j] = True
                number = float(here.condition_number.values.ravel()[0])
                assert number == pytest.approx(float(fivebar.condition_number(q)), rel=1e-6)
                expected = heavy.inverse_dynamics(q, rest, rest)
                np.testing.assert_allclose(here.effort.isel(payload=1).values, expected, rtol=1e-7)
    assert closed.any()
    assert not closed.all()
