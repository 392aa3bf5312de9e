# SPDX-License-Identifier: Apache-2.0

"""Mechanisms and results as a notebook shows them."""

from xml.etree import ElementTree

import numpy as np
import pytest

import robodyn as rd

SVG = "{http://www.w3.org/2000/svg}svg"
NAMED = """<robot name="&lt;i&gt;"><link name="base"/><link name="arm"><inertial>
  <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""


@pytest.mark.parametrize("name", ["puma560", "stewart_dasgupta", "delta"])
def test_html_of_a_mechanism_has_its_picture_and_its_masses(name):
    mechanism = rd.load(name)
    html = ElementTree.fromstring(mechanism._repr_html_().replace("<br>", "<br/>"))
    assert html.find("b").text == repr(mechanism)
    svg = html.find(SVG)
    points = " ".join(line.get("points") for line in svg).replace(",", " ").split()
    points = np.array(points, dtype=float).reshape(-1, 2)
    assert (points > 0.0).all()
    assert (points < [float(svg.get("width")), float(svg.get("height"))]).all()
    cells = {cell.text for cell in html.iter("td")}
    assert {f"{body.mass:.4g}" for body in mechanism.bodies if body.mass} <= cells


def test_html_of_a_mechanism_escapes_its_name():
    html = rd.load(NAMED)._repr_html_()
    assert "<i>" not in html
    assert "&lt;i&gt;" in html


def test_short_repr_of_a_result_gives_shapes_instead_of_numbers():
    arm = rd.load("puma560")
    motion = rd.plan_joints(arm.home, arm.home + 0.2, duration=1.0)
    study = rd.analyze(arm, motion)
    run = rd.simulate(arm, rd.ComputedTorque(arm, 100.0, 20.0), motion)
    for result in (study, run, motion.sample(study.time), arm.model, arm.linearize(arm.home)):
        text = repr(result)
        assert len(text) < 500
        assert "\n" not in text
        assert text.startswith(type(result).__name__ + "(")
    assert f"time=array{run.time.shape}" in repr(run)
