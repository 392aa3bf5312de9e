# SPDX-License-Identifier: Apache-2.0

"""Controllers with a compiled control law, and the planned motion that each law reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.control.computed_torque import (
    ComputedTorque,
    ConstantEffort,
    Feedforward,
    GravityCompensation,
)
from robodyn.mechanisms.common.kernels.control_laws import COMPUTED_TORQUE, GIVEN, GRAVITY

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.control.computed_torque import Controller
    from robodyn.mechanisms.mechanism import Mechanism
    from robodyn.trajectories.base import Trajectory


_NO_GAIN = np.zeros((0, 0))


class Law(NamedTuple):
    """A controller as compiled code sees it.

    Attributes:
        kind: of `mechanisms.common.kernels.control_laws`.
        model: of the mechanism that the controller uses; None if it needs none.
        kp, kv: (nv, nv), or (0, 0); kp may have (n, nv) more below, see
            `control_laws.add_planned`.
    """

    kind: int
    model: Mechanism | None
    kp: FloatArray = _NO_GAIN
    kv: FloatArray = _NO_GAIN


def law_of(controller: Controller) -> Law | None:
    """The law of a controller; None if it has none, as for derived classes."""
    # a derived class may behave differently
    if type(controller) is ComputedTorque:
        friction = controller.friction
        if not friction.exists:
            return Law(COMPUTED_TORQUE, controller.mechanism, controller.kp, controller.kv)
        kp = np.concatenate([controller.kp, friction.gain])
        return Law(COMPUTED_TORQUE, friction.rest, kp, controller.kv)
    if type(controller) is GravityCompensation:
        return Law(GRAVITY, controller.mechanism)
    if type(controller) in {Feedforward, ConstantEffort}:
        return Law(GIVEN, None)
    return None


def rows_for(
    controller: Controller, mechanism: Mechanism, trajectory: Trajectory, times: FloatArray
) -> FloatArray:
    """What the controller's law reads at times (N,) [s]: (N, k).

    Raises:
        RobodynError, or what the trajectory raises: the controller has no answer, then or earlier.
    """
    if isinstance(controller, ComputedTorque):
        desired = controller.looking_ahead(trajectory.sample(times), trajectory, times)
        goal = mechanism.coordinates.checked("goal", desired.configuration)
        parts = [goal, desired.velocity, desired.acceleration]
        if controller.friction.exists:
            parts.append(controller.friction.efforts(desired._replace(configuration=goal)))
        return np.concatenate(parts, axis=-1)
    if isinstance(controller, Feedforward):
        return controller.mechanism.inverse_dynamics(*trajectory.sample(times))
    if isinstance(controller, ConstantEffort):
        return np.tile(controller.effort, (len(times), 1))
    return np.zeros((len(times), 0))
