# SPDX-License-Identifier: Apache-2.0

"""Kinematics of an arm, and how it is shown: poses of the tip, Jacobian, figure, tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import Any, ClassVar

import numpy as np

from robodyn.actuators.actuator import IDEAL
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.mechanisms.common.batch_calls import (
    BASE,
    CONFIGURATION,
    WRENCH,
    Arguments,
    ArrayArgument,
    answers,
    entry,
    types_of_state,
)
from robodyn.mechanisms.common.figure import Figure, Shape, stick
from robodyn.mechanisms.common.report_answers import OutlinePart, ParameterTable, actuator_tables
from robodyn.mechanisms.common.single_calls import condition_entry, condition_of
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.mechanisms.serial.chain import as_arm, chain_of, nameless
from robodyn.mechanisms.serial.kernels import batch, entries, lanes
from robodyn.mechanisms.serial.packing import pack_chain
from robodyn.model.body import Link
from robodyn.model.model import Model
from robodyn.numerics.array_arguments import MATRIX, MATRIX_OUT, VECTOR, VECTOR_OUT, direct
from robodyn.threads import once, with_stack

_empty = np.empty
TIP_COLOR = (0.2, 0.4, 0.65)


class SerialKinematics(Mechanism):
    """What `SerialArm` says of itself, and its kinematics; q is (..., n) in rad or m.

    Attributes:
        model: the description it was built from, as `as_arm` has it.
        chain: its joints and links in line.
    """

    kind = "serial"
    # the move of Lee et al. for their arm
    default_paths: ClassVar = {"puma560": "puma"}
    model: Model

    def __init__(self, model: Model) -> None:
        self.model = as_arm(model)
        self.chain = chain_of(self.model)
        self._geometry = pack_chain(self.chain)
        # a view, as unpickled arrays have another dtype object, which kernels do not accept
        self._gravity = np.array(model.gravity).view(np.float64)
        self._packed = self._geometry, self._gravity
        self._n = len(self.chain.joints)

    @property
    def n(self) -> int:
        """Number of joints."""
        return self._n

    @cached_property
    def compared(self) -> Model:
        """The model without names."""
        return nameless(self.model)

    @property
    def bodies(self) -> tuple[Link, ...]:
        """The links, from the base to the tip."""
        return self.chain.links

    @cached_property
    def size(self) -> float:
        """[m] half the reach."""
        reach = sum(float(np.linalg.norm(joint.at.translation)) for joint in self.chain.joints)
        reach += float(np.linalg.norm(self.chain.tip.translation))
        return max(0.5 * reach, 1e-2)

    @property
    def home(self) -> FloatArray:
        """(n,) the model's home position."""
        return np.array([value for _, (value,) in self.model.home])

    def body_pose(self, configuration: ArrayLike, /) -> FloatArray:
        """Pose (..., 7) of the tip, base frame: x y z [m], qx qy qz qw with qw >= 0."""
        pose = _empty(7)
        try:
            if self._tip_calls[0](configuration, pose):
                return pose
        except TypeError:
            pass  # not a single float64 configuration
        shape, (q,) = self._states(configuration)
        out = np.empty((len(q), 7))
        batch.poses(self._geometry, q, out)
        return out.reshape(*shape, 7)

    def jacobian(self, q: ArrayLike) -> FloatArray:
        """J (..., 6, n) of the tip, base frame: [v; omega] = J @ qd, efforts = J' @ wrench."""
        J = _empty((6, self._n))
        try:
            if self._tip_calls[1](q, J):
                return J
        except TypeError:
            pass
        return self._batch(lanes.jacobian, self._geometry, ("q",), (q,), (6, self._n))

    def condition_number(self, q: ArrayLike, characteristic_length: float = 1.0) -> FloatArray:
        """Ratio (...) of the extreme of the min(6, n) singular values; infinite if one is zero.

        Angular rates are multiplied by a length [m] or, which is the same, moments divided by it.

        Raises:
            InvalidInput: as for `singular_values`.
        """
        ratio = condition_of(self._condition, q, characteristic_length)
        if ratio is not None:
            return ratio
        return super().condition_number(q, characteristic_length)

    def figure(self) -> Figure:
        """The arm as a stick figure: every link a stick to the next joint."""
        model = self.model
        reach = sum(float(np.linalg.norm(joint.at.translation)) for joint in self.chain.joints)
        size = max(0.5 * reach, 1e-2)
        shapes = stick(self.chain.links[-1].name, self.chain.tip.translation, 0.02 * size)
        shapes.append(Shape(model.tip_link, "sphere", (0.03 * size,), np.eye(4), TIP_COLOR))
        return Figure(model.joints, shapes, model.base_link).with_sticks(size)

    def outline(self, configuration: FloatArray) -> list[OutlinePart]:
        """The arm as a line from the base by the origins of its joints to the tip, at q (n,)."""
        places = self._frames(configuration, self._in_line)[:, :3, 3]
        return [OutlinePart("arm", np.vstack([np.zeros(3), places]))]

    @property
    def _in_line(self) -> tuple[str, ...]:
        """The links, each with its origin at its joint, and the tip."""
        return (*(link.name for link in self.chain.links), self.model.tip_link)

    def parameter_tables(self) -> list[ParameterTable]:
        """The links with their joints, where these are at home, and actuators beyond that."""
        rows = [
            (joint.name, joint.kind, link.mass, link.com, link.inertia, joint.armature,
             joint.damping, np.asarray(joint.friction), np.asarray(joint.position), joint.velocity,
             joint.effort)
            for joint, link in zip(self.chain.joints, self.chain.links, strict=True)
        ]  # fmt: skip
        head = ("joint", "kind", "mass [kg]", "centre of mass [m]", "inertia about it [kg m²]",
                "armature [kg m², kg]", "damping [N m s, N s/m]", "friction +/− [N m, N]",
                "range [rad, m]", "speed [rad/s, m/s]", "effort [N m, N]")  # fmt: skip
        at_home = []
        for joint, position, frame in zip(
            self.chain.joints, self.home, self._frames(self.home, self._in_line), strict=False
        ):
            axis = frame[:3, :3] @ joint.axis
            slid = position if joint.kind == "prismatic" else 0.0
            at_home.append((joint.name, float(position), frame[:3, 3] - slid * axis, axis))
        tables = [
            ParameterTable(
                "Links",
                head,
                rows,
                "centre of mass and inertia in the frame of the joint that moves the link; "
                "armature is the motor's inertia as the joint feels it",
            ),
            ParameterTable(
                "Joints at home",
                ("joint", "position [rad, m]", "origin [m]", "axis"),
                at_home,
                "origins and axes in the base frame; positions turn and slide along the axis",
            ),
        ]
        stated = any(joint.drive != IDEAL for joint in self.chain.joints)
        return [*tables, *(actuator_tables(self.joint_names, self.actuators) if stated else ())]

    @cached_property
    def _tip_calls(self) -> tuple[Callable[..., bool], Callable[..., bool]]:
        """Pose and Jacobian of the tip at one configuration."""
        pose, jacobian = _tip_entries()
        return partial(pose, self._geometry), partial(jacobian, self._geometry)

    @cached_property
    def _condition(self) -> Callable[[Any, Any, bool], float]:
        return partial(condition_entry(entries, MATRIX), self._geometry)

    def _batch(
        self,
        kernel: Any,
        chain: FloatArray,
        names: tuple[str, ...],
        values: tuple[ArrayLike | None, ...],
        core: tuple[int, ...],
        gravity: FloatArray | None = None,
    ) -> FloatArray:
        """Results (..., *core) of a vector kernel for configurations, or for states and a wrench.

        Raises:
            InvalidInput: arguments of the wrong shape or not finite.
            Unanswered: a joint has no inertia.
        """
        compiled = entry(kernel, *(types_of_state(values) if len(names) > 1 else CONFIGURATION))
        if self._n > lanes.MOST_JOINTS:
            compiled = with_stack(lanes.stack_needed(self._n), compiled)
        numbers = chain, self._gravity if gravity is None else gravity
        return answers(compiled, numbers, _arguments(self._n, *names), values, core)

    def _flat(self, **values: Any) -> tuple[tuple[int, ...], Any]:
        """Arguments, a wrench that is None as zero, as one batch; see `Arguments.flattened`."""
        return _arguments(self._n, *values).flattened(tuple(values.values()))


@once
def _tip_entries() -> tuple[Callable[..., bool], Callable[..., bool]]:
    return (
        direct(entries.tip_pose, MATRIX, VECTOR, VECTOR_OUT),
        direct(entries.jacobian, MATRIX, VECTOR, MATRIX_OUT),
    )


@cache
def _arguments(n: int, *names: str) -> Arguments:
    """Arguments of an arm of n joints: numbers of joints, wrench and motion of the base."""
    known = {"wrench": WRENCH, "base": BASE}
    return Arguments(
        *(known.get(name) or ArrayArgument(name, n, f"{n} joints, rad or m") for name in names)
    )
