# SPDX-License-Identifier: Apache-2.0

"""Reading launch files: those in Python; XML and YAML are refused."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location

from .launch_description import LaunchDescription


class InvalidLaunchFileError(RuntimeError):
    """A launch file that cannot be loaded."""


def get_launch_description_from_any_launch_file(launch_file_path: str) -> LaunchDescription:
    """Return the description that a Python launch file generates.

    Raises:
        InvalidLaunchFileError: another format, no generate_launch_description(), or an error in
            the file; the message names the file.
    """
    if not launch_file_path.endswith(".py"):
        raise InvalidLaunchFileError(
            f"'{launch_file_path}': without ROS 2, only Python launch files (.py) can be launched"
        )
    spec = spec_from_file_location("python_launch_file", launch_file_path)
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        generate = getattr(module, "generate_launch_description", None)
        description = None if generate is None else generate()
    except Exception as error:
        # Like upstream: the message of an error in the file names the file.
        raise InvalidLaunchFileError(
            f"the launch file '{launch_file_path}' failed with {type(error).__name__}: {error}"
        ) from error
    if generate is None:
        raise InvalidLaunchFileError(
            f"launch file at '{launch_file_path}' does not contain the required function "
            "'generate_launch_description()'"
        )
    return description
