# SPDX-License-Identifier: Apache-2.0

"""Command gate: the last check of commands before they are sent to the drives."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import LARGEST_STATE
from robodyn.errors import RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.machine.limits import DriveLimits

# Excess of a limit that is rounding: relative to a position limit and to others, and absolute [m,
# rad].
OF_END, OF_OTHERS, ABSOLUTE = 1e-9, 1e-6, 1e-9
# Largest plausible effort of a drive without limit [N, N m], and of its motor [N m, A].
LARGEST_EFFORT, FROM_EFFORTS = 1e12, ("torque", "current")

Bounds = tuple[FloatArray, FloatArray]


class CommandRefused(RobodynError):
    """Error raised if a command must not reach the drives.

    `value` is the value that was rejected.
    """


class CommandGate:
    """Check of commands to the driven joints, immediately before they are sent.

    All values of a command must be finite and plausible, and efforts within the limits of the
    drives. If limits and a period are given, positions and velocities must also be within their
    limits, and the motion must continue the previous command: the accelerations limit the change of
    velocities, and positions must follow from the velocities.

    Args:
        mechanism: mechanism with the commanded joints.
        limits: limits of the joints, for commands of positions and velocities.
        dt: time [s] between commands.
    """

    def __init__(
        self, mechanism: Mechanism, limits: DriveLimits | None = None, dt: float = np.inf
    ) -> None:
        self._names, self._dt = mechanism.joint_names, dt
        least, largest = mechanism.drives.effort_ends
        # a range of zero means that no range is given
        given = np.where(largest > least, [least, largest], [[-np.inf], [np.inf]])
        self._efforts = _bounds(given, OF_OTHERS, LARGEST_EFFORT)
        ends = np.tile([-np.inf, np.inf], (len(self._names), 1))
        self._rates = _bounds(ends.T, OF_OTHERS)
        self._change: Bounds | None = None
        if limits is not None:
            ends, change = limits.positions, limits.accelerations * dt
            self._rates = _bounds(np.array([-limits.rates, limits.rates]), OF_OTHERS)
            self._change = _bounds(np.array([-change, change]), OF_OTHERS)
            self._jump = _bounds(0.5 * dt * np.array([-change, change]), OF_OTHERS)
        self.begin(ends)

    def begin(self, ends: FloatArray) -> None:
        """Set position limits (n, 2) [m or rad], and discard the previous command."""
        self.move_ends(ends)
        self._last: tuple[FloatArray, FloatArray] | None = None

    def move_ends(self, ends: FloatArray) -> None:
        """Set new position limits (n, 2) [m or rad] and keep the previous command."""
        self._ends = _bounds(ends.T, OF_END)

    def check(
        self,
        position: FloatArray | None = None,
        velocity: FloatArray | None = None,
        effort: FloatArray | None = None,
        **more: FloatArray,
    ) -> None:
        """Reject a command with a value that is not finite, implausible or beyond a limit.

        Args:
            position: (n,) [m or rad] of the driven joints; None if not commanded, like the others.
            velocity: (n,) [m/s or rad/s] of the driven joints.
            effort: (n,) [N or N m] of the driven joints.
            more: other arrays of the command by name, such as `pose`; they must be finite and
                plausible.

        Raises:
            CommandRefused: the message names the joint, the value and the limits.
        """
        for field, values in more.items():
            most = np.full(len(values), LARGEST_EFFORT if field in FROM_EFFORTS else LARGEST_STATE)
            self._refuse_outside(field, values, (-most, most))
        if effort is not None:
            self._refuse_outside("effort", effort, self._efforts)
        if position is not None:
            self._refuse_outside("position", position, self._ends)
        if velocity is not None:
            self._refuse_outside("velocity", velocity, self._rates)
        if position is None or velocity is None or self._change is None:
            return
        if self._last is not None:
            before, rate = self._last
            self._refuse_outside("change of velocity", velocity - rate, self._change)
            jump = position - before - 0.5 * self._dt * (velocity + rate)
            self._refuse_outside("jump of position", jump, self._jump)
        self._last = position, velocity

    def _refuse_outside(self, field: str, values: FloatArray, bounds: Bounds) -> None:
        least, largest = bounds
        is_inside = (values >= least) & (values <= largest)
        if is_inside.all():
            return
        worst = int(np.argmin(is_inside))
        of = self._names[worst] if len(values) == len(self._names) else f"element {worst}"
        raise CommandRefused(
            f"{field} of {of} is {values[worst]:.9g}, expected {least[worst]:.9g} to "
            f"{largest[worst]:.9g}",
            value=values[worst],
        )


def _bounds(limits: FloatArray, fraction: float, most: float = LARGEST_STATE) -> Bounds:
    """Clip limits (2, n) to +/- `most`, and widen them by a tolerance for rounding."""
    least, largest = np.clip(limits, -most, most)
    return (
        least - ABSOLUTE - fraction * np.abs(least),
        largest + ABSOLUTE + fraction * np.abs(largest),
    )
