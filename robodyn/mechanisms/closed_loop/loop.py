# SPDX-License-Identifier: Apache-2.0

"""Mechanisms with closed loops: the public face of the tree's and the closures' kernels."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.mechanisms.closed_loop.calls import entry, single_dynamics
from robodyn.mechanisms.closed_loop.integration import LOST, NO_STEP, Simulation
from robodyn.mechanisms.closed_loop.kernels.derivatives import derivatives
from robodyn.mechanisms.closed_loop.pivots import forward_anywhere
from robodyn.mechanisms.closed_loop.reactions import ClosedLoopReactions
from robodyn.mechanisms.common.compiled_slopes import SLOPE_STEP, CompiledSlopes
from robodyn.mechanisms.common.estimation import Encoders, Estimator
from robodyn.mechanisms.common.kernels import sticking as at
from robodyn.mechanisms.common.single_calls import Single, UncheckedSingle
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.model.model import Model

_empty = np.empty


class ClosedLoop(ClosedLoopReactions):
    """A tree of joints with closures; methods are pure functions of its model.

    Configurations are (..., nq), velocities and accelerations (..., mobility) of the independent
    joints, efforts (..., n) of the driven ones [rad or m, N m or N]. A wrench (..., 6) is what the
    surroundings exert on the tip link: force and moment about its origin, base frame [N, N m].
    Viscous and dry friction of the joints, the closures' dampers and the motors' rotors count.

    A configuration must close the loops; `assemble` makes one. What depends on the independent
    joints fails where these do not determine the motion (SingularConfiguration).

    Attributes:
        model: the description it was made from.
        structure: what was found of it.
    """

    no_step = NO_STEP
    needs_estimator = True

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._one: Single = single_dynamics(self.structure.packed)
        self._square = (self._nu, self._nu)

    def __repr__(self) -> str:
        return (
            f"ClosedLoop({self.name!r}, {len(self.movable_joint_names)} joints, "
            f"{len(self.model.closures)} closures, mobility {self.mobility})"
        )

    @cached_property
    def _slopes(self) -> CompiledSlopes | None:
        passive = self.friction.rows[self._n :, [at.STATIC, at.STATIC_BACKWARD]]
        if passive.any():
            return None  # which is left to differences
        packed = self._smooth.structure.packed
        limits = SLOPE_STEP * self.structure.equations.columns
        numbers = *packed.given, limits, self._falling_friction
        return CompiledSlopes(derivatives, numbers, (self._nq, self._nu, self._n), self._held)

    @cached_property
    def unchecked(self) -> UncheckedLoop:
        """The same for inner loops: single states, nothing checked, results into given arrays."""
        return UncheckedLoop(self)

    def inverse_dynamics(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Efforts (..., n) of the driven joints for a motion.

        Where more joints are driven than need be: of all efforts that do it, those of the least
        (weighted) sum of squares; where these exceed the joints' limits and others do not, the
        ones of least sum of squares within the limits.

        Raises:
            InvalidInput: a wrong shape, not finite, or a configuration that is not closed.
            UnderActuated: the driven joints do not suffice.
            SingularConfiguration: motors cannot hold the mechanism there (type 2).
        """
        moved = None if base is None else rows_of(base)
        if self.structure.determined:
            efforts = _empty(self._n)
            one = self._one.inverse
            try:
                if one(configuration, velocity, acceleration, wrench, moved, False, efforts):
                    return efforts
            except TypeError:
                pass  # not single float64 states: a batch, or something to be explained
        self._refuse_under_actuated()
        given = configuration, velocity, acceleration, wrench, moved
        return self._each_state("inverse_dynamics", (self._n,), *given)

    def forward_dynamics(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        effort: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Accelerations (..., mobility) that efforts (..., n) cause; also at type 2 singularities.

        Joints at rest have no dry friction here; what holds there is up to the simulation.

        Raises:
            InvalidInput: as for `inverse_dynamics`.
            SingularMassMatrix: some motion has no inertia.
        """
        out, moved = _empty(self._nu), None if base is None else rows_of(base)
        try:
            if self._one.forward(configuration, velocity, effort, wrench, moved, False, out):
                return out
        except TypeError:
            pass
        given = configuration, velocity, effort, wrench, moved
        third = "effort", self._n
        return self._each_state(
            "forward_dynamics", (self._nu,), *given, third=third, call=self._forward_anywhere
        )

    def mass_matrix(self, configuration: ArrayLike) -> FloatArray:
        """M (..., mobility, mobility) in the independent joints, S'MS of the tree's.

        Raises:
            InvalidInput, SingularConfiguration: as for `inverse_dynamics`.
        """
        matrix = _empty(self._square)
        try:
            if self._one.mass(configuration, False, matrix):
                return matrix
        except TypeError:
            pass
        return self._each_state("mass_matrix", self._square, configuration)

    def bias(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """H (..., mobility): A' efforts = M acceleration + h; gravity, velocity terms, friction."""
        return self.free_efforts(configuration, velocity, np.zeros(self._nu), wrench, base=base)

    def free_efforts(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Efforts (..., mobility) for a motion if the independent joints were the driven ones."""
        moved = None if base is None else rows_of(base)
        given = configuration, velocity, acceleration, wrench, moved
        return self._each_state("free_efforts", (self._nu,), *given)

    def configuration_rate(self, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        """Time derivative (nq,) of a configuration; unchecked."""
        v, out = self.joint_rates(configuration, velocity), _empty(self._nq)
        entry("configuration_rate", self.structure.packed)(configuration, v, out)
        return out

    def normalized(self, configuration: FloatArray) -> FloatArray:
        """The configuration (nq,) closed again after a step, independent joints held; unchecked.

        Raises:
            NoSolution: the loops do not close there.
        """
        return self._displaced(np.array(configuration), np.zeros(self._nu))

    def state_estimator(self, initial_pose: ArrayLike | None, encoders: Encoders) -> Estimator:
        """Its state from readings of its driven joints, one after another.

        The search begins where the tip has the initial pose (7,), or else at home.

        Raises:
            InvalidInput, UnderActuated: as for `LoopEstimator`, or a tip's pose that does not
                determine the mechanism.
            NoSolution: it cannot take that pose.
        """
        from robodyn.mechanisms.closed_loop.estimation import LoopEstimator

        start = None if initial_pose is None else self.configuration_at(initial_pose)
        return LoopEstimator(self, start, encoders)

    def _is_alike(self, model: Mechanism) -> bool:
        """Whether the controller's model has the same coordinates, derived classes included."""
        expected = model.coordinates, model.joint_names
        return isinstance(model, ClosedLoop) and expected == (self.coordinates, self.joint_names)

    def _run_under(self, model: ClosedLoop) -> Simulation:
        return Simulation(self, model)

    def _why_no_step(self, status: int, configuration: FloatArray) -> str:
        return self.no_step.get(status, LOST)

    def _forward_anywhere(
        self,
        q: FloatArray,
        rates: FloatArray,
        effort: FloatArray,
        wrench: FloatArray | None,
        base: FloatArray | None,
        out: FloatArray,
    ) -> None:
        if not self._one.forward(q, rates, effort, wrench, base, False, out):
            self._refuse_open(q)
            out[...] = forward_anywhere(self, q, rates, effort, wrench, base)


class UncheckedLoop(UncheckedSingle):
    """A mechanism's dynamics without checks; see the base class."""

    def __init__(self, mechanism: ClosedLoop) -> None:
        super().__init__(mechanism)
        self._free = mechanism._free_at
        self._displace = entry("displace", mechanism.structure.packed)

    def difference(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Displacement (mobility,) of the independent coordinates from start to goal (nq,)."""
        if self._mechanism._free_poses:
            return np.asarray(self._mechanism.difference(start, goal))
        return np.asarray(self._shortest(goal[self._free] - start[self._free]))

    def advance(self, configuration: FloatArray, displacement: FloatArray) -> FloatArray:
        """Configuration (nq,) after a displacement (mobility,)."""
        moved = self.try_advance(configuration, displacement)
        if moved is not None:
            return moved
        advanced: FloatArray = self._mechanism.advance(configuration, displacement)
        return advanced

    def try_advance(self, configuration: FloatArray, displacement: FloatArray) -> FloatArray | None:
        """Configuration (nq,) after a displacement; None where the loops do not follow it."""
        moved = np.array(configuration)
        closed = 0.0 <= self._displace(moved, displacement, 1e-13) <= 1e-11
        return moved if closed else None
