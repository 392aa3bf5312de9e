# SPDX-License-Identifier: Apache-2.0

"""The interface of every kind of mechanism; planners, controllers, nodes and views use only this.

A mechanism works in its own coordinates, of three sizes that may all differ: a *configuration*
(..., nq), its *velocity* and *acceleration* (..., nv), and *efforts* (..., n) of its driven joints.
For a Stewart platform the configuration is a pose (..., 7) and the velocity a twist (..., 6); for
a serial arm they are q and qd, both (..., n). `coordinates` says what the numbers are.
Configurations lie on a manifold, so code outside a mechanism never subtracts two of them but calls
`difference` and `advance`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from robodyn.errors import KinematicsError
from robodyn.mechanisms.presentation import Drawn, Jointwise, Varied
from robodyn.mechanisms.protocol_answers import Described, Examined, Jointed
from robodyn.mechanisms.protocol_body import MovedByItsBody

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.compiled_run import Outcome, Rollout
    from robodyn.mechanisms.common.coordinates import Coordinates, JacobianMap
    from robodyn.mechanisms.common.end_stops import EndStops
    from robodyn.mechanisms.common.joint_friction import JointFriction


class UncheckedDynamics(Protocol):
    """Dynamics of single states for inner loops, without checking the arguments.

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
        """Write efforts (n,) into `out`; return False if the state has none."""


@runtime_checkable
class Mechanism(Described, Jointed, Examined, Drawn, Varied, Jointwise, MovedByItsBody, Protocol):
    """A mechanism of any kind, in its own coordinates.

    A configuration is (..., nq), its velocity and acceleration (..., nv), efforts (..., n) of the
    driven joints [N m, N where a joint slides]; a wrench (..., 6) is what the surroundings exert on
    the body, force [N], then moment about its reference point [N m], base frame. For a Stewart
    platform the configuration is a pose (..., 7) [m, -] and the velocity a twist (..., 6)
    [m/s, rad/s]; for an arm they are q and qd (..., n) [rad, m where a joint slides]; for closed
    loops the positions of all tree joints and the rates of the independent ones. `coordinates` says
    what the numbers are.
    """

    @property
    def coordinates(self) -> Coordinates:
        """The meaning and units of the numbers of a configuration and of a velocity."""

    @property
    def unchecked(self) -> UncheckedDynamics:
        """Unchecked calls for single states in inner loops."""

    @property
    def home(self) -> FloatArray:
        """The home configuration, the default start."""

    def without_friction(self) -> Mechanism:
        """The same mechanism without joint friction."""

    def without_dry_friction(self, undamped: Collection[str] = ()) -> Mechanism:
        """The same mechanism without dry friction, and without damping at driven joints named."""

    @property
    def without_planned_friction(self) -> Mechanism:
        """The same without the friction that control compensates for the planned motion.

        See `common.joint_friction`; itself if there is none.
        """

    @property
    def friction(self) -> JointFriction:
        """Friction of the joints, as simulations need it."""

    def without_actuators(self) -> Mechanism:
        """The same mechanism with ideal actuators: no rotors, dry friction or motor limits."""

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> Mechanism:
        """The same mechanism with a body fixed to its platform or held at its tip.

        mass [kg], com (3,) [m] and inertia (3, 3) [kg m^2] about it, in the moving body's frame.
        """

    def body_pose(self, configuration: ArrayLike, /) -> FloatArray:
        """Pose (..., 7) of the platform or the arm's tip in the base frame."""

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
        """The acceleration that efforts cause.

        A joint at rest has no dry friction here: which joints friction holds is up to the
        simulation. Inverse dynamics takes the friction of the side to which a planned motion
        accelerates, so at rest the two are inverse to each other without dry friction only.
        """

    def mass_matrix(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., nv, nv), symmetric positive definite."""

    def bias(self, configuration: ArrayLike, velocity: ArrayLike, /) -> FloatArray:
        """(..., nv) gravity, velocity terms and friction."""

    def jacobian(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., 6, k), linear over angular; `jacobian_maps` says what it maps."""

    @property
    def jacobian_maps(self) -> JacobianMap:
        """`efforts to wrench` or `rates to twist`, for the body at `body_pose`, base frame."""

    def singular_values(
        self, configuration: ArrayLike, /, characteristic_length: float = 1.0
    ) -> FloatArray:
        """(..., k) of the Jacobian, largest first, moments divided by a length [m]."""

    def condition_number(
        self, configuration: ArrayLike, /, characteristic_length: float = 1.0
    ) -> FloatArray:
        """Ratio of the extreme singular values of the Jacobian, moments divided by a length."""


@runtime_checkable
class SimulatesCompiled(Protocol):
    """An optional addition to the protocol: whole simulations in compiled code."""

    def compiled_simulation(
        self, model: Mechanism, /
    ) -> Callable[[Rollout, int, int], Outcome] | None:
        """A function (rollout, first, last) that fills rows `first` + 1 to `last` of a rollout.

        `model` is the mechanism as the controller models it. None if compiled code cannot simulate
        this pair; simulations then call Python at each stage of a step.
        """


class StepsSurely(Protocol):
    """An optional addition to `UncheckedDynamics`: steps that fail quickly.

    Where `advance` searches on for a configuration that a step cannot reach directly, whoever
    takes many steps near the ends of the mechanism's travel asks for this one.
    """

    def stepped(self, configuration: FloatArray, displacement: FloatArray, /) -> FloatArray | None:
        """As `advance`; None where the mechanism cannot follow the displacement directly."""


def stepped(mechanism: Mechanism, here: FloatArray, way: FloatArray) -> FloatArray | None:
    """The configuration after a displacement; None where the mechanism cannot go there."""
    calls = mechanism.unchecked
    # `isinstance` of a protocol takes longer than the step
    if hasattr(calls, "stepped"):
        return cast("StepsSurely", calls).stepped(here, way)
    try:
        return calls.advance(here, way)
    except KinematicsError:
        return None
