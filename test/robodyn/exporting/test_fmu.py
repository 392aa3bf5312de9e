# SPDX-License-Identifier: Apache-2.0

"""The exported FMU, validated and simulated by FMPy."""

import shutil

import numpy as np
import pytest

import robodyn as rd
from robodyn.simulation.plant import Plant

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)")


def test_it_is_valid_and_moves_as_the_library_does(tmp_path):
    from fmpy.validation import validate_fmu

    m = rd.load("stewart_dasgupta")
    done = rd.export(m, tmp_path / "out", fmu=True)
    assert done.files[-1] == "stewart_dasgupta.fmu"
    fmu = str(done.folder / done.files[-1])
    assert validate_fmu(fmu) == []
    efforts = 1.02 * m.gravity(m.home)
    start = {f"effort.{j}": float(x) for j, x in zip(m.joint_names, efforts, strict=True)}
    wanted = [f"position.{joint}" for joint in m.joint_names]
    found = fmpy.simulate_fmu(
        fmu, stop_time=0.3, output_interval=0.01, start_values=start | {"wrench.force_x": 3.0},
        output=wanted,
    )  # fmt: skip
    plant, load = Plant(m, dt=1e-3), np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for k in range(30):
        plant.hold(efforts, 10, load)
        positions = m.joint_positions(plant.configuration)
        np.testing.assert_allclose([found[name][k + 1] for name in wanted], positions, atol=1e-10)
    assert np.abs(m.joint_positions(m.home) - positions).max() > 1e-3
