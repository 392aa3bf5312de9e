# SPDX-License-Identifier: Apache-2.0

"""A viser server for this machine only, on exactly the port asked for."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from types import ModuleType
from typing import Any

from robodyn.errors import InvalidInput, RobodynError
from robodyn.extras import needing

HOST = "127.0.0.1"


class PortInUse(RobodynError):
    """The port is in use, or this user may not use it; `value` is the port."""


def viser_module() -> ModuleType:
    """The package viser.

    Raises:
        MissingExtra: it is not installed.
    """
    with needing("view", "the live view needs the package viser", "viser"):
        import viser
    module: ModuleType = viser
    return module


def serve(port: int) -> Any:
    """A `viser.ViserServer` reachable from this machine only; port 0 takes any free port.

    Raises:
        MissingExtra: viser is not installed.
        InvalidInput: not a port number.
        PortInUse: the port is not available. (viser would silently take the next one.)
    """
    viser = viser_module()
    if not 0 <= port <= 65535:
        raise InvalidInput(f"port is {port}, expected 0 to 65535", value=port)
    # do not log clients that disconnect during the handshake
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    # nor what was on its way to a client that has left
    warnings.filterwarnings("ignore", message="Queued a .* on a closed connection")
    with contextlib.redirect_stdout(io.StringIO()):  # our own log line gives the address
        server = viser.ViserServer(host=HOST, port=port, verbose=False)
    if port and server.get_port() != port:
        stop(server)
        raise PortInUse(
            f"port {port} of {HOST} is in use or not allowed: choose another, or stop the program "
            "that listens there",
            value=port,
        )
    # a client can ask viser to tunnel the page to the internet: disabled
    server.request_share_url = lambda verbose=True: None
    return server


def stop(server: Any) -> None:
    """Stop a server without its console output."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()
