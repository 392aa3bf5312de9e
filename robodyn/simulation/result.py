# SPDX-License-Identifier: Apache-2.0

"""Result of a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from robodyn.algorithms.elasticity import energy_of_drives
from robodyn.arrays import FloatArray, short_repr
from robodyn.extras import require_extra
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Motion

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Event:
    """Event of a simulation: an effort at its limit, or a joint at or beyond a limit.

    Attributes:
        time: [s] at which it begins.
        kind: `saturation`, `end_stop`, or `limit` of a passive joint or cone, which has no end stop
            in a simulation.
        joint: name of the joint.
        value: required effort [N or N m], or position [m or rad].
    """

    time: float
    kind: str
    joint: str
    value: float


@dataclass(frozen=True)
class SimulationResult:
    """Result of a simulation: histories with N recorded times.

    Attributes:
        mechanism: simulated mechanism.
        time: (N,) [s] recorded times.
        configuration: (N, nq) configurations.
        velocity: (N, nv) velocities.
        effort: (N, n) [N or N m] effort applied from each time until the next one, after limits.
        desired: planned motion at the same times, if there was a trajectory.
        events: events in order of time.
        motor_positions: (N, n) [m or rad] positions of the motors of elastic drives, converted to
            the joint side of the transmission; None for rigid drives.
        motor_velocities: (N, n) [m/s or rad/s] velocities of these motors, converted likewise; None
            for rigid drives.
    """

    mechanism: Mechanism
    time: FloatArray
    configuration: FloatArray
    velocity: FloatArray
    effort: FloatArray
    desired: Motion | None = None
    events: list[Event] = field(default_factory=list)
    motor_positions: FloatArray | None = None
    motor_velocities: FloatArray | None = None

    __repr__ = short_repr

    @property
    def error(self) -> FloatArray:
        """Displacement (N, nv) [m, rad] from the planned to the simulated configuration.

        It is zero if there is no planned motion.
        """
        if self.desired is None:
            return np.zeros_like(self.velocity)
        return self.mechanism.difference(self.desired.configuration, self.configuration)

    @property
    def energy(self) -> FloatArray:
        """Total energy (N,) [J], the sum of kinetic and potential energy.

        The potential energy is zero at the base. The energies of elastic drives and of rotors are
        included.
        """
        state = self.configuration, self.velocity
        if self.motor_positions is None or self.motor_velocities is None:
            return np.asarray(sum(self.mechanism.energy(*state)))
        motors = self.motor_positions, self.motor_velocities
        drives = energy_of_drives(self.mechanism, self.configuration, *motors)
        return np.asarray(sum(self.mechanism.without_actuators().energy(*state)) + drives)

    def to_xarray(self) -> xarray.Dataset:
        """Convert the histories into an xarray Dataset.

        Its dimensions are `time` [s], `coordinate` of the configuration, `rate` of the velocity and
        `joint` of the efforts. If there is a planned motion, it also contains
        `desired_configuration` and so on.

        Raises:
            MissingExtra: xarray is not installed.
        """
        with require_extra("sweep", "a result as an xarray Dataset", "xarray"):
            import xarray

        names = self.mechanism.coordinates
        q, v, a = (("time", each) for each in ("coordinate", "rate", "rate"))
        found = {
            "configuration": (q, self.configuration),
            "velocity": (v, self.velocity),
            "effort": (("time", "joint"), self.effort),
        }
        if self.motor_positions is not None and self.motor_velocities is not None:
            found["motor_position"] = (("time", "joint"), self.motor_positions)
            found["motor_velocity"] = (("time", "joint"), self.motor_velocities)
        if self.desired is not None:
            planned = zip((q, v, a), self.desired._fields, self.desired, strict=True)
            found |= {f"desired_{name}": (dims, values) for dims, name, values in planned}
        along = {
            "time": self.time,
            "coordinate": list(names.configuration_names),
            "rate": list(names.velocity_names),
            "joint": list(self.mechanism.joint_names),
        }
        return xarray.Dataset(found, along, {"mechanism": self.mechanism.name})

    @property
    def peak_effort(self) -> FloatArray:
        """Largest magnitude (n,) [N or N m] of each effort."""
        return np.asarray(np.abs(self.effort).max(axis=0))
