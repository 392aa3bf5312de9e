# SPDX-License-Identifier: Apache-2.0

"""Servos behind a serial line, which is a pseudo-terminal."""

import os
import pty


class SerialServos:
    """Servos at the other end of a serial line that report their positions after each line."""

    def __init__(self):
        self._ours, self._theirs = pty.openpty()
        os.set_blocking(self._ours, False)
        self.link, self.lines, self._rest = f"serial:{os.ttyname(self._theirs)}", [], b""

    def take(self):
        try:
            self._rest += os.read(self._ours, 65536)
        except BlockingIOError:
            return
        *lines, self._rest = self._rest.split(b"\n")
        if lines:
            self.lines += [line.decode() for line in lines]
            os.write(self._ours, lines[-1] + b"\n")

    def close(self):
        os.close(self._ours)
        os.close(self._theirs)
