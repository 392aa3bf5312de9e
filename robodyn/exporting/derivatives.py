# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the dynamics: the differences of `mechanisms.derivatives`, without Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.exporting.answers import FINE, Answers, copied
from robodyn.exporting.checked_calls import reason_of
from robodyn.exporting.lending import address, constant, null
from robodyn.mechanisms.common.kernels import sticking as at
from robodyn.mechanisms.derivatives import FRICTION_STEP, PLACES, WEIGHTS
from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner, noinline
from robodyn.numerics.linear import factor_definite, solve_factored

if TYPE_CHECKING:
    from robodyn.exporting.signatures import Setting


def inverse_dynamics_derivatives_of(answers: Answers, setting: Setting) -> Any:
    """Efforts of a motion and their derivatives."""
    nv = setting.sizes[1]
    slopes, why = _slopes(answers, setting, "inverse"), reason_of(answers, setting)

    def inverse_dynamics_derivatives(
        q: Any, v: Any, a: Any, wrench: Any, base: Any, out: Any, by_q: Any, by_v: Any, by_a: Any
    ) -> int:
        found = slopes(q, v, a, wrench, base, out, by_q, by_v, by_a)
        return FINE if found else why(q, v, a, nv, wrench, base)

    return inverse_dynamics_derivatives


def forward_dynamics_derivatives_of(answers: Answers, setting: Setting) -> Any:
    """The acceleration and its derivatives; of the inverse dynamics' where that is exact."""
    n = setting.sizes[2]
    why, forward = reason_of(answers, setting), answers.forward
    by_inverse = setting.mechanism.efforts_are_generalized_forces
    slopes = _slopes(answers, setting, "inverse" if by_inverse else "forward")

    @inner
    def of_inverse(
        q: Any,
        v: Any,
        efforts: Any,
        wrench: Any,
        base: Any,
        out: Any,
        by_q: Any,
        by_v: Any,
        by_efforts: Any,
    ) -> bool:
        given, (M, Q, V) = stack(1, n), (stack(n, n), stack(n, n), stack(n, n))
        if not forward(q, v, efforts, wrench, base, out):
            return False
        if not slopes(q, v, out, wrench, base, address(given), address(Q), address(V), address(M)):
            return False
        if not factor_definite(M, n, False):
            return False
        column = given[0]
        for j in range(n):
            for i in range(n):
                column[i] = 1.0 if i == j else 0.0
            solve_factored(M, n, column)
            for i in range(n):
                by_efforts[i * n + j] = column[i]
        for i in range(n):
            for j in range(n):
                position = rate = 0.0
                for k in range(n):
                    position -= by_efforts[i * n + k] * Q[k, j]
                    rate -= by_efforts[i * n + k] * V[k, j]
                by_q[i * n + j], by_v[i * n + j] = position, rate
        return True

    call = of_inverse if by_inverse else slopes

    def forward_dynamics_derivatives(
        q: Any, v: Any, efforts: Any, wrench: Any, base: Any, out: Any,
        by_q: Any, by_v: Any, by_efforts: Any,
    ) -> int:  # fmt: skip
        found = call(q, v, efforts, wrench, base, out, by_q, by_v, by_efforts)
        return FINE if found else why(q, v, efforts, n, wrench, base)

    return forward_dynamics_derivatives


def _slopes(answers: Answers, setting: Setting, question: str) -> Any:
    """(q, v, load, wrench, base, out, by q, by v, by load) -> whether there are derivatives.

    As `Derivatives._differences` has them: of the dynamics without dry friction, and of what dry
    friction adds to it.
    """
    m, (nq, nv, n) = setting.mechanism, setting.sizes
    ask = noinline(_asked(getattr(setting.smooth, question)))
    width, count = (n, nv) if question == "inverse" else (nv, n)
    advance, whole = answers.advance, _whole_slopes(setting, ask, width, count)
    if not m.friction.is_dry:
        return whole
    full, rates = noinline(_asked(getattr(answers, question))), answers.rates
    dry = m.friction.rows[:n, [at.STATIC, at.STATIC_BACKWARD]].any(axis=-1)
    is_dry, points = constant(dry.astype(float)), len(PLACES)
    places, weights = constant(PLACES * FRICTION_STEP), constant(WEIGHTS * (1.0 / FRICTION_STEP))

    @noinline
    def added(q: Any, v: Any, load: Any, wrench: Any, sides: Any, out: Any) -> int:
        """What dry friction adds, whatever the base does.

        0 for no result, 1 where a joint changes sides, else 2.
        """
        less, now, kept = stack(1, width), stack(1, n), 2
        if not (
            full(q, v, load, wrench, null(), out) and ask(q, v, load, wrench, null(), address(less))
        ):
            return 0
        if not rates(q, v, address(now)):
            return 0
        for i in range(width):
            out[i] -= less[0, i]
        for i in range(n):
            if is_dry()[i] != 0.0 and not now[0, i] * sides[i] > 0.0:
                kept = 1
        return kept

    @inner
    def slopes(
        q: Any,
        v: Any,
        load: Any,
        wrench: Any,
        base: Any,
        out: Any,
        by_q: Any,
        by_v: Any,
        by_load: Any,
    ) -> bool:
        if not whole(q, v, load, wrench, base, out, by_q, by_v, by_load):
            return False
        side, more, moved, step = stack(1, n), stack(1, width), stack(1, nq), stack(1, nv)
        slope = stack(1, width)
        if not rates(q, v, address(side)):
            return False
        sides = address(side)
        if added(q, v, load, wrench, sides, address(more)) == 0:
            return False
        for i in range(width):
            out[i] += more[0, i]
        for by_velocity in (False, True):
            by = by_v if by_velocity else by_q
            for j in range(nv):
                kept = 2
                for i in range(width):
                    slope[0, i] = 0.0
                for k in range(points):
                    for i in range(nv):
                        step[0, i] = v[i] if by_velocity else 0.0
                    step[0, j] += places()[k]
                    if by_velocity:
                        found = added(q, address(step), load, wrench, sides, address(more))
                    else:
                        if not advance(q, address(step), address(moved)):
                            return False
                        found = added(address(moved), v, load, wrench, sides, address(more))
                    if found == 0:
                        return False
                    kept = min(kept, found)
                    for i in range(width):
                        slope[0, i] += more[0, i] * weights()[k]
                if kept == 2:
                    for i in range(width):
                        by[i * nv + j] += slope[0, i]
        return True

    return slopes


def _asked(call: Any) -> Any:
    """A function of its own, to be called from many places."""

    def asked(q: Any, v: Any, load: Any, wrench: Any, base: Any, out: Any) -> bool:
        found: bool = call(q, v, load, wrench, base, out)
        return found

    return asked


def _whole_slopes(setting: Setting, ask: Any, width: int, count: int) -> Any:
    """The same where there is no dry friction; `ask` gives `width` numbers for loads (count,)."""
    nq, nv, _ = setting.sizes
    stencil, advance = setting.mechanism._stencil, setting.smooth.advance
    places, weights = constant(stencil.places), constant(stencil.weights)
    points = len(stencil.places)

    @inner
    def slopes(
        q: Any,
        v: Any,
        load: Any,
        wrench: Any,
        base: Any,
        out: Any,
        by_q: Any,
        by_v: Any,
        by_load: Any,
    ) -> bool:
        if not ask(q, v, load, wrench, base, out):
            return False
        more, less, moved, step = stack(1, width), stack(1, width), stack(1, nq), stack(1, nv)
        pushed, size = stack(1, count), 0.0
        for j in range(count):
            size = max(size, abs(load[j]))
        # beside large efforts, a small change of them would be lost in rounding
        size += 1.0
        for j in range(count):
            copied(load, count, pushed[0])
            pushed[0, j] += size
            if not ask(q, v, address(pushed), wrench, base, address(more)):
                return False
            for i in range(width):
                by_load[i * count + j] = (more[0, i] - out[i]) / size
        for j in range(nv):
            copied(v, nv, step[0])
            step[0, j] = v[j] + 1.0
            if not ask(q, address(step), load, wrench, base, address(more)):
                return False
            step[0, j] = v[j] - 1.0
            if not ask(q, address(step), load, wrench, base, address(less)):
                return False
            for i in range(width):
                by_v[i * nv + j] = 0.5 * (more[0, i] - less[0, i])
        for j in range(nv):
            for i in range(width):
                less[0, i] = 0.0
            for k in range(points):
                for i in range(nv):
                    step[0, i] = 0.0
                step[0, j] = places()[k * nv + j]
                if not advance(q, address(step), address(moved)):
                    return False
                if not ask(address(moved), v, load, wrench, base, address(more)):
                    return False
                for i in range(width):
                    less[0, i] += more[0, i] * weights()[k * nv + j]
            for i in range(width):
                by_q[i * nv + j] = less[0, i]
        return True

    return slopes
