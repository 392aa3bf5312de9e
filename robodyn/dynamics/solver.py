# SPDX-License-Identifier: Apache-2.0

"""Solver: common interface of the computations for which a kind of mechanism has compiled code.

A mechanism delegates to its solver. `Solver` itself serves kinds without compiled code, whose
configuration is a position for each joint. A kind derives its own class, of which each mechanism
has one as its `solver`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.dynamics.body_parameters import BodyNumbers
from robodyn.dynamics.compiled_derivatives import CompiledDerivatives
from robodyn.dynamics.compiled_run import (
    BatchSteps,
    CompiledRun,
    Kernels,
    Outcome,
    Rollout,
    batch_entry,
    group_rows,
)
from robodyn.dynamics.joint_friction import JointFriction, decays, friction_rows
from robodyn.dynamics.kernels import dry_friction as law
from robodyn.dynamics.kernels import sticking as at
from robodyn.dynamics.link_tree import Source
from robodyn.dynamics.parameters import JointParameter
from robodyn.dynamics.payload_variants import PayloadVariants, representative_mechanisms
from robodyn.dynamics.single_calls import UncheckedDynamics
from robodyn.dynamics.stencil import Stencil, difference_stencil
from robodyn.errors import InvalidInput
from robodyn.model import Joint, Link

# Number of joints with friction above which the memory of eight hybrid steps does not fit on the
# stack.
MOST_HYBRID_JOINTS = 40


class Solver:
    """Packed parameters of a mechanism, and the compiled computations of its kind.

    Args:
        mechanism: mechanism to compute.

    Attributes:
        packed: arrays for the kind's simulation loop.
        loop: compiled simulation of the kind; None if it has none.
        failure_reasons: reasons why no acceleration or command could be computed, by status code.
        positions_are_given: whether the configuration consists of the positions of the tree's
            joints.
        rates_are_given: whether the velocity consists of their rates.
        has_batches: whether the mechanism is small enough for the loop's batches.
    """

    packed: tuple[FloatArray, ...]
    loop: ClassVar[Kernels | None] = None
    failure_reasons: ClassVar[Mapping[int, str]] = {}
    positions_are_given: ClassVar[bool] = True
    rates_are_given: bool = True
    has_batches: bool = True

    def __init__(self, mechanism: Any) -> None:
        self.mechanism = mechanism

    def unsupported(self, what: str) -> InvalidInput:
        """Create the error for a computation that this kind of mechanism does not support."""
        return InvalidInput(
            f"{what} are not available for mechanisms of the kind {self.mechanism.kind!r}; "
            f"describe {self.mechanism.name} as a URDF of joints and links",
            value=self.mechanism.kind,
        )

    # simulation

    @cached_property
    def friction(self) -> JointFriction:
        """Friction of the joints for simulations: dry friction, and decay rates of velocities."""
        return JointFriction(friction_rows(self.mechanism), decays(self.mechanism))

    def run_under(self, model: Any) -> Any:
        """Return a compiled simulation of the mechanism with a model-based controller.

        Args:
            model: the controller's model of the mechanism.

        Raises:
            InvalidInput: this kind has no compiled simulation, or none with elastic drives.
        """
        if self.loop is None:
            raise self.unsupported("compiled simulations")
        own, drives = self.mechanism, self.mechanism.drives.elasticity
        if drives is not None and self.loop.elastic is None:
            raise self.unsupported("simulations with elastic drives")
        bare = own if drives is None else own._rotorless
        return CompiledRun(
            self.loop,
            self.packed,
            lambda: bare._smooth.solver.packed,
            own.drives.motor_table,
            self.friction,
            model.solver.packed,
            drives,
        )

    def compiled_simulation(self, model: Any) -> Callable[[Rollout, int, int], Outcome] | None:
        """Return a function that computes rows `first` + 1 to `last` of a simulation.

        Its arguments are the `Rollout` with the simulation's arrays, `first` and `last`. `model` is
        the controller's model of the mechanism. The result is None if compiled code cannot simulate
        this pair; simulations then call Python at each stage of a step.
        """
        # a derived class may have other dynamics than the class that defines the solver
        if "solver" not in vars(type(self.mechanism)) or not self.is_alike(model):
            return None
        advance: Callable[[Rollout, int, int], Outcome] = self.run_under(model).advance
        return advance

    def is_alike(self, model: Any) -> bool:
        """Return whether these compiled functions accept another mechanism's parameters."""
        own = self.mechanism
        return type(model) is type(own) and len(model.joint_names) == len(own.joint_names)

    @cached_property
    def own_run(self) -> Any:
        """Compiled simulation of this mechanism, whose controller knows it exactly."""
        return self.run_under(self.mechanism)

    @cached_property
    def unchecked(self) -> UncheckedDynamics:
        """Computations for single states without argument checks, for fast callers."""
        return UncheckedDynamics(self.mechanism)

    def failure_reason(self, status: int, configuration: FloatArray) -> str:
        """Return the reason for a failed computation at a configuration, for a message."""
        return self.failure_reasons[status]

    def batch_steps(
        self,
        rows: Sequence[Any],
        dt: float,
        *,
        limit_motors: bool,
        is_semi_implicit: bool = False,
    ) -> BatchSteps | None:
        """Return compiled simulation steps of dt [s] for a batch of mechanisms.

        `rows` are mechanisms of the same structure, each with its own parameters. With
        `limit_motors`, motors stay within their torque-speed curves. The result is a `BatchSteps`,
        or None if each mechanism must be simulated individually.
        """
        kernels, different = self.loop, representative_mechanisms(rows)
        if kernels is None or kernels.batch is None or not self.has_batches:
            return None
        friction = [row.solver.friction for row in different]
        may_be_stiff = any(one.may_be_stiff(dt) for one in friction)
        hybrid = is_semi_implicit or friction[0].needs_hybrid_step(dt)
        if hybrid and (kernels.batch_hybrid is None or len(friction[0].rows) > MOST_HYBRID_JOINTS):
            return None
        if not is_semi_implicit and any(one.needs_hybrid_step(dt) != hybrid for one in friction):
            return None  # rows with smooth and with hybrid steps
        kernel = kernels.batch_hybrid if hybrid else kernels.batch
        tables = [row.drives.motor_table for row in different]
        columns = max(table.shape[1] for table in tables) if limit_motors else 2
        structure, numbers = self.lane_numbers(smooth=hybrid)
        if any(table.shape[1] < columns for table in tables):
            return None
        if isinstance(rows, PayloadVariants):
            values = self.numbers_with(rows, smooth=hybrid)
        else:
            packed = [row.solver.lane_numbers(smooth=hybrid) for row in rows]
            for own, other in packed:
                if own.tobytes() != structure.tobytes() or len(other) != len(numbers):
                    return None
            values = np.array([other for _, other in packed])
        further = [table[:, :columns].ravel() for table in tables]
        count = len(friction[0].rows) if hybrid else 0
        if hybrid:
            places = friction[0].rows[:, at.RATE]
            if any(not np.array_equal(one.rows[:, at.RATE], places) for one in friction):
                return None
            pairs = zip(friction, further, strict=True)
            further = [np.append(one.rows.ravel(), limits) for one, limits in pairs]
        lanes = group_rows(values, np.broadcast_to(further, (len(rows), len(further[0]))))
        options = np.array([may_be_stiff, is_semi_implicit], dtype=np.float64)
        return BatchSteps(batch_entry(kernel), structure, lanes, columns, count, options)

    def numbers_with(self, payloads: PayloadVariants, *, smooth: bool = False) -> FloatArray:
        """Return the parameters (N, k) of this mechanism with each of N payloads.

        Each row is as from `lane_numbers`.
        """
        return np.array([one.solver.lane_numbers(smooth=smooth)[1] for one in payloads])

    def variant_run(self, tip: Link) -> CompiledRun | None:
        """Return the compiled simulation of the mechanism with another tip link.

        The result is None if this requires a new mechanism.
        """
        packed, own = self.packed_with(tip), self.mechanism
        if packed is None or self.loop is None or own.drives.elasticity is not None:
            return None
        smooth = cache(lambda: own._smooth.solver.packed_with(tip))
        return CompiledRun(
            self.loop, packed, smooth, own.drives.motor_table, self.friction, packed, None
        )

    def packed_with(self, tip: Link) -> tuple[FloatArray, ...] | None:
        """Return the packed arrays with another tip link; None if not supported."""
        return None

    def lane_numbers(self, *, smooth: bool = False) -> tuple[FloatArray, FloatArray]:
        """Return structure and parameters of this mechanism as vectors for batches.

        The structure (k,) is common to all mechanisms of a batch; the parameters (p,) are not. Both
        are arguments of the batched loop `Kernels.batch`. If `smooth`, the parameters are without
        dry friction. By default, the structure is empty and the parameters are the packed arrays.
        """
        own = self.mechanism._smooth.solver if smooth else self
        return np.zeros(0), np.concatenate([array.ravel() for array in own.packed])

    def warm_up(self) -> None:
        """Load the compiled functions specific to this kind of mechanism by calling each once.

        See `robodyn.warmup.warm_up`.
        """

    # derivatives

    @cached_property
    def derivatives(self) -> CompiledDerivatives | None:
        """Compiled derivatives of the dynamics; None if the kind of mechanism has none."""
        return None

    @cached_property
    def stencil(self) -> Stencil:
        """Finite-difference stencil for derivatives w.r.t. the configuration."""
        return difference_stencil(self.mechanism)

    # parameters

    @property
    def parametric_bodies(self) -> list[tuple[str, BodyNumbers]]:
        """Name and mass properties of each body with parameters, in the body's own frame."""
        raise self.unsupported("parameters")

    @cached_property
    def parameters_of_joints(self) -> list[tuple[JointParameter, dict[int, float]]]:
        """Parameters of joints and springs in which the efforts are linear.

        For each parameter, its name, value and unit, and what a unit of it adds to the mechanism's
        packed array: values by index.
        """
        raise self.unsupported("parameters")

    def on_links(self, bodies: list[BodyNumbers]) -> dict[str, BodyNumbers]:
        """Return mass properties by link name, in the links' frames, of bodies with parameters.

        Args:
            bodies: mass properties in the order and the frames of `parametric_bodies`.
        """
        names = (name for name, _ in self.parametric_bodies)
        return dict(zip(names, bodies, strict=True))

    def by_joint(self, values: dict[str, float]) -> dict[str, float]:
        """Convert values of joint parameters to those of the model's joints and closures.

        Args:
            values: values by the names in `parameters_of_joints`.

        Returns:
            Values by the names of the model's joints and closures, as for `with_values`.
        """
        return values

    # the tree of links

    @property
    def body_links(self) -> tuple[str, ...]:
        """Names of the links in whose frames the mechanism's bodies are given, one per body."""
        return tuple(body.name for body in self.mechanism.bodies)

    def tree_joints(self, drawn: Sequence[Joint]) -> Sequence[Joint]:
        """Return the `drawn` joints that belong to the tree of links, in the same order."""
        return drawn

    def joint_sources(self) -> Mapping[str, Source]:
        """Return the indices of position and rate of each joint of the tree, by joint name."""
        own = self.mechanism
        return {name: Source(k, k) for k, name in enumerate(own.joint_states(own.home).names)}

    def tree_positions(self, q: FloatArray) -> tuple[FloatArray]:
        """Return the positions (N, p) of the link tree's joints for configurations (N, nq)."""
        return (q,)

    def tree_state(self, q: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Return the link tree's joint positions, and maps from velocity to joint rates.

        Args:
            q: (N, nq) configurations, which are not checked.

        Returns:
            Positions (N, p), and matrices (N, rates * nv) in row-major order. The
            matrices are None if the joint rates are the velocity itself.
        """
        return q, None

    def tree_motion(
        self, q: FloatArray, v: FloatArray, a: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return positions, rates and accelerations of the joints of the link tree.

        Args:
            q, v, a: (N, nq), (N, nv) and (N, nv) motion of the mechanism, which is not checked.

        Returns:
            Positions (N, p), rates and accelerations (N, rates).
        """
        return q, v, a


def falling_friction(mechanism: Any) -> FloatArray:
    """Return the driven joints' dry friction (n, sticking.ROW) if it depends on rates.

    The result is empty, (0, sticking.ROW), if no friction depends on a rate.
    """
    rows: FloatArray = mechanism.solver.friction.rows[: len(mechanism.joint_names)]
    # the two Coulomb levels come first; all further entries depend on the rate
    return rows if rows[:, law.EXCESS : law.DRY_FRICTION].any() else np.zeros((0, at.ROW))


def held_efforts(mechanism: Any) -> Callable[..., FloatArray] | None:
    """Return the inverse-dynamics function of the mechanism without its dry friction.

    The result is None if the mechanism has no dry friction.
    """
    smooth = mechanism._smooth
    return None if smooth is mechanism else smooth.inverse_dynamics
