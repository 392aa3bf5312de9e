# SPDX-License-Identifier: Apache-2.0

"""URDF by other means than the library's: forward kinematics, and the same machine redescribed."""

from xml.etree import ElementTree as ET

import numpy as np
from scipy.spatial.transform import Rotation


def numbers(element, key, default):
    text = default if element is None else element.get(key, default)
    return np.array([float(x) for x in text.split()])


def origin(element, tag="origin"):
    found = element.find(tag)
    out = np.eye(4)
    out[:3, 3] = numbers(found, "xyz", "0 0 0")
    out[:3, :3] = Rotation.from_euler("xyz", numbers(found, "rpy", "0 0 0")).as_matrix()
    return out


def set_origin(element, T, tag="origin"):
    found = element.find(tag)
    if found is None:
        found = ET.SubElement(element, tag)
    found.set("xyz", " ".join(repr(float(x)) for x in T[:3, 3]))
    rpy = Rotation.from_matrix(T[:3, :3]).as_euler("xyz")
    found.set("rpy", " ".join(repr(float(x)) for x in rpy))


def matrix(pose):
    out = np.eye(4)
    out[:3, 3] = pose[:3]
    out[:3, :3] = Rotation.from_quat(pose[3:]).as_matrix()
    return out


def motion(kind, axis, value):
    out = np.eye(4)
    if kind in ("revolute", "continuous"):
        out[:3, :3] = Rotation.from_rotvec(value * axis).as_matrix()
    elif kind == "prismatic":
        out[:3, 3] = value * axis
    return out


def near(pose, rng):
    turn = Rotation.from_rotvec(0.1 * rng.normal(size=3)) * Rotation.from_quat(pose[3:])
    return np.concatenate([pose[:3] + 0.05 * rng.normal(size=3), turn.as_quat()])


class Tree:
    """Forward kinematics; a floating joint's value is a matrix (4, 4) in place of its origin."""

    def __init__(self, text):
        self.root = ET.fromstring(text)
        self.above = {j.find("child").get("link"): j for j in self.root.iterfind("joint")}

    def frame(self, link, values):
        joint = self.above.get(link)
        if joint is None:
            return np.eye(4)
        name, kind = joint.get("name"), joint.get("type")
        parent = self.frame(joint.find("parent").get("link"), values)
        if kind == "floating":
            return parent @ values[name]
        axis = numbers(joint.find("axis"), "xyz", "1 0 0")
        axis /= np.linalg.norm(axis)
        return parent @ origin(joint) @ motion(kind, axis, values.get(name, 0.0))

    def closures(self, values):
        for constraint in self.root.iterfind("constraint"):
            yield [
                (self.frame(constraint.find(side).get("link"), values)
                 @ [*numbers(constraint.find(f"{side}_origin"), "xyz", "0 0 0"), 1])[:3]
                for side in ("parent", "child")
            ]  # fmt: skip


def random_frame(rng, along=None):
    out = np.eye(4)
    out[:3, :3] = Rotation.random(random_state=rng.integers(2**31)).as_matrix()
    out[:3, 3] = 0.3 * (rng.normal(size=3) if along is None else rng.normal() * along)
    return out


def scrambled(text, rng):
    """Return the machine with other zeros, axes, frames, split bodies, names and order."""
    root = ET.fromstring(text)
    joints = {j.get("name"): j for j in root.iterfind("joint")}
    links = {link.get("name"): link for link in root.iterfind("link")}
    for joint in joints.values():
        if joint.get("type") in ("revolute", "prismatic"):
            _move_zero(joint, rng)
    frames = {name: np.eye(4) for name in links}
    for joint in joints.values():
        child = joint.find("child").get("link")
        if joint.get("type") == "prismatic":
            frames[child] = random_frame(rng)
        elif joint.get("type") == "revolute":
            # The axis of a revolute joint goes through the child's origin: slide along it only.
            frames[child] = random_frame(rng, numbers(joint.find("axis"), "xyz", "1 0 0"))
    for joint in joints.values():
        child, parent = joint.find("child").get("link"), joint.find("parent").get("link")
        set_origin(joint, np.linalg.inv(frames[parent]) @ origin(joint) @ frames[child])
        axis = joint.find("axis")
        if axis is not None:
            turned = frames[child][:3, :3].T @ numbers(axis, "xyz", "1 0 0")
            axis.set("xyz", " ".join(repr(3.0 * float(x)) for x in turned))
    for name, link in links.items():
        for shape in link.findall("visual") + link.findall("collision"):
            link.remove(shape)
        inertial = link.find("inertial")
        if inertial is not None:
            set_origin(inertial, np.linalg.inv(frames[name]) @ origin(inertial))
            _split(root, link, inertial, rng)
    for constraint in root.iterfind("constraint"):
        for side in ("parent", "child"):
            T = np.linalg.inv(frames[constraint.find(side).get("link")])
            set_origin(constraint, T @ origin(constraint, f"{side}_origin"), f"{side}_origin")
        if rng.random() < 0.5:
            for element in list(constraint):
                was = element.tag
                element.tag = was.replace("parent", "child")
                if element.tag == was:
                    element.tag = was.replace("child", "parent")
    _mount(root, rng)
    _rename(root)
    elements = list(root)
    order = rng.permutation(len(elements))
    root[:] = [elements[index] for index in order]
    for tag in ("gazebo", "ros2_control", "transmission", "somebody_elses"):
        ET.SubElement(root, tag, {"name": tag})
    return ET.tostring(root, encoding="unicode")


def _move_zero(joint, rng):
    """Another zero, and (but for the fixed universal axis, which names k) the axis reversed."""
    axis = joint.find("axis")
    vector = numbers(axis, "xyz", "1 0 0")
    limit = joint.find("limit")
    low, high = float(limit.get("lower")), float(limit.get("upper"))
    zero = rng.uniform(-0.5, 0.5) if joint.get("type") == "revolute" else rng.uniform(0.1, 1.0)
    set_origin(joint, origin(joint) @ motion(joint.get("type"), vector, zero))
    low, high = low - zero, high - zero
    if rng.random() < 0.5 and not joint.get("name").endswith("universal_1"):
        axis.set("xyz", " ".join(repr(-float(x)) for x in vector))
        low, high = -high, -low
    limit.set("lower", repr(float(low)))
    limit.set("upper", repr(float(high)))


def _split(root, link, inertial, rng):
    """Move three tenths of a body's mass to a new link, fixed to it at a random place."""
    mass = float(inertial.find("mass").get("value"))
    inertia = inertial.find("inertia")
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    apart = 0.1 * rng.normal(size=3)
    reduced = 0.3 * 0.7 * mass * (apart @ apart * np.eye(3) - np.outer(apart, apart))
    for key, row, column in zip(keys, (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2), strict=True):
        inertia.set(key, repr(float(inertia.get(key)) - float(reduced[row, column])))
    here = origin(inertial)
    rest, moved = here.copy(), here.copy()
    rest[:3, 3] -= here[:3, :3] @ (0.3 * apart)
    moved[:3, 3] += here[:3, :3] @ (0.7 * apart)
    inertial.find("mass").set("value", repr(0.7 * mass))
    set_origin(inertial, rest)
    name = link.get("name") + "_extra"
    place = random_frame(rng)
    extra = ET.SubElement(root, "link", name=name)
    part = ET.SubElement(extra, "inertial")
    set_origin(part, np.linalg.inv(place) @ moved)
    ET.SubElement(part, "mass", value=repr(0.3 * mass))
    ET.SubElement(part, "inertia", dict.fromkeys(keys, "0"))
    joint = ET.SubElement(root, "joint", name=name + "_mount", type="fixed")
    ET.SubElement(joint, "parent", link=link.get("name"))
    ET.SubElement(joint, "child", link=name)
    set_origin(joint, place)


def _mount(root, rng):
    ET.SubElement(root, "link", name="floor")
    joint = ET.SubElement(root, "joint", name="mount", type="fixed")
    ET.SubElement(joint, "parent", link="floor")
    ET.SubElement(joint, "child", link="base_link")
    place = np.eye(4)
    place[:3, :3] = Rotation.from_euler("z", rng.normal()).as_matrix()
    place[:3, 3] = rng.normal(size=3)
    set_origin(joint, place)


def _rename(root):
    for element in root:
        if element.get("name"):
            element.set("name", "my_" + element.get("name"))
        for side in ("parent", "child"):
            found = element.find(side)
            if found is not None:
                found.set("link", "my_" + found.get("link"))
