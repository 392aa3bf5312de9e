# SPDX-License-Identifier: Apache-2.0

"""Environment variables that rclpy and DDS read when a process starts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, MutableMapping
from pathlib import Path

# UDP ports of higher domains exceed 65535.
HIGHEST_DOMAIN = 232


def domain_problem(environment: Mapping[str, str]) -> str:
    """Return an error message if ROS_DOMAIN_ID is invalid, else an empty string."""
    domain = environment.get("ROS_DOMAIN_ID", "").strip()
    if not domain or (domain.isdecimal() and int(domain) <= HIGHEST_DOMAIN):
        return ""
    return (
        f"environment variable ROS_DOMAIN_ID is {domain!r}: expected a whole number from 0 to "
        f"{HIGHEST_DOMAIN}. Correct it, or unset it for domain 0"
    )


def set_log_folder(environment: MutableMapping[str, str]) -> None:
    """Set ROS_LOG_DIR to a temporary folder if no variable defines a folder for logs.

    Services and containers often run without HOME, and rclpy then cannot start its logging.
    """
    if not any(environment.get(name) for name in ("ROS_LOG_DIR", "ROS_HOME", "HOME")):
        folder = Path(tempfile.gettempdir()) / f"ros_log_{os.getuid()}"
        environment["ROS_LOG_DIR"] = str(folder)
