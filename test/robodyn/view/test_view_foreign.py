# SPDX-License-Identifier: Apache-2.0

"""Foreign web pages cannot use a page, and controls take no values that they cannot have."""

from __future__ import annotations

import contextlib
import http.client
import math
import socket
from http import HTTPStatus

import numpy as np
import pytest

import robodyn as rd

viser = pytest.importorskip("viser")

from viser_client import Client  # noqa: E402

from robodyn.view import (  # noqa: E402
    LiveSimulation,
    figure_of,
    open_studio,
    serve,
    stop,
)

MODEL = "puma560"


@pytest.fixture(scope="module")
def port():
    """Of a page that may also be reached as robot.local and through a proxy."""
    server = serve(0, ["robot.local", "https://name-8080.app.example.dev"])
    yield server.get_port()
    stop(server)


SOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Protocol": f"viser-v{viser.__version__}",
}


def status(port: int, host: str, origin: str | None, path: str = "/", **more: str) -> int:
    """The status of a request as a browser sends it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30.0)
    connection.putrequest("GET", path, skip_host=True)
    named = {"Host": host or None, "Origin": origin, **more}
    for name, value in named.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse().status
    connection.close()
    return answer


FOREIGN = [
    ("evil.example", None),
    ("evil.example:{port}", "http://evil.example:{port}"),  # DNS rebinding
    ("localhost:{port}", "http://evil.example"),
    ("localhost:{port}", "null"),
    ("localhost:{port}", "http://localhost:1"),  # another page of this machine
    ("localhost:{port}", "http://localhost:{port}.evil.example"),
    ("localhost:{port}", "http://localhost:{port}@evil.example"),
    ("localhost:{port}", "file://"),
    ("localhost:{port}", ""),
    ("localhost.evil.example:{port}", None),
    ("127.0.0.1.evil.example", None),
    ("localhost@evil.example", None),
    ("0.0.0.0:{port}", "http://0.0.0.0:{port}"),
    ("192.168.0.7:{port}", "http://192.168.0.7:{port}"),
    ("robot.local.evil.example", None),
    ("[", None),
    ("localhost:x", None),
]
OWN = [
    ("localhost:{port}", None),
    ("localhost:{port}", "http://localhost:{port}"),
    ("LOCALHOST:{port}", "http://localhost:{port}"),
    ("127.0.0.1:{port}", "http://127.0.0.1:{port}"),
    ("[::1]:{port}", "http://[::1]:{port}"),
    ("localhost:9000", "http://localhost:9000"),  # a forwarded port
    ("localhost", "http://localhost"),
    ("robot.local:{port}", "http://robot.local:{port}"),
    ("name-8080.app.example.dev", "https://name-8080.app.example.dev"),
    ("localhost:{port}", "https://name-8080.app.example.dev"),  # its proxy names us so
]


@pytest.mark.parametrize(("host", "origin"), FOREIGN)
def test_requests_of_foreign_pages_are_refused(port, host, origin):
    host, origin = (None if t is None else t.format(port=port) for t in (host, origin))
    assert status(port, host, origin) == HTTPStatus.FORBIDDEN
    assert status(port, host, origin, "/assets/none.js") == HTTPStatus.FORBIDDEN
    assert status(port, host, origin, **SOCKET) == HTTPStatus.FORBIDDEN


@pytest.mark.parametrize(("host", "origin"), OWN)
def test_the_page_itself_is_served_at_this_machine_and_at_hosts_that_are_named(port, host, origin):
    host, origin = (None if t is None else t.format(port=port) for t in (host, origin))
    assert status(port, host, origin) == HTTPStatus.OK
    assert status(port, host, origin, **SOCKET) == HTTPStatus.SWITCHING_PROTOCOLS


def test_no_host_at_all_is_refused_and_the_page_is_in_no_foreign_frame(port):
    assert status(port, "", None) == HTTPStatus.FORBIDDEN
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30.0)
    connection.request("GET", "/")
    assert "frame-ancestors 'self'" in connection.getresponse().headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/" + "a" * 5000, HTTPStatus.REQUEST_URI_TOO_LONG),
        ("/" + "a" * 300, HTTPStatus.NOT_FOUND),  # longer than a file's name can be
        ("/none.js", HTTPStatus.NOT_FOUND),
        ("/%00", HTTPStatus.NOT_FOUND),
    ],
)
def test_a_path_that_no_file_has_is_no_error_of_the_server(port, path, answer):
    assert status(port, f"localhost:{port}", None, path) == answer


@pytest.mark.parametrize("name", ["", "*", "a b", "http://", "x:port"])
def test_a_host_that_is_none_is_refused(name):
    with pytest.raises(rd.InvalidInput, match="host"):
        serve(0, [name])


@pytest.fixture(scope="module")
def studio():
    """A live page, a client of it, and the wrenches that it pushed with."""
    mechanism = rd.load(MODEL)
    live = LiveSimulation(mechanism, {"demo": rd.load_path("demo", mechanism)})
    pushes: list[np.ndarray] = []
    live.push = pushes.append
    server = serve(0)
    page, controls = open_studio(server, live, figure_of(MODEL, mechanism))
    page.update()
    client = Client(server.get_port())
    yield client, live, controls, pushes
    client.close()
    live.close()
    stop(server)


def test_a_viser_that_cannot_be_protected_serves_nothing(monkeypatch):
    monkeypatch.setattr("robodyn.view.serving._protect", lambda _: contextlib.nullcontext())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(rd.errors.MissingExtra, match="viser"):
        serve(port)
    with pytest.raises(ConnectionRefusedError):
        status(port, "localhost", None)


HOSTILE = [math.nan, math.inf, -math.inf, "x", None, [1.0], {}, True, b"1"]


def test_controls_take_no_values_that_they_cannot_have(studio):
    client, live, controls, pushes = studio
    label = "Speed"
    for value in HOSTILE:
        client.set("Speed", value)
        client.set("Mass [kg]", value)
        client.set("Force [N]", value)
        client.set("1 [°]", value)
        client.set("Repeat", "no" if value is True else value)
        client.set("Follow", value)
        client.set("Direction", value)
        client.set("Run", value)
    for updates in ({"max": 1e9}, {"value": 0.5, "max": 1e9}, {"update_cb": []}, {}, "value", None):
        client.update(label, updates)
    client.set(label, 2.0)  # the mark behind all of them
    client.until(lambda: live.speed == 2.0, "a speed that is possible")
    assert np.isfinite([slider.value for slider in controls.sliders]).all()
    assert live.path == "demo"
    client.set("Push for 0.3 s", "yes")
    client.set("Push for 0.3 s", True)
    client.until(lambda: pushes, "a push")
    assert len(pushes) == 1
    assert 0.0 < np.linalg.norm(pushes[0]) < 1e4
    # numbers beyond the range are those at its end
    client.set("Speed", 1e308)
    client.until(lambda: live.speed == 3.0, "the largest speed")
    client.set("Speed", 1)
    client.until(lambda: live.speed == 1.0, "a whole number")
