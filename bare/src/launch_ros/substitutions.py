# SPDX-License-Identifier: Apache-2.0

"""The substitution that finds a package's files."""

from __future__ import annotations

from ament_index_python.packages import get_package_share_directory

from launch.launch_context import LaunchContext
from launch.substitution import Substitution

__all__ = ["FindPackageShare"]


class FindPackageShare(Substitution):
    """The share folder of a package; raises PackageNotFoundError."""

    def __init__(self, package: str) -> None:
        """Keep the package's name."""
        self.package = package

    def describe(self) -> str:
        """Return the package's name."""
        return f"FindPackageShare(pkg='{self.package}')"

    def perform(self, context: LaunchContext) -> str:
        """Return the folder."""
        return get_package_share_directory(self.package)
