# SPDX-License-Identifier: Apache-2.0

"""Solver: common interface of the computations of a kind of mechanism with its own kernels.

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
    in_lanes,
)
from robodyn.dynamics.joint_friction import JointFriction, decays, friction_rows
from robodyn.dynamics.kernels import dry_friction as law
from robodyn.dynamics.kernels import sticking as at
from robodyn.dynamics.link_tree import Source
from robodyn.dynamics.parameters import JointParameter
from robodyn.dynamics.payload_variants import PayloadVariants, distinct
from robodyn.dynamics.single_calls import UncheckedDynamics
from robodyn.dynamics.stencil import Stencil, difference_stencil
from robodyn.errors import InvalidInput
from robodyn.model import Joint, Link

# Rows of friction above which the memory of eight hybrid steps would not fit on the stack.
MOST_HYBRID_JOINTS = 40


class Solver:
    """Packed parameters of a mechanism, and the compiled computations of its kind.

    Args:
        mechanism: mechanism to compute.

    Attributes:
        packed: arrays for the kind's simulation loop.
        loop: compiled simulation of the kind; None if it has none.
        failure_reasons: reasons why no acceleration or command could be computed, by status.
        positions_are_given: whether the configuration consists of the positions of the tree's
            joints.
        rates_are_given: whether the velocity consists of their rates.
    """

    packed: tuple[FloatArray, ...]
    loop: ClassVar[Kernels | None] = None
    failure_reasons: ClassVar[Mapping[int, str]] = {}
    positions_are_given: ClassVar[bool] = True
    rates_are_given: bool = True

    def __init__(self, mechanism: Any) -> None:
        self.mechanism = mechanism

    def unsupported(self, what: str) -> InvalidInput:
        """Return the error for a computation that this kind of mechanism does not support."""
        return InvalidInput(
            f"{what} are not available for mechanisms of the kind {self.mechanism.kind!r}; "
            f"describe {self.mechanism.name} as a URDF of joints and links",
            value=self.mechanism.kind,
        )

    # simulation

    @cached_property
    def friction(self) -> JointFriction:
        """Friction of the joints, as packed rows and decay rates for simulations."""
        return JointFriction(friction_rows(self.mechanism), decays(self.mechanism))

    def run_under(self, model: Any) -> Any:
        """Return a compiled simulation of the mechanism under a controller that uses `model`."""
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
        """Return a function (rollout, first, last) that fills rows `first` + 1 to `last`.

        `model` is the controller's model of the mechanism. The result is None if compiled code
        cannot simulate this pair; simulations then call Python at each stage of a step.
        """
        # a derived class may have other dynamics than the class that defines the solver
        if "solver" not in vars(type(self.mechanism)) or not self.is_alike(model):
            return None
        advance: Callable[[Rollout, int, int], Outcome] = self.run_under(model).advance
        return advance

    def is_alike(self, model: Any) -> bool:
        """Return whether these kernels also accept the packed parameters of another mechanism."""
        own = self.mechanism
        return type(model) is type(own) and len(model.joint_names) == len(own.joint_names)

    @cached_property
    def own_run(self) -> Any:
        """Compiled simulation of this mechanism (`run_under` with itself)."""
        return self.run_under(self.mechanism)

    @cached_property
    def unchecked(self) -> UncheckedDynamics:
        """Computations for single states without argument checks, for inner loops."""
        return UncheckedDynamics(self.mechanism)

    def failure_reason(self, status: int, configuration: FloatArray) -> str:
        """Return the reason for a kernel's status at a configuration, for a message."""
        return self.failure_reasons[status]

    def batch_steps(
        self,
        rows: Sequence[Any],
        dt: float,
        *,
        limit_motors: bool,
        is_semi_implicit: bool = False,
    ) -> BatchSteps | None:
        """Return compiled steps of dt [s] for a batch of mechanisms with their own parameters.

        `rows` are mechanisms of this kind and of one structure. With `limit_motors`, motors stay
        within their torque-speed curves. The result is None if each mechanism must be stepped
        alone.
        """
        kernels, different = self.loop, distinct(rows)
        if kernels is None or kernels.batch is None:
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
        lanes = in_lanes(values, np.broadcast_to(further, (len(rows), len(further[0]))))
        options = np.array([may_be_stiff, is_semi_implicit], dtype=np.float64)
        return BatchSteps(batch_entry(kernel), structure, lanes, columns, count, options)

    def numbers_with(self, payloads: PayloadVariants, *, smooth: bool = False) -> FloatArray:
        """Return packed parameters (N, k) of this mechanism with each of N payloads."""
        return np.array([one.solver.lane_numbers(smooth=smooth)[1] for one in payloads])

    def variant_run(self, tip: Link) -> CompiledRun | None:
        """Return the compiled simulation of the mechanism with another tip link.

        The result is None if only the built mechanism has one.
        """
        packed, own = self.packed_with(tip), self.mechanism
        if packed is None or self.loop is None or own.drives.elasticity is not None:
            return None
        smooth = cache(lambda: own._smooth.solver.packed_with(tip))
        return CompiledRun(
            self.loop, packed, smooth, own.drives.motor_table, self.friction, packed, None
        )

    def packed_with(self, tip: Link) -> tuple[FloatArray, ...] | None:
        """Return the packed arrays with another tip link; None if a mechanism must be built."""
        return None

    def lane_numbers(self, *, smooth: bool = False) -> tuple[FloatArray, FloatArray]:
        """Return the structure common to a batch, and this mechanism's parameters, as vectors.

        These are the arguments of the batched loop `Kernels.batch`. If `smooth`, the parameters are
        without dry friction.
        """
        raise self.unsupported("steps of a batch")

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
        """Stencil for derivatives of efforts and accelerations w.r.t. the configuration."""
        return difference_stencil(self.mechanism)

    # parameters

    @property
    def parametric_bodies(self) -> list[tuple[str, BodyNumbers]]:
        """Name and mass properties of each parametric body, in the body's own frame."""
        raise self.unsupported("parameters")

    @cached_property
    def parameters_of_joints(self) -> list[tuple[JointParameter, dict[int, float]]]:
        """Parameters of joints and springs, each with its packed-array entries per unit."""
        raise self.unsupported("parameters")

    def on_links(self, bodies: list[BodyNumbers]) -> dict[str, BodyNumbers]:
        """Return the mass properties of parametric bodies by link name, in the links' frames."""
        names = (name for name, _ in self.parametric_bodies)
        return dict(zip(names, bodies, strict=True))

    def by_joint(self, values: dict[str, float]) -> dict[str, float]:
        """Convert values of joint parameters, by name, to the model's joints and closures."""
        return values

    # the tree of links

    @property
    def body_links(self) -> tuple[str, ...]:
        """For each body of the mechanism, the name of the link in whose frame it is given."""
        return tuple(body.name for body in self.mechanism.bodies)

    def tree_joints(self, drawn: Sequence[Joint]) -> Sequence[Joint]:
        """Return the `drawn` joints that belong to the tree of links, in the same order."""
        return drawn

    def joint_sources(self) -> Mapping[str, Source]:
        """Return indices of each joint's position and rate among those of the tree, by name."""
        own = self.mechanism
        return {name: Source(k, k) for k, name in enumerate(own.joint_states(own.home).names)}

    def tree_positions(self, q: FloatArray) -> FloatArray:
        """Return positions (N, p) of the tree's joints for valid configurations (N, nq)."""
        return q

    def tree_state(self, q: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Return joint positions (N, p) of the tree of links, and its velocity tangents.

        The arguments are configurations (N, nq). The tangents (N, rates * nv) are matrices, in
        row-major order, from velocity to joint rates; None if the joints' rates are the velocity.
        Arguments are not checked.
        """
        return q, None

    def tree_motion(
        self, q: FloatArray, v: FloatArray, a: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return positions (N, p), rates and accelerations (N, rates) of the tree's joints."""
        return q, v, a


def falling_friction(mechanism: Any) -> FloatArray:
    """Return the driven joints' friction rows (n, ROW) if they depend on rates, else (0, ROW)."""
    rows: FloatArray = mechanism.solver.friction.rows[: len(mechanism.joint_names)]
    # the two Coulomb levels come first; all further entries depend on the rate
    return rows if rows[:, law.EXCESS : law.DRY_FRICTION].any() else np.zeros((0, at.ROW))


def held_efforts(mechanism: Any) -> Callable[..., FloatArray] | None:
    """Return a function for inverse dynamics without dry friction; None if there is none."""
    smooth = mechanism._smooth
    return None if smooth is mechanism else smooth.inverse_dynamics
