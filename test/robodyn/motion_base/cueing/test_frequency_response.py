# SPDX-License-Identifier: Apache-2.0

"""The objective motion cueing test finds what the washout's filters are; its page has regions."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.motion_base.cueing.frequency_response import (
    CHANNELS,
    FREQUENCIES,
    frequency_response,
)
from robodyn.report.cueing_page import cueing_page, read_criteria

pytestmark = pytest.mark.slow

HEAD = [0.1, 0.0, 1.0]
PARAMETERS = rd.WashoutParameters(
    force_gain=(0.5, 0.6, 0.4), rotation_gain=(0.7, 0.5, 0.8), force_washout=0.5,
    rotation_highpass=1.0,
)  # fmt: skip


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


@pytest.fixture(scope="module")
def response(platform):
    # the slowest would take minutes
    return frequency_response(
        platform, PARAMETERS, head=HEAD, dt=0.04, frequencies=FREQUENCIES[4:9]
    )


def test_frequencies_are_five_to_a_decade():
    expected = [0.1, 0.158, 0.251, 0.398, 0.631, 1.0, 1.585, 2.512, 3.981, 6.310, 10.0, 15.849]
    np.testing.assert_allclose(FREQUENCIES, expected, rtol=4e-3)


def test_felt_force_and_rate_are_the_filters(response):
    """A force: what moves the head, and the weight in its tilt; a rate: what turns it."""
    s, of = 1j * response.frequencies[:, None], PARAMETERS.of_axes
    w, z, b = of("force_highpass"), of("force_highpass_damping"), of("force_washout")
    low, damping = of("tilt_lowpass"), of("tilt_lowpass_damping")
    moved = of("force_gain") * s**3 / ((s**2 + 2.0 * z * w * s + w**2) * (s + b))
    tilt = of("force_gain") / 9.81 * low**2 / (s**2 + 2.0 * damping * low * s + low**2)
    turned = of("rotation_gain") * s / (s + of("rotation_highpass"))
    expected = {
        "pitch": turned[:, 1], "roll": turned[:, 0], "yaw": turned[:, 2],
        "surge due to pitch": -9.81 * (turned / s)[:, 1], "heave": moved[:, 2],
        "sway due to roll": 9.81 * (turned / s)[:, 0],
        "surge": moved[:, 0] + 9.81 * tilt[:, 0], "sway": moved[:, 1] + 9.81 * tilt[:, 1],
        "pitch due to surge": (-s[:, 0]) * tilt[:, 0], "roll due to sway": s[:, 0] * tilt[:, 1],
    }  # fmt: skip
    assert set(expected) == {each.name for each in CHANNELS}
    for each in CHANNELS:
        found = response.matrix[:, each.felt, each.vehicle]
        np.testing.assert_allclose(found / expected[each.name], 1.0, atol=0.02, err_msg=each.name)
        np.testing.assert_allclose(response.modulus(each), np.abs(found))
        np.testing.assert_allclose(response.phase(each), np.degrees(np.angle(found)))


def test_the_cueing_page_shows_the_frequency_response(platform, response, tmp_path):
    pytest.importorskip("bokeh")
    time = np.arange(0.0, 2.0, 0.05)
    force = np.tile([0.5, 0.0, 9.81], (len(time), 1))
    found = rd.ride(platform, rd.VehicleMotion(time, force, 0.0 * force), dt=0.05)
    file = tmp_path / "criteria.csv"
    file.write_text(
        "channel,frequency,modulus_low,modulus_high,phase_low,phase_high\n"
        "1,0.1,0.2,1.0,-30,60\n1,15.8,0.4,1.1,-20,10\n"
    )
    criteria = read_criteria(file)
    assert list(criteria) == ["pitch"]
    page = cueing_page(found, {"a": 1}, [("limits", "all hold")], response, criteria)
    moduli = next(chart for chart in page.charts if chart.key == "modulus")
    region = [line for line in moduli.panels[0].curves if line.label == "criterion"]
    np.testing.assert_array_equal([line.y for line in region], [[0.2, 0.4], [1.0, 1.1]])
    assert len(moduli.panels) == 10
    assert "all hold" in page.html()
    file.write_text("channel,frequency\n1,1\n")
    with pytest.raises(rd.InvalidInput, match="missing column 'modulus_low'"):
        read_criteria(file)
