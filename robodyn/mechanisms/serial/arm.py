# SPDX-License-Identifier: Apache-2.0

"""The serial arm: public interface to the kernels of open chains.

Every method checks its arguments, broadcasts over leading dimensions and passes one flat batch to a
compiled kernel. q, qd, qdd and efforts are (..., n), a joint's entry in rad or m, N m or N.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.checks import as_array
from robodyn.errors import InvalidInput, SingularMassMatrix
from robodyn.mechanisms.common.batch_calls import Unanswered
from robodyn.mechanisms.common.compiled_run import CompiledRun, integrate
from robodyn.mechanisms.common.joint_table import joint_table
from robodyn.mechanisms.common.motion import Motion
from robodyn.mechanisms.serial import batch_calls as many
from robodyn.mechanisms.serial import single_calls as single
from robodyn.mechanisms.serial.drawing import stick_figure
from robodyn.mechanisms.serial.integration import KERNELS, reason
from robodyn.mechanisms.serial.inverse_kinematics import (
    JointSpaceMotion,
    follow_tip,
    inverse_kinematics,
    inverse_motion,
)
from robodyn.mechanisms.serial.kernels import batch as kernels
from robodyn.mechanisms.serial.kinematics import SerialKinematics
from robodyn.mechanisms.serial.packing import pack_chain, pack_pseudo_inertias
from robodyn.mechanisms.serial.parameters import ArmParameters
from robodyn.numerics.broadcasting import element

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.compiled_run import Outcome, Rollout
    from robodyn.mechanisms.common.end_stops import EndStops
    from robodyn.mechanisms.common.figure import Figure
    from robodyn.mechanisms.common.single_calls import Single
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.mechanisms.serial.model import SerialModel


_empty = np.empty
INVERSE_METHODS = ("newton_euler", "modified_newton_euler", "lagrange")
MASS_METHODS = ("composite", "strobing")
FORWARD_METHODS = ("articulated_body", "strobing")


class SerialArm(SerialKinematics, ArmParameters):
    """An open chain of revolute and prismatic joints; methods are pure functions of its model.

    Configurations q, velocities qd and accelerations qdd are (..., n) [rad, m where a joint slides;
    per s and s^2], efforts (..., n) [N m, N]; a Jacobian has rows of [m, -] by columns of joints.
    Viscous and Coulomb friction and the motors' reflected inertia are included unless
    `friction=False` or `armature=False` is given. A wrench (..., 6) is exerted on the arm by its
    environment: force and moment about the tip point, base frame [N, N m].

    Attributes:
        model: the description it was built from.
    """

    def __init__(self, model: SerialModel) -> None:
        super().__init__(model)
        self._chains = {
            (friction, armature): pack_chain(model, friction=friction, armature=armature)
            for friction in (False, True)
            for armature in (False, True)
        }
        self._pseudo = pack_pseudo_inertias(self._chains[False, False])
        self._square = (self.n, self.n)

    def __reduce__(self) -> tuple[Any, ...]:
        return SerialArm, (self.model,)

    @cached_property
    def _singles(self) -> dict[tuple[bool, bool], Single]:
        return {
            options: single.dynamics(chain, self._gravity)
            for options, chain in self._chains.items()
        }

    @cached_property
    def _one(self) -> Single:
        return self._singles[True, True]

    @property
    def unchecked(self) -> single.UncheckedArm:
        """Unchecked calls for inner loops: single states, results written into given arrays."""
        return single.UncheckedArm(self._chains[True, True], self._gravity)

    def __repr__(self) -> str:
        return f"SerialArm({self.name!r}, {self.n} joints)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SerialArm):
            return NotImplemented
        return self.model == other.model

    __hash__ = None  # type: ignore[assignment]  # equal within rounding cannot hash alike

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: ArrayLike | None = None,
        method: str = "newton_euler",
        *,
        friction: bool = True,
        armature: bool = True,
    ) -> FloatArray:
        """Efforts (..., n) for a motion, by one of three equivalent methods.

        `newton_euler` and `modified_newton_euler` are the two recursions of Turney, Mudge and Lee
        (1980), eq. 3.15-3.21 and 5.1-5.2; `lagrange` is their trace form, eq. 4.34.

        Raises:
            InvalidInput: a wrong shape, not finite, or an unknown method.
        """
        if method == "newton_euler":
            efforts = _empty(self._n)
            try:
                one = (
                    self._one
                    if friction and armature
                    else self._singles[bool(friction), bool(armature)]
                )
                if one.inverse(q, qd, qdd, wrench, False, efforts):
                    return efforts
            except TypeError:
                pass  # not single float64 states: a batch, or an invalid argument
            return many.inverse_dynamics(
                (self._chain(friction, armature), self._gravity), q, qd, qdd, wrench
            )
        _choose(method, INVERSE_METHODS)
        shape, (position, rate, change, load) = self._flat(
            q=q, qd=qd, qdd=qdd, wrench=_wrench(wrench)
        )
        chain, contact = self._chain(friction, armature), wrench is not None
        out = np.empty((len(position), self.n))
        state = (self._gravity, position, rate, change, load, contact)
        if method == "lagrange":
            kernels.lagrange(chain, self._pseudo, *state, out)
        else:
            kernels.modified_newton_euler(chain, *state, out)
        return out.reshape(*shape, self.n)

    def bias(self, q: ArrayLike, qd: ArrayLike, *, friction: bool = True) -> FloatArray:
        """Efforts (..., n) of a motion without acceleration: gravity, velocity terms, friction."""
        return self.inverse_dynamics(q, qd, np.zeros(self.n), friction=friction)

    def gravity(self, q: ArrayLike) -> FloatArray:
        """Efforts (..., n) that hold the arm at rest."""
        return self.inverse_dynamics(q, np.zeros(self.n), np.zeros(self.n))

    def mass_matrix(
        self, q: ArrayLike, method: str = "composite", *, armature: bool = True
    ) -> FloatArray:
        """M (..., n, n), by composite rigid bodies or by `strobing`.

        Strobing finds the columns of M by inverse dynamics of unit accelerations.

        Raises:
            InvalidInput: as for `inverse_dynamics`.
        """
        if method == "composite":
            matrix = _empty(self._square)
            try:
                one = self._one if armature else self._singles[False, False]
                if one.mass(q, False, matrix):
                    return matrix
            except TypeError:
                pass
            return many.mass_matrix((self._chain(False, armature), self._gravity), q)
        _choose(method, MASS_METHODS)
        shape, (flat,) = self._flat(q=q)
        out = np.empty((len(flat), self.n, self.n))
        kernels.strobed_mass_matrix(self._chain(False, armature), flat, out)
        return out.reshape(*shape, self.n, self.n)

    def christoffel(self, q: ArrayLike) -> FloatArray:
        """C^i_jk (..., n, n, n) at [i, j, k] by strobing; the velocity terms are qd' C^i qd."""
        shape, (flat,) = self._flat(q=q)
        out = np.empty((len(flat), self.n, self.n, self.n))
        kernels.christoffel(self._chain(False, False), flat, out)
        return out.reshape(*shape, self.n, self.n, self.n)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> FloatArray:
        """C (..., n, n) from Christoffel symbols: velocity terms C @ qd, Mdot - 2C skew."""
        shape, (flat, rate) = self._flat(q=q, qd=qd)
        C = np.einsum("sijk,sj->sik", self.christoffel(flat), rate)
        return np.asarray(C.reshape(*shape, self.n, self.n))

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: ArrayLike | None = None,
        method: str = "articulated_body",
        *,
        friction: bool = True,
        armature: bool = True,
    ) -> FloatArray:
        """Accelerations (..., n) that efforts cause, the inverse of `inverse_dynamics`.

        Joints at rest have no dry friction here; what holds there is up to the simulation.
        `articulated_body` is of order n (Featherstone, 2008); `strobing` is section 7 of Turney,
        Mudge and Lee (1980).

        Raises:
            InvalidInput: as for `inverse_dynamics`.
            SingularMassMatrix: a joint has no inertia to accelerate.
        """
        if method == "articulated_body":
            accelerations = _empty(self._n)
            try:
                one = (
                    self._one
                    if friction and armature
                    else self._singles[bool(friction), bool(armature)]
                )
                if one.forward(q, qd, tau, wrench, False, accelerations):
                    return accelerations
            except TypeError:
                pass
            chain = self._chain(friction, armature)
            try:
                return many.forward_dynamics((chain, self._gravity), q, qd, tau, wrench)
            except Unanswered as failure:
                at, index = failure.state[0], failure.index
            raise self._without_inertia(at, index)
        _choose(method, FORWARD_METHODS)
        shape, (position, rate, effort, load) = self._flat(
            q=q, qd=qd, tau=tau, wrench=_wrench(wrench)
        )
        out, status = np.empty((len(position), self.n)), np.zeros(len(position), dtype=np.int64)
        chain = self._chain(friction, armature)
        kernels.strobed_forward_dynamics(
            chain, self._gravity, position, rate, effort, load, out, status
        )
        if status.any():
            first = int(np.argmax(status))
            raise self._without_inertia(position[first], element(shape, first))
        return out.reshape(*shape, self.n)

    def _without_inertia(self, q: FloatArray, index: tuple[int, ...]) -> SingularMassMatrix:
        return SingularMassMatrix(
            f"{self.name}: a joint has no inertia to accelerate at q "
            f"{np.array2string(q, precision=6)}"
            f"{f' (element {list(index)})' if index else ''}; give its link mass or its motor "
            "an armature",
            value=q,
            index=index,
        )

    def energy(self, q: ArrayLike, qd: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Kinetic energy (...), motors included, and potential energy (...), 0 at the base [J]."""
        shape, (position, rate) = self._flat(q=q, qd=qd)
        out = np.empty((len(position), 2))
        kernels.energy(self._chain(), self._gravity, position, rate, out)
        return out[:, 0].reshape(shape), out[:, 1].reshape(shape)

    def inverse_kinematics(
        self,
        pose: ArrayLike,
        guess: ArrayLike | None = None,
        *,
        orientation: bool = True,
        search: bool = True,
        warm_start: bool = False,
    ) -> FloatArray:
        """Configurations q (..., n) within the joints' limits that put the tip at a pose.

        Damped Newton steps of minimum norm (Levenberg, Marquardt), so the solution is near the
        guess, also for a redundant arm.

        Args:
            pose: (..., 7) [m, -] of the tip, base frame.
            guess: (..., n) [rad or m] to start from; home by default.
            orientation: False solves for the position only.
            search: if the iteration from the guess does not converge, try other starts and take the
                nearest solution; otherwise raise.
            warm_start: along the last leading dimension each element starts from the solution
                before it, for consecutive poses; whole turns are not removed.

        Raises:
            InvalidInput: shapes that do not match, or not finite.
            NoSolution: out of reach or outside the limits, as far as was searched.
        """
        return inverse_kinematics(
            self,
            pose,
            guess,
            orientation=orientation,
            search=search and not warm_start,
            warm_start=warm_start,
        )

    def inverse_motion(self, q: ArrayLike, twist: ArrayLike, accel: ArrayLike) -> JointSpaceMotion:
        """Rates and accelerations (..., n) of the joints for a motion of the tip.

        Twist [m/s, rad/s] and acceleration (..., 6) as in `forward_kinematics`' base frame:
        J qd = twist, J qdd = accel - J' qd, of minimum norm where the arm is redundant, and the
        least-squares solution where it is singular or cannot perform the motion.

        Raises:
            InvalidInput: shapes that do not match, or not finite.
        """
        return inverse_motion(self, q, twist, accel)

    def follow_tip(
        self,
        times: FloatArray,
        poses: FloatArray,
        twists: FloatArray,
        accels: FloatArray,
        start: ArrayLike,
    ) -> JointSpaceMotion:
        """The joints' motion (K, n) that moves the tip along a motion, starting where the arm is.

        Args:
            times: (K,) [s], increasing.
            poses, twists, accels: (K, 7), (K, 6), (K, 6) of the tip, base frame, close enough
                together for Newton's method.
            start: (n,) configuration at, or near, the first pose.

        Raises:
            InvalidInput: shapes that do not match, or not finite.
            NoSolution: a pose that cannot be reached from the one before; `index` says which.
        """
        return follow_tip(self, times, poses, twists, accels, start)

    def configuration_at(self, pose: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """The configuration (n,) nearest to a guess, by default home, with the tip at a pose (7,).

        Raises:
            InvalidInput, NoSolution: as `inverse_kinematics`.
        """
        return self.inverse_kinematics(pose, guess)

    def motion_of_body(
        self,
        times: FloatArray,
        poses: FloatArray,
        twists: FloatArray,
        accels: FloatArray,
        start: ArrayLike,
    ) -> Motion:
        """The joints' motion (K, n) for one of the tip; see `follow_tip`.

        Raises:
            InvalidInput, NoSolution: as `follow_tip`.
        """
        return Motion(*self.follow_tip(times, poses, twists, accels, start))

    def without_friction(self) -> SerialArm:
        """The same arm without viscous and Coulomb friction."""
        return SerialArm(self.model.without_friction())

    def without_dry_friction(self, undamped: Collection[str] = ()) -> SerialArm:
        """The same arm without dry friction, and without damping at the joints named."""
        return SerialArm(self.model.without_dry_friction(undamped))

    def without_actuators(self) -> SerialArm:
        """The same arm with ideal actuators: no armature, Coulomb friction or motor limits."""
        return SerialArm(self.model.without_actuators())

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> SerialArm:
        """The same arm with a body held at the tip.

        Args:
            mass: of the body [kg].
            com: (3,) its centre of mass [m], in the tip's frame.
            inertia: (3, 3) about that [kg m^2], in the same axes; a point by default.
        """
        return SerialArm(self.model.with_payload(mass, com, inertia))

    def figure(self) -> Figure:
        """The arm as a stick figure: every link a stick to the next joint."""
        return stick_figure(self.model)

    def integrate(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        effort: FloatArray,
        wrench: FloatArray,
        dt: float,
        steps: int,
        end_stops: EndStops | None = None,
        *,
        limit_motors: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """Q (n,) and qd (n,) after `steps` of dt [s], efforts and wrench held; unchecked.

        With `limit_motors`, no motor has more than `effort_limits_at` says.

        Raises:
            SimulationFailed: no finite state follows.
        """
        return integrate(
            self._own_run.advance,
            reason,
            (configuration, velocity),
            effort,
            wrench,
            dt,
            steps,
            end_stops,
            limit_motors,
        )

    def compiled_simulation(
        self, model: Mechanism
    ) -> Callable[[Rollout, int, int], Outcome] | None:
        """Compiled simulation under a controller that uses `model`; None if not possible."""
        # a derived class may have other dynamics
        if type(self) is not SerialArm or type(model) is not SerialArm or model.n != self.n:
            return None
        return self._run_under(model).advance

    @cached_property
    def _own_run(self) -> CompiledRun:
        return self._run_under(self)

    def _run_under(self, model: SerialArm) -> CompiledRun:
        return CompiledRun(
            KERNELS,
            self._packed,
            lambda: self._packed_smooth,
            joint_table(self.position_limits, self.actuators),
            self.friction,
            model._packed,
        )

    @cached_property
    def _packed_smooth(self) -> tuple[FloatArray, FloatArray]:
        return pack_chain(self.model.without_dry_friction()), self._gravity

    @property
    def _packed(self) -> tuple[FloatArray, FloatArray]:
        return self._chain(), self._gravity

    def _single(self, friction: bool, armature: bool) -> Single:
        return self._singles[bool(friction), bool(armature)]

    def _chain(self, friction: bool = True, armature: bool = True) -> FloatArray:
        return self._chains[bool(friction), bool(armature)]


def _wrench(wrench: ArrayLike | None) -> FloatArray:
    return np.zeros(6) if wrench is None else as_array("wrench", wrench, (6,), "N, N m")


def _choose(method: str, known: tuple[str, ...]) -> None:
    if method not in known:
        raise InvalidInput(
            f"method is {method!r}, expected one of {', '.join(known)}", value=method
        )
