# SPDX-License-Identifier: Apache-2.0

"""Dimensions of a mechanism with closed loops, as the joints of a larger mechanism.

A dimension displaces a frame of a joint or of a closure, as a joint would. So each dimension
becomes a driven joint of zero mass in front of its frame. The kinematics of this larger mechanism
give the poses for other dimensions, and its Jacobian gives their derivatives with respect to
dimensions and readings:

- a straight leg has the centers of its joints, `LEG.foot` and `LEG.tip`, and a `length`;
- any other joint, and any other end of a closure, has its center x, y, z on its link, and a joint
  has small rotations `axis.u`, `axis.v` of its axis about the two directions across it;
- a driven joint has an `offset`: its position is its reading plus the offset.

In overconstrained loops, dimensions that would tear the loops open are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robodyn.algorithms.geometry import BodyPoses, GeometricParameter
from robodyn.arrays import FloatArray
from robodyn.dynamics.link_tree import frame_along
from robodyn.errors import InvalidInput
from robodyn.model.body import Link
from robodyn.model.closure import Closure
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.model.placement import Placement
from robodyn.solvers.tree.closing.equations import Equations, least_step
from robodyn.solvers.tree.closing.kinematics import rods, tangent
from robodyn.solvers.tree.closing.structure import closed_samples, initial_guess
from robodyn.solvers.tree.packing import pack
from robodyn.solvers.tree.tree import Tree

# Fraction of a dimension's effect on the closures that the joints need not compensate.
TORN = 1e-6


@dataclass(frozen=True)
class _Frame:
    """Frame of a joint or a closure on a link, with joints that represent its dimensions.

    Attributes:
        name: name of the joint or of the closure.
        end: end of a closure, 0 on its parent and 1 on its child; -1 for a joint.
        steps: prismatic and revolute joints that represent the dimensions, from the link to the
            frame.
        values: nominal positions of these joints.
        rest: constant placement of the frame on the link of the last of these joints.
    """

    name: str
    end: int
    steps: tuple[Joint, ...]
    values: tuple[float, ...]
    rest: Placement

    def at(self, values: Sequence[float]) -> Placement:
        """Return the frame's placement on its link, for positions of the joints `steps`."""
        frame = np.eye(4)
        for step, value in zip(self.steps, values, strict=True):
            frame = frame @ step.child_frame(value)
        return Placement.of(frame @ self.rest.matrix)


class LoopGeometry:
    """Geometric parameters of a mechanism with closed loops for its calibration.

    Args:
        loop: the mechanism with its nominal dimensions.

    Raises:
        InvalidInput: the driven joints do not determine the mechanism's motion, or are redundant.
    """

    def __init__(self, loop: Any) -> None:
        if loop.structure.loose or loop.solver.n != loop.mobility:
            raise InvalidInput(
                f"{loop.name}: {loop.solver.n} driven joints for {loop.mobility} degrees of "
                "freedom; its dimensions can be calibrated only if the driven joints determine "
                "the motion and none is redundant",
                value=loop.model.driven,
            )
        self._loop = loop
        self._frames = _closable(loop, list(_frames(loop)))
        self._parameters = tuple(
            GeometricParameter(step.name, "m" if step.kind == "prismatic" else "rad", value)
            for frame in self._frames
            for step, value in zip(frame.steps, frame.values, strict=True)
        )
        names = tuple(each.name for each in self._parameters)
        model = _extend(loop.model, self._frames)
        self._machine = type(loop)(
            replace(model, driven=(*names, *model.driven), independent=(*names, *model.driven))
        )
        self._passive = tuple(name for name in loop.all_joint_names if name not in loop.joint_names)
        tree = self._machine.solver.tree
        self._places = [tree.position_of[name] for name in self._passive]
        self._rates = [tree.rate_of[name] for name in self._passive]
        self._near = self._machine.home

    @property
    def parameters(self) -> tuple[GeometricParameter, ...]:
        """Dimensions that can be calibrated: those that can change while the loops close."""
        return self._parameters

    @property
    def passive_joints(self) -> tuple[str, ...]:
        """Names of all joints that are not driven."""
        return self._passive

    def with_geometry(self, values: FloatArray) -> Any:
        """Return the mechanism with other dimensions (p,), in the order of `parameters`.

        The links' mass properties stay the same.
        """
        numbers = iter(np.asarray(values, dtype=np.float64).tolist())
        at = {
            (each.name, each.end): each.at([next(numbers) for _ in each.steps])
            for each in self._frames
        }
        model = self._loop.model
        return self._loop._made(_place_frames(model, at))

    def place(self, values: FloatArray, driven: FloatArray, guess: FloatArray) -> BodyPoses:
        """Compute poses of the tip, and their derivatives w.r.t. dimensions and readings.

        The search starts at the configurations of the last call if it had as many samples, else at
        home.

        Args:
            values: (p,) dimensions, in the order of `parameters`.
            driven: (N, n) [rad or m] readings of the driven joints.
            guess: not used.

        Returns:
            Poses (N, 7) of the tip, readings of the passive joints, and derivatives of both with
            respect to dimensions and readings; see `BodyPoses`.
        """
        machine, count = self._machine, len(self._parameters)
        positions = np.hstack([np.tile(values, (len(driven), 1)), driven])
        near = self._near if len(self._near) == len(driven) else machine.home
        q = self._near = machine.assemble(positions, near)
        by_pose, by_rate = machine.jacobian(q), tangent(machine, q)[..., self._rates, :]
        return BodyPoses(
            machine.body_pose(q),
            by_pose[..., :count],
            by_pose[..., count:],
            q[..., self._places],
            by_rate[..., :count],
            by_rate[..., count:],
        )


def _frames(loop: Any) -> Iterator[_Frame]:
    """Yield the frames of joints and closures, each with joints for its dimensions."""
    model, tree = loop.model, loop.solver.tree
    B = loop.structure.equations.bodies_at(loop.home)
    legs: dict[str, tuple[str, bool, bool]] = {}  # joint -> leg, is at its foot, is its only hinge
    straight: dict[str, tuple[int, str, FloatArray]] = {}  # closure -> end on the leg, leg, foot
    for rod in rods(loop):
        closure = next(each for each in model.closures if each.name == rod.name)
        end = int(closure.ends[0][0] == rod.body)
        leg = closure.ends[end][0]
        chain = [body for body, _ in tree.loop_path(tree.body_of[rod.base], tree.body_of[leg])]
        joints = [tree.bodies[body].joint for body in chain]
        turning = [joint for joint in joints if joint.kind != "prismatic"]
        for joint in joints:
            legs[joint.name] = leg, joint is joints[-1], turning == [joint]
        frame = tree.frame_at(B, rod.base)
        foot = np.linalg.solve(tree.frame_at(B, leg), frame @ [*rod.foot, 1.0])[:3]
        straight[rod.name] = (end, leg if len(turning) == len(joints) else "", foot)
    for joint in model.joints:
        if not joint.moves_alone:
            continue
        leg, stands, alone = legs.get(joint.name, ("", True, joint.kind != "prismatic"))
        name = f"{leg}.foot" if leg and joint.name not in model.driven else joint.name
        steps = _center(name, joint.at) if stands else []
        rest = joint.at if not steps else Placement(joint.at.rotation)
        across = frame_along(joint.axis).T
        turns = [(f"{name}.axis.{k}", "revolute", across[i]) for i, k in enumerate("uv") if alone]
        if joint.name in model.driven:
            kind = "prismatic" if joint.kind == "prismatic" else "revolute"
            turns.append((f"{name}.offset", kind, joint.axis))
        for step, kind, axis in turns:
            steps.append((Joint(step, kind, "", step, at=rest, axis=axis), 0.0))
            rest = Placement()
        yield _frame_of(joint.name, -1, joint.parent, steps, rest)
    for closure in model.closures:
        own, leg, foot = straight.get(closure.name, (-1, "", np.zeros(3)))
        for end, (link, at, _) in enumerate(closure.ends):
            name = f"{closure.name}.{link}" if own < 0 else f"{closure.ends[own][0]}.tip"
            steps, rest = _center(name, at), Placement(at.rotation)
            if end == own:
                along = at.translation - foot
                length = float(np.linalg.norm(along))
                name, start = f"{leg}.length", Placement(translation=foot)
                steps = [(Joint(name, "prismatic", "", name, at=start, axis=along), length)]
                steps, rest = (steps, rest) if leg else ([], at)
            yield _frame_of(closure.name, end, link, steps, rest)


def _center(name: str, at: Placement) -> list[tuple[Joint, float]]:
    """Create three prismatic joints for the coordinates of a frame's origin.

    Return each joint with its nominal position [m].
    """
    names = [f"{name}.{letter}" for letter in "xyz"]
    return [
        (Joint(step, "prismatic", "", step, axis=axis), float(value))
        for step, axis, value in zip(names, np.eye(3), at.translation, strict=True)
    ]


def _frame_of(
    name: str, end: int, link: str, steps: list[tuple[Joint, float]], rest: Placement
) -> _Frame:
    parents = [link, *(step.child for step, _ in steps)]
    joints = [
        replace(step, parent=parent) for (step, _), parent in zip(steps, parents, strict=False)
    ]
    return _Frame(name, end, tuple(joints), tuple(value for _, value in steps), rest)


def _place_frames(model: Model, at: dict[tuple[str, int], Placement]) -> Model:
    """Return the model with the frames of some joints and closure ends replaced.

    The keys of `at` are (name, -1) for joints and (name, 0 or 1) for the ends of closures.
    """
    return replace(
        model,
        joints=tuple(replace(j, at=at.get((j.name, -1), j.at)) for j in model.joints),
        closures=tuple(
            replace(c, at=at.get((c.name, 0), c.at), child_at=at.get((c.name, 1), c.child_at))
            for c in model.closures
        ),
    )


def _extend(model: Model, frames: Sequence[_Frame]) -> Model:
    """Return the model with a joint for each geometric dimension of the frames.

    Each of these joints precedes the frame that its dimension affects.
    """
    steps = [step for frame in frames for step in frame.steps]
    last_links = {(each.name, each.end): each.steps[-1].child for each in frames if each.steps}
    placed = _place_frames(model, {(f.name, f.end): f.rest for f in frames if f.steps})

    def close_loops(c: Closure) -> Closure:
        return replace(
            c,
            parent=last_links.get((c.name, 0), c.parent),
            child=last_links.get((c.name, 1), c.child),
        )

    values = [(s.name, (v,)) for f in frames for s, v in zip(f.steps, f.values, strict=True)]
    return replace(
        placed,
        links=(*model.links, *(Link(step.child) for step in steps)),
        joints=(
            *(replace(j, parent=last_links.get((j.name, -1), j.parent)) for j in placed.joints),
            *steps,
        ),
        closures=tuple(close_loops(each) for each in placed.closures),
        home=(*model.home, *values),
    )


def _closable(loop: Any, frames: list[_Frame]) -> list[_Frame]:
    """Return the frames with those dimensions that can vary while loops stay closed.

    All other dimensions are fixed at their nominal values.
    """
    tree = Tree(_extend(loop.model, frames))
    equations = Equations(tree, pack(tree))
    names = [step.name for frame in frames for step in frame.steps]
    own = [tree.rate_of[name] for name in names]
    others = np.setdiff1d(np.arange(tree.rates), own)
    torn: set[str] = set()
    for sample in closed_samples(loop.structure.equations, loop.home):
        q = initial_guess(tree, dict(tree.model.home))
        for name, part in loop.solver.tree.place_of.items():
            q[tree.place_of[name]] = sample[part]
        _, K = equations.at(q)
        for name, rate in zip(names, own, strict=True):
            left = K[:, rate] - K[:, others] @ least_step(K[:, others], K[:, rate])
            if np.abs(left).max(initial=0.0) > TORN * np.abs(K[:, rate]).max(initial=0.0):
                torn.add(name)
    return [_without(frame, torn) for frame in frames]


def _without(frame: _Frame, torn: set[str]) -> _Frame:
    """Return a frame with some of its dimensions fixed at their nominal values."""
    kept: list[tuple[Joint, float]] = []
    link, fixed = frame.steps[0].parent if frame.steps else "", np.eye(4)
    for step, value in zip(frame.steps, frame.values, strict=True):
        if step.name in torn:
            fixed = fixed @ step.child_frame(value)
        else:
            kept.append((replace(step, at=Placement.of(fixed @ step.at.matrix)), value))
            fixed = np.eye(4)
    rest = Placement.of(fixed @ frame.rest.matrix)
    return _frame_of(frame.name, frame.end, link, kept, rest)
