# SPDX-License-Identifier: Apache-2.0

"""The base class of every kind of mechanism; planners, controllers, nodes and views use only this.

A mechanism works in its own coordinates, of three sizes that may all differ: a *configuration*
(..., nq), its *velocity* and *acceleration* (..., nv), and *efforts* (..., n) of its driven joints.
For a Stewart platform the configuration is a pose (..., 7) and the velocity a twist (..., 6); for
a serial arm they are q and qd, both (..., n). `coordinates` says what the numbers are.
Configurations lie on a manifold, so code outside a mechanism never subtracts two of them but calls
`difference` and `advance`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import as_array
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.mechanisms.common import compiled_run
from robodyn.mechanisms.common.compiled_run import BatchSteps, Outcome, Rollout
from robodyn.mechanisms.common.end_stops import EndStops
from robodyn.mechanisms.common.single_calls import UncheckedDynamics
from robodyn.mechanisms.linear_in_parameters import LinearInParameters

if TYPE_CHECKING:
    from typing_extensions import Self


class EffortTerms(NamedTuple):
    """Efforts of a motion and the terms they are made of.

    Attributes:
        total: (N, n) [N or N m]; NaN where no efforts exist.
        terms: (N, n) each, by name, such as `massless` and `dynamic`, or `inertial`, `coriolis`,
            `gravity`, `friction`.
        reactions: named tuple of arrays (N, k, 3) in the mechanism's joints; None where a kind of
            mechanism does not compute them.
    """

    total: FloatArray
    terms: Mapping[str, FloatArray]
    reactions: Any = None


class Energy(NamedTuple):
    """Kinetic energy (...) [J], and potential energy (...) [J], 0 at the base's origin."""

    kinetic: FloatArray
    potential: FloatArray


def where_regular(
    function: Callable[..., FloatArray], states: Sequence[FloatArray], core: tuple[int, ...]
) -> FloatArray:
    """A function of rows of states, (N, *core), NaN where the mechanism is singular."""
    try:
        return function(*states)
    except KinematicsError:
        rows = np.full((len(states[0]), *core), np.nan)
    for row, state in zip(rows, zip(*states, strict=True), strict=True):
        try:
            row[...] = function(*state)
        except KinematicsError:
            continue
    return rows


class Mechanism(LinearInParameters):
    """A mechanism of any kind, in its own coordinates; methods are pure functions of its model.

    A configuration is (..., nq), its velocity and acceleration (..., nv), efforts (..., n) of the
    driven joints [N m, N where a joint slides]; a wrench (..., 6) is what the surroundings exert on
    the body, force [N], then moment about its reference point [N m], base frame. For a Stewart
    platform the configuration is a pose (..., 7) [m, -] and the velocity a twist (..., 6)
    [m/s, rad/s]; for an arm they are q and qd (..., n) [rad, m where a joint slides]; for closed
    loops the positions of all tree joints and the rates of the independent ones. `coordinates` says
    what the numbers are.

    Attributes:
        formulations: of the inverse dynamics that `effort_terms` knows; `exact` is the first. Where
            `massless` is one of them, `inverse_dynamics` takes it as the keyword `formulation`.
        no_step: why no acceleration, or no command, could be computed, by the kernels' status.
    """

    formulations: tuple[str, ...] = ("exact",)
    no_step: ClassVar[Mapping[int, str]] = {}
    # its compiled simulation, of what is `_packed`
    _loop: ClassVar[compiled_run.Kernels | None] = None
    _packed: tuple[FloatArray, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model, *self.options), {"_added": self.added_frames}

    @property
    def unchecked(self) -> UncheckedDynamics:
        """Unchecked calls for single states in inner loops, results written into given arrays."""
        return UncheckedDynamics(self)

    def gravity(self, configuration: ArrayLike, /, *, base: BaseMotion | None = None) -> FloatArray:
        """Efforts (..., n) that hold the mechanism where it is on its base."""
        rest = np.zeros(self.coordinates.velocity_size)
        return self.inverse_dynamics(configuration, rest, rest, base=base)

    def coriolis_matrix(self, configuration: ArrayLike, velocity: ArrayLike, /) -> FloatArray:
        """C (..., nv, nv): C velocity are the velocity terms of the bias, and Mdot - 2 C is skew.

        Half the slope of the velocity terms, which in independent coordinates has Christoffel's
        symbols. An angular velocity is the rate of none: what that adds to the velocity terms (the
        Boltzmann-Hamel equations) is the angular momentum crossed with it, itself skew.

        Raises:
            InvalidInput, KinematicsError: as `bias`.
        """
        nv = self.coordinates.velocity_size
        q = self.coordinates.checked("configuration", configuration)
        v = as_array("velocity", velocity, (nv,))
        around = v[..., None, :] + np.concatenate([np.eye(nv), -np.eye(nv)])
        values = self._frictionless.bias(q[..., None, :], around)
        C = np.swapaxes(0.25 * (values[..., :nv, :] - values[..., nv:, :]), -1, -2)
        for turning in self.coordinates.rotations:
            turned = self.mass_matrix(q)[..., turning, :]
            omega, momentum = v[..., turning, None], turned @ v[..., None]
            C[..., turning, :] += 0.5 * np.cross(omega, turned, axis=-2)
            C[..., turning, turning] += 0.5 * np.cross(momentum, np.eye(3), axis=-2)
        return np.ascontiguousarray(C)

    def energy(self, configuration: ArrayLike, velocity: ArrayLike, /) -> Energy:
        """Compute the kinetic and the potential energy.

        Args:
            configuration: (..., nq).
            velocity: (..., nv).

        Returns:
            Kinetic energy (...) [J], rotors of motors included, and potential energy (...) [J], 0
            at the base's origin.

        Raises:
            InvalidInput: a wrong shape or not finite.
            KinematicsError: as `mass_matrix`.
        """
        shape, (q, v) = self._states(configuration, velocity)
        if not shape:
            q, v = q[0], v[0]
            kinetic = 0.5 * v.dot(self.mass_matrix(q).dot(v))
            potential = -self._mass * self.center_of_mass(q).dot(self.model.gravity)
            return Energy(np.asarray(kinetic), np.asarray(potential))
        q, v = q.reshape(*shape, q.shape[-1]), v.reshape(*shape, self._nv)
        momenta = (self.mass_matrix(q) @ v[..., None])[..., 0]
        potential = -self._mass * (self.center_of_mass(q) @ self.model.gravity)
        return Energy(np.asarray(0.5 * (v * momenta).sum(axis=-1)), np.asarray(potential))

    @cached_property
    def _mass(self) -> float:
        return float(sum(body.mass for body in self.bodies))

    def effort_terms(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        wrench: FloatArray | None = None,
        formulation: str = "exact",
    ) -> EffortTerms:
        """Efforts (N, n) of a motion and the terms that add up to them; NaN where no efforts exist.

        What inertia, velocity (`coriolis`, centrifugal terms included), gravity, friction and, if
        there is one, a wrench contribute.

        Raises:
            InvalidInput: an unknown formulation.
        """
        if formulation not in self.formulations:
            noun = self.nouns.mechanism
            raise InvalidInput(
                f"formulation is {formulation!r}, {'an' if noun[0] in 'aeiou' else 'a'} {noun} has "
                f"only {', '.join(self.formulations)}",
                value=formulation,
            )
        q, v, change = (np.atleast_2d(part) for part in (configuration, velocity, acceleration))
        rest, core = np.zeros_like(v), (len(self.joint_names),)
        smooth = self._frictionless.inverse_dynamics
        gravity = where_regular(smooth, (q, rest, rest), core)
        frictionless = where_regular(smooth, (q, v, rest), core)
        inertial = where_regular(smooth, (q, v, change), core) - frictionless
        unloaded = where_regular(self.inverse_dynamics, (q, v, change), core)
        terms = {
            "inertial": inertial,
            "coriolis": frictionless - gravity,
            "gravity": gravity,
            "friction": unloaded - frictionless - inertial,
        }
        if wrench is None:
            return EffortTerms(unloaded, terms)
        load = np.broadcast_to(wrench, (*v.shape[:-1], 6))
        total = where_regular(self.inverse_dynamics, (q, v, change, load), core)
        return EffortTerms(total, terms | {"wrench": total - unloaded})

    def without_friction(self) -> Self:
        """The same mechanism with neither viscous nor dry friction in its joints."""
        return self._made(self.model.without_friction())

    @cached_property
    def _frictionless(self) -> Self:
        return self.without_friction()

    @cached_property
    def without_planned_friction(self) -> Self:
        """The same mechanism without the friction that control compensates for the planned motion.

        That is dry friction, whose sign a measured rate would make flicker, and viscous friction
        so strong that velocities decay within a few periods of control. The mechanism itself, if
        there is none.
        """
        fast = self.friction.is_fast
        names: tuple[str, ...] = ()
        if fast.any():
            given = self.coordinates.velocity_names
            names = tuple(given[k] for k in np.flatnonzero(fast) if given[k] in self.joint_names)
            names = names or self.joint_names
        return self.without_dry_friction(names) if names or self.friction.is_dry else self

    def without_actuators(self) -> Self:
        """The same mechanism with ideal actuators: no rotors, no dry friction, no motor limits."""
        return self._made(self.model.without_actuators())

    def with_gravity(self, gravity: ArrayLike, /) -> Self:
        """Return the same mechanism under another gravity.

        Args:
            gravity: (3,) [m/s^2] base frame; zeros for drives that compensate gravity themselves.

        Raises:
            ModelError: a wrong shape, or not finite.
        """
        return self._made(self.model.with_gravity(gravity))

    def with_cones(self, base_cone: float | None = None, body_cone: float | None = None) -> Self:
        """Return the mechanism with limits of how far joints at the legs' ends bend from home.

        Args:
            base_cone: [rad] of the joints at the base; None for as it is, infinite for any.
            body_cone: [rad] of those at the moving body.

        Raises:
            InvalidInput: a mechanism without straight legs.
            ModelError: a cone that is not positive.
        """
        if not self.leg_names:
            raise InvalidInput(
                f"{self.name} has no straight legs whose joints' cones could be limited",
                value=self.kind,
            )
        return self._made(self.model.with_cones(base_cone, body_cone))

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> Self:
        """The same mechanism with a body fixed to its platform or held at its tip.

        mass [kg], com (3,) [m] and inertia (3, 3) [kg m^2] about it, in the moving body's frame; a
        point by default.
        """
        return self._made(self.model.with_payload(mass, com, inertia))

    def with_model_values(self, values: Mapping[str, float], /) -> Self:
        """The mechanism with other values of the variables of its model.

        Raises:
            ModelError: there is no such mechanism.
        """
        return self

    def step(
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
        """Configuration and velocity after `steps` of dt [s], effort and wrench held; unchecked.

        The wrench is (6,), or (15,) with the `rows` of a `BaseMotion` after it, or (3, 15) at the
        beginning, middle and end of the step.

        With `limit_motors`, no motor has more than `effort_limits_at` says.

        Raises:
            SimulationFailed: no finite state follows; its `value` is the last good state.
        """
        state, loads = (configuration, velocity), (effort, wrench)
        rollout = compiled_run.held(*state, *loads, dt, steps, end_stops, limit_motors)
        outcome = self._own_run.advance(rollout, 0, 1)
        return compiled_run.reached(rollout, outcome, self._why_no_step)

    def _why_no_step(self, status: int, configuration: FloatArray) -> str:
        return self.no_step[status]

    def compiled_simulation(
        self, model: Mechanism, /
    ) -> Callable[[Rollout, int, int], Outcome] | None:
        """A function (rollout, first, last) that fills rows `first` + 1 to `last` of a rollout.

        `model` is the mechanism as the controller models it. None if compiled code cannot simulate
        this pair; simulations then call Python at each stage of a step.
        """
        # a derived class may have other dynamics than the one that says how it runs
        overridden = vars(type(self)).keys() & {"_loop", "_run_under"}
        if not overridden or not self._is_alike(model):
            return None
        advance: Callable[[Rollout, int, int], Outcome] = self._run_under(model).advance
        return advance

    def batch_steps(
        self, rows: Sequence[Any], dt: float, *, limit_motors: bool
    ) -> BatchSteps | None:
        """Compiled steps of dt [s] of many mechanisms, `rows`, each with its own parameters.

        `rows` are of this kind and of one structure; with `limit_motors`, motors keep to their
        torque-speed curves. None where each is taken on alone.
        """
        return None

    def _is_alike(self, model: Mechanism) -> bool:
        """Whether kernels may take another mechanism's numbers for this one's."""
        return type(model) is type(self) and len(model.joint_names) == len(self.joint_names)

    def _run_under(self, model: Any) -> Any:
        """What simulates it, by compiled code, under a controller that uses `model`."""
        if self._loop is None:
            raise self._unanswered("compiled simulations")
        return compiled_run.CompiledRun(
            self._loop,
            self._packed,
            lambda: self._smooth._packed,
            self.motor_table,
            self.friction,
            model._packed,
        )

    @cached_property
    def _own_run(self) -> Any:
        return self._run_under(self)

    def warm_up(self) -> None:
        """Call once the compiled functions that only this kind has, so that they are loaded.

        See `robodyn.warmup.warm_up`.
        """
