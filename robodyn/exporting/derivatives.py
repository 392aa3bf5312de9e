# SPDX-License-Identifier: Apache-2.0

"""Functions of an exported library for derivatives of the dynamics."""

from __future__ import annotations

from typing import Any

from robodyn.exporting.kind_functions import FINE, NO_RESULT, KindFunctions, copy_numbers
from robodyn.exporting.marshaling import address
from robodyn.exporting.signatures import Setting
from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import noinline


def inverse_dynamics_derivatives_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function for inverse dynamics and its derivatives.

    Returns:
        Function (configuration, velocity, acceleration, wrench, base, out, by_q, by_v, by_a) of
        memory addresses, not yet compiled. It writes the efforts to `out` (n,). It writes their
        derivatives (n, nv) with respect to a displacement of the configuration to `by_q`, with
        respect to the velocity to `by_v`, and with respect to the acceleration to `by_a`. It
        returns FINE, or NO_RESULT if there are none.
    """
    inverse, differentiate = kind.inverse, _blocks_of(kind, setting)

    def inverse_dynamics_derivatives(
        q: Any, v: Any, a: Any, wrench: Any, base: Any, out: Any, by_q: Any, by_v: Any, by_a: Any
    ) -> int:
        found = inverse(q, v, a, wrench, base, out) and differentiate(
            q, v, a, out, wrench, base, False, (by_q, by_v, by_a)
        )
        return FINE if found else NO_RESULT

    return inverse_dynamics_derivatives


def forward_dynamics_derivatives_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function for forward dynamics and its derivatives.

    Returns:
        Function (configuration, velocity, efforts, wrench, base, out, by_q, by_v, by_efforts) of
        memory addresses, not yet compiled. It writes the acceleration to `out` (nv,). It writes its
        derivatives with respect to a displacement of the configuration to `by_q` (nv, nv), with
        respect to the velocity to `by_v` (nv, nv), and with respect to the efforts to `by_efforts`
        (nv, n). It returns FINE, or NO_RESULT if there are none.
    """
    forward, differentiate = kind.forward, _blocks_of(kind, setting)

    def forward_dynamics_derivatives(
        q: Any, v: Any, efforts: Any, wrench: Any, base: Any, out: Any,
        by_q: Any, by_v: Any, by_efforts: Any,
    ) -> int:  # fmt: skip
        found = forward(q, v, efforts, wrench, base, out) and differentiate(
            q, v, out, efforts, wrench, base, True, (by_q, by_v, by_efforts)
        )
        return FINE if found else NO_RESULT

    return forward_dynamics_derivatives


def link_dynamics_derivatives_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function for link accelerations and their derivatives.

    The links are behind elastic drives, and the rotors are not included.

    Returns:
        Function with the arguments and results of `forward_dynamics_derivatives_of`, in which the
        efforts are those of the drives on the joints.
    """
    assert setting.links is not None
    return forward_dynamics_derivatives_of(setting.links.rest, setting.links)


def _blocks_of(kind: KindFunctions, setting: Setting) -> Any:
    """Compile a function that writes the blocks of the dynamics derivatives.

    Its arguments are (q, v, a, efforts, wrench, base, forward, blocks); it returns whether the
    derivatives exist. The three blocks are the derivatives with respect to q, to v, and to the
    acceleration (inverse dynamics) or the efforts (forward dynamics), see `CompiledDerivatives`.
    """
    _, nv, n = setting.sizes
    dry, find = setting.mechanism.solver.friction.is_dry, kind.derivatives
    smooth = setting.smooth.inverse

    @noinline
    def differentiate(
        q: Any, v: Any, a: Any, efforts: Any, wrench: Any, base: Any, forward: bool, blocks: Any
    ) -> bool:
        held, found = stack(1, n), stack(1, n * (2 * nv + n))
        copy_numbers(efforts, n, held[0])
        if dry and not smooth(q, v, a, wrench, base, address(held)):
            return False
        if not find(q, v, a, address(held), wrench, base, forward, address(found)):
            return False
        copy_numbers(found[0], n * nv, blocks[0])
        copy_numbers(found[0, n * nv :], n * nv, blocks[1])
        copy_numbers(found[0, 2 * n * nv :], n * n, blocks[2])
        return True

    return differentiate
