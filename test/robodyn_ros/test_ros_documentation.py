# SPDX-License-Identifier: Apache-2.0

"""docs/nodes.md, the policy and the layouts agree with the running nodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ros_harness import free_domain

pytestmark = pytest.mark.ros
SCRIPT = Path(__file__).parents[2] / "docs" / "make_nodes.py"


@pytest.mark.skipif(not SCRIPT.exists(), reason="an installed package has no docs")
def test_the_page_of_the_nodes_and_the_policy_are_those_of_the_running_nodes():
    pytest.importorskip("viser", reason="the extra `view` is not installed")
    pytest.importorskip("jsbsim", reason="the extra `flight` is not installed")
    both = "import make_nodes, make_policy as p, sys; sys.exit(make_nodes.main() or p.main())"
    done = subprocess.run(
        [sys.executable, "-c", both, "--check"],
        cwd=SCRIPT.parent,
        env={**os.environ, "ROS_DOMAIN_ID": str(free_domain())},
        capture_output=True,
        text=True,
        timeout=300.0,
    )
    assert done.returncode == 0, done.stdout + done.stderr


FOXGLOVE = ("foxglove.json", "foxglove_machine.json")


def topics_of_layouts() -> dict[str, set[str]]:
    """By the layout's file: what it shows, by topic."""
    folder = SCRIPT.parents[1] / "config"
    found = {}
    for file in FOXGLOVE:
        panels = json.loads((folder / file).read_text())["configById"]
        paths = [path["value"] for panel in panels.values() for path in panel.get("paths", ())]
        shown = {path.split(".")[0] for path in paths} | set(panels["3D!robodyn"]["topics"])
        found[file] = shown | {panels["DiagnosticSummary!robodyn"]["topicToRender"]}
    for file in folder.glob("plotjuggler_*.xml"):
        names = [row.get("name") for row in ElementTree.parse(file).iter("curve")]
        # a number is called /topic/data, a joint's /topic/joint/quantity
        found[file.name] = {
            name.removesuffix("/data") if name.endswith("/data") else name.rsplit("/", 2)[0]
            for name in names
        }
    return found


@pytest.mark.skipif(not SCRIPT.exists(), reason="an installed package has no docs")
def test_layouts_show_what_nodes_publish():
    page = SCRIPT.with_name("nodes.md").read_text()
    node, published = "", {"/robot_description"}
    for line in page.splitlines():
        if line.startswith("## "):
            node = line.removeprefix("## ")
        elif line.startswith("| publishes"):
            name = line.split("`")[1]
            published.add(name if name.startswith("/") else "/" + name.replace("~", node))
    layouts = topics_of_layouts()
    assert len(layouts) == 4
    for file, topics in layouts.items():
        assert topics <= published, file


@pytest.mark.parametrize("file", FOXGLOVE)
@pytest.mark.skipif(not SCRIPT.exists(), reason="an installed package has no docs")
def test_every_panel_of_the_foxglove_layout_has_its_place(file):
    layout = json.loads((SCRIPT.parents[1] / "config" / file).read_text())

    def panels(place) -> list[str]:
        if isinstance(place, str):
            return [place]
        return panels(place["first"]) + panels(place["second"])

    assert sorted(panels(layout["layout"])) == sorted(layout["configById"])


@pytest.mark.parametrize("file", FOXGLOVE)
@pytest.mark.skipif(not SCRIPT.exists(), reason="an installed package has no docs")
def test_every_plot_is_titled_in_foxglove_and_in_lichtblick(file):
    """Each reads a key of its own, and calls a panel without it "Plot"."""
    layout = json.loads((SCRIPT.parents[1] / "config" / file).read_text())
    plots = [panel for panel in layout["configById"].values() if "paths" in panel]
    titles = [(plot["foxglovePanelTitle"], plot["lichtblickPanelTitle"]) for plot in plots]
    assert all(ours == theirs for ours, theirs in titles)
    assert len(set(titles)) == len(plots) >= 4
