# SPDX-License-Identifier: Apache-2.0

"""Writes config/sros2_policy.xml, the permissions of nodes, from the nodes themselves.

Usage: `python docs/make_policy.py` writes the file, `--check` fails if it is not up to date.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import rclpy
from generated import write_or_check
from make_nodes import GLOBAL, TF2_USES, running
from rclpy.node import Node

from robodyn_ros.nodes import NODES

POLICY = Path(__file__).resolve().parents[1] / "config" / "sros2_policy.xml"
# Parameters with which a node has every topic that it may have.
ARGUMENTS = ("-p", "use_scale:=true", "-p", "port:=0")
TF = {"/tf", "/tf_static"}
# Topics that a node discovers while it runs.
LATER = {
    "inverse_dynamics": {("topic", "subscribe"): TF},
    "forward_simulator": {("topic", "subscribe"): TF},
    "web_viewer": {("topic", "subscribe"): {"/robot_description"}},
    # to detect other publishers of commands
    "joint_commander": {
        ("topic", "subscribe"): {
            "/joint_commands",
            *(f"/{kind}_controller/commands" for kind in ("position", "velocity", "effort")),
        }
    },
    # a simulator's telemetry
    "motion_cueing": {("topic", "publish"): {"/vehicle/imu"}},
    # it records all topics
    "recorder": {("topic", "subscribe"): {"/*"}},
}
# Every rclpy node logs, and reads the clock if `use_sim_time` is set.
ALWAYS = {
    ("topic", "publish"): {"/rosout"},
    ("topic", "subscribe"): {"/clock", "/parameter_events"},
}
# Started by our launch files where it is installed, which is not here.
PUBLISHER = "robot_state_publisher"
PUBLISHES = {
    ("topic", "publish"): {"/rosout", "/parameter_events", "/robot_description", *TF},
    ("topic", "subscribe"): {"/clock", "/parameter_events", "/joint_states"},
    ("service", "reply"): {
        f"/{PUBLISHER}/{name}"
        for name in (
            *("describe_parameters", "get_parameter_types", "get_parameters", "list_parameters"),
            *("set_parameters", "set_parameters_atomically", "get_type_description"),
        )
    },
}
# A person or a program that gives goals, pushes, calls services and sets parameters.
OPERATOR = "operator"
# Nodes of the command line have this name and a number; each has its own parameters.
COMMAND_LINE = "/_ros2cli*"
GIVEN = {
    *("/goal_pose", "/goal_joints", "/external_wrench", "/base_imu"),
    *("/rosout", "/parameter_events"),
}
HEADER = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- Made by docs/make_policy.py from the running nodes; docs/security.md says how to use it. -->
"""

Rules = dict[tuple[str, str], set[str]]


def main() -> int:
    """Write the policy, or check it."""
    return write_or_check(POLICY, policy())


def policy() -> str:
    """The policy's text."""
    rclpy.init()
    os.chdir(tempfile.mkdtemp())  # folder for nodes that write files
    try:
        rules = {name: node_rules(name, cls) for name, cls in NODES.items()}
    finally:
        rclpy.try_shutdown()
    served, actions = (
        set().union(*(rule[kind] for rule in rules.values()))
        for kind in (("service", "reply"), ("action", "execute"))
    )
    rules[OPERATOR] = {
        ("topic", "publish"): GIVEN,
        ("topic", "subscribe"): {"/*"},
        ("service", "request"): served,
        ("action", "call"): actions,
        ("service", "reply"): {COMMAND_LINE},
    }
    rules[PUBLISHER] = PUBLISHES
    root = ElementTree.Element("policy", version="0.2.0")
    enclaves = ElementTree.SubElement(root, "enclaves")
    for name, rule in sorted(rules.items()):
        enclave = ElementTree.SubElement(enclaves, "enclave", path=f"/robodyn/{name}")
        profiles = ElementTree.SubElement(enclave, "profiles")
        profile = ElementTree.SubElement(profiles, "profile", ns="/", node=name)
        for (what, verb), names in sorted(rule.items()):
            if names:
                rows = ElementTree.SubElement(profile, f"{what}s", {verb: "ALLOW"})
                for expression in sorted(shown(name, full) for full in names):
                    ElementTree.SubElement(rows, what).text = expression
    ElementTree.indent(root)
    return HEADER + ElementTree.tostring(root, encoding="unicode") + "\n"


def node_rules(name: str, class_name: str) -> Rules:
    """Return the permissions of a node: (topic, service or action, verb): full names."""
    found: Rules = defaultdict(set)
    module = import_module(f"robodyn_ros.{name}")
    # also where control_msgs is not installed, which has them
    found["action", "execute"] = {
        action.replace("~", f"/{name}") for action in getattr(module, "ACTIONS", {})
    }
    for _, node in running(module, class_name, *ARGUMENTS):
        for key, names in present(node):
            found[key].update(names)
    for key, names in (*LATER.get(name, {}).items(), *ALWAYS.items()):
        found[key].update(names)
    if "/*" in found["topic", "subscribe"]:
        found["topic", "subscribe"] = {"/*"}
    return found


def present(node: Node) -> Iterable[tuple[tuple[str, str], set[str]]]:
    """Return the entities of a running node."""
    uses = {(how, topic) for user, how, topic in TF2_USES if user is node}
    publishes = {topic for how, topic in uses if how == "publishes"}
    subscribes = {topic for how, topic in uses if how == "subscribes"}
    yield ("topic", "publish"), publishes | {p.topic_name for p in node.publishers}
    yield ("topic", "subscribe"), subscribes | {s.topic_name for s in node.subscriptions}
    yield ("service", "reply"), {node.resolve_service_name(s.srv_name) for s in node.services}
    yield ("service", "request"), {node.resolve_service_name(c.srv_name) for c in node.clients}


def shown(node: str, full: str) -> str:
    """A name as policies have it: relative, so that a namespace changes it, where it is so."""
    if full.startswith(f"/{node}/"):
        return "~/" + full.removeprefix(f"/{node}/")
    if full in GLOBAL or full in ("/rosout", "/parameter_events", "/*"):
        return full
    return full.removeprefix("/")


if __name__ == "__main__":
    sys.exit(main())
