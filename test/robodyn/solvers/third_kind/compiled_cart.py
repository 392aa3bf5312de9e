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
from robodyn.dynamics.solver import Solver
from robodyn.exporting import (
    KindFunctions,
    equation_functions,
    kind_functions_of,
    position_functions,
    step_of,
)
from robodyn.exporting.marshaling import constant, marshaler
from robodyn.numerics.array_arguments import MATRIX, VECTOR, borrowed_array
from robodyn.numerics.compiler import inner

JOINTS = ArrayArgument("joints", 2, "slider [m], hinge [rad]")
STATE = Arguments(JOINTS, JOINTS, JOINTS, WRENCH, BASE)


class CartSolver(Solver):
    """The packed numbers of a cart, and its kernels."""

    loop = Kernels(
        kernels.simulate,
        kernels.simulate_hybrid,
        (MATRIX, VECTOR),
        kernels.advance,
        kernels.advance_hybrid,
    )
    failure_reasons: ClassVar = {kernels.BASE_MOVES: "the base of a cart stands still"}

    def __init__(self, mechanism):
        super().__init__(mechanism)
        m = mechanism.model
        numbers = np.array([[m.cart, m.bob, m.length, m.inertia, m.damping]])
        self.packed = numbers, np.array(m.gravity)
        self.derivatives = CompiledDerivatives(kernels.derivatives, self.packed, (2, 2, 2))

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
    own = tuple(constant(array) for array in m.solver.packed)
    marshal = marshaler(*own)

    @inner
    def condition(q, length):
        return kernels.condition_number(borrowed_array(marshal(()))[0], q, length)

    return KindFunctions(
        **position_functions(2, (False, False)),
        **equation_functions(
            m.solver.packed,
            2,
            kernels.EQUATIONS,
            pose=kernels.find_pose,
            jacobian=kernels.find_jacobian,
            derivatives=kernels.find_derivatives,
        ),
        condition=condition,
        step=step_of(m, m.solver.loop, own, own),
    )


def from_yaml(document, source, options):
    return CompiledCart(cart_pendulum.from_yaml(document, source, options).model)


KIND = rd.Kind("compiled_cart", from_yaml=from_yaml)
