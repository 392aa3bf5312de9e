# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What planners, controllers, simulation and analysis know of a mechanism, arm or platform alike.

A mechanism answers in its own coordinates. For a Stewart platform a *configuration* is a pose
(..., 7), its *velocity* the twist (..., 6) and its *acceleration* (..., 6); for a serial arm they
are q, qd and qdd, all (..., n). Positions live on a manifold, so nothing outside a mechanism
subtracts two of them: `difference` and `advance` do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.compiled_run import Outcome, Rollout
    from robodyn.mechanisms.common.end_stops import EndStops


class Unchecked(Protocol):
    """What a mechanism answers about single states in inner loops, without looking at them.

    Arrays must be contiguous, finite float64 of the right shapes; quaternions of unit length.
    """

    def difference(self, start: FloatArray, goal: FloatArray, /) -> FloatArray:
        """As `Mechanism.difference`."""

    def advance(self, configuration: FloatArray, displacement: FloatArray, /) -> FloatArray:
        """As `Mechanism.advance`."""

    def inverse_dynamics(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
        /,
    ) -> bool:
        """Write efforts (n,) into `out`; return whether there are any."""


@runtime_checkable
class Mechanism(Protocol):
    """The shared protocol; shapes as in the module's docstring, `n` efforts, SI units."""

    @property
    def name(self) -> str:
        """What the mechanism is called."""

    @property
    def kind(self) -> str:
        """`stewart` or `serial`."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The driven joints, in the order of every effort array."""

    @property
    def frames(self) -> tuple[str, str]:
        """Names of the base frame, and of the frame of the platform or the arm's tip."""

    @property
    def effort_limits(self) -> FloatArray:
        """(n,) [N or N m], infinite where the model gives none."""

    @property
    def position_limits(self) -> FloatArray:
        """(n, 2) [m or rad] of the driven joints, infinite where the model gives none."""

    @property
    def velocity_limits(self) -> FloatArray:
        """(n,) [m/s or rad/s] of the driven joints, infinite where the model gives none."""

    @property
    def unchecked(self) -> Unchecked:
        """The same for inner loops."""

    @property
    def home(self) -> FloatArray:
        """A configuration to start from."""

    def without_friction(self) -> Mechanism:
        """The same mechanism with no friction in its joints."""

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> Mechanism:
        """The same mechanism with a body fixed to its platform or held at its tip.

        mass [kg], com (3,) [m] and inertia (3, 3) [kg m^2] about it, in the moving body's frame.
        """

    def body_pose(self, configuration: ArrayLike, /) -> FloatArray:
        """Pose (..., 7) of the platform or the arm's tip in the base frame."""

    def joint_positions(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., n) [m or rad] positions of the driven joints."""

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike, /) -> FloatArray:
        """(..., n) [m/s or rad/s] rates of the driven joints."""

    def difference(self, start: ArrayLike, goal: ArrayLike, /) -> FloatArray:
        """The displacement, in coordinates of `velocity`, that takes `start` to `goal`."""

    def advance(self, configuration: ArrayLike, displacement: ArrayLike, /) -> FloatArray:
        """The inverse of `difference`: the configuration after a displacement."""

    def configuration_rate(self, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        """Time derivative of a single configuration; unchecked."""

    def normalized(self, configuration: FloatArray) -> FloatArray:
        """A single configuration brought back onto its manifold after a step; unchecked."""

    def integrate(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        effort: FloatArray,
        wrench: FloatArray,
        dt: float,
        steps: int,
        end_stops: EndStops | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Configuration and velocity after `steps` of dt [s], effort and wrench held; unchecked.

        Raises:
            SimulationFailed: no finite state follows.
        """

    def inverse_dynamics(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        /,
    ) -> FloatArray:
        """(..., n) efforts of the driven joints for a motion."""

    def forward_dynamics(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        effort: ArrayLike,
        wrench: ArrayLike | None = None,
        /,
    ) -> FloatArray:
        """The acceleration that efforts cause."""

    def mass_matrix(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., nv, nv), symmetric positive definite."""

    def bias(self, configuration: ArrayLike, velocity: ArrayLike, /) -> FloatArray:
        """(..., nv) gravity, velocity terms and friction."""

    def jacobian(self, configuration: ArrayLike, /) -> FloatArray:
        """Of the mechanism, as its class defines it."""

    def condition_number(
        self, configuration: ArrayLike, /, characteristic_length: float = 1.0
    ) -> FloatArray:
        """Ratio of the extreme singular values of the Jacobian, moments divided by a length."""


@runtime_checkable
class SimulatesCompiled(Protocol):
    """What a mechanism may offer beyond the protocol: whole simulations in compiled code."""

    def compiled_simulation(
        self, model: Mechanism, /
    ) -> Callable[[Rollout, int, int], Outcome] | None:
        """What fills rows `first` + 1 to `last` of a rollout, called with it and the two.

        `model` is what the control takes the mechanism for. None where compiled code cannot
        simulate the two; simulations then make a call of Python at each stage of a step.
        """
