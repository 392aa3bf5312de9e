# SPDX-License-Identifier: Apache-2.0

"""Names of models and joints in generated files: text that can end nothing and run nothing."""

import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
import yaml

import robodyn as rd
from robodyn.exporting import (
    c_name,
    c_string,
    controller_variables,
    data_of,
    fmi_name,
    format_object,
    in_comment,
    library_texts,
    model_description,
    package_texts,
    plant_variables,
    xml_text,
    yaml_string,
)

EVIL = [
    "t*/ int pwned; /*",
    'l"}; int evil(void){return 1;} const char*x[]={"',
    "*/\n#error pwned\n/*",
    "line one\nline two",
    "back\\",
    "trigraph ??/",
    "${prefix}`id`$(id)",
    "'''); import os #",
    '""" + open("x","w") + """',
    "<script>alert(1)</script>",
    "]]>&amp;--><x/>",
    "- a: b # c\n? {d: [",
    "arm/joint-2",
    "joint.1",
    "3",
    "péché_機械_\U0001f916\u2028\u202e",
    "%2A/",
    "*/",
    "",
]


def urdf(name, joints):
    """An arm with these names."""
    root = ElementTree.Element("robot", name=name)
    ElementTree.SubElement(root, "link", name="base")
    for k, joint in enumerate(joints):
        link = ElementTree.SubElement(root, "link", name=f"link{k}")
        inertial = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(inertial, "mass", value="1")
        inertia = {"ixx": "0.01", "iyy": "0.01", "izz": "0.01", "ixy": "0", "ixz": "0", "iyz": "0"}
        ElementTree.SubElement(inertial, "inertia", **inertia)
        one = ElementTree.SubElement(root, "joint", name=joint, type="revolute")
        ElementTree.SubElement(one, "parent", link=f"link{k - 1}" if k else "base")
        ElementTree.SubElement(one, "child", link=f"link{k}")
        ElementTree.SubElement(one, "origin", xyz="0.1 0 0")
        ElementTree.SubElement(one, "axis", xyz="0 1 0")
        ElementTree.SubElement(one, "limit", lower="-1", upper="1", effort="10", velocity="2")
    return ElementTree.tostring(root, encoding="unicode")


@pytest.fixture(scope="module", params=EVIL[:-1])
def evil(request):
    others = [name for name in EVIL[:-1] if name != request.param][:2]
    return rd.load(urdf(request.param, [request.param, *others]))


@pytest.mark.parametrize("write", [in_comment, c_string, yaml_string, fmi_name, xml_text])
def test_names_that_differ_are_written_differently(write):
    assert len({write(name) for name in EVIL}) == len(EVIL)


def test_nothing_in_a_comment_ends_it():
    for name in EVIL:
        written = in_comment(name)
        assert not re.search(r"[*\\\"'<>&`$#{}\[\]\n\r\t?\u2028]", written), written
        assert written.isprintable()


def test_a_yaml_string_is_read_as_it_was():
    for name in EVIL:
        assert yaml.safe_load(yaml_string(name)) == name


def test_a_c_string_is_read_as_it_was(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    lines = ",\n".join(map(c_string, EVIL))
    source = tmp_path / "a.c"
    source.write_text(
        "#include <stdio.h>\n#include <string.h>\n"
        f"static const char *texts[] = {{{lines}}};\nint main(void) {{\n"
        "  for (int k = 0; k < (int)(sizeof texts / sizeof *texts); k++)\n"
        "    fwrite(texts[k], 1, strlen(texts[k]) + 1, stdout);\n  return 0;\n}\n"
    )
    made = str(tmp_path / "a")
    subprocess.run([compiler, "-std=c99", "-Werror", str(source), "-o", made], check=True)
    printed = subprocess.run([made], check=True, capture_output=True).stdout
    assert printed == b"".join(name.encode() + b"\0" for name in EVIL)


def test_generated_c_is_the_same_for_every_name(evil, tmp_path):
    """But for comments and strings, an evil name's files are those of a harmless one."""
    plain = rd.load(urdf("plain", ["a", "b", "c"]))

    def bare(text):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
        return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)

    def files(mechanism):
        texts = {f"library/{file}": text for file, text in library_texts("arm", mechanism)}
        return texts | dict(package_texts("arm", mechanism))

    expected, found = files(plain), files(evil)
    assert expected.keys() == found.keys()
    for file, text in found.items():
        if file.endswith((".h", ".c", ".cpp", ".hpp")):
            assert bare(text) == bare(expected[file]), file
        elif file.endswith(".xml"):
            ElementTree.fromstring(text)
        elif file.endswith(".yaml"):
            yaml.safe_load(text)
        elif file.endswith(".py"):
            compile(text, file, "exec")
    control = yaml.safe_load(found["config/controllers.yaml"])
    chained = control["joint_trajectory_controller"]["ros__parameters"]
    assert chained["joints"] == list(evil.joint_names)
    read = ElementTree.fromstring(found["urdf/arm.urdf"]).find("ros2_control")
    assert [joint.get("name") for joint in read.findall("joint")] == list(evil.joint_names)
    assert format_object(data_of(evil)).isascii()


# FMI 2.0.4, section 2.2.9, and FMI 3.0.2, section 2.4.7.5.1
_Q = r"(?:[A-Za-z0-9_!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]|\\['\"?\\abfnrtv])+"
_NAME = rf"(?:[A-Za-z_][A-Za-z0-9_]*|'{_Q}')"


def test_names_of_fmi_follow_its_structured_naming(evil):
    for variables in (tuple(plant_variables(evil)), tuple(controller_variables(evil))):
        names = [variable.name for variable in variables]
        assert len(set(names)) == len(names)
        for name in names:
            assert re.fullmatch(rf"{_NAME}(\.{_NAME})*", name), name
        for fmi in ("2.0", "3.0"):
            text = ElementTree.tostring(model_description("arm", evil, variables, fmi))
            ElementTree.fromstring(text)


def test_names_of_libraries_that_had_to_be_changed_differ():
    names = ["a*b", "a/b", "a?b", "a$b"]
    found = {c_name(rd.load(urdf(name, ["j"]))) for name in [*names, "a b"]}
    assert len(found) == len(names) + 1
    assert "a_b" in found
