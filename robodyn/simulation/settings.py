# SPDX-License-Identifier: Apache-2.0

"""What a simulation is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from robodyn.arrays import ArrayLike
from robodyn.base_motion import BaseMotion
from robodyn.mechanisms.common.end_stops import EndStops


@dataclass(frozen=True)
class SimulationSettings:
    """Where a simulation begins and ends, and how its plant is made.

    Attributes:
        duration: [s] of the simulation, the trajectory's by default.
        initial: configuration and velocity to start from, by default the trajectory's; of many
            simulations (B, ...) or (...).
        end_stops: at the position limits; None to let joints pass them.
        limit_efforts: cut efforts to the actuators' limits.
        integrator: `rk4`, Runge-Kutta of order 4 with fixed steps, or, where the controller acts
            continuously, `dop853`, adaptive of order 8, as a reference; `dt` is then only how
            far apart the recorded times are.
        base: how the base moves, held or as a function of time [s]; None for one at rest. The
            controllers of `robodyn` are told, as by a measurement unit on it, and so are those of
            your own that have a parameter `base`.
    """

    duration: float | None = None
    initial: tuple[ArrayLike, ArrayLike] | None = None
    end_stops: EndStops | None = field(default_factory=EndStops)
    limit_efforts: bool = True
    integrator: str = "rk4"
    base: BaseMotion | Callable[[float], BaseMotion] | None = None
