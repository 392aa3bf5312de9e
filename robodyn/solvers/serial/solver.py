# SPDX-License-Identifier: Apache-2.0

"""Solver of an arm: its packed parameters, and the compiled functions that use them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import Any, ClassVar

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.dynamics.batch_calls import (
    BASE,
    CONFIGURATION,
    WRENCH,
    Arguments,
    ArrayArgument,
    entry,
    evaluate_kernel,
    types_of_state,
)
from robodyn.dynamics.body_parameters import BodyNumbers
from robodyn.dynamics.compiled_derivatives import CompiledDerivatives
from robodyn.dynamics.compiled_run import Kernels
from robodyn.dynamics.kernels.integration import NO_COMMAND
from robodyn.dynamics.parameters import JointParameter, JointPlaces, joint_parameters
from robodyn.dynamics.payload_variants import PayloadVariants
from robodyn.dynamics.single_calls import Single, UncheckedSingle, condition_entry
from robodyn.dynamics.solver import Solver
from robodyn.dynamics.stencil import Stencil, difference_stencil
from robodyn.model.body import Link, combine
from robodyn.model.fields import copy_unchecked
from robodyn.numerics.array_arguments import MATRIX, MATRIX_OUT, VECTOR, VECTOR_OUT, direct
from robodyn.solvers.serial import packing
from robodyn.solvers.serial.chain import carried_at_tip
from robodyn.solvers.serial.kernels import entries, lanes
from robodyn.solvers.serial.kernels import layout as at
from robodyn.solvers.serial.kernels.integration import (
    NO_INERTIA,
    advance,
    advance_hybrid,
    simulate,
    simulate_elastic,
    simulate_hybrid,
)
from robodyn.threads import cached_threadsafe, with_stack

_DYNAMICS = entries.inverse_dynamics, entries.forward_dynamics, entries.mass_matrix


class SerialSolver(Solver):
    """Compiled functions for one arm, with its packed parameters.

    Args:
        mechanism: the arm.

    Attributes:
        n: number of joints.
        geometry: packed chain; see `kernels.layout`.
        gravity: (3,) [m/s^2], base frame.
        chains: packed chains; the key (friction, armature) states whether each is included.
        pseudo: (n, 4, 4) pseudo-inertias of the links.
        still: (n,) zeros, for joints at rest.
    """

    loop = Kernels(
        simulate, simulate_hybrid, (MATRIX, VECTOR), advance, advance_hybrid, simulate_elastic
    )
    failure_reasons: ClassVar = {
        NO_COMMAND: "the efforts are not finite",
        NO_INERTIA: "a joint has no inertia to accelerate; give its link mass or its motor an "
        "armature",
    }

    def __init__(self, mechanism: Any) -> None:
        super().__init__(mechanism)
        chain = mechanism.chain
        self.n = len(chain.joints)
        self.has_batches = self.n <= lanes.MOST_JOINTS
        self.geometry = packing.pack_chain(chain)
        # a view, as kernels reject the dtype object of unpickled arrays
        self.gravity = np.array(mechanism.model.gravity).view(np.float64)
        self.chains = {
            (friction, armature): packing.part_of_chain(
                self.geometry, friction=friction, armature=armature
            )
            for friction in (False, True)
            for armature in (False, True)
        }
        self.packed = self.geometry, self.gravity
        self.pseudo = packing.pack_pseudo_inertias(self.chains[False, False])
        self.square, self.still = (self.n, self.n), np.zeros(self.n)
        self.still.setflags(write=False)

    @cached_property
    def singles(self) -> dict[tuple[bool, bool], Single]:
        """Compiled dynamics of single states.

        The key (friction, armature) states whether each is included.
        """
        return {
            options: Single(_DYNAMICS, (chain, self.gravity))
            for options, chain in self.chains.items()
        }

    @cached_property
    def one(self) -> Single:
        """Compiled dynamics functions for single states, with friction and armature."""
        return self.singles[True, True]

    @cached_property
    def unchecked(self) -> UncheckedSingle:
        """Dynamics of single states without checks, with results in preallocated arrays."""
        return UncheckedSingle(self.mechanism, self.one)

    @cached_property
    def tip_calls(self) -> tuple[Callable[..., bool], Callable[..., bool]]:
        """Compiled functions for the tip at one configuration: pose, then Jacobian.

        Each writes its result to its last argument, and returns whether it exists.
        """
        pose, jacobian = _tip_entries()
        return partial(pose, self.geometry), partial(jacobian, self.geometry)

    @cached_property
    def condition(self) -> Callable[[Any, Any, bool], float]:
        """Compiled function for the condition number of one configuration."""
        return partial(condition_entry(entries.condition_number, MATRIX), self.geometry)

    @cached_property
    def derivatives(self) -> CompiledDerivatives | None:
        """Compiled derivatives of efforts and accelerations; None above `MOST_JOINTS` joints."""
        if self.n > lanes.MOST_JOINTS:
            return None
        sizes = self.n, self.n, self.n
        single = entries.derivatives
        return CompiledDerivatives(lanes.derivatives, self.packed, sizes, single=single)

    @cached_property
    def stencil(self) -> Stencil:
        """Finite-difference steps and weights for derivatives w.r.t. the joint positions.

        They are exact for arms without joint springs: efforts are quadratic in translations, and in
        sines and cosines of rotations. For a trigonometric polynomial of degree 2, Riesz's
        interpolation formula gives the derivative from four values.
        """
        if any(joint.spring.acts for joint in self.mechanism.chain.joints):
            return difference_stencil(self.mechanism)
        turns = np.pi / 4.0 * np.array([1.0, 3.0, 5.0, 7.0])
        weights = np.array([1.0, -1.0, 1.0, -1.0]) / (8.0 * np.sin(turns / 2.0) ** 2)
        slides = np.array([1.0, -1.0, 1.0, -1.0])
        turning = np.array(self.mechanism.drives.units) == "rad"
        return Stencil(
            np.where(turning, turns[:, None], slides[:, None]),
            np.where(turning, weights[:, None], 0.25 * slides[:, None]),
        )

    @property
    def parametric_bodies(self) -> list[tuple[str, BodyNumbers]]:
        """Names and inertial parameters of the links, in the links' frames."""
        links = self.mechanism.chain.links
        return [(link.name, BodyNumbers(link.mass, link.com, link.inertia)) for link in links]

    @cached_property
    def parameters_of_joints(self) -> list[tuple[JointParameter, dict[int, float]]]:
        """Joint parameters, with their effect on the packed parameters.

        Each comes with a mapping from index to value: the change of the packed array per unit of
        the parameter.
        """
        found = []
        for row, joint in enumerate(self.mechanism.chain.joints, start=1):
            places = (
                row * at.LINK_SIZE + k
                for k in (at.ARMATURE, at.DAMPING, at.DRY_FRICTION, at.STIFFNESS)
            )
            found += joint_parameters(joint, JointPlaces(*places))
        return found

    @cached_property
    def regressor_numbers(self) -> tuple[FloatArray, ...]:
        """Arguments of the compiled regressor that do not depend on the states.

        They are the packed chain, gravity, the links' rotations and the joint parameters.
        """
        chain, further = self.geometry, self.parameters_of_joints
        motors = np.zeros((len(further), 1 + at.LINK_SIZE))
        for motor, (_, numbers) in zip(motors, further, strict=True):
            for place, value in numbers.items():
                row, column = divmod(place, at.LINK_SIZE)
                motor[0], motor[1 + column] = row - 1, value
        turns = [
            row[at.ROTATION : at.ROTATION + 9].reshape(3, 3).T @ packing.turn_z_to(joint.axis).T
            for row, joint in zip(chain[1:], self.mechanism.chain.joints, strict=True)
        ]
        return chain, self.gravity, np.reshape(turns, (-1, 9)), motors

    def lane_numbers(self, *, smooth: bool = False) -> tuple[FloatArray, FloatArray]:
        """Return the arm's joint types and its packed parameters, for batch simulation.

        Arms with the same joint types can be simulated together in SIMD lanes. If `smooth`, the
        parameters are without dry friction.
        """
        geometry = (self.mechanism._smooth.solver if smooth else self).geometry
        slides = np.ascontiguousarray(geometry[:, at.PRISMATIC])
        return slides, super().lane_numbers(smooth=smooth)[1]

    def numbers_with(self, payloads: PayloadVariants, *, smooth: bool = False) -> FloatArray:
        """Return the packed parameters (N, k) of N variants of the arm, one per payload.

        If `smooth`, they are without dry friction.
        """
        numbers = np.tile(self.lane_numbers(smooth=smooth)[1], (len(payloads), 1))
        rows = numbers[:, self.n * at.LINK_SIZE : (self.n + 1) * at.LINK_SIZE]
        for row, tip in zip(rows, payloads.tip_links(), strict=True):
            self._put_tip(row, tip)
        return numbers

    def packed_with(self, tip: Link) -> tuple[FloatArray, ...]:
        """Return the packed chain with another tip link's mass properties, and gravity."""
        geometry = self.geometry.copy()
        self._put_tip(geometry[self.n], tip)
        return geometry, self.gravity

    def _put_tip(self, row: FloatArray, tip: Link) -> None:
        """Write the last body's inertia, including that of a changed tip link, to `row`.

        `row` holds the packed parameters of the arm.
        """
        chain = self.mechanism.chain
        is_last = self.mechanism.model.tip_link == chain.links[-1].name
        if is_last or tip.has_inertia:
            link = tip
            if not is_last:
                last = chain.links[-1]
                link = copy_unchecked(last, **combine(last, carried_at_tip(chain, tip)))
            packing.put_body(row, self._last_turn, link.mass, link.com, link.inertia)

    @cached_property
    def _last_turn(self) -> FloatArray:
        return packing.turn_z_to(self.mechanism.chain.joints[-1].axis)

    def chain(self, friction: bool = True, armature: bool = True) -> FloatArray:
        """Return the packed chain (n + 1, LINK_SIZE), with or without friction and rotors."""
        return self.chains[bool(friction), bool(armature)]

    def batch(
        self,
        kernel: Any,
        chain: FloatArray,
        names: tuple[str, ...],
        values: tuple[ArrayLike | None, ...],
        core: tuple[int, ...],
        gravity: FloatArray | None = None,
    ) -> FloatArray:
        """Compute results (..., *core) of a compiled function for a batch of states.

        Args:
            kernel: function to compile.
            chain: packed chain (n + 1, LINK_SIZE).
            names, values: names of the arguments, such as `q` or `wrench`, and their values.
            core: shape of one result.
            gravity: (3,) [m/s^2]; that of the arm by default.

        Raises:
            InvalidInput: arguments of the wrong shape or not finite.
            NoSolutionAt: a joint has no inertia.
        """
        compiled = entry(kernel, *(types_of_state(values) if len(names) > 1 else CONFIGURATION))
        if self.n > lanes.MOST_JOINTS:
            compiled = with_stack(lanes.stack_needed(self.n), compiled)
        numbers = chain, self.gravity if gravity is None else gravity
        return evaluate_kernel(compiled, numbers, _arguments(self.n, *names), values, core)

    def flat(self, **values: Any) -> tuple[tuple[int, ...], Any]:
        """Broadcast arguments to one flat batch of N states; a wrench of None becomes zero.

        Returns:
            Leading shape of the batch, and the arguments as arrays (N, k).
        """
        return _arguments(self.n, *values).flattened(tuple(values.values()))


@cached_threadsafe
def _tip_entries() -> tuple[Callable[..., bool], Callable[..., bool]]:
    return (
        direct(entries.tip_pose, MATRIX, VECTOR, VECTOR_OUT),
        direct(entries.jacobian, MATRIX, VECTOR, MATRIX_OUT),
    )


@cache
def _arguments(n: int, *names: str) -> Arguments:
    """Return shapes and units of the arguments `names`, for the checks of a method.

    Arguments other than `wrench` and `base` are arrays with one value for each of the n joints.
    """
    known = {"wrench": WRENCH, "base": BASE}
    return Arguments(
        *(known.get(name) or ArrayArgument(name, n, f"{n} joints, rad or m") for name in names)
    )
