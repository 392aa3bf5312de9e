# SPDX-License-Identifier: Apache-2.0

"""The page as a client receives it over its socket: the scene, the plots, the controls."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import numpy as np
import pytest
from six_legs import six_legs
from viser_client import Client

from robodyn.errors import InvalidInput
from robodyn.view import PortInUse, serve

pytestmark = pytest.mark.slow

LOOPS = Path(__file__).parents[2] / "reference" / "closed_loops"
MOMENTS = (0.5, 3.0, 5.5)


@pytest.fixture
def connect():
    """Connect clients that are closed again."""
    clients = []

    def connect_to(port):
        clients.append(Client(port))
        return clients[-1]

    yield connect_to
    for client in clients:
        client.close()


def fly_to(live, page, moment):
    """Let it fly, with the page kept up to date 40 times a simulated second."""
    while live.snapshot().time < moment - 0.5 * live.period:
        for _ in range(5):
            live.step()
        page.update()
    for _ in range(3):
        page.update()


def shown_position(joint, client):
    """The value of a joint, out of how two links stand to each other in the scene."""
    # a link at the origin gets no position
    parent, child = (
        client.frames.get(f"/model/{link}", np.eye(4)) for link in (joint.parent, joint.child)
    )
    moved = np.linalg.inv(parent @ joint.at.matrix) @ child
    if joint.kind == "prismatic":
        return float(joint.axis @ moved[:3, 3])
    turn = moved[:3, :3]
    sine = joint.axis @ [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
    return float(np.arctan2(0.5 * sine, 0.5 * (np.trace(turn) - 1.0)))


def test_the_scene_stands_as_the_simulation_does_at_three_moments(studio, connect):
    live, page, _, port = studio()
    page.update()
    client = connect(port)
    states = live.mechanism.joint_states
    figure = page.scene._figure
    for moment in MOMENTS:
        fly_to(live, page, moment)
        now = live.snapshot()
        names, positions, _ = states(now.configuration)
        expected = dict(zip(names, positions, strict=True))
        tip = f"/model/{live.mechanism.frames[1]}"
        client.until(
            lambda tip=tip, now=now: np.allclose(
                client.frames[tip][:3, 3], now.configuration[:3], atol=1e-6
            ),
            f"the platform's place at {moment} s",
        )
        drawn = {joint.name: joint for joint in figure.joints}
        assert len(expected) == 18
        client.until(
            lambda drawn=drawn, expected=expected: all(
                shown_position(drawn[name], client) == pytest.approx(value, abs=1e-5)
                for name, value in expected.items()
            ),
            f"the joints' positions at {moment} s",
        )


def test_plots_carry_the_forces_and_the_condition_number(studio, connect):
    live, page, _, port = studio()
    client = connect(port)
    fly_to(live, page, 2.0)
    efforts, condition = client.until(
        lambda: (lambda c: c if len(c) == 2 and c[0][0][-1:] >= 1.99 else None)(client.curves),
        "two plots up to 2 s",
    )
    now = live.snapshot()
    assert len(efforts) == 7
    assert len(efforts[0]) > 60
    assert [curve[-1] for curve in efforts[1:]] == pytest.approx(now.effort, rel=1e-6)
    assert condition[1][-1] == pytest.approx(now.condition_number, rel=1e-6)
    # of the order of the weight of 64 kg, and smooth
    forces = np.array(efforts[1:])
    assert 300.0 < np.abs(forces).max() < 3000.0
    assert np.abs(np.diff(forces, axis=1)).max() < 0.05 * np.abs(forces).max()


def test_pause_stops_the_clock_and_play_lets_it_run(studio, connect):
    live, page, _, port = studio()
    client = connect(port)
    live.start(), page.start()
    client.until(lambda: live.snapshot().time > 0.05, "time runs")
    client.set("Run", "Pause")
    client.until(lambda: not live.snapshot().playing, "paused")
    client.until(lambda: "paused" in client.texts, "the page says so")
    time.sleep(0.3)  # a step that was under way has ended
    stopped = live.snapshot()
    time.sleep(0.1)
    assert live.snapshot().time == stopped.time
    np.testing.assert_array_equal(live.snapshot().configuration, stopped.configuration)
    client.set("Run", "Play")
    client.until(lambda: live.snapshot().time > stopped.time, "time runs again")
    client.set("Run", "Reset")
    client.until(lambda: live.snapshot().time < stopped.time, "from the start")


def test_a_push_moves_the_platform(studio, connect):
    live, page, _, port = studio(path="demo")
    page.update()
    client = connect(port)
    live.steer(live.mechanism.home)
    client.set("Direction", "-y")
    client.set("Force [N]", 100.0)
    client.set("Push for 0.3 s", True)
    client.until(lambda: live._wrench[1] == -100.0, "the push arrives")
    before = live.snapshot().configuration
    moved = 0.0
    for _ in range(100):
        live.step()
        moved = min(moved, live.snapshot().configuration[1] - before[1])
    # critically damped, (M / F) y'' + ... : towards F / (M kp), M of platform and legs together
    M = live.mechanism.mass_matrix(before)
    still = np.linalg.solve(M, [0.0, -100.0, 0.0, 0.0, 0.0, 0.0])[1] / 100.0
    assert 1.2 * still < moved < 0.6 * still
    for _ in range(300):
        live.step()
    np.testing.assert_allclose(live.snapshot().configuration[:3], before[:3], atol=1e-4)


def test_sliders_steer_and_show(studio, connect):
    live, page, controls, port = studio()
    fly_to(live, page, 1.0)
    client = connect(port)
    sliders = controls.sliders
    assert sliders[2].value == pytest.approx(live.snapshot().configuration[2], abs=0.011)
    client.set("z [m]", 0.55)
    client.until(lambda: live.path == "by hand", "the target arrives")
    for _ in range(600):
        live.step()
    assert live.snapshot().configuration[2] == pytest.approx(0.55, abs=1e-3)


def test_path_speed_and_payload_are_taken(studio, connect):
    live, page, _, port = studio()
    page.update()
    client = connect(port)
    client.set("Follow", "II")
    client.until(lambda: live.path == "II", "path II")
    client.set("Speed", 2.0)
    client.until(lambda: live.speed == 2.0, "twice as fast")
    weight = live._plant.mechanism
    client.set("Mass [kg]", 20.0)
    client.until(lambda: live._plant.mechanism is not weight, "the payload")
    assert six_legs(live._plant.mechanism).platform.mass == pytest.approx(60.0)


def test_a_banner_warns_near_the_singularity_of_path_iii(studio, connect):
    live, page, _, port = studio(path="III")
    client = connect(port)
    fly_to(live, page, 0.5)
    client.until(lambda: "Near a singularity: weakest direction is" in client.texts, "a warning")
    fly_to(live, page, 3.45)
    client.until(lambda: "Singular: weakest direction is" in client.texts, "an error")
    live.choose("I")
    for _ in range(3):
        page.update()
    assert page.status.banner == ""


def test_page_keeps_up_with_thirty_updates_and_two_hundred_periods_a_second(studio, connect):
    live, page, _, port = studio()
    page.update()
    client = connect(port)
    client.until(lambda: client.frames, "a scene")
    fly_to(live, page, 0.2)
    before, moves = time.thread_time(), client.moves
    for second in range(60):
        for _ in range(7 - second % 3 // 2):  # 200 periods to 30 updates
            live.step()
        page.update()
    # time of this thread alone, which others on the machine do not lengthen
    assert time.thread_time() - before < 1.5
    client.until(lambda: client.moves > moves, "scene nodes move")


class Clock:
    """Clock that runs only while a thread waits, and by the stated time of work."""

    def __init__(self, ends: float) -> None:
        self.now, self._ends = 1000.0, 1000.0 + ends

    def monotonic(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds
        return self.is_set()

    def is_set(self):
        return self.now >= self._ends

    def set(self):
        pass


@pytest.mark.parametrize("work", [0.0, 0.005, 0.02, 0.03])
def test_the_page_is_updated_thirty_times_a_second_as_long_as_that_can_be(
    studio, monkeypatch, work
):
    _, page, _, _ = studio()
    clock = Clock(ends=10.0)
    monkeypatch.setattr("robodyn.view.page.time.monotonic", clock.monotonic)
    monkeypatch.setattr(page, "_ended", clock)
    updates = []
    monkeypatch.setattr(page, "update", lambda: updates.append(clock.wait(work)))
    page._run()
    assert len(updates) == pytest.approx(300, abs=2)


@pytest.mark.parametrize("work", [0.0, 0.0005, 0.003])
def test_two_hundred_periods_a_second_are_simulated_as_long_as_that_can_be(
    studio, monkeypatch, work
):
    live, _, _, _ = studio()
    clock = Clock(ends=10.0)
    monkeypatch.setattr("robodyn.view.live.time.monotonic", clock.monotonic)
    monkeypatch.setattr(live, "_ended", clock)
    steps = []
    monkeypatch.setattr(live, "step", lambda: steps.append(clock.wait(work)))
    live._run()
    assert len(steps) == pytest.approx(2000, abs=4)
    assert live.lost == 0.0


def test_all_of_thirty_updates_a_simulated_second_reach_the_browser(studio, connect):
    live, page, _, port = studio()
    page.update()
    client = connect(port)
    tip = f"/model/{live.mechanism.frames[1]}"
    client.until(lambda: tip in client.frames, "a scene")
    live.step()
    shown = []
    for update in range(1, 31):
        while live.snapshot().time < 1.0 + update / 30.0 - 1e-9:
            live.step()
        page.update()
        place = live.snapshot().configuration[:3]
        client.until(lambda place=place: np.allclose(client.frames[tip][:3, 3], place, atol=1e-7),
                     f"update {update}")  # fmt: skip
        shown.append(place[2])
    # the path rises all the time: every update showed another place
    assert (np.diff(shown) > 1e-4).all()
    assert live.snapshot().time == pytest.approx(2.0, abs=live.period)


def test_a_busy_port_is_refused_in_a_line():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUse, match=f"port {port} of 127.0.0.1 is in use") as caught:
            serve(port)
    assert caught.value.value == port


@pytest.mark.parametrize("port", [-1, 65536])
def test_no_such_port(port):
    with pytest.raises(InvalidInput, match=f"port is {port}, expected 0 to 65535"):
        serve(port)


def test_only_this_machine_is_listened_to(studio):
    _, page, _, _ = studio()
    assert page._server.get_host() == "127.0.0.1"
    assert page._server.request_share_url() is None


def test_on_a_narrow_screen_the_title_says_how_to_hide_the_controls(studio, connect):
    *_, port = studio()
    client = connect(port)  # its camera is 100 pixels wide
    client.until(lambda: "tap: show or hide" in client.label, "a title that says so")


def test_an_under_actuated_mechanism_has_a_page(studio, tmp_path):
    """With sliders for what no motor drives, and the reason why it stands still."""
    whole = LOOPS / "hexaglide.yaml"
    file = tmp_path / "three_of_six.yaml"
    text = whole.read_text().replace("urdf: ", f"urdf: {whole.parent}/")
    file.write_text(text.replace(", s4, s5, s6]", "]"))
    live, page, *_ = studio(str(file), "")
    page.update()
    assert "do not determine the mechanism" in live.snapshot().message
