# SPDX-License-Identifier: Apache-2.0

"""The result of a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.extras import needing
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories.base import Motion

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Event:
    """An event during a simulation.

    Attributes:
        time: [s].
        kind: `saturation` or `end_stop`, when it begins.
        joint: its name.
        value: effort asked for [N or N m], or position [m or rad].
    """

    time: float
    kind: str
    joint: str
    value: float


@dataclass(frozen=True)
class SimulationResult:
    """Histories, one row a recorded time.

    Attributes:
        mechanism: what was simulated.
        time: (N,) [s].
        configuration: (N, nq) as in the mechanism's protocol.
        velocity: (N, nv), likewise.
        effort: (N, n) [N or N m] applied from each time on, after limits.
        desired: the planned motion at the same times, if there was a trajectory.
        events: in order of time.
    """

    mechanism: Mechanism
    time: FloatArray
    configuration: FloatArray
    velocity: FloatArray
    effort: FloatArray
    desired: Motion | None = None
    events: list[Event] = field(default_factory=list)

    @property
    def error(self) -> FloatArray:
        """(N, nv) [m, rad] displacement from the planned to the simulated configuration."""
        if self.desired is None:
            return np.zeros_like(self.velocity)
        return self.mechanism.difference(self.desired.configuration, self.configuration)

    @property
    def energy(self) -> FloatArray:
        """(N,) [J] kinetic and potential energy, the latter zero at the base."""
        kinetic, potential = self.mechanism.energy(self.configuration, self.velocity)
        return np.asarray(kinetic + potential)

    def to_xarray(self) -> xarray.Dataset:
        """The histories as an xarray Dataset, their numbers by name.

        Its dimensions are `time` [s], `coordinate` of the configuration, `rate` of the velocity and
        `joint` of the efforts; `desired_configuration` and its like are there if `desired` is.

        Raises:
            MissingExtra: xarray is not installed.
        """
        with needing("sweep", "a result as an xarray Dataset", "xarray"):
            import xarray

        names = self.mechanism.coordinates
        q, v, a = (("time", each) for each in ("coordinate", "rate", "rate"))
        found = {
            "configuration": (q, self.configuration),
            "velocity": (v, self.velocity),
            "effort": (("time", "joint"), self.effort),
        }
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
        """(n,) [N or N m] largest magnitude of each."""
        return np.asarray(np.abs(self.effort).max(axis=0))
