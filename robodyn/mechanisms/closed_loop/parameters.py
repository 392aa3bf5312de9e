# SPDX-License-Identifier: Apache-2.0

"""What a closed loop's efforts are linear in, and the regressor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import KinematicsError
from robodyn.mechanisms.closed_loop.calls import batch, entry
from robodyn.mechanisms.closed_loop.inverse_kinematics import ClosedLoopInverseKinematics
from robodyn.mechanisms.closed_loop.kernels import layout
from robodyn.mechanisms.closed_loop.packing import Packed
from robodyn.mechanisms.closed_loop.tree import Tree, TreeBody
from robodyn.mechanisms.common.body_parameters import COLUMNS, NOTHING, ROWS, BodyNumbers
from robodyn.mechanisms.common.parameters import (
    JointParameter,
    JointPlaces,
    PutBody,
    columns_of,
    joint_parameters,
    of_single,
    unit_mechanisms,
)
from robodyn.numerics.broadcasting import flatten

_BODY = layout.BODY_NUMBERS


class ClosedLoopParameters(ClosedLoopInverseKinematics):
    """The part of `ClosedLoop` that knows what its efforts are linear in.

    A body is all links that move as one, in the frame of its first link, which names it. Joints
    that are not driven have damping alone, and so have closures.
    """

    @property
    def _parametric_bodies(self) -> list[tuple[str, BodyNumbers]]:
        tree = self.structure.tree
        return [(body.links[0], _in_link(tree, body)) for body in tree.bodies[1:]]

    @cached_property
    def _parameters_of_joints(self) -> list[tuple[JointParameter, dict[int, float]]]:
        packed, found = self.structure.packed, []
        for number, body in enumerate(self.structure.tree.bodies[1:]):
            joint = body.joint
            assert joint is not None
            if joint.kind == "floating":
                continue
            row = packed.head["at_numbers"] + number * _BODY.size
            armature, damping, dry, spin = (
                row + place
                for place in (_BODY.armature, _BODY.damping, _BODY.dry_friction, _BODY.spin)
            )
            driven = joint.name in self.model.driven or joint.reflected_inertia > 0.0
            driven = driven or bool(joint.friction.any())
            found += joint_parameters(joint, JointPlaces(armature, damping, dry, spin), driven)
        for closure, place in zip(self.model.closures, _dampers(packed), strict=False):
            parameter = JointParameter(f"{closure.name}.viscous", closure.damping, "N m s/rad")
            found.append((parameter, {place: 1.0}))
        return found

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
        if self._n == self._nu:
            given = configuration, velocity, acceleration
            found = of_single(self._unit_calls, given, self._n)
            if found is not None:
                return columns_of(found, len(self._parameters_of_joints))
        shape, flat = flatten(
            configuration=self._q("configuration", configuration),
            velocity=self._u("velocity", velocity),
            acceleration=self._u("acceleration", acceleration),
        )
        widths, n = (self._nq, self._nu, self._nu, 6, 9), self._n

        def together(packed: Packed) -> FloatArray:
            found = batch("inverse_dynamics", packed, widths, (n,), (*flat, None, None))
            return np.full((len(flat[0]), n), np.nan) if found is None else found

        found = np.stack([together(unit) for unit in self._units])
        Y = columns_of(found, len(self._parameters_of_joints))
        for k in np.flatnonzero(np.isnan(Y).any(axis=(1, 2))):
            state = [part[k] for part in flat]
            try:
                Y[k] = self._single_regressor(state, n)
            except KinematicsError as error:
                error.index = tuple(int(i) for i in np.unravel_index(k, shape))
                raise
        return Y.reshape(*shape, n, -1)

    def _on_links(self, bodies: list[BodyNumbers]) -> dict[str, BodyNumbers]:
        # of links that move as one, the first carries all of the body's mass
        out: dict[str, BodyNumbers] = {}
        for body, numbers in zip(self.structure.tree.bodies[1:], bodies, strict=True):
            out |= dict.fromkeys(body.links, NOTHING) | {body.links[0]: numbers}
        return out

    @cached_property
    def _units(self) -> list[Packed]:
        return self._unit_mechanisms(self.structure.packed)

    @cached_property
    def _unit_calls(self) -> list[Callable[..., bool]]:
        return [entry("inverse_dynamics", unit) for unit in self._units]

    def _unit_mechanisms(self, packed: Packed) -> list[Packed]:
        """Mechanisms whose efforts are the columns of the regressor, with a packing's pivots."""
        plan, numbers = packed.plan.view(np.int64).copy(), packed.numbers.copy()
        head, of_body = packed.head, layout.BODY_PLAN
        rows = [head["at_numbers"] + k * _BODY.size for k in range(head["bodies"])]
        first = head["at_bodies"] + of_body.has_inertia
        plan[[first + k * of_body.size for k in range(head["bodies"])]] = 1
        plan[layout.PLAN.has_dry_friction], plan[layout.PLAN.damped] = 1, 1
        for row in rows:
            numbers[row + _BODY.mass : row + _BODY.factor] = 0.0
            numbers[row + _BODY.damping : row + _BODY.size] = 0.0
        numbers[_dampers(packed)] = 0.0
        lent, tree = plan.view(np.float64), self.structure.tree

        def put(row: int, frame: FloatArray) -> PutBody:
            def write(
                packed: FloatArray, mass: float, com: FloatArray, inertia: FloatArray
            ) -> None:
                R = frame[:3, :3]
                placed, turned = R @ com + frame[:3, 3], R @ inertia @ R.T
                own = [mass, *placed, *turned[ROWS, COLUMNS]]
                packed[row + _BODY.mass : row + _BODY.factor] = own

            return write

        bodies = zip(rows, tree.bodies[1:], strict=True)
        units = unit_mechanisms(
            numbers,
            [put(row, tree.frame_of[body.links[0]]) for row, body in bodies],
            [further for _, further in self._parameters_of_joints],
        )
        return [replace(packed, plan=lent, numbers=unit) for unit in units]

    def _single_regressor(self, state: list[FloatArray], n: int) -> FloatArray:
        """Y (n, p) of a state for which the pivots of home do not serve."""
        q, u, du = state
        self._refuse_open(q)

        def efforts(packed: Packed) -> FloatArray:
            out = np.full(n, np.nan)
            entry("inverse_dynamics", packed)(q, u, du, None, None, False, out)
            return out[None]

        found = np.stack([efforts(unit) for unit in self._unit_mechanisms(self._pivots.at(q))])
        return np.asarray(columns_of(found, len(self._parameters_of_joints))[0])


def _dampers(packed: Packed) -> list[int]:
    """Where the damping of each closure, and of each idle freedom, is."""
    head, of_closure = packed.head, layout.CLOSURE_PLAN
    first, plan = head["at_closures"] + of_closure.at_numbers, packed.plan.view(np.int64)
    places = (int(plan[first + k * of_closure.size]) for k in range(head["closures"]))
    return [place + layout.CLOSURE_NUMBERS.damping for place in places]


def _in_link(tree: Tree, body: TreeBody) -> BodyNumbers:
    """A body's numbers in the frame of its first link."""
    frame = np.linalg.inv(tree.frame_of[body.links[0]])
    R = frame[:3, :3]
    com = R @ body.com + frame[:3, 3] if body.mass > 0.0 else np.zeros(3)
    return BodyNumbers(body.mass, com, R @ body.inertia @ R.T)
