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

"""A short-lived node that looks at the ROS graph, and the arguments all such commands share."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter

# Upstream waits half a second; its daemon has listened for longer, and here there is none.
DEFAULT_SPIN_TIME = 1.0


def add_node_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments on discovery and time."""
    parser.add_argument(
        "--spin-time",
        type=float,
        default=DEFAULT_SPIN_TIME,
        metavar="SECONDS",
        help="Spin time in seconds to wait for discovery (default: %(default)s)",
    )
    parser.add_argument(
        "-s", "--use-sim-time", action="store_true", help="Enable ROS simulation time"
    )
    parser.add_argument(
        "--no-daemon",
        action="store_true",
        help="Do not spawn nor use an already running daemon (there is none here anyway)",
    )


def add_wait_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command that talks to one node."""
    parser.add_argument(
        "--include-hidden-nodes", action="store_true", help="Consider hidden nodes as well"
    )
    parser.add_argument(
        "--timeout",
        metavar="N",
        type=float,
        default=5.0,
        help="Wait for N seconds until node becomes available (default %(default)s sec)",
    )


@contextlib.contextmanager
def graph_node(
    args: argparse.Namespace, *, discover: bool = True, name: str | None = None
) -> Iterator[Node]:
    """Give a hidden node that, with `discover`, has listened for the spin time already."""
    rclpy.init()
    try:
        node = rclpy.create_node(
            name or f"_ros2cli_{os.getpid()}",
            start_parameter_services=False,
            parameter_overrides=[
                Parameter("use_sim_time", value=getattr(args, "use_sim_time", False))
            ],
            automatically_declare_parameters_from_overrides=True,
        )
        if discover:
            # Discovery runs in threads of the middleware: there is nothing to spin yet.
            time.sleep(args.spin_time)
        yield node
    except ExternalShutdownException:
        sys.exit(int(signal.SIGTERM))
    except Exception as error:
        if rclpy.ok():
            raise
        # rclpy's signal handler has shut the context down under whatever was using it.
        raise KeyboardInterrupt from error
    finally:
        # Also destroys the node.
        rclpy.try_shutdown()


def wait_for(condition: Callable[[], bool], timeout: float) -> bool:
    """Return whether the condition came true within the time-out."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def is_hidden(name: str) -> bool:
    """Return whether a name or one of its namespaces begins with an underscore."""
    return any(part.startswith("_") for part in name.split("/"))


def node_names(node: Node, *, hidden: bool) -> list[str]:
    """Return the full names of all nodes, sorted; a name may be there more than once."""
    return sorted(
        f"{namespace.rstrip('/')}/{name}"
        for name, namespace in node.get_node_names_and_namespaces()
        if hidden or (name and not name.startswith("_"))
    )


def absolute(name: str) -> str:
    """Return the name with a leading slash."""
    return name if name.startswith("/") else f"/{name}"


def wait_for_node(node: Node, name: str, args: argparse.Namespace) -> None:
    """Wait until a node is there; raise RuntimeError if it does not appear."""
    full_name = absolute(name)

    def is_there() -> bool:
        return full_name in node_names(node, hidden=args.include_hidden_nodes)

    if not wait_for(is_there, args.timeout):
        raise RuntimeError("Node not found")
