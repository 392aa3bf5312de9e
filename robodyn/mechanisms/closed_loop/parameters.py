# SPDX-License-Identifier: Apache-2.0

"""What a closed loop's efforts are linear in, and the regressor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
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
from robodyn.mechanisms.common.body_parameters import NOTHING, BodyNumbers
from robodyn.mechanisms.common.parameters import (
    JointParameter,
    JointPlaces,
    columns_of,
    joint_parameters,
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
        given, further = (configuration, velocity, acceleration), len(self._parameters_of_joints)
        n = self._n
        if n == self._nu:
            with suppress(TypeError):  # not single float64 states: a batch, or to be explained
                efforts = _efforts(self._unit_calls, given, n)
                if not np.isnan(efforts).any():
                    return columns_of(efforts, further)
        shape, flat = flatten(
            configuration=self._q("configuration", configuration),
            velocity=self._u("velocity", velocity),
            acceleration=self._u("acceleration", acceleration),
        )
        widths, state = (self._nq, self._nu, self._nu, 6, 9), (*flat, None, None)
        found = np.full((len(self._units), len(flat[0]), n), np.nan)
        for row, unit in zip(found, self._units, strict=True):
            answer = batch("inverse_dynamics", unit, widths, (n,), state)
            row[...] = np.nan if answer is None else answer
        Y = columns_of(found, further)
        for k in np.flatnonzero(np.isnan(Y).any(axis=(1, 2))):
            motion = [part[k] for part in flat]
            try:
                # the pivots of home do not serve
                self._refuse_open(motion[0])
                units = self._unit_mechanisms(self._pivots.at(motion[0]))
            except KinematicsError as error:
                error.index = tuple(int(i) for i in np.unravel_index(k, shape))
                raise
            Y[k] = columns_of(_efforts(_calls(units), motion, n), further)
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
        return _calls(self._units)

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
        lent, bodies = plan.view(np.float64), self.structure.tree.bodies[1:]
        units = unit_mechanisms(
            numbers,
            [
                (range(row + _BODY.mass, row + _BODY.factor), self._tree.frame_of[body.links[0]])
                for row, body in zip(rows, bodies, strict=True)
            ],
            [further for _, further in self._parameters_of_joints],
        )
        return [replace(packed, plan=lent, numbers=unit) for unit in units]


def _calls(units: Sequence[Packed]) -> list[Callable[..., bool]]:
    return [entry("inverse_dynamics", unit) for unit in units]


def _efforts(
    calls: Sequence[Callable[..., bool]], motion: Sequence[ArrayLike], n: int
) -> FloatArray:
    """Efforts (p, n) of unit mechanisms in a single state, NaN from the first that has none.

    Raises:
        TypeError: not single float64 states.
    """
    out, checked = np.full((len(calls), n), np.nan), False
    for call, row in zip(calls, out, strict=True):
        if not call(*motion, None, None, checked, row):
            row[...] = np.nan
            break
        checked = True
    return out


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
