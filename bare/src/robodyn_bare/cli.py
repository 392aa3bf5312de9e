# SPDX-License-Identifier: Apache-2.0

"""The `ros2` command: finds the command and its verb, and turns errors into one line."""

from __future__ import annotations

import argparse
import importlib
import signal
import sys

from . import environment

# Each command is a module that is imported only when it is used: rclpy takes long to load.
COMMANDS = {
    "launch": "Run a launch file",
    "param": "Various param related sub-commands",
    "run": "Run a package specific executable",
    "service": "Various service related sub-commands",
    "topic": "Various topic related sub-commands",
}


def build_parser(selected: str | None) -> argparse.ArgumentParser:
    """Return the parser, with the arguments of the selected command."""
    parser = argparse.ArgumentParser(
        prog="ros2",
        description="The part of ROS 2's command line that robodyn needs, without ROS 2.",
    )
    commands = parser.add_subparsers(title="Commands", metavar="Command", dest="command")
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        if name == selected:
            importlib.import_module(f".commands.{name}", __package__).add_arguments(command)
            if command.get_default("main") is None:
                command.set_defaults(main=lambda args, shown=command: shown.print_help())
    return parser


def main() -> int | str | None:
    """Run `ros2`; the return value is an exit code, or an error's text for exit code 1."""
    real = environment.real_ros_prefix()
    if real is not None:
        return (
            f"this is robodyn-bare's ros2, but ROS 2 is sourced at {real}: use its own ros2 "
            "(deactivate the virtual environment)"
        )
    if problem := environment.problem():
        return problem
    environment.prepare()
    selected = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    parser = build_parser(selected)
    args = parser.parse_args()
    if args.command is None:
        parser.print_help()
        return 0
    # Flush each line, like upstream, for readers of a pipe. Characters that the terminal's encoding
    # cannot show are replaced.
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    try:
        return args.main(args)
    except KeyboardInterrupt:
        return int(signal.SIGINT)
    except RuntimeError as error:
        return str(error)
    except BrokenPipeError:
        # The reader has closed the pipe, as in `ros2 topic echo ... | head`.
        sys.stdout = None
        return 0
