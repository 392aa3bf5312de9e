# SPDX-License-Identifier: Apache-2.0

"""Solver of a platform: its packed parameters, and the compiled functions that use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.dynamics import parameters
from robodyn.dynamics.batch_calls import CONFIGURATION
from robodyn.dynamics.body_parameters import NOTHING, BodyNumbers
from robodyn.dynamics.compiled_derivatives import SLOPE_STEP, CompiledDerivatives
from robodyn.dynamics.compiled_run import Kernels, group_rows
from robodyn.dynamics.kernels import point_spring
from robodyn.dynamics.kernels.integration import NO_COMMAND
from robodyn.dynamics.link_tree import Source
from robodyn.dynamics.payload_variants import PayloadVariants
from robodyn.dynamics.single_calls import Single, condition_entry
from robodyn.dynamics.solver import Solver, falling_friction, held_efforts
from robodyn.model.body import Link
from robodyn.model.fields import replace_unchecked
from robodyn.model.joint import Joint
from robodyn.model.placement import Placement
from robodyn.numerics.array_arguments import MATRIX, MATRIX_OUT, VECTOR, direct
from robodyn.poses import twist_in_base, twist_in_body
from robodyn.solvers.stewart.dynamics import UncheckedPlatform
from robodyn.solvers.stewart.joints import LegJointReadings
from robodyn.solvers.stewart.kernels import joints, single
from robodyn.solvers.stewart.kernels import layout as at
from robodyn.solvers.stewart.kernels.batch_simulation import advance, advance_hybrid
from robodyn.solvers.stewart.kernels.derivatives import derivatives
from robodyn.solvers.stewart.kernels.integration import (
    simulate,
    simulate_elastic,
    simulate_hybrid,
)
from robodyn.solvers.stewart.kernels.joints import RATES
from robodyn.solvers.stewart.packing import pack, pack_lanes, put_platform
from robodyn.solvers.stewart.recognition import platform_body
from robodyn.solvers.stewart.status import error_for
from robodyn.threads import cached_threadsafe

_GEOMETRY = [*range(at.LOWER_MASS), at.BASE_JOINT]
_GRAVITY = slice(at.GRAVITY, at.GRAVITY + 3)


class PlatformSolver(Solver):
    """Compiled functions for one platform, with its packed parameters.

    Args:
        mechanism: the platform.

    Attributes:
        legs, body: packed parameters of legs and platform; see `kernels.layout`.
        numbers: the pair of `legs` and `body`.
        lanes: legs and body in one array for functions that evaluate all legs at once.
    """

    loop = Kernels(simulate, simulate_hybrid, (VECTOR,), advance, advance_hybrid, simulate_elastic)
    positions_are_given = rates_are_given = False

    def __init__(self, mechanism: Any) -> None:
        super().__init__(mechanism)
        self.numbers = pack(mechanism.model, mechanism.structure, mechanism.base_joint)
        self.legs, self.body = self.numbers
        self.lanes = pack_lanes(self.legs, self.body)
        self.packed = (self.lanes,)

    @cached_property
    def leg_joints(self) -> LegJointReadings:
        """Converter of the platform's motion to the readings of the legs' URDF joints."""
        return LegJointReadings(self.mechanism.structure)

    @cached_property
    def joint_centers(self) -> tuple[FloatArray, FloatArray]:
        """Joint centers at the base and at the platform, (6, 3) [m] each; copies.

        Those at the base are in the base frame, those at the platform in the platform frame.
        """
        feet, tips = self.mechanism.structure.joint_centers
        return feet.copy(), tips.copy()

    @cached_property
    def one(self) -> Single:
        """Compiled inverse dynamics, forward dynamics and mass matrix for single states."""
        kernels = single.inverse_dynamics, single.forward_dynamics, single.mass_matrix
        return Single(kernels, (self.lanes,))

    @cached_property
    def unchecked(self) -> UncheckedPlatform:
        """Dynamics of single states without checks, with results in preallocated arrays."""
        return UncheckedPlatform(self.mechanism)

    @cached_property
    def condition(self) -> Callable[..., float]:
        """Compiled function for the condition number of one pose."""
        return partial(condition_entry(single.condition_number, VECTOR), self.lanes)

    @cached_property
    def readings(self) -> FloatArray:
        """Signs, offsets and axes (6, 15) of the legs' URDF joints, for compiled functions."""
        return self.leg_joints.packed

    @cached_property
    def derivatives(self) -> CompiledDerivatives:
        """Compiled derivatives of forces, accelerations and unbalanced loads at rest."""
        numbers = (
            *self.mechanism._smooth.solver.numbers,
            SLOPE_STEP * np.repeat([self.mechanism.size, 1.0], 3),
            falling_friction(self.mechanism),
        )
        held = held_efforts(self.mechanism)
        return CompiledDerivatives(derivatives, numbers, (7, 6, 6), held, of_loads=True)

    def lane_numbers(self, *, smooth: bool = False) -> tuple[FloatArray, FloatArray]:
        """Return an empty array, and the packed parameters for a batch simulation.

        The first array is for the structure that mechanisms of a batch must share; all platforms
        have the same. If `smooth`, the parameters are without dry friction.
        """
        own = self.mechanism._smooth.solver if smooth else self
        return np.zeros(0), np.concatenate([own.legs.ravel(), own.body])

    def numbers_with(self, payloads: PayloadVariants, *, smooth: bool = False) -> FloatArray:
        """Return packed parameters (N, k) of the platform's N variants, one per payload.

        If `smooth`, they are without dry friction.
        """
        numbers = np.tile(self.lane_numbers(smooth=smooth)[1], (len(payloads), 1))
        model = self.mechanism.model
        for row, tip in zip(numbers[:, self.legs.size :], payloads.tip_links(), strict=True):
            put_platform(row, platform_body(model, tip))
        return numbers

    def packed_with(self, tip: Link) -> tuple[FloatArray, ...]:
        """Return the packed array `lanes` of the platform with another tip link.

        The tip link's mass properties count as part of the platform's rigid body.
        """
        body = self.body.copy()
        put_platform(body, platform_body(self.mechanism.model, tip))
        return (pack_lanes(self.legs, body),)

    def failure_reason(self, status: int, configuration: FloatArray) -> str:
        """Return the reason for a failure, as text.

        `status` is the status code of a compiled function, `configuration` the pose (7,).
        """
        if status == NO_COMMAND:
            return "the forces are not finite"
        return str(error_for(status, (), configuration[:7], self.legs))

    @property
    def parametric_bodies(self) -> list[tuple[str, BodyNumbers]]:
        """Names and inertial parameters of the platform, the lower and the upper leg parts."""
        return [
            (body.name.replace(" ", "_"), BodyNumbers(body.mass, body.com, body.inertia))
            for body in self.mechanism.bodies
        ]

    @cached_property
    def parameters_of_joints(self) -> list[tuple[parameters.JointParameter, dict[int, float]]]:
        """Parameters of joints and springs, with their effect on the packed parameters.

        Each comes with a mapping from index to value: the change of the packed array per unit of
        the parameter. A leg's parameters are named after its actuator, with `.universal` and
        `.spherical` for the damping of its passive joints.
        """
        found, own, model = [], self.mechanism.structure, self.mechanism.model
        for row, (leg, joint) in enumerate(zip(own.legs, model.driven_joints, strict=True)):
            *places, universal, spherical = (
                row * at.LEG_SIZE + place
                for place in (at.REFLECTED, at.PRISMATIC_DAMPING, at.DRY_FRICTION, at.STIFFNESS,
                              at.SPIN_INERTIA, at.UNIVERSAL_DAMPING, at.SPHERICAL_DAMPING)
            )  # fmt: skip
            natural = replace_unchecked(joint, spring=leg.spring(model))
            found += parameters.joint_parameters(natural, parameters.JointPlaces(*places))
            first, _, last = leg.damping(model)
            for name, value, place in (
                ("universal", first, universal),
                ("spherical", last, spherical),
            ):
                damping = parameters.JointParameter(f"{joint.name}.{name}", value, "N m s/rad")
                found.append((damping, {place: 1.0}))
        first = self.legs.size + at.PLATFORM_SIZE + point_spring.STIFFNESS
        for number, spring in enumerate(own.springs(model)):
            place = first + number * point_spring.POINT_SPRING
            found += parameters.point_spring_parameters(spring, place)
        return found

    def on_links(self, bodies: list[BodyNumbers]) -> dict[str, BodyNumbers]:
        """Convert inertial parameters of the bodies to those of the links, by link name.

        A body's first link has the parameters of the body, its other links have zero.
        """
        # the first link of a rigid body carries all of its mass
        out: dict[str, BodyNumbers] = {}
        for body, (first, *others) in zip(bodies, self.mechanism.structure.parts, strict=True):
            out |= dict.fromkeys((part.link for part in others), NOTHING)
            out[first.link] = first.on_link(body)
        return out

    def by_joint(self, values: dict[str, float]) -> dict[str, float]:
        """Return the legs' parameter values by the names of the model's joints.

        The result also has the names of closures. A leg's damping at the universal joint is that of
        both its axes, the damping at the spherical joint that of its closure; a spring's preload is
        converted to the joint's direction.
        """
        out = dict(values)
        for leg in self.mechanism.structure.legs:
            first, second, actuator = (reading.name for reading in leg.shape.readings)
            closure = self.mechanism.model.closures[leg.closure].name
            out |= dict.fromkeys(
                (f"{first}.viscous", f"{second}.viscous"), values[f"{actuator}.universal"]
            )
            out[f"{closure}.viscous"] = values[f"{actuator}.spherical"]
            if f"{actuator}.preload" in out:  # from the leg's length to the joint's position
                out[f"{actuator}.preload"] *= leg.shape.readings[2].sign
        return out

    @cached_property
    def unit_platforms(self) -> list[tuple[FloatArray, FloatArray]]:
        """Packed parameters of one platform for each column of the regressor.

        Apart from geometry and gravity, all parameters of such a platform are zero but one, which
        is 1, so its actuator forces are a column of the regressor.
        """
        legs, platform = np.zeros_like(self.legs), np.zeros_like(self.body)
        legs[:, _GEOMETRY] = self.legs[:, _GEOMETRY]
        platform[_GRAVITY] = self.body[_GRAVITY]
        platform[at.SPRINGS :] = self.body[at.SPRINGS :]
        laws = platform[at.PLATFORM_SIZE :].reshape(-1, point_spring.POINT_SPRING)
        laws[:, point_spring.STIFFNESS : point_spring.SLACK] = 0.0

        rows, inertias = at.LEG_SIZE * np.arange(len(legs)), at.LEG_INERTIA
        places = [(legs.size + at.MASS, legs.size + at.INERTIA)]
        for mass in (at.LOWER_MASS, at.UPPER_MASS):
            places += zip(rows + mass, rows + inertias, strict=True)
        bodies = [([*range(m, m + 4), *range(i, i + 6)], np.eye(4)) for m, i in places]
        further = [numbers for _, numbers in self.parameters_of_joints]
        units = parameters.unit_mechanisms(
            np.concatenate([legs.ravel(), platform]), bodies, further
        )
        return [(unit[: legs.size].reshape(legs.shape), unit[legs.size :]) for unit in units]

    @cached_property
    def unit_lanes(self) -> FloatArray:
        """Packed parameters of `unit_platforms`, in groups of eight, one per SIMD lane."""
        rows = [np.concatenate([legs.ravel(), body]) for legs, body in self.unit_platforms]
        return group_rows(np.array(rows))

    @property
    def body_links(self) -> tuple[str, ...]:
        """Names of the links of the platform and of the legs' parts."""
        parts = (body.name.replace(" ", "_") for body in self.mechanism.bodies[1:])
        return self.mechanism.structure.platform_link, *parts

    def tree_joints(self, drawn: Sequence[Joint]) -> list[Joint]:
        """Return the joints of a URDF tree, with a floating joint that measures the pose.

        Its position is the platform's pose in the base frame, for any root of the tree.
        """
        # a configuration is the platform's pose in the base, for any root of the drawing
        at = Placement()
        return [
            replace(joint, at=at, child_at=at) if joint.kind == "floating" else joint
            for joint in drawn
        ]

    def joint_sources(self) -> dict[str, Source]:
        """Return the indices of each joint's position and rate in `tree_state`, by name."""
        names = self.leg_joints.names
        found = {name: Source(k, k) for k, name in enumerate(names)}
        (floating,) = (
            joint.name for joint in self.mechanism._links.drawn.joints if joint.kind == "floating"
        )
        return found | {floating: Source(len(names), len(names))}

    def tree_positions(self, q: FloatArray) -> tuple[FloatArray]:
        """Return the positions (N, 25) of the URDF tree's joints for poses (N, 7).

        They are those of the 18 leg joints, then the pose. Arguments are not checked.
        """
        return self.tree_state(q)[:1]

    def tree_state(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the URDF tree's joint positions, and matrices from twist to joint rates.

        Returns:
            Positions (N, 25) of the 18 leg joints and the floating joint, and matrices (N, 24 * 6)
            from the twist to their 24 rates, in row-major order.
        """
        positions, tangents = np.empty((len(q), 25)), np.empty((len(q), 6 * RATES))
        if _joint_entry("tangents")(self.legs, self.readings, q, positions, tangents) < len(q):
            self.mechanism.leg_motion(q)  # raises for a leg without a frame
        return positions, tangents

    def tree_motion(
        self, q: FloatArray, v: FloatArray, a: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the motion of the URDF tree's joints for poses, twists and accelerations.

        Returns:
            Positions (N, 25), velocities (N, 24) and accelerations (N, 24) of the 18 leg joints,
            then of the floating joint.
        """
        found = np.empty((len(q), 25)), np.empty((len(q), RATES)), np.empty((len(q), RATES))
        if _joint_entry("motions")(self.legs, self.readings, q, v, a, *found) < len(q):
            self.mechanism.leg_motion(q, v, a)
        return found

    def warm_up(self) -> None:
        """Call platform-specific functions once, so that they are compiled or loaded."""
        home = self.mechanism.home
        twist_in_base(home, twist_in_body(home, np.zeros(6)))


@cached_threadsafe
def _joint_entry(name: str) -> Callable[..., int]:
    given = {"tangents": CONFIGURATION, "motions": CONFIGURATION * 3}[name]
    results = {"tangents": 2, "motions": 3}[name]
    return direct(getattr(joints, name), MATRIX, MATRIX, *given, *(MATRIX_OUT,) * results)
