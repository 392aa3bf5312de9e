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

"""Where the launch and its processes write: the screen and a log file per run.

Upstream's formats: `[INFO] [name]: message` for the launch itself, the process's own lines with
their prefix and nothing else. The environment variables ROS_LOG_DIR, ROS_HOME,
OVERRIDE_LAUNCH_SCREEN_FORMAT are honoured; custom handlers and formats from Python are not offered.
"""

from __future__ import annotations

import datetime
import logging
import os
import socket
import sys
from pathlib import Path
from typing import TextIO

__all__ = ["get_logger", "get_output_loggers", "launch_config", "log_launch_config"]


class _Screen(logging.StreamHandler):
    """Writes to whatever sys.stdout is now, and survives a reader that went away."""

    @property
    def stream(self) -> TextIO:
        return sys.stdout

    @stream.setter
    def stream(self, value: TextIO) -> None:
        del value

    def format(self, record: logging.LogRecord) -> str:
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        return super().format(record).encode(encoding, "replace").decode(encoding)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        if not isinstance(sys.exc_info()[1], (BrokenPipeError, ValueError)):
            super().handleError(record)


def _screen_format() -> str:
    custom = os.environ.get("OVERRIDE_LAUNCH_SCREEN_FORMAT")
    if not custom:
        return "[{levelname}] [{name}]: {message}"
    custom = custom.encode("latin1").decode("unicode_escape")
    if custom == "default_with_timestamp":
        return "{created:.7f} [{levelname}] [{name}]: {message}"
    return custom.replace("{msg}", "{message}")


class LaunchConfig:
    """The logging configuration of this process."""

    def __init__(self) -> None:
        """Prepare the screen; log files are opened by the first launch service."""
        self.level = logging.INFO
        self.screen = _Screen()
        self.screen.setFormatter(logging.Formatter(_screen_format(), style="{"))
        self.raw_screen = _Screen()
        self.raw_screen.setFormatter(logging.Formatter("{message}", style="{"))
        self._log_dir: Path | None = None
        self._files: dict[tuple[str, str], logging.Handler] = {}

    @property
    def log_dir(self) -> str:
        """The folder of this run's log files, made when first asked for."""
        if self._log_dir is None:
            base = os.environ.get("ROS_LOG_DIR") or os.path.join(
                os.environ.get("ROS_HOME") or os.path.join("~", ".ros"), "log"
            )
            stamp = datetime.datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")
            folder = Path(base).expanduser() / f"{stamp}-{socket.gethostname()}-{os.getpid()}"
            folder.mkdir(parents=True)
            self._log_dir = folder
            self._renew_latest(folder)
        return str(self._log_dir)

    @staticmethod
    def _renew_latest(folder: Path) -> None:
        # Two launches may do this at the same moment; losing the race does no harm.
        latest = folder.parent / "latest"
        try:
            if latest.is_symlink():
                latest.unlink()
            latest.symlink_to(folder, target_is_directory=True)
        except OSError:
            return

    def get_log_file_path(self, file_name: str = "launch.log") -> str:
        """Return the path of a log file of this run."""
        return os.path.join(self.log_dir, file_name)

    def file_handler(self, file_name: str, fmt: str) -> logging.Handler:
        """Return the handler that appends to a log file, or one that drops if it cannot."""
        if (file_name, fmt) not in self._files:
            try:
                handler: logging.Handler = logging.FileHandler(
                    self.get_log_file_path(file_name), encoding="utf-8"
                )
            except OSError as error:
                if not self._files:
                    print(f"launch: no log files: {error}", file=sys.stderr)
                handler = logging.NullHandler()
            handler.setFormatter(logging.Formatter(fmt, style="{"))
            self._files[file_name, fmt] = handler
        return self._files[file_name, fmt]


launch_config = LaunchConfig()


class _MainLog(logging.Handler):
    """Passes on to launch.log, which exists only once something has been launched."""

    opened = False

    def emit(self, record: logging.LogRecord) -> None:
        if _MainLog.opened:
            fmt = "{created:.7f} [{levelname}] [{name}]: {message}"
            launch_config.file_handler("launch.log", fmt).handle(record)


_main_log = _MainLog()


def log_launch_config(*, logger: logging.Logger) -> None:
    """Open the log file and say where it is."""
    _MainLog.opened = True
    logger.setLevel(launch_config.level)
    try:
        logger.info("All log files can be found below %s", launch_config.log_dir)
    except OSError as error:
        _MainLog.opened = False
        logger.warning("no log files: %s", error)
    logger.info("Default logging verbosity is set to %s", logging.getLevelName(launch_config.level))


def _logger(name: str, handlers: list[logging.Handler]) -> logging.Logger:
    logger = logging.getLogger(name)
    logger.propagate = False
    logger.setLevel(launch_config.level)
    for handler in handlers:
        if handler not in logger.handlers:
            logger.addHandler(handler)
    return logger


def get_logger(name: str | None = None) -> logging.Logger:
    """Return a logger that writes to the screen and to the run's launch.log."""
    return _logger(name or "launch.root", [launch_config.screen, _main_log])


ALIASES: dict[str, dict[str, set[str]]] = {
    "screen": {"both": {"screen"}},
    "log": {"both": {"log"}, "stderr": {"screen"}},
    "both": {"both": {"log", "screen"}},
    "own_log": {"both": {"own_log"}, "stdout": {"own_log"}, "stderr": {"own_log"}},
    "full": {
        "both": {"screen", "log", "own_log"},
        "stdout": {"own_log"},
        "stderr": {"own_log"},
    },
}


def _normalize_output(config: str | dict) -> dict[str, set[str]]:
    if isinstance(config, str):
        if config not in ALIASES:
            raise ValueError(f"'{config}' is not an output config, expected one of {[*ALIASES]}")
        config = ALIASES[config]
    normalized = {}
    for source, destinations in config.items():
        if source not in ("stdout", "stderr", "both"):
            raise ValueError(f"'{source}' is not an output source: stdout, stderr or both")
        chosen = {destinations} if isinstance(destinations, str) else set(destinations)
        if not chosen <= {"screen", "log", "own_log"}:
            raise ValueError(f"{chosen} are not output destinations: screen, log or own_log")
        normalized[source] = chosen
    return normalized


def get_output_loggers(
    process_name: str, output_config: str | dict
) -> tuple[logging.Logger, logging.Logger]:
    """Return the loggers of a process's stdout and stderr.

    `output_config` is 'screen', 'log' (all to the log file, stderr to the screen too), 'both',
    'own_log', 'full', or a dictionary {'stdout' | 'stderr' | 'both': destinations} with the
    destinations 'screen', 'log', 'own_log'.
    """
    config = _normalize_output(output_config)
    both = config.get("both", set())
    loggers = []
    for source in ("stdout", "stderr"):
        own = config.get(source, set())
        handlers: list[logging.Handler] = []
        if "screen" in both | own:
            handlers.append(launch_config.raw_screen)
        if "log" in both | own:
            handlers.append(launch_config.file_handler("launch.log", "{created:.7f} {message}"))
        if "own_log" in own:
            handlers.append(launch_config.file_handler(f"{process_name}-{source}.log", "{message}"))
        if "own_log" in both:
            handlers.append(launch_config.file_handler(f"{process_name}.log", "{message}"))
        loggers.append(_logger(f"{process_name}-{source}", handlers or [logging.NullHandler()]))
    return loggers[0], loggers[1]
