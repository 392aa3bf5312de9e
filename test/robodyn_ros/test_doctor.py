# SPDX-License-Identifier: Apache-2.0

"""`robodyn doctor`: findings about an installation and about a running graph."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import rclpy
from rcl_interfaces.srv import ListParameters
from rclpy.qos import QoSProfile, ReliabilityPolicy
from ros_harness import PATIENCE
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

from robodyn_ros import graph_check

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


def test_the_doctor_names_incompatible_publishers_and_subscribers(peer):
    node = peer.node
    node.create_publisher(Float64, "readings", BEST_EFFORT)
    node.create_subscription(Float64, "readings", print, 10)
    for _ in range(2):
        node.create_publisher(Float64MultiArray, "effort_controller/commands", 10)
    node.create_subscription(Clock, "/clock", print, 10)
    code, found = doctor("--strict", domain=peer.domain)
    texts = [f"{entry['level']}: {entry['text']}" for entry in found]
    assert code == 1
    (found,) = (text for text in texts if "/readings" in text)
    assert "error" in found
    assert "Best effort" in found
    assert any("warning: /effort_controller/commands has 2 publishers" in text for text in texts)
    assert any("warning: /clock has no publisher" in text for text in texts)


def test_the_doctor_names_missing_packages_and_the_remedy(monkeypatch):
    monkeypatch.setattr(doctor_module, "EXTRAS", {"record": ["no_such_package>=2"]})
    ((level, text),) = doctor_module.extras()
    assert level == "note"
    assert "no_such_package" in text
    assert "pip install" in text
    monkeypatch.setattr(doctor_module, "REQUIRED", ("numpy", "no_such_package"))
    assert [*doctor_module.check_packages()][-1] == ("error", "not installed: no_such_package")


def test_a_package_by_its_name_in_ros_2_is_installed(monkeypatch):
    """There urdf_parser_py is of the distribution urdfdom_py."""
    versions = {"urdfdom_py": "1.2.1", "numpy": "1.26.4"}

    def version(name):
        if name in versions:
            return versions[name]
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(doctor_module, "REQUIRED", ("numpy", "urdf_parser_py"))
    (level, _), named = doctor_module.check_packages()
    assert level == "ok"
    assert named == ("ok", "numpy 1.26.4, urdf_parser_py 1.2.1")


@pytest.mark.parametrize("stale", [True, False])
def test_the_doctor_names_several_publishers_of_the_same_joints(peer, stale):
    node = peer.node
    publishers = [node.create_publisher(JointState, "arm/joint_states", 10) for _ in range(2)]

    def tick():
        for publisher, place in zip(publishers, (1.0, 0.0 if stale else 1.0), strict=True):
            publisher.publish(JointState(name=["a", "b"], position=[place, 0.3]))

    timer = node.create_timer(0.02, tick)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(doctor, domain=peer.domain)
        peer.until(asked.done, "an answer of the doctor")
    node.destroy_timer(timer)
    _, found = asked.result()
    (entry,) = [entry for entry in found if "/arm/joint_states has 2 publishers" in entry["text"]]
    assert entry["level"] == ("error" if stale else "warning")
    assert "peer, peer" in entry["text"]
    assert " a" in entry["text"]
    for publisher in publishers:
        node.destroy_publisher(publisher)


def test_publishers_of_different_joints_are_none_too_many(peer):
    node = peer.node
    publishers = [node.create_publisher(JointState, "legs/joint_states", 10) for _ in range(2)]

    def tick():
        for publisher, name in zip(publishers, "ab", strict=True):
            publisher.publish(JointState(name=[name], position=[0.0]))

    timer = node.create_timer(0.02, tick)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(doctor, domain=peer.domain)
        peer.until(asked.done, "an answer of the doctor")
    node.destroy_timer(timer)
    assert not [entry for entry in asked.result()[1] if "legs/joint_states" in entry["text"]]
    for publisher in publishers:
        node.destroy_publisher(publisher)


def test_the_workspace_around_the_folder_is_sourced(tmp_path):
    install, inside = tmp_path / "install", tmp_path / "src" / "mine"
    inside.mkdir(parents=True)
    install.mkdir()
    python = install / "python3"
    python.write_text('#!/bin/sh\necho \'[{"level": "ok", "text": "\'$SEEN\'"}]\'\n')
    python.chmod(0o755)
    (install / "local_setup.bash").touch()
    setup = install / "setup.bash"
    setup.write_text(f'echo noise; export PATH="{install}:$PATH" SEEN=sourced\n')
    assert doctor_module.setup_file(inside) == setup
    assert list(doctor_module.running_graph(setup)) == [("ok", "sourced")]


def test_the_doctor_asks_again_until_a_service_responds(start, peer, monkeypatch):
    """What is sent before client and server know each other is lost."""
    start("run_summary", {})
    rclpy.init(args=[], domain_id=peer.domain)
    node = rclpy.create_node("asking")
    try:
        client = node.create_client(ListParameters, "/run_summary/list_parameters")
        monkeypatch.setattr(graph_check, "RESPONSE_TIMEOUT", PATIENCE)
        assert graph_check.response_of(node, client).result.names
        monkeypatch.setattr(graph_check, "RESPONSE_TIMEOUT", 0.1)
        monkeypatch.setattr(graph_check, "REQUEST_PERIOD", 0.1)
        client = node.create_client(ListParameters, "/nobody/list_parameters")
        assert graph_check.response_of(node, client) is None
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
