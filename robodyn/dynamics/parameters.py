# SPDX-License-Identifier: Apache-2.0

"""Parameters in which efforts are linear, and the regressors that belong to them.

A rigid body enters the equations of motion by ten numbers: its mass, its first moments m c and its
inertia about the origin of its link's frame (Atkeson, An and Hollerbach, 1986). Inverse dynamics is
linear in these, in the rotors' inertia and in the coefficients of friction and springs. A column of
the regressor is therefore the inverse dynamics of a mechanism in which all parameters but one are
zero. The compiled kernels compute it exactly to rounding, with the same equations of motion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from robodyn.actuators.actuator import IDEAL
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.dynamics.body_parameters import (
    COLUMNS,
    ROWS,
    UNIT_BODIES,
    BodyNumbers,
    body_parameters,
)
from robodyn.dynamics.kernels import dry_friction as law
from robodyn.errors import InvalidInput
from robodyn.model import Joint, LinearSpring, Model, PointSpring
from robodyn.model.fields import replace_checked, replace_unchecked

OF_BODY = ("mass", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
UNITS_OF_BODY = ("kg", "kg m", "kg m", "kg m", *("kg m^2",) * 6)


@dataclass(frozen=True)
class Parameters:
    """Parameters in which the efforts of a mechanism are linear.

    The first `10 * len(bodies)` belong to the bodies, ten each in the order of `OF_BODY`, about the
    origin and in the axes of the body's frame. Those of the joints follow.

    Attributes:
        names: `<body or joint>.<parameter>`; all different.
        values: (p,) values of the mechanism.
        units: unit of each parameter.
        bodies: names of the bodies.
    """

    names: tuple[str, ...]
    values: FloatArray
    units: tuple[str, ...]
    bodies: tuple[str, ...]

    def checked(self, values: ArrayLike) -> FloatArray:
        """Check an array of parameter values and convert it to float64.

        Args:
            values: (p,) values.

        Returns:
            The values (p,) as float64.

        Raises:
            InvalidInput: the shape is wrong or a value is not finite.
        """
        given = as_array("values", values, (len(self.names),))
        if given.ndim != 1:
            raise InvalidInput(
                f"values have shape {given.shape}, expected ({len(self.names)},)", value=values
            )
        return given

    def of_joints(self, values: FloatArray) -> dict[str, float]:
        """Return the values of joint parameters, by name, from values of all parameters.

        Args:
            values: (p,) values.

        Returns:
            Values of the joint parameters, by name.
        """
        first = len(OF_BODY) * len(self.bodies)
        return dict(zip(self.names[first:], values[first:].tolist(), strict=True))


class JointParameter(NamedTuple):
    """Parameter of a joint in which the efforts are linear: name, value and unit."""

    name: str
    value: float
    unit: str


class JointPlaces(NamedTuple):
    """Indices of a joint's parameters in the array that contains its mechanism's parameters.

    `dry_friction` is the index of the first friction parameter. The spring's effort at position 0
    follows its `stiffness`. `spin`, for the rotor's spin, is None if the kind does not need it.
    """

    armature: int
    damping: int
    dry_friction: int
    stiffness: int
    spin: int | None = None


def joint_parameters(
    joint: Joint, at: JointPlaces, driven: bool = True
) -> list[tuple[JointParameter, dict[int, float]]]:
    """Return the parameters of a joint in which the efforts are linear.

    A driven joint has armature (all of its reflected inertia) and friction, a passive one damping
    only; a spring has stiffness and preload, with a constant rest position. `static` exists if
    friction falls from the static to the Coulomb level: efforts are linear in both levels for a
    constant Stribeck velocity.

    Args:
        joint: joint of the model.
        at: indices of its parameters in the packed array.
        driven: whether the joint is driven.

    Returns:
        For each parameter, its name, value and unit, and what a unit of it adds to the mechanism's
        packed array: values by index.
    """
    unit = "m" if joint.kind == "prismatic" else "rad"
    force, inertia = ("N", "kg") if unit == "m" else ("N m", "kg m^2")
    name, actuator = joint.name, joint.actuator
    viscous = JointParameter(f"{name}.viscous", joint.damping, f"{force} s/{unit}")
    damping = viscous, {at.damping: 1.0}
    springs = spring_parameters(name, joint.spring, at.stiffness, (force, unit))
    if not driven:
        return [damping, *springs]
    turning = {at.armature: 1.0} | ({} if at.spin is None else {at.spin: _spin(joint)})
    found = [
        (JointParameter(f"{name}.armature", joint.reflected_inertia, inertia), turning),
        damping,
    ]
    curvature = actuator.stribeck_terms[2]
    excess = at.dry_friction + law.EXCESS, at.dry_friction + law.EXCESS_BACKWARD
    falling = {at.dry_friction + law.STRIBECK: curvature} if curvature else {}
    coulomb = at.dry_friction + law.COULOMB, at.dry_friction + law.COULOMB_BACKWARD
    sides = zip(("forward", "backward"), actuator.coulomb_pair, coulomb, excess, strict=True)
    for side, value, level, above in sides:
        less = {above: -1.0} if falling else {}
        parameter = JointParameter(f"{name}.coulomb_{side}", value, force)
        found.append((parameter, {level: 1.0} | less | falling))
    if falling and actuator.static is not None:
        static = JointParameter(f"{name}.static", actuator.static, force)
        found.append((static, dict.fromkeys(excess, 1.0) | falling))
    return found + springs


def spring_parameters(
    name: str, spring: LinearSpring, at: int, units: tuple[str, str] = ("N", "m")
) -> list[tuple[JointParameter, dict[int, float]]]:
    """Return the linear parameters of a spring: stiffness and preload.

    Args:
        name: name of the joint or the spring.
        spring: law of the spring; its rest position is constant.
        at: index of the stiffness in the packed array; the effort at position 0 follows it.
        units: units of effort and position.

    Returns:
        For each parameter, its name, value and unit, and what a unit of it adds to the mechanism's
        packed array: values by index.
    """
    if not spring.acts:
        return []
    force, length = units
    stiffness = JointParameter(f"{name}.stiffness", spring.stiffness, f"{force}/{length}")
    preload = JointParameter(f"{name}.preload", spring.preload, force)
    return [(stiffness, {at: 1.0, at + 1: -spring.rest}), (preload, {at + 1: 1.0})]


def point_spring_parameters(
    spring: PointSpring, at: int
) -> list[tuple[JointParameter, dict[int, float]]]:
    """Return a point spring's linear parameters: stiffness, preload and damping.

    Args:
        spring: spring between points of two links.
        at: index of its stiffness in the packed array.

    Returns:
        For each parameter, its name, value and unit, and what a unit of it adds to the mechanism's
        packed array: values by index.
    """
    viscous = JointParameter(f"{spring.name}.viscous", spring.damping, "N s/m")
    return [*spring_parameters(spring.name, spring.spring, at), (viscous, {at + 2: 1.0})]


def _spin(joint: Joint) -> float:
    """Return the ratio of a joint's spin inertia to its reflected inertia."""
    if joint.reflected_inertia == 0.0:
        joint = replace(joint, drive=replace(joint.drive, rotor_inertia=1.0))
        if replace(joint.drive, rotor_inertia=0.0) == IDEAL:
            return 0.0  # no gear is described: an armature
    return joint.spin_inertia / joint.reflected_inertia


def with_values(
    model: Model, bodies: Mapping[str, BodyNumbers], of_joints: Mapping[str, float]
) -> Model:
    """Return a copy of a model with different values of its linear parameters.

    Args:
        model: model to change.
        bodies: mass properties of bodies in their links' frames, by link name.
        of_joints: values of the parameters of joints, closures and springs, by parameter name.

    Returns:
        The changed model.

    Raises:
        ModelError: no model can have these values.
    """
    signed = (value for name, value in of_joints.items() if not name.endswith(".preload"))
    right = min(signed, default=0.0) >= 0.0 and all(
        body.mass >= 0.0 and np.isfinite(body.inertia).all() for body in bodies.values()
    )
    vary: Any = replace_unchecked if right else replace_checked  # its checks report what is wrong

    def with_law(name: str, spring: LinearSpring) -> Any:
        stiffness = of_joints.get(f"{name}.stiffness", spring.stiffness)
        preload = of_joints.get(f"{name}.preload", spring.preload)
        return vary(spring, stiffness=stiffness, preload=preload)

    links = tuple(
        vary(link, **bodies[link.name]._asdict()) if link.name in bodies else link
        for link in model.links
    )
    joints = []
    for joint in model.joints:
        values = joint.reflected_inertia, joint.damping, *joint.friction.tolist()
        parts = ("armature", "viscous", "coulomb_forward", "coulomb_backward")
        armature, viscous, *levels = (
            of_joints.get(f"{joint.name}.{part}", value)
            for part, value in zip(parts, values, strict=True)
        )
        static = of_joints.get(f"{joint.name}.static", joint.drive.static)
        friction = np.array(levels)
        friction.setflags(write=False)
        turning = _with_armature(joint, armature, vary)
        drive = vary(turning.drive, static=static)
        changes = {"damping": viscous, "friction": friction, "drive": drive}
        changes["spring"] = with_law(joint.name, joint.spring)
        joints.append(vary(turning, **changes))
    closures = tuple(
        vary(
            closure,
            damping=of_joints.get(f"{closure.name}.viscous", closure.damping),
            stiffness=of_joints.get(f"{closure.name}.stiffness", closure.stiffness),
        )
        for closure in model.closures
    )
    springs = tuple(
        vary(
            each,
            spring=with_law(each.name, each.spring),
            damping=of_joints.get(f"{each.name}.viscous", each.damping),
        )
        for each in model.springs
    )
    return replace_unchecked(
        model, links=links, joints=tuple(joints), closures=closures, springs=springs
    )


def _with_armature(joint: Joint, armature: float, vary: Any) -> Joint:
    """Return the joint with reflected inertia `armature`.

    The inertias of its rotor and its armature are scaled by the same factor. If the joint has no
    reflected inertia yet, the new inertia is that of its rotor or, if the drive is ideal, that of
    its armature.
    """
    drive = joint.drive
    if drive.rotor_inertia == 0.0 and (joint.armature > 0.0 or drive == IDEAL):
        changes: dict[str, Any] = {"armature": armature}
    elif joint.reflected_inertia > 0.0:
        scale = armature / joint.reflected_inertia
        rotor = vary(drive, rotor_inertia=scale * drive.rotor_inertia)
        changes = {"armature": scale * joint.armature, "drive": rotor}
    else:
        changes = {"drive": vary(drive, rotor_inertia=armature / drive.ratio**2)}
    changed: Joint = vary(joint, **changes)
    return changed


def unit_mechanisms(
    empty: FloatArray,
    bodies: Iterable[tuple[Sequence[int], FloatArray]],
    joints: Iterable[Mapping[int, float]],
) -> FloatArray:
    """Create the parameters of p mechanisms, in each of which a single parameter is 1.

    Their efforts are the input of `columns_of`. A unit moment of inertia belongs to a body without
    mass. A unit first moment belongs to a unit mass one meter off the origin, so its efforts
    include those of the mass.

    Args:
        empty: (size,) packed parameters without masses, rotors and friction.
        bodies: for each body, the indices of mass, center of mass (3) and inertia (6) in this
            array, and the body's frame (4, 4) in the frame of these parameters.
        joints: for each further parameter, what a unit of it adds to the array: values by index.

    Returns:
        Packed parameters (p, size), one mechanism per row.
    """
    found = []
    for (places, frame), (mass, com, inertia) in product(bodies, UNIT_BODIES):
        R = frame[:3, :3]
        turned = (R @ inertia @ R.T)[ROWS, COLUMNS]
        found.append(empty.copy())
        found[-1][list(places)] = [mass, *(R @ com + frame[:3, 3]), *turned]
    for entries in joints:
        found.append(empty.copy())
        found[-1][list(entries)] = list(entries.values())
    return np.array(found)


def columns_of(efforts: FloatArray, further: int) -> FloatArray:
    """Compute the regressor Y (..., n, p) from efforts (p, ..., n) of `unit_mechanisms`.

    The last `further` columns belong to joints.
    """
    Y: FloatArray = np.array(np.moveaxis(efforts, 0, -1), order="C")
    of_bodies = Y[..., : Y.shape[-1] - further]
    for k in range(1, 4):
        of_bodies[..., k::10] -= of_bodies[..., ::10]
    return Y


def combine_parameters(
    bodies: Iterable[tuple[str, BodyNumbers]], joints: Iterable[JointParameter]
) -> Parameters:
    """Create the `Parameters` of a mechanism from those of its bodies and of its joints.

    Args:
        bodies: name and mass properties of each body.
        joints: parameters of joints, which follow those of the bodies.
    """
    bodies, joints = list(bodies), list(joints)
    names = [f"{name}.{part}" for name, _ in bodies for part in OF_BODY]
    values = [body_parameters(*body) for _, body in bodies]
    units = [unit for _ in bodies for unit in UNITS_OF_BODY]
    own = np.array([joint.value for joint in joints])
    return Parameters(
        (*names, *(joint.name for joint in joints)),
        np.concatenate([*values, own]),
        (*units, *(joint.unit for joint in joints)),
        tuple(name for name, _ in bodies),
    )
