# SPDX-License-Identifier: Apache-2.0

"""Hostile numbers for the exported controller and library: efforts stay finite and within limits.

Built with the sanitizers of addresses and of undefined behavior.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd

sys.path.append(str(Path(__file__).parents[1] / "robodyn" / "exporting"))
from controlled import INVALID, LIMITED, OK, Controller, Library, fivebar_folder

HOSTILE = [np.nan, np.inf, -np.inf, 1e155, -1e155, 1e308, -1e308, 1e6, -1e6, 1e-308, 0.0, 0.5, 7.0]
LIVES, UPDATES = 12, 250
CALLS = 400


@pytest.fixture(scope="module")
def fivebar():
    return rd.load("fivebar")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return fivebar_folder(tmp_path_factory)


def spoiled(rng, values, fraction):
    """Numbers, some of them replaced or moved by hostile ones."""
    found = np.array(values, dtype=np.float64)
    if rng.random() < fraction:
        some = rng.random(found.shape) < rng.choice([0.1, 0.5, 1.0])
        other = rng.choice(HOSTILE, found.shape)
        found[some] = (other if rng.random() < 0.5 else found + other)[some]
    return found


def test_efforts_are_finite_and_within_limits_whatever_comes(fivebar, folder, rng, storm):
    low, high = fivebar.drives.effort_ends
    home = fivebar.joint_positions(fivebar.home)
    most = 1.01 * fivebar.velocity_limits
    for life in storm(LIVES):
        with Controller(folder / "controller", fivebar, life % 3) as controller:
            fraction = rng.choice([0.02, 0.2, 1.0])
            phase, began = rng.uniform(0.0, 6.0), False
            for k in range(UPDATES):
                t = 4e-3 * k + phase
                positions = home + 0.1 * np.sin(t)
                rates = 0.1 * np.cos(t) * np.ones_like(home)
                given = spoiled(rng, [positions, rates, -0.1 * np.sin(t) + 0.0 * home], fraction)
                state = spoiled(rng, [positions, rates], 0.2 * fraction)
                period = float(spoiled(rng, 1e-3, 0.1 * fraction))
                answer = controller.update(
                    *state,
                    given if rng.random() < 0.95 else None,
                    period,
                    spoiled(rng, np.zeros(6), 0.1 * fraction),
                    spoiled(rng, [0.0, 0.0, 9.81, *[0.0] * 6], 0.1 * fraction),
                )
                if answer.status < 0:  # not started: no state to begin with
                    assert not began
                    continue
                began = True
                assert np.isfinite(answer.efforts).all()
                assert (answer.efforts >= low).all(), answer
                assert (answer.efforts <= high).all(), answer
                assert (np.abs(answer.rates) <= np.maximum(most, 1.0)).all(), answer
                if not np.isfinite(given).all():
                    assert answer.refused or answer.reason == 0
                assert answer.refused in (0, 1)


def test_no_function_of_the_library_returns_ok_without_finite_results(fivebar, folder, rng, storm):
    library = Library(folder / "libfivebar.so", "fivebar")
    nv, n = fivebar.coordinates.velocity_size, len(fivebar.joint_names)
    kp, kv = np.full(nv, 100.0), np.full(nv, 20.0)

    def call(name, out, *given):
        numbers = [
            each if each is None or isinstance(each, float) else np.ascontiguousarray(each)
            for each in given
        ]
        return library.call(name, *numbers, out), out

    statuses = set()
    for _ in storm(CALLS):
        q = spoiled(rng, fivebar.home, 0.5)
        v, a, e = (spoiled(rng, rng.normal(size=size), 0.8) for size in (nv, nv, n))
        wrench = spoiled(rng, rng.normal(size=6), 0.5)
        base = spoiled(rng, [0.0, 0.0, 9.81, *[0.0] * 6], 0.5)
        for name, size, given in (
            ("inverse_dynamics", n, (q, v, a, wrench, base)),
            ("forward_dynamics", nv, (q, v, e, wrench, base)),
            ("bias", nv, (q, v, base)),
            ("mass_matrix", nv * nv, (q,)),
            ("joint_positions", n, (q,)),
            ("velocity", nv, (q, e)),
            ("joint_velocities", n, (q, v)),
            ("acceleration", nv, (q, v, a)),
            ("body_pose", 7, (q,)),
            ("computed_torque", n, (q, v, fivebar.home, v, a, kp, kv, wrench, base)),
            ("end_stop_efforts", n, (q, v, 1e-3)),
        ):
            status, found = call(name, np.empty(size), *given)
            statuses.add(status)
            if status in (OK, LIMITED):
                assert np.isfinite(found).all(), (name, given)
            if any(x is not None and not np.isfinite(x).all() for x in given):
                assert status == INVALID or name == "computed_torque", (name, given, status)
    assert {OK, INVALID} <= statuses
    rest = np.zeros(nv)
    status, _ = call("inverse_dynamics", np.empty(n), fivebar.home, rest + 1e155, rest, None, None)
    assert status not in (OK, INVALID)
