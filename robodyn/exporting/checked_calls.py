# SPDX-License-Identifier: Apache-2.0

"""Functions that check what they are given and ask one thing of a kind's `Answers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.exporting.answers import (
    FINE,
    INVALID,
    NO_RESULT,
    NO_SOLUTION,
    Answers,
    are_finite,
)
from robodyn.exporting.lending import is_null
from robodyn.exporting.signatures import Setting
from robodyn.numerics.compiler import inner


def reason_of(answers: Answers, setting: Setting) -> Any:
    """(q, v, third, its size, wrench, base) -> why a state has no result."""
    is_configuration, (_, nv, _) = answers.is_configuration, setting.sizes

    @inner
    def why(q: Any, v: Any, third: Any, size: int, wrench: Any, base: Any) -> int:
        valid = is_configuration(q) and are_finite(v, nv) and are_finite(third, size)
        if not is_null(wrench):
            valid = valid and are_finite(wrench, 6)
        if not is_null(base):
            valid = valid and are_finite(base, 9)
        return NO_RESULT if valid else INVALID

    return why


def inverse_dynamics_of(answers: Answers, setting: Setting) -> Any:
    """Efforts of a motion."""
    call, why, nv = answers.inverse, reason_of(answers, setting), setting.sizes[1]

    def inverse_dynamics(q: Any, v: Any, a: Any, wrench: Any, base: Any, out: Any) -> int:
        return FINE if call(q, v, a, wrench, base, out) else why(q, v, a, nv, wrench, base)

    return inverse_dynamics


def forward_dynamics_of(answers: Answers, setting: Setting) -> Any:
    """The acceleration that efforts cause."""
    call, why, n = answers.forward, reason_of(answers, setting), setting.sizes[2]

    def forward_dynamics(q: Any, v: Any, efforts: Any, wrench: Any, base: Any, out: Any) -> int:
        return (
            FINE if call(q, v, efforts, wrench, base, out) else why(q, v, efforts, n, wrench, base)
        )

    return forward_dynamics


def of_configuration(name: str) -> Callable[[Answers, Setting], Any]:
    """An answer `name` to a configuration."""

    def make(answers: Answers, setting: Setting) -> Any:
        call, is_configuration = getattr(answers, name), answers.is_configuration

        def call_checked(q: Any, out: Any) -> int:
            if not is_configuration(q):
                return INVALID
            return FINE if call(q, out) else NO_RESULT

        return call_checked

    return make


def of_rates(name: str, size: int) -> Callable[[Answers, Setting], Any]:
    """An answer `name` to a configuration and rates, number `size` of the sizes."""

    def make(answers: Answers, setting: Setting) -> Any:
        call, is_configuration = getattr(answers, name), answers.is_configuration
        width = setting.sizes[size]

        def call_checked(q: Any, rates: Any, out: Any) -> int:
            if not (is_configuration(q) and are_finite(rates, width)):
                return INVALID
            return FINE if call(q, rates, out) else NO_RESULT

        return call_checked

    return make


def acceleration_of(answers: Answers, setting: Setting) -> Any:
    """The acceleration of joints' rates and their changes."""
    call, is_configuration, n = answers.acceleration, answers.is_configuration, setting.sizes[2]

    def acceleration(q: Any, rates: Any, changes: Any, out: Any) -> int:
        if not (is_configuration(q) and are_finite(rates, n) and are_finite(changes, n)):
            return INVALID
        return FINE if call(q, rates, changes, out) else NO_RESULT

    return acceleration


def bias_of(answers: Answers, setting: Setting) -> Any:
    """The bias of a state."""
    call, is_configuration, nv = answers.bias, answers.is_configuration, setting.sizes[1]

    def bias(q: Any, v: Any, base: Any, out: Any) -> int:
        if not (is_configuration(q) and are_finite(v, nv)):
            return INVALID
        if not (is_null(base) or are_finite(base, 9)):
            return INVALID
        return FINE if call(q, v, base, out) else NO_RESULT

    return bias


def configuration_of(answers: Answers, setting: Setting) -> Any:
    """The configuration of joints' positions, near a guess."""
    call, is_configuration, n = answers.close, answers.is_configuration, setting.sizes[2]

    def configuration(positions: Any, q: Any) -> int:
        if not (are_finite(positions, n) and is_configuration(q)):
            return INVALID
        return FINE if call(positions, q) else NO_SOLUTION

    return configuration


def condition_number_of(answers: Answers, setting: Setting) -> Any:
    """The condition number at a characteristic length."""
    call, is_configuration = answers.condition, answers.is_configuration

    def condition_number(q: Any, length: float, out: Any) -> int:
        if not (is_configuration(q) and 0.0 < length < np.inf):
            return INVALID
        out[0] = call(q, length)
        return FINE if out[0] >= 0.0 else NO_RESULT

    return condition_number
