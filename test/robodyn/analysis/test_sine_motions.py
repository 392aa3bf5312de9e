# SPDX-License-Identifier: Apache-2.0

"""What drives can follow: the largest sines are followed, larger ones are not."""

from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis.sine_motions import AXES, FREQUENCIES, sine_motions


def strain(m, axis, amplitude, frequency):
    """Largest share of range, rate and effort that a sine takes, at 200 instants."""
    rate, twist = 2.0 * np.pi * frequency, np.eye(6)[AXES.index(axis)] * amplitude
    way = np.linalg.lstsq(m.twist_jacobian(m.home), twist, rcond=1e-6)[0]
    worst = 0.0
    for phase in np.linspace(0.0, 2.0 * np.pi, 200):
        s, c = np.sin(phase), np.cos(phase)
        motion = m.advance(m.home, s * way), rate * c * way, -(rate**2) * s * way
        positions, rates, _ = m.driven_motion(*motion)
        lower, upper = m.position_limits.T
        with np.errstate(divide="ignore"):
            effort = np.abs(m.inverse_dynamics(*motion)) / m.effort_limits_at(rates)
        outside = np.abs(2.0 * positions - lower - upper) / (upper - lower)
        shares = outside, np.abs(rates) / m.velocity_limits, effort
        worst = max(worst, *(each.max() for each in shares))
    return worst


@pytest.mark.parametrize("name", ["motion_platform", "delta"])
def test_the_largest_sine_uses_a_limit_up(name):
    m = rd.load(name)
    rows = sine_motions(m)
    assert [row["axis"] for row in rows] == list(AXES[: len(rows)])
    assert len(rows) == m.coordinates.velocity_size if name != "delta" else 3
    for row in rows[::2]:
        for frequency, amplitude in list(zip(FREQUENCIES, row["amplitudes"], strict=True))[2:]:
            assert strain(m, row["axis"], amplitude, frequency) == pytest.approx(1.0, abs=0.02)


def test_a_motor_that_is_weak_at_speed_follows_less():
    m = rd.load("motion_platform")

    def amplitudes(curve):
        drives = [replace(actuator, torque_speed=curve) for actuator in m.actuators]
        made = m._made(m.model.driven_by(dict(zip(m.joint_names, drives, strict=True))))
        return np.array(sine_motions(made)[2]["amplitudes"])

    less, more = amplitudes(((0.0, 29.4), (250.0, 2.0))), amplitudes(None)
    assert (less <= more).all()
    assert less[2] < 0.9 * more[2]
