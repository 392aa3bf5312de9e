# SPDX-License-Identifier: Apache-2.0

"""The pendulum on a cart with compiled equations: a kind with a solver and an export of its own."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import cart_kernels as kernels
import cart_pendulum
import numpy as np
from cart_pendulum import CartPendulum

import robodyn as rd
from robodyn.algorithms.stepping import compiled_step, step
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
from robodyn.dynamics.compiled_derivatives import CompiledDerivatives
from robodyn.dynamics.compiled_run import Kernels
from robodyn.dynamics.kernels.integration import OK
from robodyn.dynamics.kernels.state import State, unloaded
from robodyn.dynamics.solver import Solver
from robodyn.exporting import KindFunctions, joint_functions, kind_functions_of, one_side, step_of
from robodyn.exporting.marshaling import constant, is_null, marshaler
from robodyn.numerics.array_arguments import MATRIX, VECTOR, borrowed_array, stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.vectors import clear

JOINTS = ArrayArgument("joints", 2, "slider [m], hinge [rad]")
STATE = Arguments(JOINTS, JOINTS, JOINTS, WRENCH, BASE)


class CartSolver(Solver):
    """The packed numbers of a cart, and its kernels."""

    loop = Kernels(kernels.simulate, (MATRIX, VECTOR), kernels.advance, kernels.advance_hybrid)
    failure_reasons: ClassVar = {kernels.BASE_MOVES: "the base of a cart stands still"}

    def __init__(self, mechanism):
        super().__init__(mechanism)
        m = mechanism.model
        numbers = np.array([[m.cart, m.bob, m.length, m.inertia, m.damping]])
        self.packed = numbers, np.array(m.gravity)
        self.derivatives = CompiledDerivatives(kernels.derivatives, self.packed, (2, 2, 2))

    def lane_numbers(self, *, smooth=False):
        """Return no structure, and all numbers; there is no dry friction."""
        return np.zeros(1), np.concatenate([array.ravel() for array in self.packed])

    def at(self, kernel, configuration, *core):
        """Results (..., *core) of a kernel for configurations (..., 2)."""
        compiled = entry(kernel, *CONFIGURATION)
        return evaluate_kernel(compiled, self.packed, Arguments(JOINTS), (configuration,), core)

    def of_state(self, kernel, *state):
        """Results (..., 2) of a kernel for states; refuses a base that moves."""
        if state[-1] is not None:
            raise self.unsupported("dynamics on a base that moves")
        return evaluate_kernel(
            entry(kernel, *types_of_state(state)), self.packed, STATE, state, (2,)
        )


class CompiledCart(CartPendulum):
    """The mechanism; names, limits, bodies and figure are those of the kind in NumPy."""

    kind = "compiled_cart"
    solver = cached_property(CartSolver)

    def body_pose(self, configuration):
        return self.solver.at(kernels.body_pose, configuration, 7)

    def jacobian(self, configuration):
        return self.solver.at(kernels.jacobian, configuration, 6, 2)

    def mass_matrix(self, configuration):
        return self.solver.at(kernels.mass_matrix, configuration, 2, 2)

    def inverse_dynamics(self, configuration, velocity, acceleration, wrench=None, *, base=None):
        state = configuration, velocity, acceleration, wrench, base
        return self.solver.of_state(kernels.inverse_dynamics, *state)

    def forward_dynamics(self, configuration, velocity, effort, wrench=None, *, base=None):
        state = configuration, velocity, effort, wrench, base
        return self.solver.of_state(kernels.forward_dynamics, *state)

    def bias(self, configuration, velocity, *, base=None):
        return self.inverse_dynamics(configuration, velocity, np.zeros(2), base=base)


step.register(CompiledCart, compiled_step)


@kind_functions_of.register
def _functions(m: CompiledCart) -> KindFunctions:
    marshal = marshaler(*(constant(array) for array in m.solver.packed))
    joints = joint_functions(2, range(2), (False, False))

    def of_state(find):
        @inner
        def call(q, v, third, wrench, base, out):
            cart, contact, moves = (
                borrowed_array(marshal(())),
                not is_null(wrench),
                not is_null(base),
            )
            return (
                find(
                    cart,
                    State(q, v, third, wrench, contact, base, moves),
                    False,
                    0,
                    out,
                )
                == OK
            )

        return call

    def of_configuration(find):
        @inner
        def call(q, out):
            return find(borrowed_array(marshal(())), unloaded(q, q, q), False, 0, out) == OK

        return call

    @inner
    def bias(q, v, base, out):
        still = stack(1, 2)
        clear(still[0])
        state = State(q, v, still[0], q, False, base, not is_null(base))
        return kernels.find_efforts(borrowed_array(marshal(())), state, False, 0, out) == OK

    @inner
    def condition(q, length):
        return kernels.condition_number(borrowed_array(marshal(()))[0], q, length)

    @inner
    def advance(q, displacement, out):
        out[0], out[1] = q[0] + displacement[0], q[1] + displacement[1]
        return True

    @inner
    def differentiate(q, v, a, efforts, wrench, base, forward, out):
        cart, contact, moves = borrowed_array(marshal(())), not is_null(wrench), not is_null(base)
        state = State(q, v, a, wrench, contact, base, moves)
        return kernels.find_derivatives(cart, state, forward, 0, out) == OK

    own = tuple(constant(array) for array in m.solver.packed)
    return KindFunctions(
        **joints,
        inverse=of_state(kernels.find_efforts),
        forward=of_state(kernels.find_accelerations),
        mass=of_configuration(kernels.find_mass_matrix),
        bias=bias,
        close=joints["positions"],
        pose=of_configuration(kernels.find_pose),
        jacobian=of_configuration(kernels.find_jacobian),
        condition=condition,
        side=one_side,
        advance=advance,
        step=step_of(m, kernels.simulate, own, own),
        derivatives=differentiate,
    )


def from_yaml(document, source, options):
    return CompiledCart(cart_pendulum.from_yaml(document, source, options).model)


KIND = rd.Kind("compiled_cart", from_yaml=from_yaml)
