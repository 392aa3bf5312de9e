"""The serial arm: the public face of the chain kernels.

Every method checks what enters, broadcasts over leading dimensions and hands one flat batch to a
compiled kernel. q, qd, qdd and efforts are (..., n), a joint's entry in rad or m, N m or N.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.batch import element, flatten
from robodyn.checks import as_array, as_scalar
from robodyn.errors import InvalidInput, SingularMassMatrix
from robodyn.kernels import serial_batch as kernels
from robodyn.serial.integration import integrate
from robodyn.serial.packing import pack_chain, pack_pseudo_inertias

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from robodyn.serial.model import SerialModel
    from robodyn.simulation.plant import EndStops

    FloatArray = NDArray[np.float64]

INVERSE_METHODS = ("newton_euler", "modified_newton_euler", "lagrange")
MASS_METHODS = ("composite", "strobing")
FORWARD_METHODS = ("articulated_body", "strobing")


class SerialArm:
    """An open chain of revolute and prismatic joints; methods are pure functions of its model.

    Viscous and Coulomb friction and the motors' reflected inertia count unless `friction=False`
    or `armature=False` says otherwise. A wrench (..., 6) is what the surroundings exert on the
    arm: force and moment about the tip point, base frame [N, N m].

    Attributes:
        model: the description it was made from.
    """

    kind = "serial"

    def __init__(self, model: SerialModel) -> None:
        self.model = model
        self._chains = {
            (friction, armature): pack_chain(model, friction=friction, armature=armature)
            for friction in (False, True)
            for armature in (False, True)
        }
        self._pseudo = pack_pseudo_inertias(self._chains[False, False])
        self._gravity = np.array(model.gravity)

    def __repr__(self) -> str:
        return f"SerialArm({self.name!r}, {self.n} joints)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SerialArm):
            return NotImplemented
        return self.model == other.model

    __hash__ = None  # type: ignore[assignment]  # equal within rounding cannot hash alike

    @property
    def name(self) -> str:
        """What the arm is called."""
        return self.model.name

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.model.joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """From the base to the tip."""
        return tuple(joint.name for joint in self.model.joints)

    @property
    def effort_limits(self) -> FloatArray:
        """(n,) [N m or N]."""
        return np.array([joint.effort for joint in self.model.joints])

    @property
    def position_limits(self) -> FloatArray:
        """(n, 2) [rad or m]."""
        return np.array([joint.position for joint in self.model.joints])

    @property
    def velocity_limits(self) -> FloatArray:
        """(n,) [rad/s or m/s]."""
        return np.array([joint.velocity for joint in self.model.joints])

    @property
    def home(self) -> FloatArray:
        """(n,) the model's home position."""
        return np.array(self.model.home)

    def joint_positions(self, configuration: ArrayLike) -> FloatArray:
        """(..., n) [rad or m] the configuration itself, checked."""
        return self._q("configuration", configuration)

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """(..., n) [rad/s or m/s] the velocity itself, checked."""
        shape, (_, qd) = self._flat(configuration=configuration, velocity=velocity)
        return qd.reshape(*shape, self.n)

    def difference(self, start: ArrayLike, goal: ArrayLike) -> FloatArray:
        """(..., n) goal - start; a continuous joint counts its turns."""
        return np.asarray(self._q("goal", goal) - self._q("start", start))

    def advance(self, configuration: ArrayLike, displacement: ArrayLike) -> FloatArray:
        """(..., n) configuration + displacement."""
        step = self._q("displacement", displacement)
        return np.asarray(self._q("configuration", configuration) + step)

    def forward_kinematics(self, q: ArrayLike) -> FloatArray:
        """Pose (..., 7) of the tip, base frame: x y z [m], qx qy qz qw with qw >= 0."""
        shape, (flat,) = self._flat(q=q)
        out = np.empty((len(flat), 7))
        kernels.poses(self._chain(), flat, out)
        return out.reshape(*shape, 7)

    def jacobian(self, q: ArrayLike) -> FloatArray:
        """J (..., 6, n): twist of the tip [v; omega] = J @ qd, base frame; its efforts J' wrench."""
        shape, (flat,) = self._flat(q=q)
        out = np.empty((len(flat), 6, self.n))
        kernels.jacobian(self._chain(), flat, out)
        return out.reshape(*shape, 6, self.n)

    def singular_values(self, q: ArrayLike, characteristic_length: float = 1.0) -> FloatArray:
        """Singular values (..., min(6, n)) of J, largest first, its angular rows times a length.

        Raises:
            InvalidInput: q of the wrong shape or not finite, or a length that is not positive.
        """
        length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
        J = self.jacobian(q)
        J[..., 3:, :] *= length
        return np.asarray(np.linalg.svd(J, compute_uv=False), dtype=np.float64)

    def condition_number(self, q: ArrayLike, characteristic_length: float = 1.0) -> FloatArray:
        """Ratio (...) of the extreme of the min(6, n) singular values; infinite if one is zero.

        Angular rates are multiplied by a length [m] or, which is the same, moments divided by it.

        Raises:
            InvalidInput: as for `singular_values`.
        """
        values = self.singular_values(q, characteristic_length)
        with np.errstate(divide="ignore"):
            return np.asarray(values[..., 0] / values[..., -1])

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
        """Efforts (..., n) for a motion, by one of three equal methods.

        `newton_euler` and `modified_newton_euler` are the two recursions of Turney, Mudge and Lee
        (1980), eq. 3.15-3.21 and 5.1-5.2; `lagrange` is their trace form, eq. 4.34.

        Raises:
            InvalidInput: a wrong shape, not finite, or an unknown method.
        """
        _choose(method, INVERSE_METHODS)
        shape, flat = self._flat(q=q, qd=qd, qdd=qdd, wrench=_wrench(wrench))
        chain, contact = self._chain(friction, armature), wrench is not None
        out = np.empty((len(flat[0]), self.n))
        if method == "lagrange":
            kernels.lagrange(chain, self._pseudo, self._gravity, *flat, contact, out)
        else:
            modified = method == "modified_newton_euler"
            kernels.newton_euler(chain, self._gravity, *flat, contact, modified, out)
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
        """M (..., n, n), by composite rigid bodies or by `strobing` the inverse dynamics.

        Raises:
            InvalidInput: as for `inverse_dynamics`.
        """
        _choose(method, MASS_METHODS)
        shape, (flat,) = self._flat(q=q)
        out = np.empty((len(flat), self.n, self.n))
        strobing = method == "strobing"
        compute = kernels.strobed_mass_matrix if strobing else kernels.mass_matrix
        compute(self._chain(False, armature), flat, out)
        return out.reshape(*shape, self.n, self.n)

    def christoffel(self, q: ArrayLike) -> FloatArray:
        """C^i_jk (..., n, n, n) at [i, j, k]: the velocity terms are qd' C^i qd, by strobing."""
        shape, (flat,) = self._flat(q=q)
        out = np.empty((len(flat), self.n, self.n, self.n))
        kernels.christoffel(self._chain(False, False), flat, out)
        return out.reshape(*shape, self.n, self.n, self.n)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> FloatArray:
        """C (..., n, n) from Christoffel's symbols: velocity terms C @ qd, Mdot - 2C skew."""
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

        `articulated_body` is of order n (Featherstone, 2008); `strobing` is section 7 of Turney,
        Mudge and Lee (1980).

        Raises:
            InvalidInput: as for `inverse_dynamics`.
            SingularMassMatrix: a joint has no inertia to accelerate.
        """
        _choose(method, FORWARD_METHODS)
        shape, flat = self._flat(q=q, qd=qd, tau=tau, wrench=_wrench(wrench))
        out, status = np.empty((len(flat[0]), self.n)), np.zeros(len(flat[0]), dtype=np.int64)
        strobing = method == "strobing"
        compute = kernels.strobed_forward_dynamics if strobing else kernels.forward_dynamics
        compute(self._chain(friction, armature), self._gravity, *flat, out, status)
        if status.any():
            first = int(np.argmax(status))
            index = element(shape, first)
            raise SingularMassMatrix(
                f"{self.name}: a joint has no inertia to accelerate at q "
                f"{np.array2string(flat[0][first], precision=6)}"
                f"{f' (element {list(index)})' if index else ''}; give its link mass or its motor "
                "an armature",
                value=flat[0][first],
                index=index,
            )
        return out.reshape(*shape, self.n)

    def energy(self, q: ArrayLike, qd: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Kinetic energy (...) with the motors', potential energy (...), 0 at the base [J]."""
        shape, (position, rate) = self._flat(q=q, qd=qd)
        out = np.empty((len(position), 2))
        kernels.energy(self._chain(), self._gravity, position, rate, out)
        return out[:, 0].reshape(shape), out[:, 1].reshape(shape)

    def without_friction(self) -> SerialArm:
        """The same arm with neither viscous nor Coulomb friction."""
        return SerialArm(self.model.without_friction())

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> SerialArm:
        """The same arm with a body held at the tip; arguments as `SerialModel.with_payload`."""
        return SerialArm(self.model.with_payload(mass, com, inertia))

    def configuration_rate(self, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        """Time derivative (n,) of a configuration, the velocity itself; unchecked."""
        return velocity

    def normalized(self, configuration: FloatArray) -> FloatArray:
        """The configuration (n,) as it is, which no rounding can take off its manifold."""
        return configuration

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
        """Q (n,) and qd (n,) after `steps` of dt [s], efforts and wrench held; unchecked.

        Raises:
            SimulationFailed: no finite state follows.
        """
        stops = (0.0, 0.0) if end_stops is None else (end_stops.stiffness, end_stops.damping)
        state, limits = (configuration, velocity), self.position_limits
        return integrate(
            self._chain(), self._gravity, limits, stops, state, effort, wrench, dt, steps
        )

    def _chain(self, friction: bool = True, armature: bool = True) -> FloatArray:
        return self._chains[bool(friction), bool(armature)]

    def _q(self, name: str, value: ArrayLike) -> FloatArray:
        return as_array(name, value, (self.n,), f"{self.n} joints, rad or m")

    def _flat(self, **values: Any) -> tuple[tuple[int, ...], Any]:
        checked = {
            name: value if name == "wrench" else self._q(name, value)
            for name, value in values.items()
        }
        return flatten(**checked)


def _wrench(wrench: ArrayLike | None) -> FloatArray:
    return np.zeros(6) if wrench is None else as_array("wrench", wrench, (6,), "N, N m")


def _choose(method: str, known: tuple[str, ...]) -> None:
    if method not in known:
        raise InvalidInput(
            f"method is {method!r}, expected one of {', '.join(known)}", value=method
        )
