# SPDX-License-Identifier: Apache-2.0

"""`ros2 launch`."""

from __future__ import annotations

import argparse
import os

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from launch import LaunchDescription, LaunchService
from launch.actions import OpaqueFunction
from launch.launch_context import LaunchContext
from launch.launch_description_sources import get_launch_description_from_any_launch_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("-d", "--debug", action="store_true", help="Show tracebacks of errors.")
    parser.add_argument(
        "-s",
        "--show-args",
        "--show-arguments",
        action="store_true",
        help="Show arguments that may be given to the launch file.",
    )
    parser.add_argument(
        "package_name", help="Name of the ROS package which contains the launch file, or its path"
    )
    parser.add_argument("launch_file_name", nargs="?", help="Name of the launch file")
    parser.add_argument(
        "launch_arguments",
        nargs="*",
        help="Arguments to the launch file; '<name>:=<value>' (for duplicates, last one wins)",
    )
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int:
    """Launch a file, or show its arguments."""
    words = list(args.launch_arguments)
    if os.path.isfile(args.package_name):
        path = args.package_name
        # With a path, what argparse took for the file's name is the first argument.
        if args.launch_file_name is not None:
            words.insert(0, args.launch_file_name)
    else:
        path = find_launch_file(args.package_name, args.launch_file_name)
    if args.show_args:
        show_arguments(get_launch_description_from_any_launch_file(path))
        return 0
    arguments = parse_launch_arguments(words)

    def load(context: LaunchContext) -> LaunchDescription:
        context.launch_configurations.update(arguments)
        return get_launch_description_from_any_launch_file(path)

    service = LaunchService(debug=args.debug)
    service.include_launch_description(LaunchDescription([OpaqueFunction(function=load)]))
    return service.run()


def find_launch_file(package: str, file_name: str | None) -> str:
    """Return the path of a launch file in a package's share folder; raise RuntimeError."""
    if os.sep in package or package.endswith(".py"):
        raise RuntimeError(f"launch file '{package}' does not exist")
    if file_name is None:
        raise RuntimeError(f"'{package}' is not a file; for a package, name its launch file too")
    try:
        share = get_package_share_directory(package)
    except (PackageNotFoundError, ValueError) as error:
        raise RuntimeError(f"Package '{package}' not found: {error}") from error
    found = {
        os.path.realpath(os.path.join(root, file_name))
        for root, _, files in os.walk(share, followlinks=True)
        if file_name in files
    }
    if not found:
        raise RuntimeError(
            f"file '{file_name}' was not found in the share directory of package '{package}' "
            f"which is at '{share}'"
        )
    if len(found) > 1:
        raise RuntimeError(
            f"file '{file_name}' was found more than once in the share directory of package "
            f"'{package}': {sorted(found)}"
        )
    return found.pop()


def parse_launch_arguments(words: list[str]) -> dict[str, str]:
    """Split '<name>:=<value>' words; the last one of a name wins."""
    arguments = {}
    for word in words:
        name, sign, value = word.partition(":=")
        if not name or not sign or not value:
            raise RuntimeError(
                f"malformed launch argument '{word}', expected format '<name>:=<value>'"
            )
        arguments[name] = value
    return arguments


def show_arguments(description: LaunchDescription) -> None:
    """Print the arguments as upstream does."""
    print("Arguments (pass arguments as '<name>:=<value>'):")
    arguments = description.get_launch_arguments()
    for argument in arguments:
        default = " + ".join(token.describe() for token in argument.default_value)
        print(f"\n    '{argument.name}':\n        {argument.description}")
        print(f"        (default: {default})")
    if not arguments:
        print("\n  No arguments.")
