# SPDX-License-Identifier: Apache-2.0

"""A closed loop's inertial parameters, rotors and friction: regressor, loops of other values."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.actuators.actuator import IDEAL
from robodyn.errors import KinematicsError
from robodyn.mechanisms.closed_loop.calls import batch, entry
from robodyn.mechanisms.closed_loop.inverse_kinematics import ClosedLoopInverseKinematics
from robodyn.mechanisms.closed_loop.kernels import layout
from robodyn.mechanisms.closed_loop.packing import Packed
from robodyn.mechanisms.common.kernels.dry_friction import COULOMB, COULOMB_BACKWARD
from robodyn.mechanisms.common.parameters import (
    COLUMNS,
    ROWS,
    BodyNumbers,
    JointParameter,
    Parameters,
    body_columns,
    collected,
)
from robodyn.model.fields import altered, varied
from robodyn.numerics.broadcasting import flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.closed_loop.tree import Body, Tree
    from robodyn.model.joint import Joint
    from robodyn.model.model import Model

_BODY = layout.BODY_NUMBERS
_OF_JOINT = {
    "armature": _BODY.armature,
    "viscous": _BODY.damping,
    "coulomb_forward": _BODY.dry_friction + COULOMB,
    "coulomb_backward": _BODY.dry_friction + COULOMB_BACKWARD,
}
_NOTHING = BodyNumbers(0.0, np.zeros(3), np.zeros((3, 3)))


class ClosedLoopParameters(ClosedLoopInverseKinematics):
    """The part of `ClosedLoop` that knows what its efforts are linear in."""

    @property
    def parameters(self) -> Parameters:
        """Ten for each moving body, then for each joint, then for the closures' damping.

        A body is all links that move as one, in the frame of its first link, which names it. Driven
        joints have armature, viscous and Coulomb friction, passive ones viscous friction. The
        armature is all reflected inertia; of a described actuator that is its rotor's.
        """
        return replace(self._parameters, values=self._parameters.values.copy())

    @cached_property
    def _parameters(self) -> Parameters:
        tree = self.structure.tree
        bodies = [(body.links[0], _in_link(tree, body)) for body in tree.bodies[1:]]
        joints = []
        for body in tree.bodies[1:]:
            joint = body.joint
            assert joint is not None
            if joint.kind == "floating":
                continue
            values = dict(zip(_OF_JOINT, _numbers(joint), strict=True))
            for part in self._parts(joint):
                unit = _unit(part, joint.kind == "prismatic")
                joints.append(JointParameter(f"{joint.name}.{part}", values[part], unit))
        joints += [
            JointParameter(f"{closure.name}.viscous", closure.damping, "N m s/rad")
            for closure in self.model.closures
        ]
        return collected(bodies, joints)

    def regressor(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
    ) -> FloatArray:
        """Y (..., n, p): efforts = Y @ parameters.values, for any values of the parameters.

        Where more joints are driven than need be, of the efforts of least (weighted) sum of
        squares; limits of effort do not enter.

        Raises:
            InvalidInput: a wrong shape, not finite, or a configuration that is not closed.
            UnderActuated, SingularConfiguration: as `inverse_dynamics`.
        """
        self._refuse_under_actuated()
        shape, flat = flatten(
            configuration=self._q("configuration", configuration),
            velocity=self._u("velocity", velocity),
            acceleration=self._u("acceleration", acceleration),
        )
        widths, n = (self._nq, self._nu, self._nu, 6), self._n

        def together(packed: Packed) -> FloatArray:
            found = batch("inverse_dynamics", packed, widths, (n,), (*flat, None))
            return np.full((len(flat[0]), n), np.nan) if found is None else found

        Y = self._columns(self.structure.packed, together)
        for k in np.flatnonzero(np.isnan(Y).any(axis=(1, 2))):
            state = [part[k] for part in flat]
            try:
                Y[k] = self._single_regressor(state, n)
            except KinematicsError as error:
                error.index = tuple(int(i) for i in np.unravel_index(k, shape))
                raise
        return Y.reshape(*shape, n, -1)

    def _model_of(self, bodies: list[BodyNumbers], of_joints: Mapping[str, float]) -> Model:
        # of links that move as one, the first carries all of the body's mass
        tree = self.structure.tree
        right = min(of_joints.values(), default=0.0) >= 0.0 and all(
            body.mass >= 0.0 and np.isfinite(body.inertia).all() for body in bodies
        )
        vary: Any = varied if right else altered  # which says what is wrong
        carried: dict[str, BodyNumbers] = {}
        for body, numbers in zip(tree.bodies[1:], bodies, strict=True):
            carried |= dict.fromkeys(body.links, _NOTHING) | {body.links[0]: numbers}
        links = tuple(
            vary(link, **carried[link.name]._asdict()) if link.name in carried else link
            for link in self.model.links
        )
        joints = []
        for joint in self.model.joints:
            armature, viscous, ahead, back = (
                of_joints.get(f"{joint.name}.{part}", value)
                for part, value in zip(_OF_JOINT, _numbers(joint), strict=True)
            )
            friction = np.array([ahead, back])
            friction.setflags(write=False)
            turning = _with_armature(joint, armature, vary)
            joints.append(vary(turning, damping=viscous, friction=friction))
        closures = tuple(
            vary(closure, damping=of_joints[f"{closure.name}.viscous"])
            for closure in self.model.closures
        )
        return varied(self.model, links=links, joints=tuple(joints), closures=closures)

    def _parts(self, joint: Joint) -> tuple[str, ...]:
        driven = joint.name in self.model.driven or joint.reflected_inertia > 0.0
        driven = driven or bool(joint.friction.any())
        return tuple(_OF_JOINT) if driven else ("viscous",)

    def _columns(self, packed: Packed, efforts: Callable[[Packed], FloatArray]) -> FloatArray:
        """Y (N, n, p) with the pivots of a packing."""
        plan, numbers = packed.plan.view(np.int64).copy(), packed.numbers.copy()
        head, of_body, of_closure = packed.head, layout.BODY_PLAN, layout.CLOSURE_PLAN
        rows = [head["at_numbers"] + k * _BODY.size for k in range(head["bodies"])]
        first = head["at_bodies"] + of_body.has_inertia
        plan[[first + k * of_body.size for k in range(head["bodies"])]] = 1
        plan[layout.PLAN.has_dry_friction], plan[layout.PLAN.damped] = 1, 1
        first = head["at_closures"] + of_closure.at_numbers
        dampers = [
            int(plan[first + k * of_closure.size]) + layout.CLOSURE_NUMBERS.damping
            for k in range(head["closures"])
        ]
        for row in rows:
            numbers[row + _BODY.mass : row + _BODY.factor] = 0.0
            numbers[[row + entry for entry in (*_OF_JOINT.values(), _BODY.spin)]] = 0.0
        numbers[dampers] = 0.0
        lent = plan.view(np.float64)

        def with_entries(changes: dict[int, float]) -> FloatArray:
            changed = numbers.copy()
            changed[list(changes)] = list(changes.values())
            return efforts(replace(packed, plan=lent, numbers=changed))

        tree, blocks, columns = self.structure.tree, [], []
        for row, body in zip(rows, tree.bodies[1:], strict=True):
            frame = tree.frame_of[body.links[0]]

            def response(
                mass: float,
                com: FloatArray,
                inertia: FloatArray,
                row: int = row,
                frame: FloatArray = frame,
            ) -> FloatArray:
                R = frame[:3, :3]
                placed, turned = R @ com + frame[:3, 3], R @ inertia @ R.T
                own = [mass, *placed, *turned[ROWS, COLUMNS]]
                return with_entries(dict(enumerate(own, start=row + _BODY.mass)))

            blocks.append(body_columns(response))
            joint = body.joint
            assert joint is not None
            if joint.kind == "floating":
                continue
            for part in self._parts(joint):
                spins = {row + _BODY.spin: _spin(joint)} if part == "armature" else {}
                columns.append(with_entries({row + _OF_JOINT[part]: 1.0} | spins))
        columns += [with_entries({at: 1.0}) for at in dampers[: len(self.model.closures)]]
        return np.concatenate([*blocks, np.stack(columns, axis=-1)], axis=-1)

    def _single_regressor(self, state: list[FloatArray], n: int) -> FloatArray:
        """Y (n, p) of a state for which the pivots of home do not serve."""
        q, u, du = state
        self._refuse_open(q)

        def efforts(packed: Packed) -> FloatArray:
            out = np.full(n, np.nan)
            entry("inverse_dynamics", packed)(q, u, du, None, False, out)
            return out[None]

        return np.asarray(self._columns(self._pivots.at(q), efforts)[0])


def _numbers(joint: Joint) -> tuple[float, float, float, float]:
    """In the order of `_OF_JOINT`."""
    ahead, back = joint.friction.tolist()
    return joint.reflected_inertia, joint.damping, ahead, back


def _spin(joint: Joint) -> float:
    """What a rotor has about the joint's own axis, for one unit of its reflected inertia."""
    if joint.reflected_inertia == 0.0:
        joint = replace(joint, drive=replace(joint.drive, rotor_inertia=1.0))
        if replace(joint.drive, rotor_inertia=0.0) == IDEAL:
            return 0.0  # nothing is said of a gear: an armature
    return joint.spin_inertia / joint.reflected_inertia


def _with_armature(joint: Joint, armature: float, vary: Any) -> Joint:
    """The joint with another reflected inertia, of its actuator's rotor where one is described."""
    if joint.reflected_inertia > 0.0:
        scale = armature / joint.reflected_inertia
        rotor = scale * joint.drive.rotor_inertia
        drive = vary(joint.drive, rotor_inertia=rotor)
        changes = {"armature": scale * joint.armature, "drive": drive}
    elif joint.drive == IDEAL:
        changes = {"armature": armature}
    else:
        rotor = armature / joint.drive.ratio**2
        changes = {"drive": vary(joint.drive, rotor_inertia=rotor)}
    changed: Joint = vary(joint, **changes)
    return changed


def _unit(part: str, slides: bool) -> str:
    force, way = ("N", "m") if slides else ("N m", "rad")
    return {"armature": "kg" if slides else "kg m^2", "viscous": f"{force} s/{way}"}.get(
        part, force
    )


def _in_link(tree: Tree, body: Body) -> BodyNumbers:
    """A body's numbers in the frame of its first link."""
    frame = np.linalg.inv(tree.frame_of[body.links[0]])
    R = frame[:3, :3]
    com = R @ body.com + frame[:3, 3] if body.mass > 0.0 else np.zeros(3)
    return BodyNumbers(body.mass, com, R @ body.inertia @ R.T)
