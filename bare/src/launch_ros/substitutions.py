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
