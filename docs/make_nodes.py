# SPDX-License-Identifier: Apache-2.0

"""Write docs/nodes.md from the nodes themselves, started for the purpose.

Usage: `python docs/make_nodes.py` writes the page, `--check` fails if it is not up to date.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import diagnostics
import rclpy
from generated import write_or_check
from rclpy.node import Node
from rclpy.parameter import Parameter

from robodyn.errors import InvalidInput, ModelError
from robodyn_ros.nodes import NODES

MODELS = {"Stewart platform": "stewart_symmetric", "arm": "puma560", "closed loop": "delta"}
PAGE = Path(__file__).resolve().with_name("nodes.md")
# Names that no namespace changes.
GLOBAL = {"/clock", "/diagnostics", "/tf", "/tf_static"}
# Entities that every ROS 2 node has.
COMMON = {"/rosout", "/parameter_events", "/parameter_events_descriptors"}
RANGE_END = 1e299
# If tf2_ros is not installed: nodes that would use a topic of TF, how, and which topic.
TF2_USES: list[tuple[Node, str, str]] = []

HEADER = """\
# Nodes

This page lists the topics, services and parameters of each node. `python docs/make_nodes.py`
generates this page from the running nodes.

The names of topics and services can be remapped. They are relative to the namespace of the node,
except `/clock`, `/diagnostics`, `/tf` and `/tf_static`. The prefix `~/` stands for the name of the
node. If a topic exists only for some kinds of mechanism, these kinds are listed in parentheses.
"""


def stand_in_for_tf2() -> ModuleType:
    """Return a replacement of `tf2_ros` that records its uses: the page does not depend on tf2."""
    module = ModuleType("tf2_ros")
    module.Buffer = type("Buffer", (), {})
    module.TransformException = Exception
    module.TransformBroadcaster = lambda node, *_: TF2_USES.append((node, "publishes", "/tf"))
    module.TransformListener = lambda _, node: TF2_USES.extend(
        (node, "subscribes", topic) for topic in ("/tf", "/tf_static")
    )
    return module


try:
    import tf2_ros  # noqa: F401
except ImportError:
    sys.modules["tf2_ros"] = stand_in_for_tf2()


def main() -> int:
    """Write the page, or check it."""
    return write_or_check(PAGE, page())


def page() -> str:
    """The page's text."""
    rclpy.init()
    os.chdir(tempfile.mkdtemp())  # folder for nodes that write files
    try:
        nodes = "".join(section(name, cls) for name, cls in NODES.items())
        return HEADER + nodes + diagnostics.section()
    finally:
        rclpy.shutdown()


def section(name: str, class_name: str) -> str:
    """One node: its first lines, topics, services and parameters."""
    module = import_module(f"robodyn_ros.{name}")
    rows: dict[tuple[str, str, str], set[str]] = {}
    suits = set()
    parameters = ""
    for kind, node in running(module, class_name, "-p", "port:=0"):
        suits.add(kind)
        for row in interfaces(node):
            rows.setdefault(row, set()).add(kind)
        parameters = parameter_table(node)
    for action, kind_of in getattr(module, "ACTIONS", {}).items():
        rows["serves, if control_msgs is installed", action, kind_of] = suits
    lines = [f"\n## {name}\n\n{module.__doc__.split(chr(10), 1)[1].strip()}\n"]
    lines.append("| use | name | type |\n|---|---|---|")
    for (what, topic, kind_of), kinds in sorted(rows.items()):
        only = "" if kinds == suits else f" ({', '.join(sorted(kinds))})"
        lines.append(f"| {what} | `{topic}`{only} | {kind_of} |")
    lines.append("\n" + parameters)
    return "\n".join(lines) + "\n"


def running(module: ModuleType, class_name: str, *more: str) -> Iterator[tuple[str, Node]]:
    """The node with each kind of mechanism that it is for, running; `more` are ROS arguments."""
    for kind, model in MODELS.items():
        # the parameters of a node come with its context, as from a command line
        rclpy.shutdown()
        rclpy.init(args=["--ros-args", "-p", f"model:={model}", *more])
        try:
            node = getattr(module, class_name)()
        except (InvalidInput, ModelError):
            continue  # a node for one kind of mechanism only
        yield kind, node
        node.destroy_node()


def interfaces(node: Node) -> list[tuple[str, str, str]]:
    """Return topics and services of a node: (what, name, type)."""
    own = f"/{node.get_name()}/"

    def shown(name: str) -> str:
        if name.startswith(own):
            return "~/" + name.removeprefix(own)
        return name if name in GLOBAL else name.removeprefix("/")

    found = [("publishes", p.topic_name, type_name(p.msg_type)) for p in node.publishers]
    found += [("subscribes", s.topic_name, type_name(s.msg_type)) for s in node.subscriptions]
    found += [(w, topic, "tf2_msgs/TFMessage") for n, w, topic in TF2_USES if n is node]
    served = [(node.resolve_service_name(s.srv_name), s.srv_type) for s in node.services]
    found += [
        ("serves", name, type_name(kind))
        for name, kind in served
        if "parameter" not in name and "type_description" not in name
    ]
    return [(what, shown(name), kind) for what, name, kind in found if name not in COMMON]


def type_name(message: type) -> str:
    """Package and name of a message class."""
    return f"{message.__module__.split('.')[0]}/{message.__name__}"


def parameter_table(node: Node) -> str:
    """Every parameter of ours with its default and what it means."""
    lines = ["| parameter | default | range | meaning |\n|---|---|---|---|"]
    own = import_module(type(node).__module__).PARAMETERS
    for name in own:
        descriptor = node.describe_parameter(name)
        changes = "" if descriptor.read_only else " Can be changed at run time."
        lines.append(
            f"| `{name}` | {default(own[name].default)} | {limits(descriptor)} "
            f"| {descriptor.description}{changes} |"
        )
    return "\n".join(lines)


def default(value: object) -> str:
    """A default as one would write it."""
    if isinstance(value, Parameter.Type):
        return "not set"
    return f"`{value!r}`" if value != "" else "empty"


def limits(descriptor: object) -> str:
    """A range or the choices."""
    ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
    if ranges:
        low, high = ranges[0].from_value, ranges[0].to_value
        return f"from {low:g}" if high > RANGE_END else f"{low:g} to {high:g}"
    choices = descriptor.additional_constraints.removeprefix("one of ")
    return f"empty{choices}" if choices.startswith(",") else choices


if __name__ == "__main__":
    sys.exit(main())
