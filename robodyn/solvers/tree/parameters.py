# SPDX-License-Identifier: Apache-2.0

"""Parameters in which the efforts of a closed loop are linear, and the regressor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.dynamics.body_parameters import BodyNumbers
from robodyn.dynamics.kernels import point_spring
from robodyn.dynamics.link_tree import as_numbers
from robodyn.dynamics.parameters import (
    JointParameter,
    JointPlaces,
    joint_parameters,
    point_spring_parameters,
)
from robodyn.errors import KinematicsError
from robodyn.numerics.broadcasting import element, flatten
from robodyn.solvers.tree import calls
from robodyn.solvers.tree.calls import batch
from robodyn.solvers.tree.closing.kinematics import check_closed, refuse_under_actuated
from robodyn.solvers.tree.joints import configurations, rates_of
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.kernels import regressor as kernels
from robodyn.solvers.tree.packing import PackedMechanism
from robodyn.solvers.tree.tree import Tree, TreeBody

_BODY = layout.BODY_NUMBERS
# Indices of a point spring's numbers in a row of the kernel.
_OF_SPRING = {
    point_spring.STIFFNESS: kernels.STIFFNESS,
    point_spring.AT_ZERO: kernels.AT_ZERO,
    point_spring.DAMPING: kernels.DAMPING,
}


def parametric_bodies(loop: Any) -> list[tuple[str, BodyNumbers]]:
    """Return the name and the inertial parameters of each rigid body.

    The name is that of the body's first link, in whose frame the parameters are expressed.
    """
    tree = loop.structure.tree
    return [(body.links[0], _in_link(tree, body)) for body in tree.bodies[1:]]


def parameters_of_joints(loop: Any) -> list[tuple[JointParameter, dict[int, float]]]:
    """Return the parameters of joints, closures and springs.

    Each comes with a mapping from index to value: the change of the packed array per unit of the
    parameter.

    Passive joints without rotors and dry friction have only damping and springs; closures have
    damping and stiffness.
    """
    packed, found = loop.structure.packed, []
    for number, body in enumerate(loop.structure.tree.bodies[1:]):
        joint = body.joint
        assert joint is not None
        if joint.kind == "floating":
            continue
        row = packed.head["at_numbers"] + number * _BODY.size
        places = JointPlaces(
            row + _BODY.armature,
            row + _BODY.damping,
            row + _BODY.dry_friction,
            row + _BODY.stiffness,
            row + _BODY.spin,
        )
        driven = joint.name in loop.model.driven or joint.reflected_inertia > 0.0
        driven = driven or bool(joint.friction.any())
        found += joint_parameters(joint, places, driven)
    for closure, place in zip(loop.model.closures, _dampers(packed), strict=False):
        parameter = JointParameter(f"{closure.name}.viscous", closure.damping, "N m s/rad")
        found.append((parameter, {place: 1.0}))
        if closure.stiffness:
            stiffness = JointParameter(f"{closure.name}.stiffness", closure.stiffness, "N m/rad")
            found.append((stiffness, {place + 1: 1.0}))
    first = packed.head["at_spring_numbers"] + point_spring.STIFFNESS
    for number, spring in enumerate(loop.model.springs):
        found += point_spring_parameters(spring, first + number * point_spring.POINT_SPRING)
    return found


def regressor(
    loop: Any, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> FloatArray:
    """Compute the regressor Y (..., n, p), with efforts = Y @ parameters.values.

    Y does not depend on the values of the p inertial, joint and closure parameters. If there are
    more driven joints than degrees of freedom, the efforts minimize their (weighted) sum of squares
    and ignore the limits.

    Args:
        loop: the mechanism.
        configuration: (..., nq).
        velocity, acceleration: (..., mobility).

    Returns:
        Y (..., n, p).

    Raises:
        InvalidInput: a shape is wrong, a value is not finite, or a configuration does not close the
            loops.
        UnderActuated, SingularConfiguration: as for `inverse_dynamics`.
    """
    refuse_under_actuated(loop)
    motion = configuration, velocity, acceleration
    found = _regressors(loop, loop.structure.packed, motion)
    if found is not None and not np.isnan(found).any():
        return found
    shape, flat = flatten(
        configuration=configurations(loop, "configuration", configuration),
        velocity=rates_of(loop, "velocity", velocity),
        acceleration=rates_of(loop, "acceleration", acceleration),
    )
    if found is None:
        found = _regressors(loop, loop.structure.packed, flat)
    assert found is not None
    Y = found.reshape(len(flat[0]), *found.shape[-2:])
    for k in np.flatnonzero(np.isnan(Y).any(axis=(1, 2))):
        one = [part[k] for part in flat]
        try:
            # the pivots of home are unsuitable
            check_closed(loop, one[0])
            Y[k] = _regressors(loop, loop.solver.pivots.at(one[0]), one)
        except KinematicsError as error:
            error.index = element(shape, int(k))
            raise
    return Y.reshape(*shape, *Y.shape[-2:])


def _regressors(
    loop: Any, packed: PackedMechanism, motion: Sequence[ArrayLike]
) -> FloatArray | None:
    """Compute regressors (..., n, p) in SIMD lanes; return None for invalid arguments.

    For states at which the dynamics cannot be computed, the regressor is NaN.
    """
    frames, further = loop.solver.regressor_numbers
    core = loop.solver.n, 10 * len(frames) + len(further)
    widths, given = (loop.solver.nq, loop.solver.nu, loop.solver.nu), tuple(motion)
    scratch = kernels.numbers_needed(packed.head, core[0] * core[1])
    return batch(calls.REGRESSOR, packed, widths, core, given, frames, further, scratch=scratch)


def regressor_numbers(loop: Any) -> tuple[FloatArray, FloatArray]:
    """Return the arguments of the compiled regressor that do not depend on the state.

    They are the frames (bodies, 12) of the bodies' parameters, and data (k, FURTHER) that describe
    one unit of each parameter of a joint, closure or spring.
    """
    packed, tree = loop.structure.packed, loop.structure.tree
    frames = [as_numbers(tree.frame_of[body.links[0]]) for body in tree.bodies[1:]]
    first, dampers = packed.head["at_numbers"], _dampers(packed)
    further = np.zeros((len(loop.solver.parameters_of_joints), kernels.FURTHER))
    for row, (_, numbers) in zip(further, loop.solver.parameters_of_joints, strict=True):
        for place, value in numbers.items():
            number, at = divmod(place - packed.head["at_spring_numbers"], point_spring.POINT_SPRING)
            if 0 <= number < packed.head["springs"]:
                row[: kernels.DAMPING] = 2.0, number
                row[_OF_SPRING[at]] = value
            elif place in dampers:
                row[: kernels.ARMATURE] = 1.0, dampers.index(place), value
            elif place - 1 in dampers:
                row[: kernels.DAMPING] = 1.0, dampers.index(place - 1)
                row[kernels.STIFFNESS] = value
            else:
                body, at = divmod(place - first, _BODY.size)
                row[kernels.NUMBER] = body + 1
                row[kernels.DAMPING + at - _BODY.damping] = value
    return np.reshape(frames, (-1, 12)), further


def _dampers(packed: PackedMechanism) -> list[int]:
    """Return the indices of the closures' damping coefficients in the packed values.

    Constraints on idle degrees of freedom count as closures.
    """
    head, of_closure = packed.head, layout.CLOSURE_PLAN
    first, plan = head["at_closures"] + of_closure.at_numbers, packed.plan.view(np.int64)
    places = (int(plan[first + k * of_closure.size]) for k in range(head["closures"]))
    return [place + layout.CLOSURE_NUMBERS.damping for place in places]


def _in_link(tree: Tree, body: TreeBody) -> BodyNumbers:
    """Return a body's inertial parameters, transformed to the frame of its first link."""
    frame = np.linalg.inv(tree.frame_of[body.links[0]])
    R = frame[:3, :3]
    com = R @ body.com + frame[:3, 3] if body.mass > 0.0 else np.zeros(3)
    return BodyNumbers(body.mass, com, R @ body.inertia @ R.T)
