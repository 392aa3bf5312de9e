# SPDX-License-Identifier: Apache-2.0

"""Ports for lines of text to and from servos: serial ports and UDP sockets."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress

from robodyn.errors import InvalidInput, RobodynError

# Limit of datagrams, or parts of 4096 bytes, per call: a flood must not block the caller.
AT_ONCE = 100


class PortLost(RobodynError):
    """Error raised if the other end of a serial line is disconnected."""


def open_port(link: str) -> SerialPort | UdpPort:
    """Open a port by its name: `serial:/dev/ttyUSB0@115200` or `udp:host:port`.

    Returns:
        The open port.

    Raises:
        InvalidInput: the name has another form, or the port cannot be opened.
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
    """Nonblocking serial port for lines of text, on POSIX systems.

    Raises:
        AttributeError: the system does not support the baud rate.
        OSError: the port cannot be opened.
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
        """Send a line unless this would block; return whether it was sent.

        Raises:
            PortLost: the serial line is lost.
        """
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
        """Return the complete lines received since the last call.

        Raises:
            PortLost: the serial line is lost.
        """
        try:
            for _ in range(AT_ONCE):
                data = os.read(self._file, 4096)
                if not data:
                    raise PortLost("the serial line is lost: the other end closed it")
                self._rest = (self._rest + data)[-65536:]
        except BlockingIOError:
            pass
        except OSError as error:
            raise PortLost(f"the serial line is lost: {error}") from error
        *lines, self._rest = self._rest.split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def close(self) -> None:
        """Close the port."""
        os.close(self._file)


class UdpPort:
    """UDP port that sends each line as a datagram, and receives the replies.

    Raises:
        OSError: the host is unknown.
    """

    def __init__(self, host: str, port: int) -> None:
        self._socket = _datagram_socket()
        self._socket.connect((host, port))
        self.close = self._socket.close

    def send(self, line: str) -> bool:
        """Send a line as a datagram.

        Returns:
            Whether it was sent; False after an error, for example if no program listens.
        """
        try:
            self._socket.send(line.encode())
        except OSError:
            return False
        return True

    def received(self) -> list[str]:
        """Return the lines received since the last call."""
        found = _receive(self._socket, AT_ONCE)
        return b"\n".join(found).decode(errors="replace").splitlines()


class Datagrams:
    """Receiver of UDP datagrams at a port, or of replies to requests.

    Args:
        host, port: local address at which datagrams are received; with `requests`, address of the
            program to which these are sent.
        requests: datagrams that `request` sends.

    Raises:
        InvalidInput: the host is unknown, or the port is in use.
    """

    def __init__(self, host: str, port: int, requests: Sequence[bytes] = ()) -> None:
        self._address, self._requests = (host, port), requests
        self._socket = _datagram_socket()
        self.close = self._socket.close
        try:
            self._socket.bind(("", 0) if requests else self._address)
        except (OSError, OverflowError) as error:
            self._socket.close()
            raise InvalidInput(f"UDP port {host}:{port} cannot be opened: {error}") from error

    def request(self) -> None:
        """Send the datagrams `requests`.

        Errors are ignored, for example if no program listens.
        """
        for each in self._requests:
            with suppress(OSError):
                self._socket.sendto(each, self._address)

    def received(self, most: int) -> list[bytes]:
        """Return at most `most` datagrams received since the last call."""
        return _receive(self._socket, most)


def _datagram_socket() -> socket.socket:
    """Create a nonblocking UDP socket."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made


def _receive(port: socket.socket, most: int) -> list[bytes]:
    """Receive up to `most` waiting datagrams; return those read before any error."""
    found: list[bytes] = []
    with suppress(OSError):
        while len(found) < most:
            found.append(port.recv(65536))
    return found
