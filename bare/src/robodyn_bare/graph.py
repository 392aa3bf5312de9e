# SPDX-License-Identifier: Apache-2.0

"""A short-lived node that looks at the ROS graph, for the commands that need one."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

# Time without news after which the graph counts as discovered [s]; upstream asks its daemon, which
# knows the graph.
DISCOVERY_TIME = 1.0
# Time to wait for a node or a service [s], as upstream.
PATIENCE = 5.0


@contextlib.contextmanager
def graph_node() -> Iterator[Node]:
    """Give a hidden node."""
    rclpy.init()
    try:
        yield rclpy.create_node(f"_ros2cli_{os.getpid()}", start_parameter_services=False)
    except ExternalShutdownException:
        sys.exit(int(signal.SIGTERM))
    except Exception as error:
        if rclpy.ok():
            raise
        # rclpy's signal handler has shut the context down while it was in use.
        raise KeyboardInterrupt from error
    finally:
        # Also destroys the node. rclpy's signal handler may do this at the same time.
        with contextlib.suppress(rclpy_implementation.RCLError):
            rclpy.try_shutdown()


def discover(node: Node) -> None:
    """Wait until the node has discovered nothing new for a while; the middleware does the work."""
    end = time.monotonic() + PATIENCE
    known, since = 0, time.monotonic()
    while time.monotonic() < min(end, since + DISCOVERY_TIME):
        time.sleep(0.05)
        found = len(node.get_topic_names_and_types()) + len(node.get_node_names())
        if found != known:
            known, since = found, time.monotonic()


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Wait until the condition holds; raise RuntimeError if it takes too long."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} not found")
        time.sleep(0.05)


def is_hidden(name: str) -> bool:
    """Return whether a name or one of its namespaces begins with an underscore."""
    return any(part.startswith("_") for part in name.split("/"))


def absolute(name: str) -> str:
    """Return the name with a leading slash."""
    return name if name.startswith("/") else f"/{name}"


def interface_class(name: str, kind: str) -> Any:
    """Return the class of e.g. 'std_msgs/msg/String' or 'std_msgs/String'; `kind`: msg or srv."""
    parts = name.split("/")
    if len(parts) == 2:
        parts.insert(1, kind)
    try:
        package, folder, class_name = parts
        if folder != kind:
            raise ValueError(folder)
        return getattr(importlib.import_module(f"{package}.{kind}"), class_name)
    except (AttributeError, ModuleNotFoundError, ValueError) as error:
        raise RuntimeError(f"The passed type is invalid: '{name}'") from error
