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

"""`ros2 pkg`."""

from __future__ import annotations

import argparse
import os

from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
    get_packages_with_prefixes,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs: executables, list, prefix."""
    verbs = parser.add_subparsers(title="Verbs", metavar="Verb")
    verb = verbs.add_parser("executables", help="Output a list of package specific executables")
    verb.add_argument("package_name", help="The package name")
    verb.set_defaults(main=executables)
    verb = verbs.add_parser("list", help="Output a list of available packages")
    verb.set_defaults(main=list_packages)
    verb = verbs.add_parser("prefix", help="Output the prefix path of a package")
    verb.add_argument("package_name", help="The package name")
    verb.add_argument(
        "--share", action="store_true", help="Show share directory of the package instead"
    )
    verb.set_defaults(main=prefix)


def executables(args: argparse.Namespace) -> str | None:
    """Print 'PACKAGE EXECUTABLE' for each."""
    try:
        folder = os.path.join(get_package_prefix(args.package_name), "lib", args.package_name)
    except (PackageNotFoundError, ValueError):
        return f"Package '{args.package_name}' not found"
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if os.access(os.path.join(folder, name), os.X_OK):
            print(args.package_name, name)
    return None


def list_packages(args: argparse.Namespace) -> None:
    """Print the names of all packages."""
    print(*sorted(get_packages_with_prefixes()), sep="\n")


def prefix(args: argparse.Namespace) -> str | None:
    """Print where a package is."""
    find = get_package_share_directory if args.share else get_package_prefix
    try:
        print(find(args.package_name))
    except (PackageNotFoundError, ValueError):
        return "Package not found"
    return None
