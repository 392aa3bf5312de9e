# SPDX-License-Identifier: Apache-2.0

"""End stops of joints, for simulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.dynamics.kernels.end_stops import end_stop_efforts
from robodyn.errors import InvalidInput


@dataclass(frozen=True)
class EndStops:
    """End stops of driven joints: a spring and a damper at each limit, which only push.

    By default the stops are critically damped, with stiffness m / T^2 and damping 2 m / T, where T
    is the time constant and m the effective inertia of the joint at the current configuration,
    including all bodies that move with it. These stops never add energy. A joint rebounds from its
    end with at most a third of its speed. If an effort tau presses a joint against its end, the
    joint rests T^2 tau / m beyond the end. MuJoCo defines joint limits by the same law
    (`solref`).

    Attributes:
        stiffness: [N/m or N m/rad]; by default computed from the effective inertia.
        damping: [N s/m or N m s/rad]; by default computed from the effective inertia.
        time_constant: [s] that determines these values; by default the length of a step of the
            simulation, which is the shortest time constant with a stable simulation.
    """

    stiffness: float | None = None
    damping: float | None = None
    time_constant: float | None = None

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping"):
            if getattr(self, name) is not None:
                as_scalar(name, getattr(self, name), at_least=0.0)
        if self.time_constant is not None:
            as_scalar("time_constant", self.time_constant, "s", above=0.0)

    def for_step(self, dt: float) -> EndStops:
        """Return end stops whose time constant, if not given, is dt [s]."""
        return self if self.time_constant is not None else replace(self, time_constant=dt)

    @property
    def numbers(self) -> FloatArray:
        """Parameters (5,) of the end stops for compiled functions.

        They are stiffness, damping, 0, and stiffness and damping per unit of effective inertia.

        Raises:
            InvalidInput: the stops have no time constant, but need one.
        """
        stiffness, damping, T = self.stiffness, self.damping, self.time_constant
        if T is None and (stiffness is None or damping is None):
            raise InvalidInput(
                f"{self} has no time constant; give one, or stiffness and damping", value=self
            )
        return np.array(
            [
                stiffness or 0.0,
                damping or 0.0,
                0.0,
                0.0 if T is None or stiffness is not None else 1.0 / (T * T),
                0.0 if T is None or damping is not None else 2.0 / T,
            ]
        )

    def efforts(
        self, mechanism: Any, configuration: FloatArray, velocity: FloatArray
    ) -> FloatArray:
        """Compute the efforts that the end stops exert on the driven joints of a mechanism.

        Args:
            mechanism: `Mechanism`.
            configuration: (nq,).
            velocity: (nv,).

        Returns:
            Efforts (n,) [N or N m]; NaN if the mechanism has no inertia.

        Raises:
            InvalidInput: the stops have no time constant, but need one.
        """
        positions = np.array(mechanism.joint_positions(configuration))
        out, limits = np.zeros_like(positions), np.array(mechanism.position_limits)
        if not ((positions < limits[:, 0]) | (positions > limits[:, 1])).any():
            return out
        found = end_stop_efforts(
            positions,
            np.array(mechanism.joint_velocities(configuration, velocity)),
            limits,
            self.numbers,
            np.array(mechanism.mass_matrix(configuration), order="C"),
            np.array(mechanism.joint_jacobian(configuration), order="C"),
            out,
        )
        return out if found else np.full_like(out, np.nan)
