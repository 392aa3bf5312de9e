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

"""The `ros2` command: finds the command and its verb, and turns errors into one line."""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from collections.abc import Sequence

from . import environment

# Upstream's texts. Each command is a module; it is imported only when it is used, since what
# talks to ROS takes its time to load.
COMMANDS = {
    "launch": "Run a launch file",
    "node": "Various node related sub-commands",
    "param": "Various param related sub-commands",
    "pkg": "Various package related sub-commands",
    "run": "Run a package specific executable",
    "service": "Various service related sub-commands",
    "topic": "Various topic related sub-commands",
}


def build_parser(selected: str | None) -> argparse.ArgumentParser:
    """Return the parser, with the arguments of the selected command."""
    parser = argparse.ArgumentParser(
        prog="ros2",
        description="The part of ROS 2's command line that robodyn needs where there is no ROS 2.",
    )
    commands = parser.add_subparsers(title="Commands", metavar="Command", dest="command")
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        if name == selected:
            module = importlib.import_module(f".commands.{name}", __package__)
            module.add_arguments(command)
            if command.get_default("main") is None:
                command.set_defaults(main=lambda args, shown=command: shown.print_help())
    return parser


def main(argv: Sequence[str] | None = None) -> int | str | None:
    """Run `ros2`; the return value is an exit code, or an error's text for exit code 1."""
    argv = list(sys.argv[1:] if argv is None else argv)
    real = environment.real_ros_prefix()
    if real is not None:
        return (
            f"this is robodyn-bare's ros2, but ROS 2 is sourced at {real}: use its own ros2 "
            "(deactivate the virtual environment)"
        )
    environment.prepare()
    selected = next((word for word in argv if not word.startswith("-")), None)
    try:
        parser = build_parser(selected)
    except ModuleNotFoundError as error:
        return f"ros2 {selected} needs the Python package '{error.name}', which is not installed"
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        return 0
    # Upstream too: whoever reads a pipe wants the lines as they come.
    sys.stdout.reconfigure(line_buffering=True)
    try:
        return args.main(args)
    except KeyboardInterrupt:
        return int(signal.SIGINT)
    except RuntimeError as error:
        return str(error)
    except BrokenPipeError:
        # The reader has seen enough, as in `ros2 topic echo ... | head`.
        sys.stdout = None
        return 0


if __name__ == "__main__":
    sys.exit(main())
