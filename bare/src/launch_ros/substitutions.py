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

"""Substitutions that find packages and their executables."""

from __future__ import annotations

import os
import shutil

from ament_index_python.packages import get_package_prefix, get_package_share_directory

from launch.launch_context import LaunchContext
from launch.some_types import SomeSubstitutionsType
from launch.substitution import Substitution
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

__all__ = ["ExecutableInPackage", "FindPackagePrefix", "FindPackageShare"]


class FindPackagePrefix(Substitution):
    """The prefix a package is installed in; raises PackageNotFoundError."""

    def __init__(self, package: SomeSubstitutionsType) -> None:
        """Keep the package's name."""
        self.package = normalize_to_list_of_substitutions(package)

    def describe(self) -> str:
        """Return the package's name."""
        name = " + ".join(sub.describe() for sub in self.package)
        return f"{type(self).__name__}(pkg={name})"

    def find(self, package_name: str) -> str:
        """Return the prefix."""
        return get_package_prefix(package_name)

    def perform(self, context: LaunchContext) -> str:
        """Return the folder."""
        return self.find(perform_substitutions(context, self.package))


class FindPackageShare(FindPackagePrefix):
    """The share folder of a package; raises PackageNotFoundError."""

    def find(self, package_name: str) -> str:
        """Return the share folder."""
        return get_package_share_directory(package_name)


class ExecutableInPackage(FindPackagePrefix):
    """The path of a package's executable."""

    def __init__(self, executable: SomeSubstitutionsType, package: SomeSubstitutionsType) -> None:
        """Keep both names."""
        super().__init__(package)
        self.executable = normalize_to_list_of_substitutions(executable)

    def perform(self, context: LaunchContext) -> str:
        """Return the path or say where it was looked for."""
        executable = perform_substitutions(context, self.executable)
        package = perform_substitutions(context, self.package)
        prefix = super().perform(context)
        folder = os.path.join(prefix, "lib", package)
        if not os.path.exists(folder):
            raise SubstitutionFailure(
                f"package '{package}' found at '{prefix}', but libexec directory '{folder}' "
                "does not exist"
            )
        path = shutil.which(executable, path=folder)
        if path is None:
            raise SubstitutionFailure(
                f"executable '{executable}' not found on the libexec directory '{folder}'"
            )
        return path
