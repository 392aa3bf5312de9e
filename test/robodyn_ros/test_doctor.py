# SPDX-License-Identifier: Apache-2.0

"""`robodyn doctor`: findings about an installation and about a running graph."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import subprocess
import sys

import pytest
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64, Float64MultiArray

# the package's attribute of this name is the function
doctor_module = importlib.import_module("robodyn.cli.doctor")
pytestmark = pytest.mark.ros
BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


def doctor(*arguments: str, domain: int | None = None) -> tuple[int, list[dict[str, str]]]:
    environment = os.environ | ({} if domain is None else {"ROS_DOMAIN_ID": str(domain)})
    done = subprocess.run(
        [sys.executable, "-m", "robodyn", "doctor", "--json", *arguments],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout)


def test_it_says_what_in_a_graph_does_not_fit(peer):
    node = peer.node
    node.create_publisher(Float64, "readings", BEST_EFFORT)
    node.create_subscription(Float64, "readings", print, 10)
    for _ in range(2):
        node.create_publisher(Float64MultiArray, "effort_controller/commands", 10)
    node.create_subscription(Clock, "/clock", print, 10)
    code, found = doctor("--strict", domain=peer.domain)
    texts = [f"{entry['level']}: {entry['text']}" for entry in found]
    assert code == 1
    assert any("error: /readings: peer does not hear peer: Best effort" in text for text in texts)
    assert any("warning: /effort_controller/commands has 2 publishers" in text for text in texts)
    assert any("warning: /clock has no publisher" in text for text in texts)


def test_what_is_missing_is_said_with_its_remedy(monkeypatch):
    monkeypatch.setattr(doctor_module, "EXTRAS", {"record": ["no_such_package>=2"]})
    ((level, text),) = doctor_module.extras()
    assert level == "note"
    assert "no_such_package" in text
    assert "pip install" in text
    monkeypatch.setattr(doctor_module, "REQUIRED", ("numpy", "no_such_package"))
    assert [*doctor_module.installed()][-1] == ("error", "not installed: no_such_package")


def test_a_package_by_its_name_in_ros_2_is_installed(monkeypatch):
    """There urdf_parser_py is of the distribution urdfdom_py."""
    versions = {"urdfdom_py": "1.2.1", "numpy": "1.26.4"}

    def version(name):
        if name in versions:
            return versions[name]
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(doctor_module, "REQUIRED", ("numpy", "urdf_parser_py"))
    (level, _), named = doctor_module.installed()
    assert level == "ok"
    assert named == ("ok", "numpy 1.26.4, urdf_parser_py 1.2.1")
