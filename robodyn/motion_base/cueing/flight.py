# SPDX-License-Identifier: Apache-2.0

"""Simulated flight: JSBSim's model of a small airplane takes off, turns and meets turbulence."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.extras import require_extra
from robodyn.motion_base.machine.head_motion import GRAVITY

AIRCRAFT = "c172x"
# Bank angle [rad] from the given times [s]: straight, then a turn to the right, then one to the
# left.
BANK = ((0.0, 0.0), (40.0, 0.25), (60.0, -0.25), (80.0, 0.0))
# JSBSim's model of turbulence: MIL-F-8785C in Tustin's form, with the wind near the ground and the
# severity of the standard's table (3: light).
TURBULENCE, WIND, SEVERITY = 4, 20.0, 3
# From the airplane's axes (x forward, y right, z down) to ours.
AXES = np.array([1.0, -1.0, -1.0])


class Flight:
    """Simulated flight of an airplane, measured at the pilot's head.

    The airplane takes off, turns to each side and meets turbulence.

    Args:
        dt: [s] between samples, and integration step of the flight's equations.

    Raises:
        MissingExtra: JSBSim is not installed (extra `flight`).
    """

    def __init__(self, dt: float = 0.01) -> None:
        with require_extra("flight", "a flight needs JSBSim", "jsbsim"):
            import jsbsim
        self.dt = as_scalar("dt", dt, "s", above=0.0)
        self.time = 0.0
        base: Any = jsbsim.FGJSBBase
        base().debug_lvl = 0  # no banner
        self._model = model = jsbsim.FGFDMExec(None)
        model.set_debug_level(0)
        model.load_model(AIRCRAFT)
        model.set_output_filename(0, os.devnull)
        model.set_dt(self.dt)
        # on its wheels
        model["ic/h-agl-ft"] = 4.3
        model.run_ic()
        model["propulsion/set-running"] = -1
        model["fcs/mixture-cmd-norm"] = 1.0
        model["atmosphere/turb-type"] = TURBULENCE
        model["atmosphere/turbulence/milspec/windspeed_at_20ft_AGL-fps"] = WIND
        model["atmosphere/turbulence/milspec/severity"] = SEVERITY
        for _ in range(round(2.0 / self.dt)):
            model.run()  # the landing gear settles

    def step(self) -> tuple[FloatArray, FloatArray]:
        """Advance the flight by one sample.

        Returns:
            Specific force (3,) [m/s^2] and angular velocity (3,) [rad/s] at the pilot's head.
        """
        self._pilot()
        model = self._model
        model.run()
        self.time += self.dt
        load = np.array([model[f"accelerations/n-pilot-{axis}-norm"] for axis in "xyz"])
        rate = np.array([model[f"velocities/{axis}-rad_sec"] for axis in "pqr"])
        return AXES * load * GRAVITY, AXES * rate

    def _pilot(self) -> None:
        """Control the airplane: full throttle, rotation at 50 knots, climb and turns."""
        model = self._model
        roll, pitch = model["attitude/phi-rad"], model["attitude/theta-rad"]
        bank = next(angle for begin, angle in reversed(BANK) if self.time >= begin)
        model["fcs/throttle-cmd-norm"] = float(np.clip((self.time - 2.0) / 3.0, 0.0, 1.0))
        aileron = 3.0 * (bank - roll) - 0.8 * model["velocities/p-rad_sec"]
        elevator = rudder = 0.0
        if model["velocities/vc-kts"] > 50.0:
            elevator = -2.0 * (0.14 - pitch) + 0.6 * model["velocities/q-rad_sec"]
        if model["position/h-agl-ft"] < 15.0:
            heading = np.remainder(model["attitude/psi-rad"] + np.pi, 2.0 * np.pi) - np.pi
            rudder = 3.0 * heading + model["velocities/r-rad_sec"]
        for name, value in (("elevator", elevator), ("aileron", aileron), ("rudder", rudder)):
            model[f"fcs/{name}-cmd-norm"] = float(np.clip(value, -1.0, 1.0))
