# SPDX-License-Identifier: Apache-2.0

"""Solver of a mechanism with closed loops: packed parameters and compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.dynamics.body_parameters import NOTHING, BodyNumbers
from robodyn.dynamics.compiled_derivatives import SLOPE_STEP, CompiledDerivatives
from robodyn.dynamics.kernels import sticking as at
from robodyn.dynamics.link_tree import Source
from robodyn.dynamics.payload_variants import PayloadVariants
from robodyn.dynamics.single_calls import Single
from robodyn.dynamics.solver import Solver, falling_friction, held_efforts
from robodyn.solvers.tree import calls, conditions, joints, parameters
from robodyn.solvers.tree import inverse_kinematics as to_tip
from robodyn.solvers.tree.calls import UncheckedLoop, single_dynamics
from robodyn.solvers.tree.closing import kinematics
from robodyn.solvers.tree.closing.kinematics import call_entry, tangent, tip_motion
from robodyn.solvers.tree.closing.pivots import Pivots
from robodyn.solvers.tree.integration import KERNELS, LOST, NO_STEP, Simulation
from robodyn.solvers.tree.kernels.derivatives import derivatives
from robodyn.solvers.tree.kernels.tree_derivatives import derivatives_of_tree
from robodyn.solvers.tree.packing import inertia_numbers


def _once(function: Callable[[Any], Any]) -> Any:
    """Create a cached property of a solver with the value `function(mechanism)`."""
    return cached_property(lambda solver: function(solver.mechanism))


class LoopSolver(Solver):
    """Compiled functions and packed parameters of one mechanism with closed loops.

    Args:
        mechanism: mechanism with its `structure`.

    Attributes:
        tree: tree of the structure.
        pivots: packed arrays with other elimination orders of the closure equations.
        nq, nu, n: lengths of configuration, velocity and driven efforts.
        driven_at, free_at: indices of driven and of independent joints in a configuration.
        rates_at: indices of driven joints among the rates of the tree.
        one: compiled functions for single states.
    """

    failure_reasons = NO_STEP
    loop = KERNELS

    def __init__(self, mechanism: Any) -> None:
        super().__init__(mechanism)
        structure, driven = mechanism.structure, mechanism.model.driven
        self.tree = structure.tree
        self.pivots = Pivots(structure)
        self.nq, self.nu, self.n = self.tree.positions, len(structure.free), len(driven)
        self.square = self.nu, self.nu
        self.driven_at = np.array([self.tree.position_of[name] for name in driven])
        self.rates_at = np.array([self.tree.rate_of[name] for name in driven])
        self.free_at = np.array([self.tree.rate_places[rate] for rate in structure.free])
        is_open = structure.is_open_tree
        self.one: Single = single_dynamics(structure.packed, is_open_tree=is_open)
        # only for an open tree in which each floating joint has six consecutive rates
        self.rates_are_given = is_open and structure.keeps_floating_rates
        # entry functions used so far, with the pivots of home
        self.calls: dict[calls.Call, Callable[..., Any]] = {}

    drives_free = _once(joints.drives_free)
    free_poses = _once(joints.free_poses)
    listed = _once(kinematics.joint_index_table)
    rods = _once(kinematics.rods)
    coned_legs = _once(kinematics.coned_legs)
    side_arguments = _once(conditions.side_arguments)
    reference = _once(conditions.home_motion_basis)
    comparable = _once(conditions.condition_arguments)
    driven_scale = _once(conditions.driven_scale)
    determined_rows = _once(conditions.determined_rows)
    row_scales = _once(conditions.row_scales)
    tip_directions = _once(conditions.tip_directions)
    tip_freedoms = _once(conditions.tip_freedoms)
    sampled_tips = _once(conditions.sampled_tips)
    tip_weights = _once(to_tip.tip_weights)
    all_weights = _once(to_tip.all_weights)
    accuracy = _once(to_tip.accuracy)
    regressor_numbers = _once(parameters.regressor_numbers)
    parametric_bodies = _once(parameters.parametric_bodies)
    parameters_of_joints = _once(parameters.parameters_of_joints)

    @cached_property
    def derivatives(self) -> CompiledDerivatives | None:
        """Compiled derivatives of the dynamics; None with dry friction in passive joints."""
        own = self.mechanism
        passive = self.friction.rows[self.n :, [at.STATIC, at.STATIC_BACKWARD]]
        if passive.any():
            return None  # finite differences are used instead
        limits = SLOPE_STEP * own.structure.equations.columns
        numbers = *own._smooth.structure.packed.given, limits, falling_friction(own)
        sizes, held = (self.nq, self.nu, self.n), held_efforts(own)
        general = CompiledDerivatives(derivatives, numbers, sizes, held, of_loads=True)
        if not own.structure.is_open_tree:
            return general
        return CompiledDerivatives(derivatives_of_tree, numbers, sizes, held, general)

    @cached_property
    def unchecked(self) -> UncheckedLoop:
        """Dynamics of single states without checks, with results in preallocated arrays."""
        return UncheckedLoop(self.mechanism)

    def is_alike(self, model: Any) -> bool:
        """Return whether a controller's model has the same joints and coordinates."""
        own = self.mechanism
        expected = model.coordinates, model.joint_names
        return isinstance(model.solver, LoopSolver) and expected == (
            own.coordinates,
            own.joint_names,
        )

    def run_under(self, model: Any) -> Simulation:
        """Return the compiled simulation of the mechanism under a controller with `model`."""
        return Simulation(self.mechanism, model)

    def lane_numbers(self, *, smooth: bool = False) -> tuple[FloatArray, FloatArray]:
        """Return the packed arrays `plan`, the structure, and `numbers`, the parameters.

        If `smooth`, they are without dry friction.
        """
        packed = self.mechanism.structure.packed
        return (packed.without_dry_friction if smooth else packed).given

    def numbers_with(self, payloads: PayloadVariants, *, smooth: bool = False) -> FloatArray:
        """Return packed parameters (N, k) of the mechanism's N variants, one per payload.

        If `smooth`, they are without dry friction.
        """
        structure, model = self.mechanism.structure, self.mechanism.model
        tree, packed = structure.tree, structure.packed
        number = tree.body_of[model.tip_link]
        body = copy(tree.bodies[number])
        # the tip is on the base, or its body has no mass in the plan
        if number == 0 or not (body.mass > 0.0 or body.inertia.any()):
            return super().numbers_with(payloads, smooth=smooth)
        links = {link.name: link for link in model.links}
        numbers = np.tile(self.lane_numbers(smooth=smooth)[1], (len(payloads), 1))
        for row, tip in zip(packed.inertia_of(numbers, number), payloads.tip_links(), strict=True):
            tree.set_inertia(body, links | {tip.name: tip})
            row[:] = inertia_numbers(body)
        return numbers

    def failure_reason(self, status: int, configuration: FloatArray) -> str:
        """Return the reason for a failure, as text.

        `status` is the status code of a compiled function. The configuration is not used.
        """
        return self.failure_reasons.get(status, LOST)

    def on_links(self, bodies: list[BodyNumbers]) -> dict[str, BodyNumbers]:
        """Convert inertial parameters of the bodies to those of the links, by link name.

        A body's first link has the parameters of the body, its other links have zero.
        """
        # the first link of a rigid body carries all of its mass
        out: dict[str, BodyNumbers] = {}
        for body, numbers in zip(self.mechanism.structure.tree.bodies[1:], bodies, strict=True):
            out |= dict.fromkeys(body.links, NOTHING) | {body.links[0]: numbers}
        return out

    def joint_sources(self) -> dict[str, Source]:
        """Return the indices of each joint's position and rate in `tree_state`, by name."""
        tree = self.tree
        places = list(range(tree.rates))
        if self.rates_are_given:  # then independent coordinates are those of the tree, reordered
            places = np.argsort(self.mechanism.structure.free).tolist()
        return {
            joint.name: Source(tree.position_of[joint.name], places[tree.rate_of[joint.name]])
            for joint in tree.joints
        }

    def tree_state(self, q: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Return the tree's joint positions, and matrices from velocity to joint rates.

        The positions are (N, nq), the matrices (N, rates * mobility) in row-major order. The
        matrices are None if the joint rates are the velocity itself, possibly in another order.
        """
        if self.rates_are_given:
            return q, None
        if len(q) == 1:
            S = np.empty((self.tree.rates, self.nu))
            call_entry(self.mechanism, calls.TANGENT, np.ascontiguousarray(q[0]), S)
        else:
            S = tangent(self.mechanism, q)
        return q, S.reshape(len(q), -1)

    def tree_motion(
        self, q: FloatArray, v: FloatArray, a: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return positions, velocities and accelerations of the tree's joints.

        They are (N, nq) and (N, rates) each. `q`, `v`, `a` are those of the mechanism, velocities
        and accelerations (N, mobility) of the independent joints.
        """
        if self.rates_are_given:
            return q, v, a
        count = self.tree.rates
        if len(q) == 1:
            found = np.empty((1, 2 * count + 6))
            call_entry(
                self.mechanism,
                calls.MOTION,
                *(np.ascontiguousarray(part[0]) for part in (q, v, a)),
                found[0],
            )
        else:
            found = tip_motion(self.mechanism, q, v, a)
        return q, found[:, :count], found[:, count : 2 * count]
