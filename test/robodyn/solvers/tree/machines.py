# SPDX-License-Identifier: Apache-2.0

"""A tree of joints with two legs, and a platform on eight cables."""

INERTIAL = """<inertial><origin xyz="{0} 0.02 -0.03"/><mass value="{1}"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial>"""
JOINT = """<joint name="{0}{1}" type="{2}"><parent link="{3}"/><child link="{0}{1}_link"/>
  <origin xyz="{4} 0.1 -0.2" rpy="0.1 -0.2 {4}"/><axis xyz="{5}"/>
  <limit lower="-2" upper="2" effort="40" velocity="5"/></joint>"""


def walker(root="trunk"):
    """Two legs of three joints, the third one sliding, on a trunk; nothing closes."""
    text = f'<robot name="walker"><link name="{root}">{INERTIAL.format(0.1, 5.0)}</link>'
    for side, x in (("left", 0.2), ("right", -0.3)):
        parent = root
        for n, (kind, axis) in enumerate(
            (("revolute", "1 0 0"), ("revolute", "0 1 0.5"), ("prismatic", "0 0 1"))
        ):
            text += JOINT.format(side, n, kind, parent, x, axis)
            parent = f"{side}{n}_link"
            text += f'<link name="{parent}">{INERTIAL.format(-0.05, 1.0 + n)}</link>'
    return f"{text}</robot>"


LEAST, MOST = -300.0, -5.0
CORNERS = [
    (-2, -1.5, 3, 0.3, -0.2, -0.25), (-2, 1.5, 3, 0.3, 0.2, -0.25), (2, 1.5, 3, -0.3, 0.2, -0.25),
    (2, -1.5, 3, -0.3, -0.2, -0.25), (-2, -1.5, 0, -0.2, 0.3, 0.25), (-2, 1.5, 0, -0.2, -0.3, 0.25),
    (2, 1.5, 0, 0.2, -0.3, 0.25), (2, -1.5, 0, 0.2, 0.3, 0.25),
]  # fmt: skip
HEAD = """\
type: closed_loop
name: cables
platform: {xyz: [0, 0, 1.2], mass: 8.0, inertia: [[0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.3]]}
leg_defaults:
  form: UPS
  axis: [1, 0, 0]
  lower: {mass: 0.01, radius: 0.002}
  upper: {mass: 0.01, radius: 0.002}
  limits: {position: [0.1, 9], effort: [-300, -5], velocity: 2}
legs:
"""


def written(folder, corners=CORNERS, head=HEAD):
    lines = [f"  - {{name: c{k}, base: {list(c[:3])}, platform: {list(c[3:])}}}"
             for k, c in enumerate(corners, 1)]  # fmt: skip
    file = folder / "cables.yaml"
    file.write_text(head + "\n".join(lines) + "\n")
    return file
