# SPDX-License-Identifier: Apache-2.0

"""Lines of text to and from what moves servos: a serial line, or datagrams."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress

from robodyn.errors import InvalidInput, RobodynError

# Datagrams, or parts of 4096 bytes, that are taken at once: a flood must not hold the caller.
AT_ONCE = 100


class PortLost(RobodynError):
    """The other end is gone."""


def open_port(link: str) -> SerialPort | UdpPort:
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
    """A serial line, or a pseudo-terminal, of a POSIX system; nothing waits.

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
        """Send a line; whether it could be taken at once. No half of one is left behind another."""
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
        """Whole lines that have come since the last call."""
        try:
            for _ in range(AT_ONCE):
                data = os.read(self._file, 4096)
                if not data:
                    raise PortLost("the serial line is lost: it was hung up")
                self._rest = (self._rest + data)[-65536:]
        except BlockingIOError:
            pass
        except OSError as error:
            raise PortLost(f"the serial line is lost: {error}") from error
        *lines, self._rest = self._rest.split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def close(self) -> None:
        """End it."""
        os.close(self._file)


class UdpPort:
    """The same of datagrams, a line each; what comes back to the sending port is heard.

    Raises:
        OSError: an unknown host.
    """

    def __init__(self, host: str, port: int) -> None:
        self._socket = _datagram_socket()
        self._socket.connect((host, port))
        self.close = self._socket.close

    def send(self, line: str) -> bool:
        """As `SerialPort`; that nobody listens is not known, and no reason to stop."""
        try:
            self._socket.send(line.encode())
        except OSError:
            return False
        return True

    def received(self) -> list[str]:
        """As `SerialPort`."""
        found = _received(self._socket, AT_ONCE)
        return b"\n".join(found).decode(errors="replace").splitlines()


class Datagrams:
    """Datagrams that come to a port, or answer what is `asked` of one.

    Raises:
        InvalidInput: an unknown host, or a port that is taken.
    """

    def __init__(self, host: str, port: int, asked: Sequence[bytes] = ()) -> None:
        self._address, self._asked = (host, port), asked
        self._socket = _datagram_socket()
        self.close = self._socket.close
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
        return _received(self._socket, most)


def _datagram_socket() -> socket.socket:
    """One that does not wait."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made


def _received(port: socket.socket, most: int) -> list[bytes]:
    """Datagrams that have come, `most` of them at most; that nobody sends is not known."""
    found: list[bytes] = []
    with suppress(OSError):
        while len(found) < most:
            found.append(port.recv(65536))
    return found
