# SPDX-License-Identifier: Apache-2.0

"""Rejections state file, field, value and remedy in one line."""

import copy
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import robodyn as rd
from robodyn.errors import MissingExtra, ModelError, ModelNotFound, UnphysicalInertia
from robodyn.solvers.stewart.drawing import platform_urdf


def put(path, value):
    """An edit of a document: set the field at a dotted path, or remove it where value is None."""

    def edit(document):
        *parents, last = path
        for key in parents:
            document = document[key]
        if value is None:
            del document[last]
        else:
            document[last] = value

    return edit


NAN = float("nan")
LEG = ("legs", 1)
YAML = {
    "unknown top field": (put(["masss"], 1), ["masss", "unknown field"]),
    "near name": (put(["plattform"], {}), ["plattform", "did you mean 'platform'"]),
    "type": (put(["type"], "delta"), ["type is 'delta'", "stewart, closed_loop, serial"]),
    "no type": (put(["type"], None), ["type is missing"]),
    "no name": (put(["name"], None), ["name is missing", "a text"]),
    "five legs": (lambda d: d["legs"].pop(), ["legs is a list of 5", "six"]),
    "legs no list": (put(["legs"], {"a": 1}), ["legs is {'a': 1}", "a list of mappings"]),
    "leg no mapping": (put(["legs", 2], 7), ["legs[2] is 7", "a mapping"]),
    "unknown leg field": (put([*LEG, "bass"], [0, 0, 0]), ["legs[1].bass", "did you mean 'base'"]),
    "missing base": (put([*LEG, "base"], None), ["legs[1].base is missing", "list of 3", "[m]"]),
    "short base": (put([*LEG, "base"], [1, 2]), ["legs[1].base is [1, 2]", "list of 3"]),
    "text in base": (put([*LEG, "base", 2], "x"), ["legs[1].base[2] is 'x'", "finite number"]),
    "nan in base": (put([*LEG, "base", 0], NAN), ["legs[1].base[0] is nan", "finite"]),
    "bool in base": (put([*LEG, "base", 0], True), ["legs[1].base[0] is True", "finite"]),
    "huge integer": (put([*LEG, "base", 0], 10**400), ["legs[1].base[0] is 1000", "finite"]),
    "zero axis": (put([*LEG, "universal_axis"], [0, 0, 0]), ["legs[1].universal_axis is", "zero"]),
    "negative mass": (
        put([*LEG, "lower", "mass"], -1.5),
        ["legs[1].lower.mass is -1.5", "at least 0 [kg]"],
    ),
    "no com": (put([*LEG, "upper", "com"], None), ["legs[1].upper.com is missing", "[m]"]),
    "inertia shape": (
        put([*LEG, "upper", "inertia"], [1, 2, 3]),
        ["legs[1].upper.inertia[0] is 1", "list of 3 lists of 3", "kg m^2"],
    ),
    "asymmetric inertia": (
        put(["platform", "inertia"], [[1, 2, 0], [3, 1, 0], [0, 0, 1]]),
        ["platform", "inertia is not symmetric"],
    ),
    "massless platform": (put(["platform", "mass"], 0), ["platform.mass is 0.0", "above 0 [kg]"]),
    "no platform": (put(["platform"], None), ["platform is missing"]),
    "negative damping": (
        put([*LEG, "damping", "prismatic"], -2),
        ["legs[1].damping.prismatic is -2", "at least 0 [N s/m]"],
    ),
    "crossed limits": (
        put([*LEG, "limits", "length"], [2, 1]),
        ["legs[1].limits.length is [2.0, 1.0]", "shortest < longest"],
    ),
    "zero effort": (
        put([*LEG, "limits", "effort"], 0),
        ["legs[1].limits.effort is 0", "above 0 [N]"],
    ),
    "gravity": (put(["gravity"], 9.81), ["gravity is 9.81", "list of 3", "[m/s^2]"]),
    "home": (put(["home"], [0, 0, 1]), ["home is [0, 0, 1]", "mapping"]),
    "home rpy": (put(["home", "rpy"], [0, 0]), ["home.rpy is [0, 0]", "[rad]"]),
    "home xyz": (put(["home", "xyz"], None), ["home.xyz is missing"]),
    "unknown default": (put(["leg_defaults"], {"lowr": 1}), ["leg_defaults.lowr", "'lower'"]),
}


@pytest.mark.parametrize("case", YAML)
def test_yaml_field(case, document, yaml_file):
    edit, fragments = YAML[case]
    broken = copy.deepcopy(document)
    edit(broken)
    path = yaml_file(broken, "broken.yaml")
    refused(path, [str(path), *fragments])


TEXTS = {
    "duplicate key": ("name: a\ntype: stewart\nname: b\n", ["line 3, column 1", "'name'", "twice"]),
    "open bracket": ("a: [1, 2\nb: 3\n", ["line 2", "expected ',' or ']'"]),
    "tab": ("a:\n\t- 1\n", ["line 2, column 1"]),
    "empty": ("", ["empty", "mapping"]),
    "list": ("- 1\n- 2\n", ["list", "mapping"]),
    "python tag": ("a: !!python/object/apply:os.system [ls]\n", ["line 1", "python", "plain data"]),
    "two documents": ("a: 1\n---\nb: 2\n", ["line 2", "single document"]),
    "cycle": ("a: &a [*a]\n", ["line 1", "contains itself"]),
    "deep": ("a: " + 500 * "[" + 500 * "]", ["nested deeper than 64"]),
    "bomb": (
        "a: &a [0,0,0,0,0,0,0,0,0,0]\n"
        + "".join(
            f"{new}: &{new} [{','.join(['*' + old] * 10)}]\n"
            for old, new in zip("abcdef", "bcdefg", strict=True)
        ),
        ["expands to more than 200000"],
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_yaml_text(case, yaml_file):
    text, fragments = TEXTS[case]
    path = yaml_file(text, "broken.yml")
    refused(path, [str(path), *fragments])


def child(tag, name):
    return f"./{tag}[@name='{name}']"


def attribute(path, key, value):
    def edit(root):
        root.find(path).set(key, value)

    return edit


def dropped(path, tag):
    def edit(root):
        parent = root if path is None else root.find(path)
        parent.remove(parent.find(tag))

    return edit


def added(path, tag, text="", **attributes):
    def edit(root):
        parent = root if path is None else root.find(path)
        ET.SubElement(parent, tag, attributes).text = text

    return edit


def moved(path, xyz=None, rpy=None):
    def edit(root):
        origin = root.find(path + "/origin")
        for key, value in (("xyz", xyz), ("rpy", rpy)):
            if value:
                origin.set(key, value)

    return edit


U1, U2, P = (child("joint", f"leg2_{part}") for part in ("universal_1", "universal_2", "actuator"))
TIP, FLOAT = child("constraint", "leg2_tip"), child("joint", "platform_joint")
LOWER, CROSS, TOP = (child("link", name) for name in ("leg2_lower", "leg2_cross", "platform_link"))
URDF = {
    "version": (attribute(".", "version", "2.0"), ["version='2.0'", "expected 1.0"]),
    "no lower inertial": (dropped(LOWER, "inertial"), ["'leg2_lower'", "no <inertial>"]),
    "no platform inertial": (dropped(TOP, "inertial"), ["'platform_link'", "no <inertial>"]),
    "massless platform": (
        attribute(TOP + "/inertial/mass", "value", "0"),
        ["'platform_link'", "mass 0", "positive"],
    ),
    "negative mass": (
        attribute(LOWER + "/inertial/mass", "value", "-3"),
        ["'leg2_lower'", "'-3'", "at least 0"],
    ),
    "nan mass": (attribute(LOWER + "/inertial/mass", "value", "nan"), ["'leg2_lower'", "'nan'"]),
    # Python reads 1_0 as ten, no other reader of URDF does
    "underscore in a mass": (
        attribute(LOWER + "/inertial/mass", "value", "1_0"),
        ["'leg2_lower'", "'1_0'", "finite number"],
    ),
    "underscore in a vector": (
        attribute(U1 + "/origin", "xyz", "0 0 1_0.5"),
        ["universal_1", "'0 0 1_0.5'", "3 finite"],
    ),
    "underscore in a limit": (
        attribute(P + "/limit", "effort", "1_000"),
        ["leg2_actuator", "'1_000'", "finite number"],
    ),
    "underscore in a closure's origin": (
        attribute(TIP + "/parent_origin", "xyz", "0 0 1_0"),
        ["leg2_tip", "1_0"],
    ),
    "underscore in a closure's damping": (
        attribute(TIP, "damping", "1_0"),
        ["leg2_tip", "1_0"],
    ),
    "expression": (attribute(U1 + "/origin", "rpy", "${pi} 0 0"), ["'${pi} 0 0'", ".xacro"]),
    "two numbers": (attribute(U1 + "/origin", "xyz", "1 2"), ["universal_1", "'1 2'", "3 finite"]),
    "no ixx": (
        lambda r: r.find(LOWER + "/inertial/inertia").attrib.pop("ixx"),
        ["'leg2_lower'", "ixx"],
    ),
    "zero axis": (attribute(P + "/axis", "xyz", "0 0 0"), ["leg2_actuator", "'0 0 0'", "nonzero"]),
    "unknown type": (attribute(P, "type", "screw"), ["leg2_actuator", "'screw'", "prismatic"]),
    "wrong type": (
        attribute(P, "type", "revolute"),
        ["'leg2_tip'", "revolute 'leg2_actuator'", "revolute, revolute, prismatic"],
    ),
    "fixed actuator": (attribute(P, "type", "fixed"), ["'leg2_tip'", "prismatic"]),
    "mimic": (added(U2, "mimic", joint="leg1_actuator"), ["leg2_universal_2", "leg1_actuator"]),
    "coulomb": (
        attribute(U2 + "/dynamics", "friction", "4"),
        ["leg2_universal_2", "4.0", "expected 0"],
    ),
    "negative coulomb": (attribute(P + "/dynamics", "friction", "-4"), ["leg2_actuator", "-4.0"]),
    "negative damping": (attribute(P + "/dynamics", "damping", "-4"), ["leg2_actuator", "-4.0"]),
    "two dampings": (
        attribute(U2 + "/dynamics", "damping", "77"),
        ["leg2_universal_2", "77", "leg2_universal_1"],
    ),
    "skew axes": (moved(U2, rpy="0.3 0 0"), ["leg2_universal_2", "degrees", "90"]),
    "second axis along leg": (moved(P, rpy="0 0 0.2"), ["leg2_universal_2", "leg2_actuator", "90"]),
    "axes apart": (moved(U2, xyz="0.01 0 0"), ["leg2_universal_2", "0.01 m", "intersect"]),
    "line misses center": (moved(P, xyz="0 0 0.02"), ["leg2_actuator", "0.02 m", "expected 0"]),
    "tip off the line": (
        attribute(TIP + "/parent_origin", "xyz", "0 0.03 0"),
        ["leg2_actuator", "0.03 m"],
    ),
    "crossed limits": (
        attribute(P + "/limit", "upper", "-1"),
        ["leg2_actuator", "-1.0", "lower <= upper"],
    ),
    "no velocity": (
        lambda r: r.find(P + "/limit").attrib.pop("velocity"),
        ["leg2_actuator", "velocity"],
    ),
    "five closures": (dropped(None, "constraint"), ["5 spherical", "six"]),
    "no closures": (
        lambda r: [r.remove(c) for c in r.findall("constraint")],
        ["0 spherical", "none", "six"],
    ),
    "closure type": (attribute(TIP, "type", "fixed"), ["'leg2_tip'", "'fixed'", "spherical"]),
    "closure link": (attribute(TIP + "/child", "link", "lid"), ["'leg2_tip'", "'lid'"]),
    "closure to the base": (
        attribute(TIP + "/child", "link", "base_link"),
        ["'leg2_tip'", "'base_link'", "platform"],
    ),
    "closure of another leg": (
        attribute(TIP + "/parent", "link", "leg1_upper"),
        ["'leg2_tip'", "second time"],
    ),
    "closure at the lower part": (
        attribute(TIP + "/parent", "link", "leg2_lower"),
        ["'leg2_tip'", "'leg2_lower'", "revolute, revolute, prismatic"],
    ),
    "closure damping": (attribute(TIP, "damping", "-1"), ["'leg2_tip'", "-1", "at least 0"]),
    "no closure parent": (dropped(TIP, "parent"), ["'leg2_tip'", "<parent>"]),
    "two of one name": (attribute(TIP, "name", "leg1_tip"), ["two constraints", "'leg1_tip'"]),
    "no floating": (
        attribute(FLOAT, "type", "fixed"),
        ["floating joints: none", "from its base to its platform"],
    ),
    "two links of a name": (added(None, "link", name="leg2_lower"), ["two links", "'leg2_lower'"]),
    "unknown parent": (attribute(P + "/parent", "link", "leg9"), ["leg2_actuator", "'leg9'"]),
    "loop of joints": (
        attribute(P + "/child", "link", "leg1_upper"),
        ["'leg1_upper'", "two joints"],
    ),
    "two roots": (added(None, "link", name="spare"), ["2 root links", "'spare'"]),
    "spare joint": (
        lambda r: [
            added(None, "link", name="arm")(r),
            added(None, "joint", name="elbow", type="continuous")(r),
            added(child("joint", "elbow"), "parent", link="platform_link")(r),
            added(child("joint", "elbow"), "child", link="arm")(r),
        ],
        ["'elbow'", "does not belong to a leg", "fixed"],
    ),
    "cross with mass": (
        lambda r: r.find(CROSS).__setitem__(0, copy.deepcopy(r.find(LOWER + "/inertial"))),
        ["'leg2_cross'", "kg", "no mass"],
    ),
    "no joint name": (lambda r: r.find(P).attrib.pop("name"), ["a joint has no name"]),
    "no joint parent": (dropped(P, "parent"), ["leg2_actuator", "<parent>"]),
    "two origins": (added(U1, "origin"), ["leg2_universal_1", "2 <origin>"]),
}


@pytest.mark.parametrize("case", URDF)
def test_urdf_element(case, model, tmp_path, capfd):
    edit, fragments = URDF[case]
    root = ET.fromstring(platform_urdf(model.made()))
    edit(root)
    path = tmp_path / "broken.urdf"
    path.write_text(ET.tostring(root, encoding="unicode"))
    refused(path, [str(path), *fragments])
    assert capfd.readouterr().err == ""


LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>
<robot name="&c;"/>"""
XML = {
    "billion laughs": (LAUGHS, ["DTD", "<!DOCTYPE robot>"]),
    "outside file": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="&x;"/>',
        ["DTD"],
    ),
    "undeclared entity": ('<robot name="&x;"/>', ["line 1", "undefined entity"]),
    "not well-formed": ("<robot>\n<link>\n</robot>", ["line 3", "mismatched tag"]),
    "not a robot": ("<svg/>", ["<svg>", "expected <robot>"]),
    "deep": ("<robot>" + "<a>" * 100 + "</a>" * 100 + "</robot>", ["nested deeper than 64"]),
    "no links": ('<robot name="r"/>', ["0 root links"]),
}


@pytest.mark.parametrize("case", XML)
def test_xml_text(case, tmp_path, capfd):
    text, fragments = XML[case]
    for suffix in ("urdf", "xacro"):
        path = tmp_path / f"broken.{suffix}"
        path.write_text(text)
        refused(path, [str(path), *fragments])
    refused(text, ["URDF text", *fragments])
    assert capfd.readouterr().err == ""


def test_xacro_reasons_in_one_line(tmp_path, capfd):
    path = tmp_path / "bad.xacro"
    head = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    for body, reason in (
        ('<link name="${nobody}"/>', "nobody"),
        ("<xacro:include filename='missing.xacro'/>", "missing.xacro"),
        ("<xacro:include filename='$(find robodyn_nowhere)/a.xacro'/>", "xacro cannot expand"),
        ("<xacro:unknown_macro/>", "unknown_macro"),
        ("<link name='${().__class__}'/>", "xacro cannot expand"),
    ):
        path.write_text(f"{head}{body}</robot>")
        refused(path, [str(path), reason])
    assert capfd.readouterr() == ("", "")


def test_xacro_package_missing(tmp_path, monkeypatch):
    path = tmp_path / "a.xacro"
    path.write_text("<robot/>")
    monkeypatch.setitem(__import__("sys").modules, "xacro", None)
    refused(path, [str(path), "pip install 'xacro>="], MissingExtra)


@pytest.mark.parametrize("suffix", ["yaml", "urdf", "xacro"])
def test_huge_file_is_refused_unread(suffix, tmp_path):
    path = tmp_path / f"huge.{suffix}"
    with path.open("wb") as file:
        file.truncate(10**9)
    refused(path, [str(path), "larger than"])


def test_files_that_are_none(tmp_path):
    (tmp_path / "folder.yaml").mkdir()
    refused(tmp_path / "folder.yaml", ["folder.yaml", "directory"])
    for suffix in (".yaml", ".urdf", ".sdf", ".xml", ".xacro"):
        (tmp_path / f"zero{suffix}").symlink_to("/dev/zero")
        refused(tmp_path / f"zero{suffix}", [f"zero{suffix}", "a device, expected a file"])
        (tmp_path / f"zero{suffix}").unlink()
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    refused(tmp_path / "latin.yaml", ["latin.yaml", "not UTF-8", "byte 9 is 0xe9"])
    (tmp_path / "model.stl").write_text("solid")
    refused(tmp_path / "model.stl", ["model.stl", "'.stl'", ".urdf, .xacro, .sdf"])
    (tmp_path / "zero.yaml").write_bytes(b"a: \x00")
    refused(tmp_path / "zero.yaml", ["zero.yaml", "#x0000"])


@pytest.mark.parametrize(
    "source", ["nobody", "stewart_dasgupt", "", "a" * 5000, "no\0body", None, 7]
)
def test_missing_model_lists_the_bundled_ones(source):
    error = refused(source, rd.models(), ModelNotFound)
    if source == "stewart_dasgupt":
        assert "did you mean 'stewart_dasgupta'?" in str(error)
    assert len(str(error)) < 400


def test_missing_path_is_a_missing_model():
    refused(Path("nowhere/at_all.yaml"), ["nowhere/at_all.yaml", *rd.models()], ModelNotFound)


def test_unphysical_is_refused_when_strict(model, document, yaml_file):
    document["legs"][3]["upper"]["inertia"] = [[1, 0, 0], [0, 1, 0], [0, 0, 3]]
    path = yaml_file(document)
    refused(path, [str(path), "leg4 upper", "(1, 1, 3)", "sum of the other two"],
            UnphysicalInertia, strict=True)  # fmt: skip


def test_thin_rods_and_plates_are_physical():
    from robodyn.formats import unphysical

    assert unphysical([[0, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]) is None
    assert unphysical([[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.1 + 0.2]]) is None
    moments, problem = unphysical([[1, 0, 0], [0, 1, 0], [0, 0, -1e-3]])
    assert moments[0] == -1e-3
    assert "negative" in problem


def refused(source, fragments, error=ModelError, **options):
    with pytest.raises(error) as caught:
        rd.load(source, **options)
    message = str(caught.value)
    assert "\n" not in message
    for fragment in fragments:
        assert fragment in message, message
    return caught.value
