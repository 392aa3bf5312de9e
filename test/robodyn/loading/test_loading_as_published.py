# SPDX-License-Identifier: Apache-2.0
"""URDFs as makers publish them: links without inertia, and loops cut open to make a tree."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import LeftOutWarning, MissingInertiaWarning

INERTIAL = """<inertial><origin xyz="0.2 0 0"/><mass value="2"/>
  <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>"""


def link(name, inertial=INERTIAL):
    return f'<link name="{name}">{inertial}</link>'


def joint(parent, child, kind="revolute", x=0.4):
    return (
        f'<joint name="to_{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{x} 0 0"/><axis xyz="0 1 0"/>'
        '<limit lower="-2" upper="2" effort="90" velocity="2"/></joint>'
    )


def robot(*parts):
    return f'<robot name="r">{"".join(parts)}</robot>'


def three_links(second=INERTIAL, third=INERTIAL):
    links = link("base"), link("one"), link("two", second), link("three", third)
    return robot(*links, joint("base", "one"), joint("one", "two"), joint("two", "three"))


def test_a_link_without_inertia_is_massless_and_said_once():
    nothing = INERTIAL.replace('"2"', '"0"').replace("0.01", "0").replace("0.02", "0")
    with pytest.warns(MissingInertiaWarning) as reported:
        arm = rd.load(three_links(second=""))
    assert len(reported) == 1
    assert "link 'two' without <inertial>: taken as massless" in str(reported[0].message)
    same = rd.load(three_links(second=nothing))
    state = np.array([[0.3, -0.5, 0.7], [1.0, 0.5, -2.0], [3.0, -1.0, 2.0]])
    assert arm.inverse_dynamics(*state) == pytest.approx(same.inverse_dynamics(*state), abs=1e-12)


def test_all_links_without_inertia_are_named_in_one_line_and_refused_by_strict():
    text = three_links(second="", third="")
    with pytest.warns(MissingInertiaWarning, match="links 'two', 'three' without") as reported:
        rd.load(text)
    assert len(reported) == 1
    with pytest.raises(rd.ModelError, match=r"links 'two', 'three' .* no <inert"):
        rd.load(text, strict=True)


def test_check_reports_links_without_inertia(tmp_path):
    from robodyn.loading import describe, read

    (tmp_path / "arm.urdf").write_text(three_links(second=""))
    found = describe(*read(str(tmp_path / "arm.urdf"), False), str(tmp_path / "arm.urdf"))
    assert any("'two' without <inertial>" in line for line in found["unphysical"])


def five_bar(left, right):
    """Two arms from one base whose ends are the same point, as exporters cut the loop."""
    links = [link(name) for name in ("base", "a1", "a2", "b1", left, right)]
    joints = [joint("base", "a1", x=-0.1), joint("a1", "a2"), joint("base", "b1", x=0.1)]
    return robot(*links, *joints, joint("a2", left, "fixed"), joint("b1", right, "fixed", x=0.3))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("closedloop3D_1A", "closedloop3D_1B"),
        ("closed_loop_A", "closed_loop_B"),
        ("closedloop2_A_3D", "closedloop2_B_3D"),
        ("sphere", "sphere_2"),
    ],
)
def test_a_loop_cut_open_is_asked_about(left, right):
    text = five_bar(left, right)
    with pytest.raises(rd.ModelError) as refused:
        rd.load(text)
    for part in (repr(left), repr(right), "loop", "<constraint", "name the tip link"):
        assert part in str(refused.value)
    assert rd.load(text, tip_link=left).n == 2  # an intended change


def test_ends_of_other_names_are_no_loop():
    for ends in (("tool_A", "camera_B"), ("tool_1", "tool_2")):
        with pytest.warns(LeftOutWarning, match=f"ignored links 'b1', '{ends[1]}'"):
            assert rd.load(five_bar(*ends)).n == 2


@pytest.mark.parametrize("travel", ["", 'lower="0" upper="0"'])
def test_limits_that_leave_no_travel_are_none(travel):
    """As exporters write joints for which nothing was set."""
    text = three_links().replace('lower="-2" upper="2"', travel, 1)
    limits = rd.load(text).position_limits
    assert np.isinf(limits[0]).all()
    assert limits[1].tolist() == [-2.0, 2.0]
