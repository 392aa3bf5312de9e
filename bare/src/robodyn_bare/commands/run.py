# SPDX-License-Identifier: Apache-2.0

"""`ros2 run`."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess

from ament_index_python.packages import PackageNotFoundError, get_package_prefix


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("package_name", help="Name of the ROS package")
    parser.add_argument("executable_name", help="Name of the executable")
    parser.add_argument(
        "argv",
        nargs=argparse.REMAINDER,
        help="Pass arbitrary arguments to the executable",
    )
    parser.set_defaults(main=main)


def main(args: argparse.Namespace) -> int | str:
    """Run the executable in the foreground; return its exit code, negative for a signal."""
    try:
        prefix = get_package_prefix(args.package_name)
    except (PackageNotFoundError, ValueError):
        return f"Package '{args.package_name}' not found"
    path = os.path.join(prefix, "lib", args.package_name, args.executable_name)
    if not os.access(path, os.X_OK):
        return "No executable found"
    process = subprocess.Popen([path, *args.argv])
    # A Ctrl-C in the terminal reaches the process itself; SIGTERM only reaches us.
    signal.signal(signal.SIGTERM, lambda signum, frame: process.send_signal(signum))
    while process.returncode is None:
        with contextlib.suppress(KeyboardInterrupt):
            process.wait()
    code = process.returncode
    if code < 0:
        print("[ros2run]:", signal.strsignal(-code))
    elif code > 0:
        print(f"[ros2run]: Process exited with failure {code}")
    return code
