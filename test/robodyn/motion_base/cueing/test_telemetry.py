# SPDX-License-Identifier: Apache-2.0

"""Telemetry of simulators becomes the motion felt in their vehicles; other data are rejected."""

import struct
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import robodyn as rd
from robodyn.motion_base.cueing import DATAREFS, FORMATS, Telemetry, requests

G, FOOT = 9.81, 0.3048
CONFIG = Path(__file__).parents[4] / "config"
# accelerates, turns to the left, lifts its nose, its right side goes down
FORCE, RATE = np.array([1.5, 2.0, 10.5]), np.array([0.1, -0.2, 0.3])


def line(*values):
    return ",".join(f"{value:.9g}" for value in values).encode() + b"\n"


def data(*groups):
    return b"DATA*" + b"".join(struct.pack("<i8f", *group) for group in groups)


LOADS = (4, 0, 0, 0, 0, FORCE[2] / G, FORCE[0] / G, -FORCE[1] / G, 0)
DATAGRAMS = {
    "csv": line(12.0, *FORCE, *RATE),
    "flightgear": line(
        *FORCE * [1.0, -1.0, -1.0] / FOOT, RATE[0], -RATE[1], -RATE[2]
    ),
    "xplane": b"RREF,"
    + b"".join(
        struct.pack("<if", k, value)
        for k, value in enumerate(
            (FORCE[0] / G, -FORCE[1] / G, FORCE[2] / G, RATE[0], -RATE[1], -RATE[2])
        )
    ),
    "xplane11_data": data(LOADS, (16, -RATE[1], RATE[0], -RATE[2], 0, 0, 0, 0, 0)),
    "xplane12_data": data(
        (16, *np.degrees([RATE[0], -RATE[1], -RATE[2]]), 0, 0, 0, 0, 0), LOADS
    ),
}  # fmt: skip


def test_a_paused_game_fades_to_rest_and_goes_on_at_once():
    telemetry = Telemetry("csv")
    seen = [telemetry.read(DATAGRAMS["csv"], t) for t in (10.0, 10.4, 11.5, 20.0)]
    rest = np.array([0.0, 0.0, G])
    for sample, left in zip(seen, (1.0, 1.0, np.exp(-1.0), np.exp(-9.5)), strict=True):
        np.testing.assert_allclose(sample.force, rest + left * (FORCE - rest))
        np.testing.assert_allclose(sample.rate, left * RATE)
    # a time that goes on does not matter, other values do
    later = telemetry.read(line(13.0, *FORCE, *RATE), 20.01)
    np.testing.assert_allclose(later.force, rest, atol=1e-3)
    np.testing.assert_allclose(telemetry.read(line(*-FORCE, *RATE), 20.02).force, -FORCE)


def test_the_protocol_file_of_flightgear_names_what_is_read():
    root = ElementTree.parse(CONFIG / "robodyn_flightgear.xml").getroot()
    assert root.findtext("generic/output/var_separator") == ","
    assert root.findtext("generic/output/line_separator") == "newline"
    nodes = [chunk.findtext("node") for chunk in root.iter("chunk")]
    assert nodes == [
        *(f"/accelerations/pilot/{axis}-accel-fps_sec" for axis in "xyz"),
        *(f"/orientation/{rate}-body" for rate in "pqr"),
    ]


def motionsim(acceleration, roll, pitch, rates):
    """Of an acceleration forward, to the left and up; the magic word and 21 floats."""
    forward, left, up = acceleration
    reported = [0.0] * 6 + [left, -forward, up] + [0.0] * 3 + [roll, pitch, 0.0, *rates] + [0.0] * 3
    return struct.pack("<4s21f", b"BNG1", *reported)


def outgauge(speed, size=96):
    head = struct.pack("<I4sHBBf", 0, b"beam", 0, 2, 0, speed)
    return head + bytes(size - len(head))


@pytest.mark.parametrize("kind", DATAGRAMS)
def test_all_tell_the_same_vehicle(kind):
    reported = Telemetry(kind).read(DATAGRAMS[kind], 1.0)
    np.testing.assert_allclose(reported.force, FORCE, rtol=1e-6)
    np.testing.assert_allclose(reported.rate, RATE, rtol=1e-6)
    turned = Telemetry(kind, [-1.0, 1.0, 1.0, 1.0, -1.0, 0.0]).read(DATAGRAMS[kind], 1.0)
    np.testing.assert_allclose(turned.force, FORCE * [-1.0, 1.0, 1.0], rtol=1e-6)
    np.testing.assert_allclose(turned.rate, RATE * [1.0, -1.0, 0.0], rtol=1e-6)


def test_a_car_of_beamng_is_felt_with_its_weight():
    """On a slope at rest the weight is felt along it; what it accelerates by is added."""
    still = Telemetry("motionsim").read(motionsim((0.0, 0.0, 0.0), 0.2, 0.1, RATE), 0.0)
    assert np.linalg.norm(still.force) == pytest.approx(G)
    # nose up, right side down
    np.testing.assert_allclose(still.force[:2], G * np.sin([0.1, 0.2]) * [1.0, np.cos(0.1)])
    np.testing.assert_allclose(still.rate, RATE * [1.0, -1.0, 1.0], rtol=1e-6)
    driven = Telemetry("motionsim").read(motionsim((3.0, 1.0, 0.5), 0.2, 0.1, RATE), 0.0)
    np.testing.assert_allclose(driven.force - still.force, [3.0, 1.0, 0.5], rtol=1e-6)


def test_a_gauge_without_forces_yields_the_gain_in_speed():
    gauge = Telemetry("outgauge")
    for k in range(200):
        reported = gauge.read(outgauge(2.5 * 0.02 * k, 92), 0.02 * k)
    np.testing.assert_allclose(reported.force, [2.5, 0.0, G], rtol=1e-3)
    np.testing.assert_array_equal(reported.rate, 0.0)


def test_x_plane_is_asked_by_what_it_is_read_by():
    asked = requests(60)
    assert [len(each) for each in asked] == [413] * 6
    head, rate, number, name = struct.unpack("<5sii400s", asked[3])
    assert (head, rate, number) == (b"RREF\0", 60, 3)
    assert name.rstrip(b"\0").decode() == DATAREFS[3] == "sim/flightmodel/position/Prad"


@pytest.mark.parametrize("kind", FORMATS)
def test_malformed_datagrams_are_refused(kind, rng):
    telemetry = Telemetry(kind)
    good = DATAGRAMS.get(kind) or {"motionsim": motionsim((0,) * 3, 0, 0, (0,) * 3)}.get(
        kind, outgauge(np.nan)
    )
    cut = [good[:-k] for k in range(1, len(good)) if kind not in ("csv", "flightgear")]
    broken = [line(1, 2, 3), line(*[np.nan] * 6), b"", b"\n", b"RREF,", b"DATA*", b"a,b,c,d,e,f"]
    for datagram in [*cut, *broken, *(rng.bytes(k) for k in range(300))]:
        with pytest.raises(rd.InvalidInput):
            telemetry.read(datagram, 0.0)


def test_formats_and_signs_that_are_none():
    with pytest.raises(rd.InvalidInput, match="expected one of csv, flightgear, xplane"):
        Telemetry("simhub")
    with pytest.raises(rd.InvalidInput, match="signs"):
        Telemetry("csv", [1.0, 1.0])
