# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A viser server on this machine alone, on the port asked for or not at all."""

from __future__ import annotations

import contextlib
import io
import logging
from typing import TYPE_CHECKING, Any

from robodyn.errors import InvalidInput, MissingExtra, RobodynError
from robodyn.extras import how_to_install

if TYPE_CHECKING:
    from types import ModuleType

HOST = "127.0.0.1"


class PortInUse(RobodynError):
    """Something else listens on the port, or this user may not; `value` is the port."""


def viser_module() -> ModuleType:
    """The package viser.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import viser
    except ImportError as failure:
        raise MissingExtra(
            f"the live view needs the package viser: {how_to_install('view')}", value="viser"
        ) from failure
    module: ModuleType = viser
    return module


def serve(port: int) -> Any:
    """A `viser.ViserServer` that only this machine reaches; port 0 takes any that is free.

    Raises:
        MissingExtra: viser is not installed.
        InvalidInput: no such port.
        PortInUse: the port is not to be had. viser would go on to the next one, where the person
            who asked for this one would not look.
    """
    viser = viser_module()
    if not 0 <= port <= 65535:
        raise InvalidInput(f"port is {port}, expected 0 to 65535", value=port)
    # a client that goes away in the middle of a handshake is no news
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()):  # our own line says where to look
        server = viser.ViserServer(host=HOST, port=port, verbose=False)
    if port and server.get_port() != port:
        stop(server)
        raise PortInUse(
            f"port {port} of {HOST} is in use or not allowed: choose another, or end what "
            "listens there",
            value=port,
        )
    # any client can ask viser for a tunnel to the internet; this page stays on this machine
    server.request_share_url = lambda verbose=True: None
    return server


def stop(server: Any) -> None:
    """End a server, without a word of its own."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()
