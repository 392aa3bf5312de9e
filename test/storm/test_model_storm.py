# SPDX-License-Identifier: Apache-2.0

"""Thousands of damaged model files of every format: each is read, or refused in robodyn's words."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path

import numpy as np
import pytest
import yaml
from damages import damaged, fault_of, outcome_of, pick

import robodyn as rd
from robodyn.errors import LeftOutWarning, UnphysicalInertiaWarning
from robodyn.parsing import MODELS

REFERENCE = Path(__file__).parents[1] / "reference" / "closed_loops"
# Damaged inputs of each format that take some 20 s in all.
USUAL = {"yaml": 150, "urdf": 250, "sdf": 120, "xml": 120}


@pytest.fixture(scope="module")
def seeds(tmp_path_factory) -> dict[str, list[str]]:
    """Texts of good files by format: the bundled ones, and others in each format."""
    folder = tmp_path_factory.mktemp("seeds")
    files = [*sorted(MODELS.glob("*.yaml")), *sorted(REFERENCE.glob("*.urdf"))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("fivebar", "delta", "stewart_symmetric", "puma560"):
            for ending in (".urdf", ".sdf", ".xml"):
                with contextlib.suppress(rd.RobodynError):
                    files += rd.save(rd.load(name), folder / f"{name}{ending}")[:1]
    files += sorted(MODELS.glob("*.urdf"))
    texts: dict[str, list[str]] = {}
    for file in files:
        texts.setdefault(file.suffix[1:], []).append(file.read_text())
    texts["urdf"].append(EXTENDED)
    return texts


# a URDF with what Gazebo, Drake and ros2_control add
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
EXTENDED = f"""<robot name="r" version="1.1"><link name="a"/>
<link name="b">{INERTIAL}</inertial></link>
<link name="c">{INERTIAL}</inertial></link><joint name="j" type="revolute"><parent link="a"/>
<child link="b"/><origin xyz="0 0 1" quat_xyzw="0 0 0 1"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint><joint name="k" type="continuous">
<parent link="b"/><child link="c"/><axis xyz="0 1 0"/></joint>
<transmission name="t"><joint name="j"/><actuator name="m"><motorInertia>1e-4</motorInertia>
<mechanicalReduction>100</mechanicalReduction></actuator></transmission>
<ros2_control name="s" type="system"><joint name="j"><command_interface name="effort">
<param name="min">-1</param><param name="max">1</param></command_interface></joint></ros2_control>
<gazebo><joint name="l" type="ball"><pose>0 0 0 0 0 0</pose><parent>a</parent><child>c</child>
</joint><plugin name="m" filename="libgazebo_mimic_joint_plugin.so"><joint>j</joint>
<mimicJoint>k</mimicJoint><multiplier>1</multiplier></plugin></gazebo></robot>"""


# Values that a document's field gets.
VALUES = (None, "", "x", -1, 0, 1e308, float("nan"), float("inf"), 10**400, 100_000_000, True,
          [], {}, [[]], [None] * 3, [1e308] * 3, [[1, 2], [3]], {"a": 1},
          [[1e200] * 3] * 3)  # fmt: skip


def with_value(document, rng):
    """A document in which one field, however deep, has another value."""
    at, places = document, []
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            break
        key = keys[int(rng.integers(len(keys)))]
        places.append((at, key))
        if not isinstance(at[key], (dict, list)) or rng.uniform() < 0.25:
            break
        at = at[key]
    holder, key = places[-1]
    if rng.uniform() < 0.2:
        del holder[key]
    else:
        holder[key] = VALUES[int(rng.integers(len(VALUES)))]
    return document


def load_and_evaluate(source, **options):
    mechanism = rd.load(source, **options)
    home = mechanism.home
    size = mechanism.coordinates.velocity_size
    efforts = mechanism.inverse_dynamics(home, np.zeros(size), np.zeros(size))
    assert np.isfinite(efforts).all(), "efforts are not finite"


def outcome(source, **options):
    """Load a model and evaluate it once; report unexpected kinds of errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for known in (LeftOutWarning, UnphysicalInertiaWarning):
            warnings.simplefilter("ignore", known)
        return outcome_of(load_and_evaluate, source, **options)


@pytest.mark.parametrize("ending", USUAL)
def test_damaged_model_files_are_read_or_refused(ending, seeds, rng, storm, tmp_path):
    if ending == "xml":
        pytest.importorskip("mujoco")
    file = tmp_path / f"m.{ending}"
    for beside in (*MODELS.glob("*.urdf"), *REFERENCE.glob("*.urdf")):
        (tmp_path / beside.name).write_bytes(beside.read_bytes())
    outcomes, faults = {"accepted": 0, "refused": 0}, {}
    for _ in storm(USUAL[ending]):
        text = pick(rng, seeds[ending])
        file.write_bytes(damaged(text, rng))
        kind = "closed_loop" if rng.uniform() < 0.2 else None
        try:
            outcomes[outcome(file, kind=kind)] += 1
        except Exception as error:
            kept = tmp_path.parent / f"fault{len(faults)}.{ending}"
            kept.write_bytes(file.read_bytes())
            faults.setdefault(fault_of(error), f"{kept} as {kind}")
    assert not faults
    assert min(outcomes.values()) > 0


def test_dictionaries_with_other_values_are_read_or_refused(seeds, rng, storm):
    documents = [yaml.safe_load(text) for text in seeds["yaml"]]
    documents = [document for document in documents if "urdf" not in document]
    outcomes, faults = {"accepted": 0, "refused": 0}, {}
    for _ in storm(120):
        document = yaml.safe_load(yaml.safe_dump(pick(rng, documents)))
        for _ in range(int(rng.integers(1, 3))):
            document = with_value(document, rng)
        try:
            outcomes[outcome(document)] += 1
        except Exception as error:
            faults.setdefault(fault_of(error), str(document))
    assert not faults
    assert min(outcomes.values()) > 0
