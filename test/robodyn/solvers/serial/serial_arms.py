# SPDX-License-Identifier: Apache-2.0

"""Ways to make an arm: from a reference entry, from URDF text, at random."""

import numpy as np

import robodyn as rd
from robodyn.mechanism import ReadOptions
from robodyn.parsing import parse_urdf
from robodyn.solvers.serial.description.from_urdf import serial_model_from_urdf
from robodyn.solvers.serial.description.yaml_form import serial_model_from_yaml


def arm_from_yaml(document, source="arm.yaml", **options):
    return rd.SerialArm(serial_model_from_yaml(document, source, ReadOptions(**options)))


def arm_from_urdf(text, source="arm.urdf", **options):
    return rd.SerialArm(serial_model_from_urdf(parse_urdf(text, source), ReadOptions(**options)))


def golden_document(links):
    """The YAML document of a reference arm; its motors as G^2 Jm, G^2 B and |G| Tc."""
    return {
        "type": "serial",
        "name": "reference",
        "convention": "standard_dh",
        "links": [golden_link(link) for link in links],
    }


def golden_link(link):
    prismatic = bool(link["sigma"])
    ratio = abs(link.get("G", 0.0))
    forward, backward = link.get("Tc", (0.0, 0.0))
    return {
        "joint": "prismatic" if prismatic else "revolute",
        "theta" if prismatic else "d": link["theta" if prismatic else "d"],
        "a": link["a"],
        "alpha": link["alpha"],
        "offset": link["offset"],
        "mass": link["m"],
        "com": link["r"],
        "inertia": link["I"],
        "armature": ratio**2 * link.get("Jm", 0.0),
        "damping": ratio**2 * link.get("B", 0.0),
        "friction": [ratio * forward, -ratio * backward],
    }


def random_arm(rng, n, **options):
    return arm_from_urdf(random_urdf(rng, n, **options))


def random_urdf(rng, n, motors=True):
    """A chain of n movable joints of mixed kinds, fixed joints between and beside them."""
    parts, parent = ['<link name="base_link"/>'], "base_link"
    for number in range(1, n + 1):
        if rng.random() < 0.4:
            parts.append(_joint(rng, f"fixed{number}", "fixed", parent, f"rigid{number}", False))
            parts.append(_link(rng, f"rigid{number}"))
            parent = f"rigid{number}"
        kind = str(rng.choice(["revolute", "revolute", "continuous", "prismatic"]))
        parts.append(_joint(rng, f"joint{number}", kind, parent, f"link{number}", motors))
        parts.append(_link(rng, f"link{number}"))
        parent = f"link{number}"
        if rng.random() < 0.3:
            parts.append(_joint(rng, f"beside{number}", "fixed", parent, f"side{number}", False))
            parts.append(_link(rng, f"side{number}"))
    # the deepest leaf, with any other branches
    for end in ("flange", "tool0"):
        parts.append(_joint(rng, f"{end}_joint", "fixed", parent, end, False))
        parts.append(f'<link name="{end}"/>')
        parent = end
    return f'<robot name="random">{"".join(parts)}</robot>'


def _joint(rng, name, kind, parent, child, motors):
    axis = rng.normal(size=3)
    if rng.random() < 0.4:
        axis = rng.choice([-1.0, 1.0]) * np.eye(3)[rng.integers(3)]
    damping, friction, armature, backward = rng.uniform(0.0, 2.0, 4) * motors
    motor = f'<robodyn armature="{armature}" friction_backward="{backward}"/>' if motors else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'{_origin(rng)}<axis xyz="{_text(axis)}"/>'
        f'<limit lower="-9" upper="9" effort="100" velocity="10"/>'
        f'<dynamics damping="{damping}" friction="{friction}"/>{motor}</joint>'
    )


def _link(rng, name):
    """A cloud of point masses: physical by construction."""
    mass, points = float(rng.uniform(0.2, 3.0)), rng.normal(scale=0.1, size=(6, 3))
    points -= points.mean(axis=0)
    tensor = sum((p @ p * np.eye(3) - np.outer(p, p)) * mass / 6 for p in points)
    values = dict(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), upper(tensor), strict=True))
    moments = " ".join(f'{key}="{value!r}"' for key, value in values.items())
    return (
        f'<link name="{name}"><inertial>{_origin(rng, 0.15)}<mass value="{mass!r}"/>'
        f"<inertia {moments}/></inertial></link>"
    )


def upper(tensor):
    return [float(value) for value in tensor[np.triu_indices(3)]]


def _origin(rng, reach=0.4):
    xyz, rpy = rng.uniform(-reach, reach, 3), rng.uniform(-3.0, 3.0, 3)
    return f'<origin xyz="{_text(xyz)}" rpy="{_text(rpy)}"/>'


def _text(values):
    return " ".join(repr(float(value)) for value in values)
