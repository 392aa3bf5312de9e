# SPDX-License-Identifier: Apache-2.0

"""Links against Pinocchio's, in one run on one thread: `python -m benchmarks.links`.

Poses, Jacobians and accelerations of links, momentum, center of mass, energy and the centroidal
momentum matrix of arms and of a humanoid on a floating base; links of a delta and of a platform,
which Pinocchio has no functions for. Every value is compared with Pinocchio's before it is timed.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import robodyn as rd
from benchmarks.loops import ConstrainedTree
from benchmarks.timing import Contender, Timing, compare
from robodyn.solvers.tree.closing.kinematics import tangent

# Published link lengths, masses and centers of mass of a UR10e.
UR10E = """
type: serial
name: ur10e
convention: standard_dh
links:
  - {joint: revolute, d: 0.1807, a: 0, alpha: 1.570796327, mass: 7.369, com: [0.021, 0, 0.027],
     inertia: [[0.0341, 0, 0], [0, 0.0353, 0], [0, 0, 0.0216]]}
  - {joint: revolute, d: 0, a: -0.6127, alpha: 0, mass: 13.051, com: [0.38, 0, 0.158],
     inertia: [[0.0281, 0, 0], [0, 0.7707, 0], [0, 0, 0.7694]]}
  - {joint: revolute, d: 0, a: -0.57155, alpha: 0, mass: 3.989, com: [0.24, 0, 0.068],
     inertia: [[0.0101, 0, 0], [0, 0.3093, 0], [0, 0, 0.3065]]}
  - {joint: revolute, d: 0.17415, a: 0, alpha: 1.570796327, mass: 2.1, com: [0, 0.007, 0.018],
     inertia: [[0.003, 0, 0], [0, 0.0022, 0], [0, 0, 0.0026]]}
  - {joint: revolute, d: 0.11985, a: 0, alpha: -1.570796327, mass: 1.98, com: [0, 0.007, 0.018],
     inertia: [[0.003, 0, 0], [0, 0.0022, 0], [0, 0, 0.0026]]}
  - {joint: revolute, d: 0.11655, a: 0, alpha: 0, mass: 0.615, com: [0, 0, -0.026],
     inertia: [[0.0005, 0, 0], [0, 0.0005, 0], [0, 0, 0.0006]]}
"""
# Of the humanoid: each limb's first parent and number of joints.
LIMBS = {
    "waist": ("pelvis", 3),
    "left_leg": ("pelvis", 6),
    "right_leg": ("pelvis", 6),
    "left_arm": ("waist3", 7),
    "right_arm": ("waist3", 7),
}
HUMANOID = "humanoid, 29 joints on a floating base"
# Values must agree to this part of the largest.
RIGHT = 1e-12


def arm() -> Any:
    """A UR10e without motors."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ur10e.yaml")
        path.write_text(UR10E)
        return rd.load(path)


def humanoid_urdf() -> str:
    """A humanoid of 29 joints on a floating base, with links of random shape, as a URDF."""
    rng = np.random.default_rng(0)
    parts = ['<robot name="humanoid"><link name="world"/>', link_text("pelvis", 9.0, rng)]
    parts.append(
        '<joint name="root" type="floating"><parent link="world"/><child link="pelvis"/></joint>'
    )
    for limb, (parent, count) in LIMBS.items():
        for k in range(1, count + 1):
            name = f"{limb}{k}"
            parts.append(link_text(name, rng.uniform(0.5, 3.0), rng))
            parts.append(joint_text(name, parent, (k + len(limb)) % 3, rng))
            parent = name
    return "".join([*parts, "</robot>"])


def joint_text(child: str, parent: str, axis: int, rng: Any) -> str:
    """A driven revolute joint about axis 0, 1 or 2 at a random place of its parent."""
    along = " ".join("1" if n == axis else "0" for n in range(3))
    return (
        f'<joint name="{child}_joint" type="revolute"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{_text(rng.uniform(-0.2, 0.2, 3))}" '
        f'rpy="{_text(rng.uniform(-0.5, 0.5, 3))}"/><axis xyz="{along}"/>'
        '<limit lower="-2.5" upper="2.5" effort="200" velocity="20"/></joint>'
        f'<transmission name="{child}_drive"><joint name="{child}_joint"/></transmission>'
    )


def link_text(name: str, mass: float, rng: Any) -> str:
    """A link with a random center of mass and inertia."""
    com, (x, y, z) = rng.uniform(-0.1, 0.1, 3), mass * rng.uniform(0.02, 0.03, 3)
    moments = " ".join(f'i{2 * k}="{_text([v])}"' for k, v in zip("xyz", (x, y, z), strict=True))
    return (
        f'<link name="{name}"><inertial><origin xyz="{_text(com)}"/><mass value="{_text([mass])}"/>'
        f'<inertia {moments} ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def _text(vector: Any) -> str:
    return " ".join(repr(float(value)) for value in vector)


class Tree(ConstrainedTree):
    """An open tree with a frame of Pinocchio's on a link."""

    def __init__(self, mechanism: Any, link: str) -> None:
        super().__init__(mechanism)
        joint, at = self._at[link]
        self.frame = self.model.addFrame(pin.Frame(link, joint, 0, at, pin.FrameType.OP_FRAME))
        self.data = self.model.createData()


class Both:
    """State of a mechanism here and in Pinocchio.

    Args:
        m: mechanism without closures.
        link: whose pose and motion are compared, by name.
    """

    def __init__(self, m: Any, link: str) -> None:
        rng, nv = np.random.default_rng(1), m.coordinates.velocity_size
        self.m, self.link = m, link
        self.q = np.ascontiguousarray(m.advance(m.home, rng.uniform(-0.6, 0.6, nv)))
        self.v, self.a = rng.normal(size=(2, nv))
        loop = rd.ClosedLoop(m.model) if m.kind == "serial" else m
        tree = Tree(loop, link)
        self.model, self.data, self.frame = tree.model, tree.data, tree.frame
        self.theirs = tree.configuration(self.q)
        # velocities of a floating base are in base axes here and in its own axes there
        self.turn = np.transpose([tree.rates(self.q, column) for column in tangent(loop, self.q).T])
        self.rates, self.changes = self.turn @ self.v, self.turn @ self.a
        for joint in loop.model.joints:
            if joint.kind == "floating":
                at = tree.index(joint.name)
                turning, moving = self.rates[at + 3 : at + 6], self.rates[at : at + 3]
                self.changes[at : at + 3] -= np.cross(turning, moving)

    def contenders(self) -> list[tuple[str, Callable[[], Any], Callable[[], Any], Any]]:
        """Name, our call, Pinocchio's, and what turns its result into ours."""
        m, q, v, a, link = self.m, self.q, self.v, self.a, self.link
        model, data, frame = self.model, self.data, self.frame
        there, rates, changes = self.theirs, self.rates, self.changes
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

        def pose() -> Any:
            pin.framesForwardKinematics(model, data, there)
            return data.oMf[frame]

        def jacobian() -> Any:
            return pin.computeFrameJacobian(model, data, there, frame, axes)

        def acceleration() -> Any:
            pin.forwardKinematics(model, data, there, rates, changes)
            return pin.getFrameClassicalAcceleration(model, data, frame, axes).vector

        def momentum() -> Any:
            return pin.computeCentroidalMomentum(model, data, there, rates)

        def about_base(hg: Any) -> Any:
            return [*hg.linear, *(hg.angular + np.cross(data.com[0], hg.linear))]

        def energy() -> Any:
            kinetic = pin.computeKineticEnergy(model, data, there, rates)
            return kinetic, pin.computePotentialEnergy(model, data, there)

        found = [
            (f"link_pose of {link}", lambda: m.link_pose(q, link), pose, pin.SE3ToXYZQUAT),
            (f"link_jacobian of {link}", lambda: m.link_jacobian(q, link), jacobian, self._turned),
            (
                f"link_acceleration of {link}",
                lambda: m.link_acceleration(q, v, a, link),
                acceleration,
                None,
            ),
            ("momentum", lambda: m.momentum(q, v), momentum, about_base),
            (
                "center_of_mass",
                lambda: m.center_of_mass(q),
                lambda: pin.centerOfMass(model, data, there),
                None,
            ),
            ("energy", lambda: m.energy(q, v), energy, None),
            (
                "centroidal_momentum_matrix",
                lambda: rd.centroidal_momentum_matrix(m, q),
                lambda: pin.computeCentroidalMap(model, data, there),
                self._turned,
            ),
        ]
        if link == m.model.tip_link:
            found += [
                ("body_pose", lambda: m.body_pose(q), pose, pin.SE3ToXYZQUAT),
                ("jacobian", lambda: m.jacobian(q), jacobian, self._turned),
            ]
        return found

    def _turned(self, matrix: Any) -> Any:
        return matrix @ self.turn


def values(row: tuple[str, Callable[[], Any], Callable[[], Any], Any]) -> tuple[Any, Any]:
    """Our result of one of `contenders`, and Pinocchio's in our terms."""
    _, ours, theirs, form = row
    expected = theirs()
    return ours(), expected if form is None else form(expected)


def agree(ours: Any, theirs: Any) -> None:
    """Refuse to time what is not the same; a quaternion has two signs."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if ours.shape == (7,) and ours[3:] @ theirs[3:] < 0.0:
        theirs = np.concatenate([theirs[:3], -theirs[3:]])
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=RIGHT * max(1.0, np.abs(theirs).max()))


def machines() -> dict[str, tuple[Any, str]]:
    """Mechanisms without closures, and the link that is looked at, by what they are."""
    ur, puma = arm(), rd.load("puma560")
    humanoid = rd.load(humanoid_urdf())
    return {
        "UR10e, 6 joints": (ur, ur.model.tip_link),
        "puma560, 6 joints": (puma, puma.model.tip_link),
        HUMANOID: (humanoid, "left_arm7"),
    }


def compared(m: Any, link: str, rounds: int = 101) -> list[tuple[str, Timing, Timing]]:
    """Compare results, and return their name, our timing and Pinocchio's."""
    rows = Both(m, link).contenders()
    contenders = []
    for row in rows:
        agree(*values(row))
        contenders += [Contender(row[0], row[1]), Contender(row[0], row[2])]
    timings = compare(contenders, rounds)
    return [(row[0], *timings[2 * k : 2 * k + 2]) for k, row in enumerate(rows)]


def loops(rounds: int = 101) -> list[Timing]:
    """Links of a delta and of a platform."""
    contenders = []
    for name in ("delta", "stewart_symmetric"):
        m: Any = rd.load(name)
        q, nv = m.home, m.coordinates.velocity_size
        v, a = np.random.default_rng(2).normal(size=(2, nv))
        link = rd.link_names(m)[5]
        contenders += [
            Contender(f"{name} link_pose of {link}", partial(m.link_pose, q, link)),
            Contender(f"{name} link_jacobian of {link}", partial(m.link_jacobian, q, link)),
            Contender(
                f"{name} link_acceleration of {link}", partial(m.link_acceleration, q, v, a, link)
            ),
            Contender(f"{name} momentum", partial(m.momentum, q, v)),
            Contender(f"{name} center_of_mass", partial(m.center_of_mass, q)),
            Contender(f"{name} energy", partial(m.energy, q, v)),
            Contender(
                f"{name} centroidal_momentum_matrix", partial(rd.centroidal_momentum_matrix, m, q)
            ),
            Contender(f"{name} body_pose", partial(m.body_pose, q)),
            Contender(f"{name} jacobian", partial(m.jacobian, q)),
        ]
    return compare(contenders, rounds)


def table(rounds: int = 101) -> str:
    """Markdown tables of all that is compared, and of links of closed loops."""
    head = "| | robodyn | Pinocchio | ratio |\n|---|---|---|---|\n"
    parts = []
    for text, (m, link) in machines().items():
        rows = (
            f"| {name} | {ours.median:.2f} | {theirs.median:.2f} | "
            f"{ours.median / theirs.median:.1f} |\n"
            for name, ours, theirs in compared(m, link, rounds)
        )
        parts.append(f"{text}:\n\n{head}{''.join(rows)}")
    parts.append("Links of closed loops:\n\n| | robodyn |\n|---|---|\n")
    parts[-1] += "".join(f"| {t.name} | {t.median:.2f} |\n" for t in loops(rounds))
    return "\n".join(parts)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    rd.set_threads(1)
    sys.stdout.write(table())
