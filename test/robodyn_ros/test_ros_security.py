# SPDX-License-Identifier: Apache-2.0

"""Permissions, open ports, and forbidden calls in the code."""

from __future__ import annotations

import ast
import os
import re
import socket
import time
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest

import robodyn
import robodyn_ros
from robodyn_ros.launch_helpers.description import enclave
from robodyn_ros.nodes import NODES

pytestmark = pytest.mark.ros
ROOT = Path(__file__).parents[2]
POLICY = ROOT / "config" / "sros2_policy.xml"
# that of others, which our launch files start
PUBLISHER = "robot_state_publisher"


@pytest.fixture(scope="module")
def profiles():
    """Profiles of the policy, by their node."""
    if not POLICY.exists():
        pytest.skip("an installed package has no policy here")
    root = ElementTree.parse(POLICY).getroot()
    assert (root.tag, root.attrib) == ("policy", {"version": "0.2.0"})
    found = {}
    for enclave_ in root.findall("enclaves/enclave"):
        (profile,) = enclave_.findall("profiles/profile")
        assert enclave_.get("path") == f"/robodyn/{profile.get('node')}"
        found[profile.get("node")] = profile
    return found


def names(profile, what: str, verb: str) -> set[str]:
    return {row.text for row in profile.findall(f"{what}s[@{verb}='ALLOW']/{what}")}


def test_the_policy_says_only_what_its_schema_knows(profiles):
    """The tags, attributes and values of sros2's policy.xsd."""
    verbs = {
        "topics": {"publish", "subscribe"},
        "services": {"reply", "request"},
        "actions": {"call", "execute"},
    }
    for profile in profiles.values():
        assert set(profile.attrib) == {"ns", "node"}
        for rows in profile:
            assert set(rows.attrib) <= verbs[rows.tag]
            assert set(rows.attrib.values()) == {"ALLOW"}
            assert len(rows) > 0
            for row in rows:
                assert row.tag == rows.tag[:-1]
                assert re.fullmatch(r"(~?/)?([a-z0-9_]+/)*([a-z0-9_]*\*?)", row.text), row.text


def test_every_node_has_an_enclave_and_no_more_than_it_needs(profiles):
    assert set(profiles) == {*NODES, PUBLISHER, "operator"}
    served = set()
    for node in NODES:
        profile = profiles[node]
        assert "*" not in "".join(names(profile, "topic", "publish"))
        own = names(profile, "service", "reply")
        # a node replies only for itself
        assert all(name.startswith("~/") for name in own | names(profile, "action", "execute"))
        served |= {f"{node}/{name[2:]}" for name in own}
        everything = "/*" in names(profile, "topic", "subscribe")
        assert everything == (node == "recorder")
    # one node requests, another replies
    for node, profile in profiles.items():
        assert names(profile, "service", "request") <= served, node
    assert names(profiles["operator"], "service", "request") == served
    follow = "follow_joint_trajectory"
    assert names(profiles["inverse_dynamics"], "action", "execute") == {f"~/{follow}"}
    assert names(profiles["operator"], "action", "call") == {f"inverse_dynamics/{follow}"}
    assert "~/change_state" in names(profiles["inverse_dynamics"], "service", "reply")
    # only the command line's own nodes have unknown names
    assert names(profiles["operator"], "service", "reply") == {"_ros2cli*"}
    # commands are the controllers' to send, states the simulator's or the estimator's
    senders = {
        topic: {n for n in NODES if topic in names(profiles[n], "topic", "publish")}
        for topic in ("joint_commands", "platform_state", "platform_trajectory")
    }
    assert senders["joint_commands"] == {"inverse_dynamics", "joint_commander"}
    assert senders["platform_trajectory"] == {"trajectory_planner"}
    assert "operator" not in senders["platform_state"]
    assert names(profiles[PUBLISHER], "topic", "subscribe") >= {"joint_states", "/clock"}
    assert names(profiles[PUBLISHER], "topic", "publish") >= {"/tf", "/tf_static"}


def test_launch_files_give_each_node_its_enclave_where_ros_is_secured(monkeypatch):
    monkeypatch.delenv("ROS_SECURITY_ENABLE", raising=False)
    assert enclave("recorder") == []
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    assert enclave("recorder") == ["--enclave", "/robodyn/recorder"]


def listening(pid: int) -> dict[tuple[str, str, int], int]:
    """The sockets of a process that wait for others: (protocol, address, port): bytes unread."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            inodes.update(re.findall(r"socket:\[(\d+)\]", os.readlink(link)))
    found = {}
    for protocol in ("udp", "tcp"):
        for row in Path(f"/proc/net/{protocol}").read_text().splitlines()[1:]:
            fields = row.split()
            if fields[9] in inodes and (protocol == "udp" or fields[3] == "0A"):
                host, port = fields[1].split(":")
                address = socket.inet_ntoa(bytes.fromhex(host)[::-1])
                found[protocol, address, int(port, 16)] = int(fields[4].split(":")[1], 16)
        six = Path(f"/proc/net/{protocol}6")
        rows = six.read_text().splitlines()[1:] if six.exists() else []
        for fields in map(str.split, rows):
            if fields[9] in inodes:
                found[protocol, f"[{fields[1]}]", 0] = 0
    return found


@pytest.mark.parametrize(
    ("node", "port"), [("inverse_dynamics", None), ("web_viewer", "0")], ids=str
)
def test_nothing_listens_beyond_localhost(start, node, port):
    """Sockets elsewhere only send: what they are sent stays unread."""
    pytest.importorskip("robodyn_bare", reason="real ROS 2 is told by its own environment")
    if node == "web_viewer":
        pytest.importorskip("viser")
    process = start(node, {} if port is None else {"port": int(port)})
    process.wait_for_line("ready" if port is None else "http")
    elsewhere = [s for s in listening(process.pid) if not s[1].startswith("127.")]
    assert [s for s in elsewhere if s[0] == "tcp"] == []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _, address, number in elsewhere:
            # the ports at which participants of a domain are known; senders have those above
            assert not 7400 <= number < 32768, (address, number)
            sender.sendto(b"hello", ("127.0.0.1" if address == "0.0.0.0" else address, number))
    time.sleep(0.5)
    unread = listening(process.pid)
    assert all(unread.get(one, 1) > 0 for one in elsewhere), unread
    assert any(one[1] == "127.0.0.1" for one in unread)


FORBIDDEN_MODULES = {"pickle", "cPickle", "cloudpickle", "dill", "marshal", "shelve"}
FORBIDDEN_CALLS = {"eval", "exec", "compile_command", "os.system", "os.popen", "yaml.unsafe_load"}
# Machine code in the kernel cache: a checksum and the owner of each file are tested before.
PICKLED = "numba_compat.py"
SOURCES = sorted(
    file
    for package in (robodyn, robodyn_ros)
    for file in Path(package.__file__).parent.rglob("*.py")
)


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_no_pickle_no_eval_no_shell(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            allowed = {"pickle"} if file.name == PICKLED else set()
            imported = {alias.name.split(".")[0] for alias in node.names}
            assert not (FORBIDDEN_MODULES - allowed) & imported
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in FORBIDDEN_MODULES
        elif isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in FORBIDDEN_CALLS, node.lineno
            for keyword in node.keywords:
                loose = keyword.arg in ("shell", "allow_pickle")
                assert not loose or ast.unparse(keyword.value) == "False", node.lineno
            if ast.unparse(node.func) == "yaml.load":
                assert "Safe" in ast.unparse(node) or "_Loader" in ast.unparse(node), node.lineno
