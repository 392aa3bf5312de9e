# SPDX-License-Identifier: Apache-2.0

"""Web server for pages that only this machine can reach, on exactly the requested port.

A page has buttons that move a machine. Any other web page in the user's browser can send requests
to a port of this machine, through DNS rebinding also under any host name. So a request is accepted
only if a browser sends it from the page itself, at an address of this machine or one that the user
names; all others receive status 403. Values of controls are accepted only within their range.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import http.client
import io
import ipaddress
import logging
import math
import threading
import warnings
from collections.abc import Callable, Collection, Iterator
from functools import cache
from http import HTTPStatus
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from robodyn.errors import InvalidInput, MissingExtra, RobodynError
from robodyn.extras import require_extra

HOST = "127.0.0.1"
# Longest path of a request [characters]; no file of the page comes near it.
MOST_PATH = 1024
# viser's page closes a connection that does not open in 5 s, and tries again only while it has the
# keyboard's focus. Behind a busy machine's other windows it would stay empty.
RETRY = b"<script>document.hasFocus = () => !document.hidden;</script>"


class PortInUse(RobodynError):
    """Error raised if a port is in use or not permitted for this user.

    `value` is the port.
    """


def viser_module() -> ModuleType:
    """Import the package viser.

    Raises:
        MissingExtra: it is not installed.
    """
    with require_extra("view", "the live view needs the package viser", "viser"):
        import viser
    module: ModuleType = viser
    return module


def serve(port: int, hosts: Collection[str] = ()) -> Any:
    """Create a `viser.ViserServer` reachable from this machine only.

    Args:
        port: port on the loopback interface; 0 takes any free port.
        hosts: names besides localhost at which browsers may reach the page, through a proxy or a
            forwarded port: as in the browser's address, with or without a port.

    Returns:
        The server.

    Raises:
        MissingExtra: viser is not installed, or in a version that cannot be protected.
        InvalidInput: the port number or the host is invalid.
        PortInUse: the port is not available. (viser would silently take the next one.)
    """
    viser = viser_module()
    if not 0 <= port <= 65535:
        raise InvalidInput(f"port is {port}, expected 0 to 65535", value=port)
    allowed = frozenset(_host(name) for name in hosts)
    # do not log clients that disconnect during the handshake
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    # nor messages in transit to a client that has left
    warnings.filterwarnings("ignore", message="Queued a .* on a closed connection")
    # our own log line gives the address
    with contextlib.redirect_stdout(io.StringIO()), _protect(allowed):
        server = viser.ViserServer(host=HOST, port=port, verbose=False)
    if port and server.get_port() != port:
        stop(server)
        raise PortInUse(
            f"port {port} of {HOST} is in use, or may not be opened by this user: choose another "
            "port, or stop the program that listens on it",
            value=port,
        )
    # a client can request a tunnel of the page to the internet from viser: disabled
    server.request_share_url = lambda verbose=True: None
    try:
        _check_values(server.gui)
        if _status_for("foreign.invalid", server.get_port()) != HTTPStatus.FORBIDDEN:
            raise AttributeError("it serves requests for a foreign host")
    except (AttributeError, AssertionError, ImportError, ValueError, OSError) as error:
        stop(server)
        raise MissingExtra(
            f"viser {viser.__version__} cannot reject connections from foreign web pages "
            f"({error}): install another version, such as 1.1.1",
            value=viser.__version__,
        ) from error
    return server


def stop(server: Any) -> None:
    """Stop a viser server and suppress its console output."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def refusal(headers: Any, allowed: Collection[str] = ()) -> str:
    """Check whether a request comes from the page itself.

    Args:
        headers: request headers with the method `get_all`, such as those of websockets and of
            `http.client`.
        allowed: names of hosts besides those of this machine, lower case.

    Returns:
        The reason for a rejection; an empty string if the request is accepted.
    """
    hosts, origins = headers.get_all("Host") or [], headers.get_all("Origin") or []
    if len(hosts) != 1 or not _is_allowed(_name_in(f"//{hosts[0]}"), allowed):
        return (
            "this page is served on localhost only; configure other host names with --host or "
            "the parameter hosts"
        )
    if not origins:
        return ""  # a program, or a link that was followed to the page
    origin = urlsplit(origins[0])
    is_own = origin.scheme in ("http", "https") and origin.netloc.lower() == hosts[0].lower()
    if len(origins) == 1 and (is_own or _name_in(origins[0]) in allowed):
        return ""
    return "requests from other web pages are rejected"


def _is_allowed(name: str, allowed: Collection[str]) -> bool:
    if name == "localhost" or name in allowed:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _name_in(address: str) -> str:
    """Return the host name in an address, in lower case; empty if there is none."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises an error if it is not a number
    except ValueError:
        return ""
    return "" if parts.username is not None else parts.hostname or ""


def _host(name: str) -> str:
    """Return the normalized host name of a URL, with or without its scheme."""
    found = _name_in(name if "//" in name else f"//{name}")
    if not found or any(c in found for c in "*/ "):
        raise InvalidInput(
            f"host {name!r} is not valid, expected a name or an address such as robot.local",
            value=name,
        )
    return found


_LOCK = threading.Lock()


@contextlib.contextmanager
def _protect(allowed: Collection[str]) -> Iterator[None]:
    """Make web servers that start in this context reject requests from other web pages.

    viser has no setting for this, but calls `serve` of websockets when it starts a server.
    """
    from websockets.asyncio import server as websockets

    with _LOCK:
        serve_all = websockets.serve

        def serve_own(*args: Any, process_request: Any = None, **more: Any) -> Any:
            guard = _guard(process_request, allowed)
            return serve_all(*args, process_request=guard, **more)

        websockets.serve = serve_own  # type: ignore[misc,assignment]
        try:
            yield
        finally:
            websockets.serve = serve_all  # type: ignore[misc]


def _guard(process: Any, allowed: Collection[str]) -> Callable[[Any, Any], Any]:
    def reject_foreign(connection: Any, request: Any) -> Any:
        why = refusal(request.headers, allowed)
        if why:
            return connection.respond(HTTPStatus.FORBIDDEN, f"{why}\n")
        if len(request.path) > MOST_PATH:
            limit = f"paths have at most {MOST_PATH} characters\n"
            return connection.respond(HTTPStatus.REQUEST_URI_TOO_LONG, limit)
        try:
            response = None if process is None else process(connection, request)
        except (OSError, ValueError):  # no file can have this name
            return connection.respond(HTTPStatus.NOT_FOUND, "no such page\n")
        if response is not None:
            # in a frame of a foreign page a person could be tricked into pressing a button
            response.headers["X-Frame-Options"] = "SAMEORIGIN"
            response.headers["Content-Security-Policy"] = "frame-ancestors 'self'"
            if response.headers.get("Content-Type", "").startswith("text/html"):
                is_compressed = response.headers.get("Content-Encoding") == "gzip"
                response.body = _with_retries(response.body, is_compressed)
                del response.headers["Content-Length"]
                response.headers["Content-Length"] = str(len(response.body))
        return response

    return reject_foreign


@cache
def _with_retries(page: bytes, is_compressed: bool) -> bytes:
    """Change a page so that it reconnects even without keyboard focus."""
    text = gzip.decompress(page) if is_compressed else page
    text = text.replace(b"<head>", b"<head>" + RETRY, 1)
    return gzip.compress(text) if is_compressed else text


def _status_for(host: str, port: int) -> int:
    """Request the page under a host name, and return the HTTP status."""
    connection = http.client.HTTPConnection(HOST, port, timeout=10.0)
    try:
        connection.request("GET", "/", headers={"Host": host})
        return connection.getresponse().status
    finally:
        connection.close()


def _check_values(gui: Any) -> None:
    """Make viser reject received values that are outside a control's range."""
    from viser._messages import GuiUpdateMessage

    interface, take = gui._websock_interface, gui._handle_gui_updates
    handles = gui._gui_input_handle_from_uuid

    async def take_possible(client: Any, message: Any) -> None:
        handle = handles.get(message.uuid) if isinstance(message.uuid, str) else None
        value = None if handle is None else possible_value(handle, message.updates)
        if value is not None:
            await take(client, dataclasses.replace(message, updates={"value": value}))

    interface.unregister_handler(GuiUpdateMessage, take)
    interface.register_handler(GuiUpdateMessage, take_possible)


def possible_value(handle: Any, updates: Any) -> Any:
    """Check the new value of a control that a browser sends.

    Args:
        handle: viser's control.
        updates: properties to change, as sent by the browser.

    Returns:
        The value, clipped to the range of the control; None if it is invalid.
    """
    if not isinstance(updates, dict) or set(updates) != {"value"}:
        return None
    value, present = updates["value"], handle.value
    if isinstance(present, bool):
        return value if isinstance(value, bool) else None
    if isinstance(present, (int, float)):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        low, high = getattr(handle, "min", -math.inf), getattr(handle, "max", math.inf)
        return min(max(value, low), high) if math.isfinite(value) else None
    if isinstance(present, str):
        return value if isinstance(value, str) and value in handle.options else None
    return None
