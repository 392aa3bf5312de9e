# SPDX-License-Identifier: Apache-2.0

"""Random mechanisms with closed loops: links, joints and a configuration in which they close."""

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.model import Closure, Joint, Link, Mimic, Model, Placement
from robodyn.solvers.tree.closing import tangent
from robodyn.solvers.tree.conditions import force_condition

EQUATIONS = {
    "spherical": 3, "universal": 4, "revolute": 5, "prismatic": 5, "cylindrical": 4, "fixed": 6,
}  # fmt: skip


def random_frame(rng, reach=0.4):
    """A frame (4, 4) anywhere, of any orientation."""
    out = np.eye(4)
    out[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    out[:3, 3] = rng.uniform(-reach, reach, 3)
    return out


def placement(frame):
    return Placement(frame[:3, :3], frame[:3, 3])


def random_link(rng, name):
    """A physical body: the inertia of some point masses, which anything with mass has."""
    points = rng.normal(0.0, 0.1, (5, 3))
    masses = rng.uniform(0.1, 0.6, 5)
    com = masses @ points / masses.sum()
    arms = points - com
    inertia = sum(
        m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True)
    )
    return Link(name, float(masses.sum()), com, inertia)


@dataclass
class Builder:
    """A mechanism under construction, every link placed in the world at its configuration."""

    rng: np.random.Generator
    planar: bool = False
    world: dict = field(default_factory=lambda: {"base": np.eye(4)})
    links: list = field(default_factory=lambda: [Link("base")])
    joints: list = field(default_factory=list)
    closures: list = field(default_factory=list)
    home: dict = field(default_factory=dict)
    normal: np.ndarray = None

    def __post_init__(self):
        if self.planar:
            self.normal = Rotation.random(random_state=self.rng).as_matrix()[:, 2]

    def joint(self, parent, child, kind, mimic=None):
        """A link on a joint of random placement, at a random position."""
        rng = self.rng
        at, child_at = random_frame(rng), random_frame(rng, 0.1)
        axis = rng.normal(size=3)
        if self.planar:  # all axes along one direction of the world, all links move in one plane
            world_axis = self.normal
            if kind == "prismatic":
                world_axis = np.cross(self.normal, rng.normal(size=3))
            axis = (self.world[parent][:3, :3] @ at[:3, :3]).T @ world_axis
        axis = axis / np.linalg.norm(axis)
        position, motion = rng.uniform(-0.5, 0.5), np.eye(4)
        if mimic is not None:
            position = mimic.multiplier * self.home[mimic.joint] + mimic.offset
        if kind == "prismatic":
            position *= 1.0 if mimic is not None else 0.3
            motion[:3, 3] = position * axis
        elif kind == "floating":
            motion = random_frame(rng)
            if self.planar:
                motion = self._in_plane(parent, at)
            quaternion = Rotation.from_matrix(motion[:3, :3]).as_quat()
            position = (*motion[:3, 3], *quaternion)
        else:
            motion[:3, :3] = Rotation.from_rotvec(position * axis).as_matrix()
        self.world[child] = self.world[parent] @ at @ motion @ np.linalg.inv(child_at)
        self.links.append(random_link(rng, child))
        name = f"{parent}_{child}"
        single = kind != "floating"
        self.joints.append(
            Joint(
                name,
                kind,
                parent,
                child,
                placement(at),
                placement(child_at),
                axis,
                mimic=mimic,
                armature=rng.uniform(0.0, 0.05) if single else 0.0,
                damping=rng.uniform(0.0, 0.5) if single else 0.0,
            )
        )
        self.home[name] = position
        return name

    def _in_plane(self, parent, at):
        """A motion of a floating body within the plane."""
        frame = self.world[parent][:3, :3] @ at[:3, :3]
        normal = frame.T @ self.normal
        motion = np.eye(4)
        motion[:3, :3] = Rotation.from_rotvec(self.rng.uniform(-1, 1) * normal).as_matrix()
        shift = self.rng.uniform(-0.3, 0.3, 3)
        motion[:3, 3] = shift - normal * (normal @ shift)
        return motion

    def closure(self, parent, child, kind, damping=None):
        """A closure that is closed where the mechanism is."""
        rng = self.rng
        place = self.world[child] @ random_frame(rng, 0.15)
        twist = np.eye(4)
        axis = rng.normal(size=3)
        if self.planar:
            axis = place[:3, :3].T @ self.normal
        axis /= np.linalg.norm(axis)
        child_axis = axis
        if kind == "universal":
            child_axis = np.cross(axis, rng.normal(size=3))
        if kind in ("revolute", "cylindrical"):
            twist[:3, :3] = Rotation.from_rotvec(rng.uniform(-3, 3) * axis).as_matrix()
        if kind in ("spherical", "universal"):
            twist[:3, :3] = Rotation.random(random_state=rng).as_matrix()
            child_axis = twist[:3, :3].T @ child_axis
        if kind in ("prismatic", "cylindrical"):
            twist[:3, 3] = rng.uniform(-0.2, 0.2) * axis
        self.closures.append(
            Closure(
                f"closure{len(self.closures)}",
                kind,
                parent,
                child,
                placement(np.linalg.inv(self.world[parent]) @ place),
                placement(np.linalg.inv(self.world[child]) @ place @ twist),
                axis,
                child_axis,
                rng.uniform(0.0, 0.3) if damping is None else damping,
            )
        )

    def model(self, driven, tip=None, **more):
        """The description, home where it was built."""
        home = tuple((name, tuple(np.atleast_1d(value))) for name, value in self.home.items())
        return Model(
            "random",
            tuple(self.links),
            tuple(self.joints),
            tuple(self.closures),
            tuple(driven),
            tip_link=tip or self.links[-1].name,
            home=home,
            **more,
        )

    def mechanism(self, extra=0, **more):
        """Driven by as many joints as it has freedoms, or by `extra` more."""
        single = [j.name for j in self.joints if j.kind != "floating" and j.mimic is None]
        first = rd.ClosedLoop(self.model(single))
        chosen = list(first.independent_joints)
        others = [name for name in single if name not in chosen]
        return rd.ClosedLoop(self.model(chosen + others[:extra], **more))


def parallel(rng, kinds=None, mobility=3, planar=False):
    """A floating platform on legs, each closed by a joint of another type."""
    builder = Builder(rng, planar)
    builder.joint("base", "platform", "floating")
    legs = 3
    kinds = kinds or rng.choice(sorted(EQUATIONS), legs)
    if planar:
        lengths = [2, 2, 2]
    else:
        lengths = [EQUATIONS[kind] for kind in kinds]
        for _ in range(6 - mobility):  # each joint left out takes a freedom
            lengths[int(np.argmax(lengths))] -= 1
    for leg, (kind, length) in enumerate(zip(kinds, lengths, strict=True)):
        parent = "base"
        for n in range(max(length, 1)):
            child = f"leg{leg}_{n}"
            sort = "revolute" if planar else rng.choice(["revolute", "prismatic"], p=[0.75, 0.25])
            builder.joint(parent, child, str(sort))
            parent = child
        builder.closure(parent, "platform", str(kind))
    return builder


def single_loop(rng, length=9, kind="revolute"):
    """A chain of joints from the base whose end is closed to the base."""
    builder = Builder(rng)
    parent = "base"
    for n in range(length):
        child = f"link{n}"
        builder.joint(parent, child, str(rng.choice(["revolute", "prismatic"], p=[0.8, 0.2])))
        parent = child
    builder.closure("base", parent, kind)
    return builder


def branched(rng):
    """A tree with a mimic joint, a floating body and loops between its branches."""
    builder = Builder(rng)
    first = builder.joint("base", "a", "revolute")
    builder.joint("a", "b", "revolute")
    builder.joint("a", "c", "prismatic")
    builder.joint("c", "d", "revolute", Mimic(first, -0.7, 0.2))
    builder.joint("d", "e", "floating")
    builder.joint("b", "f", "continuous")
    builder.joint("f", "g", "revolute")
    builder.joint("e", "h", "revolute")
    builder.closure("g", "e", "spherical")
    builder.closure("h", "b", "cylindrical")
    return builder


def is_regular(mechanism, q):
    """Whether a configuration is away from singularities of both types.

    Near them efforts and rates are as large as one likes, and so are their errors.
    """
    return force_condition(mechanism, q) < 1e3 and np.abs(tangent(mechanism, q)).max() < 10.0


def regular(rng, draw):
    """A builder and its mechanism, drawn again until it is regular at home."""
    for _ in range(100):
        builder = draw(rng)
        mechanism = builder.mechanism()
        if is_regular(mechanism, mechanism.home):
            return builder, mechanism
    raise AssertionError("none of a hundred random mechanisms is regular at home")


def random_state(mechanism, rng, spread=0.2):
    """A closed configuration near home, a velocity, an acceleration and a wrench."""
    n = mechanism.mobility
    q = mechanism.home
    # no joint goes much further than the independent ones: a search beyond reach takes long
    spread = spread / max(1.0, np.abs(tangent(mechanism, q)).max())
    for scale in (spread, 0.3 * spread, 0.03 * spread, 0.0):
        try:
            q = mechanism.advance(mechanism.home, rng.uniform(-scale, scale, n))
            if mechanism.structure.packed and is_regular(mechanism, q):
                break
        except ArithmeticError:
            continue
    return q, rng.normal(size=n), rng.normal(size=n), rng.normal(size=6)
