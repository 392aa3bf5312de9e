# SPDX-License-Identifier: Apache-2.0

"""Lines of text to and from what moves servos: a serial line, or datagrams."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from robodyn.errors import InvalidInput, RobodynError


class PortLost(RobodynError):
    """The other end is gone."""


class LinePort(Protocol):
    """A port of lines; nothing waits."""

    def send(self, line: str) -> bool:
        """Send a line; whether it could be taken at once."""

    def received(self) -> list[str]:
        """Whole lines that have come since the last call."""

    def close(self) -> None:
        """End it."""


def open_port(link: str) -> LinePort:
    """`serial:/dev/ttyUSB0@115200` or `udp:host:port`.

    Raises:
        InvalidInput: another form, or a port that cannot be opened.
    """
    kind, _, rest = link.partition(":")
    try:
        if kind == "serial" and rest:
            device, _, baud = rest.partition("@")
            return SerialPort(device, int(baud or 115200))
        host, _, port = rest.rpartition(":")
        if kind == "udp" and host:
            return UdpPort(host, int(port))
    except (OSError, ValueError, AttributeError) as error:
        raise InvalidInput(f"link {link!r} cannot be opened: {error}", value=link) from error
    raise InvalidInput(
        f"link is {link!r}, expected serial:DEVICE[@BAUD] or udp:HOST:PORT", value=link
    )


class SerialPort:
    """A serial line, or a pseudo-terminal, of a POSIX system.

    Raises:
        AttributeError: a rate that the system does not have.
        OSError: it cannot be opened.
    """

    def __init__(self, device: str, baud: int) -> None:
        import termios  # not on Windows
        import tty

        self._file = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._file)
        settings = termios.tcgetattr(self._file)
        settings[4] = settings[5] = getattr(termios, f"B{baud}")
        termios.tcsetattr(self._file, termios.TCSANOW, settings)
        self._rest = self._unsent = b""

    def send(self, line: str) -> bool:
        """See `LinePort`; half a line is never left behind another."""
        data = self._unsent + line.encode()
        try:
            sent = os.write(self._file, data)
        except BlockingIOError:
            return False
        except OSError as error:
            raise PortLost(f"the serial line is lost: {error}") from error
        self._unsent = data[sent:]
        return True

    def received(self) -> list[str]:
        """See `LinePort`."""
        try:
            while data := os.read(self._file, 4096):
                self._rest = (self._rest + data)[-65536:]
            raise PortLost("the serial line is lost: it was hung up")
        except BlockingIOError:
            pass
        except OSError as error:
            raise PortLost(f"the serial line is lost: {error}") from error
        *lines, self._rest = self._rest.split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def close(self) -> None:
        """See `LinePort`."""
        os.close(self._file)


class UdpPort:
    """A datagram a line; what comes back to the sending port is heard.

    Raises:
        OSError: an unknown host.
    """

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.connect((host, port))

    def send(self, line: str) -> bool:
        """See `LinePort`; that nobody listens is not known, and no reason to stop."""
        try:
            self._socket.send(line.encode())
        except OSError:
            return False
        return True

    def received(self) -> list[str]:
        """See `LinePort`."""
        lines: list[str] = []
        try:
            while data := self._socket.recv(65536):
                lines += data.decode(errors="replace").splitlines()
        except OSError:
            pass
        return lines

    def close(self) -> None:
        """See `LinePort`."""
        self._socket.close()


class Datagrams:
    """Datagrams that come to a port, or answer what is `asked` of one.

    Raises:
        InvalidInput: an unknown host, or a port that is taken.
    """

    def __init__(self, host: str, port: int, asked: Sequence[bytes] = ()) -> None:
        self._address, self._asked = (host, port), asked
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        try:
            self._socket.bind(("", 0) if asked else self._address)
        except (OSError, OverflowError) as error:
            self._socket.close()
            raise InvalidInput(f"UDP port {host}:{port} cannot be opened: {error}") from error

    def ask(self) -> None:
        """Ask; that nobody listens is not known."""
        for each in self._asked:
            with suppress(OSError):
                self._socket.sendto(each, self._address)

    def received(self, most: int) -> list[bytes]:
        """What has come since the last call; of a flood, `most` datagrams."""
        found: list[bytes] = []
        with suppress(OSError):
            while len(found) < most:
                found.append(self._socket.recv(65536))
        return found

    def close(self) -> None:
        """End it."""
        self._socket.close()
