# SPDX-License-Identifier: Apache-2.0

"""`load` of a dictionary, and the types of bundled names."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import yaml

import robodyn as rd
from robodyn.algorithms import comparison, gravity_vector
from robodyn.loading import LoopName, SerialName, StewartName
from robodyn.parsing import MODELS

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.slow
def test_the_types_of_load_name_every_bundled_model_under_its_kind():
    names = {"stewart": StewartName, "serial": SerialName}
    names["closed_loop"] = LoopName
    reported = {name: kind for kind, literal in names.items() for name in get_args(literal)}
    assert reported == {name: rd.load(name).kind for name in rd.models()}


@pytest.mark.parametrize("name", ["puma560", "stewart_symmetric"])
def test_the_content_of_a_model_file_is_the_model(name):
    document = yaml.safe_load((MODELS / f"{name}.yaml").read_text())
    assert comparison.differences(rd.load(document), rd.load(name)) == []


def test_arrays_tuples_and_paths_stand_for_lists_and_texts(tmp_path):
    # numbers of 1e-4 and such are texts in PyYAML's YAML 1.1
    link = {"joint": "revolute", "d": np.float64(0.3), "mass": np.int64(2), "com": (0.0, 0.0, 0.1),
            "inertia": np.eye(3) * 0.01}  # fmt: skip
    made = rd.load(
        {"type": "serial", "name": "a", "gravity": np.array([0, 0, -1.6]), "links": (link,)}
    )
    assert gravity_vector(made).tolist() == [0.0, 0.0, -1.6]
    assert made.model.links[1].mass == 2.0
    file = rd.save(rd.load("delta"), tmp_path / "d.yaml")[0]
    document = yaml.safe_load(file.read_text())
    document["urdf"] = tmp_path / document["urdf"]
    assert comparison.differences(rd.load(document), rd.load(file)) == []


def nested(depth):
    out: dict = {}
    for _ in range(depth):
        out = {"a": out}
    return out


ROUND: dict = {}
ROUND["a"] = ROUND


@pytest.mark.parametrize(
    "document",
    [{}, {1: 2}, {"type": 5}, {"type": "serial", "links": 5}, nested(100), nested(5000), ROUND,
     {"type": "serial", "name": "a", "links": [object()]}, {"type": "serial", "name": object()},
     {"type": "serial", "name": "a", "links": np.zeros(10**6)}, {"a": {1: 2}},
     {"type": "closed_loop", "urdf": 5}, {"type": "closed_loop", "urdf": Path("/not/there.urdf")}],
)  # fmt: skip
def test_other_dictionaries_are_refused(document):
    with pytest.raises(rd.ModelError):
        rd.load(document)


@pytest.mark.parametrize(
    "options",
    [{"base_link": 5}, {"tip_link": b"x"}, {"kind": 3}, {"kind": "x"}, {"base": "wobbly"},
     {"driven": 5}, {"driven": [1]}, {"driven": b"ab"}, {"driven": {"joint1": 1}}],
)  # fmt: skip
def test_options_of_other_types_are_refused(options):
    with pytest.raises(rd.RobodynError):
        rd.load("puma560", **options)


@pytest.mark.parametrize("how", ["absolute", "relative"])
def test_a_relative_folder_of_packages_is_found_by_a_xacro_that_includes(
    how, tmp_path, monkeypatch
):
    pytest.importorskip("xacro")
    package = tmp_path / "src" / "pkg_a"
    (package / "urdf").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>pkg_a</name></package>")
    space = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    )
    (package / "urdf" / "two.xacro").write_text(
        f'<robot {space}><link name="b">{inertial}</inertial></link></robot>'
    )
    one = package / "urdf" / "one.xacro"
    one.write_text(
        f'<robot name="r" {space}><xacro:include filename="$(find pkg_a)/urdf/two.xacro"/>'
        '<link name="a"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        "</joint></robot>"
    )
    monkeypatch.chdir(tmp_path)
    folder = "src" if how == "relative" else str(tmp_path / "src")
    monkeypatch.setenv("ROBODYN_PACKAGE_PATH", folder)
    assert rd.load("src/pkg_a/urdf/one.xacro").joint_names == ("j",)
