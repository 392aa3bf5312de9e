# SPDX-License-Identifier: Apache-2.0

"""setup.py as colcon runs it."""

import configparser
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from robodyn_ros.nodes import NODES

SETUP = Path(__file__).parents[2] / "setup.py"
PACKAGE = ElementTree.parse(SETUP.with_name("package.xml")).getroot()


def test_a_link_to_it_elsewhere_is_enough(tmp_path):
    """`colcon build --symlink-install` runs it so, beside links to the packages."""
    (tmp_path / "setup.py").symlink_to(SETUP)
    run = subprocess.run(
        [sys.executable, "setup.py", "--quiet", "--name", "--long-description"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("robodyn\n# robodyn")


def test_all_tools_have_the_same_settings():
    """setup.py, package.xml and CITATION.cff: name, version, license, authors, what it is."""
    words = ["--quiet", "--name", "--version", "--license", "--author", "--description"]
    run = subprocess.run(
        [sys.executable, "setup.py", *words],
        cwd=SETUP.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    package = [PACKAGE.find(tag) for tag in ("name", "version", "license", "author", "description")]
    assert run.stdout.splitlines() == [tag.text for tag in package]
    citation = yaml.safe_load(SETUP.with_name("CITATION.cff").read_text())
    (author,) = citation["authors"]
    cited = [citation["title"], str(citation["version"]), citation["license"], author["name"]]
    assert cited == run.stdout.splitlines()[:4]
    assert citation["abstract"] == run.stdout.splitlines()[4]


def test_rosdoc2_finds_its_settings():
    """Without the line in package.xml it takes its own, and makes a page of every module."""
    file = PACKAGE.find("export/rosdoc2").text
    _, settings = yaml.safe_load_all(SETUP.with_name(file).read_text())
    (builder,) = settings["builders"]
    assert (SETUP.parent / builder["sphinx"]["sphinx_sourcedir"] / "conf.py").is_file()


def installed(folder):
    """Return the files that colcon installs below a folder."""
    build, record = folder / "build", folder / "record.txt"
    command = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(folder)]
    command += ["build", "--build-base", str(build)]
    prefix = folder / "prefix"
    command += ["install", "--prefix", str(prefix), "--record", str(record)]
    command += ["--single-version-externally-managed"]
    # Debian's own setuptools would otherwise install below local/
    surroundings = os.environ | {"DEB_PYTHON_INSTALL_LAYOUT": "deb"}
    run = subprocess.run(
        command, cwd=SETUP.parent, env=surroundings,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return prefix


def test_nodes_are_where_ros2_run_looks_and_on_nobodys_path(tmp_path):
    prefix = installed(tmp_path)
    executables = {path.name: path for path in (prefix / "lib" / "robodyn").iterdir()}
    assert set(NODES) < set(executables)
    assert "robodyn" in executables  # ros2 run robodyn robodyn
    assert all(os.access(path, os.X_OK) for path in executables.values())
    found = list(prefix.rglob("entry_points.txt"))
    assert len(found) == 1
    groups = configparser.ConfigParser(delimiters="=")
    groups.read(found[0])
    assert list(groups["console_scripts"]) == ["robodyn"]  # what pip puts on the path
    assert set(groups["robodyn.nodes"]) == set(NODES)


def test_nodes_and_the_command_run_in_the_environment_that_is_active(tmp_path):
    executables = sorted((installed(tmp_path) / "lib" / "robodyn").iterdir())
    assert {path.name for path in executables} >= {"robodyn", *NODES}
    active = tmp_path / "environment" / "bin" / "python3"
    active.parent.mkdir(parents=True)
    active.write_text('#!/bin/sh\necho "active: $1"\n')
    active.chmod(0o755)
    surroundings = os.environ | {"PATH": f"{active.parent}{os.pathsep}{os.environ['PATH']}"}
    for path in executables:
        run = subprocess.run(
            [path, "doctor"], env=surroundings, capture_output=True, text=True, check=False
        )
        assert run.stdout == f"active: {path}\n"


@pytest.mark.parametrize("start", [["scripts/recorder"], ["-m", "robodyn_ros", "recorder"]])
def test_a_node_without_rclpy_says_so_in_a_line(tmp_path, start):
    (tmp_path / "rclpy.py").write_text("raise ModuleNotFoundError(name='rclpy')")
    run = subprocess.run(
        [sys.executable, *start],
        cwd=SETUP.parent,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{SETUP.parent}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 1
    assert run.stderr.startswith("recorder: no Python package 'rclpy': nodes need ROS 2.")
    assert len(run.stderr.splitlines()) == 1


def test_the_conda_recipe_has_the_version_and_requirements_of_the_package(tmp_path):
    recipe = yaml.safe_load((SETUP.parent / "conda" / "recipe.yaml").read_text())
    subprocess.run(
        [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(tmp_path)],
        cwd=SETUP.parent, check=True,
    )  # fmt: skip
    (info,) = tmp_path.glob("*.egg-info")
    own = (info / "requires.txt").read_text().split("\n\n")[0].split()
    names = {"PyYAML": "pyyaml", "urdf_parser_py": "urdfdom-py"}  # conda-forge's

    def split(requirement):
        name = re.match(r"[\w-]+", requirement)[0]
        bounds = requirement[len(name) :].replace(" ", "").split(",")
        return names.get(name, name), tuple(sorted(bounds))

    python, *others = recipe["requirements"]["run"]
    metadata = (info / "PKG-INFO").read_text()
    assert python == "python " + re.search(r"Requires-Python: (.*)", metadata)[1]
    assert sorted(map(split, others)) == sorted(map(split, own))
    assert recipe["context"]["version"] == PACKAGE.find("version").text
