# SPDX-License-Identifier: Apache-2.0

"""Settings of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from robodyn.arrays import ArrayLike
from robodyn.base_motion import BaseMotion
from robodyn.dynamics.end_stops import EndStops

Integrator = Literal["rk4", "semi_implicit", "dop853"]
Side = Literal["motor", "joint"]


@dataclass(frozen=True)
class SimulationSettings:
    """Settings of a simulation: initial state, duration, plant and integrator.

    Attributes:
        duration: duration [s] of the simulation; that of the trajectory by default.
        initial: initial configuration and velocity, by default those of the trajectory; for many
            simulations (B, ...) or (...).
        end_stops: end stops at the position limits; None for no end stops.
        limit_efforts: limit efforts to those of the actuators.
        integrator: `rk4`, Runge-Kutta of order 4 with fixed steps; `semi_implicit`, Euler's method
            with fixed steps, implicit in damping, which is faster, of order 1 and stable with any
            friction and damping; or, if the controller acts continuously, `dop853`, an adaptive
            method of order 8, for reference solutions; `dt` is then only the interval of the
            recorded times.
        base: motion of the base, constant or a function of time [s]; None for a base at rest. The
            controllers of `robodyn` receive it, as if an inertial measurement unit were mounted on
            the base; so do controllers of your own that have a parameter `base`.
        feedback: side of elastic drives at which the controller measures the state, `motor` or
            `joint`.
    """

    duration: float | None = None
    initial: tuple[ArrayLike, ArrayLike] | None = None
    end_stops: EndStops | None = field(default_factory=EndStops)
    limit_efforts: bool = True
    integrator: Integrator = "rk4"
    base: BaseMotion | Callable[[float], BaseMotion] | None = None
    feedback: Side = "motor"


class SimulationOptions(TypedDict, total=False):
    """Settings of a simulation as keyword arguments: the fields of `SimulationSettings`."""

    duration: float | None
    initial: tuple[ArrayLike, ArrayLike] | None
    end_stops: EndStops | None
    limit_efforts: bool
    integrator: Integrator
    base: BaseMotion | Callable[[float], BaseMotion] | None
    feedback: Side
