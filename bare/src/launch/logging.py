# SPDX-License-Identifier: Apache-2.0

"""Output of the launch and its processes: the screen and, once launched, a log file.

In upstream's formats: `[INFO] [name]: message` for the launch itself, the lines of a process after
its name and nothing else. ROS_LOG_DIR and ROS_HOME say where log files are.
"""

from __future__ import annotations

import datetime
import logging
import os
import socket
import sys
from pathlib import Path

__all__ = ["get_logger", "get_output_loggers", "open_log"]


class _Screen(logging.StreamHandler):
    """Writes to the screen; a reader that has closed the pipe is not an error."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        if not isinstance(sys.exc_info()[1], (BrokenPipeError, ValueError)):
            super().handleError(record)


def _with_format(handler: logging.Handler, fmt: str) -> logging.Handler:
    handler.setFormatter(logging.Formatter(fmt, style="{"))
    return handler


# Loggers share these lists: `open_log` adds the log file.
_own = [_with_format(_Screen(sys.stdout), "[{levelname}] [{name}]: {message}")]
_screen = [_with_format(_Screen(sys.stdout), "{message}")]
_log: list[logging.Handler] = [logging.NullHandler()]
_outputs = {"screen": (_screen, _screen), "log": (_log, [*_screen, *_log])}
_level = logging.INFO


def _logger(name: str, handlers: list[logging.Handler]) -> logging.Logger:
    logger = logging.getLogger(name)
    logger.propagate = False
    logger.setLevel(_level)
    logger.handlers = handlers
    return logger


def get_logger(name: str) -> logging.Logger:
    """Return a logger that writes to the screen and to the log file."""
    return _logger(name, _own)


def get_output_loggers(process_name: str, output: str) -> tuple[logging.Logger, logging.Logger]:
    """Return the loggers of a process's stdout and stderr; see `ExecuteProcess` for `output`."""
    if output not in _outputs:
        raise ValueError(f"output is '{output}', expected one of {[*_outputs]}")
    stdout, stderr = _outputs[output]
    return _logger(f"{process_name}-stdout", stdout), _logger(f"{process_name}-stderr", stderr)


def open_log(level: int) -> None:
    """Open the log file `launch.log` of this launch, in a folder of its own, and log its path."""
    global _level
    _level = level
    logger = get_logger("launch")
    home = os.environ.get("ROS_HOME") or os.path.join("~", ".ros")
    base = Path(os.environ.get("ROS_LOG_DIR") or os.path.join(home, "log")).expanduser()
    stamp = datetime.datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")
    folder = base / f"{stamp}-{socket.gethostname()}-{os.getpid()}"
    try:
        folder.mkdir(parents=True)
        for handlers, fmt in (
            (_own, "{created:.7f} [{levelname}] [{name}]: {message}"),
            (_log, "{created:.7f} {message}"),
            (_outputs["log"][1], "{created:.7f} {message}"),
        ):
            file = logging.FileHandler(folder / "launch.log", encoding="utf-8")
            handlers.append(_with_format(file, fmt))
        logger.info("All log files can be found below %s", folder)
    except OSError as error:
        logger.warning("no log file: %s", error)
    logger.info("Default logging verbosity is set to %s", logging.getLevelName(level))
