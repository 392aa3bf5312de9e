"""The Stewart platform: the public face of the 6-UPS kernels.

Every method checks what enters, broadcasts over leading dimensions and hands one flat batch to
a compiled kernel. Vectors are in the base frame, about the platform's reference point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.batch import flatten
from robodyn.checks import as_array, as_pose, as_scalar
from robodyn.errors import InvalidInput
from robodyn.kernels import stewart_batch as kernels
from robodyn.poses import advance_pose, pose_difference
from robodyn.stewart.packing import pack_legs, pack_platform
from robodyn.stewart.status import raise_first

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from robodyn.stewart.model import StewartModel

    FloatArray = NDArray[np.float64]

FORMULATIONS = ("exact", "massless")


class StewartPlatform:
    """A 6-UPS Stewart platform; the model is frozen, methods are pure functions of it.

    Attributes:
        model: the description it was made from.
    """

    kind = "stewart"

    def __init__(self, model: StewartModel) -> None:
        self.model = model
        self._legs = pack_legs(model)
        self._platform = pack_platform(model)

    def __repr__(self) -> str:
        return f"StewartPlatform({self.name!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StewartPlatform):
            return NotImplemented
        return self.model == other.model

    __hash__ = None  # type: ignore[assignment]  # equal within rounding cannot hash alike

    @property
    def name(self) -> str:
        """What the mechanism is called."""
        return self.model.name

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The six driven joints; their positions are the leg lengths."""
        return tuple(leg.joints.actuator.name for leg in self.model.legs)

    @property
    def effort_limits(self) -> FloatArray:
        """(6,) [N]."""
        return np.array([leg.limits.effort for leg in self.model.legs])

    @property
    def position_limits(self) -> FloatArray:
        """(6, 2) [m] shortest and longest leg."""
        return np.array([leg.limits.length for leg in self.model.legs])

    @property
    def velocity_limits(self) -> FloatArray:
        """(6,) [m/s]."""
        return np.array([leg.limits.velocity for leg in self.model.legs])

    @property
    def home(self) -> FloatArray:
        """(7,) the model's home pose.

        Raises:
            InvalidInput: the model names none.
        """
        if self.model.home is None:
            raise InvalidInput(
                f"{self.name}: the model has no home pose; add `home: {{xyz: [...], rpy: [...]}}`"
            )
        return np.array(self.model.home)

    def inverse_kinematics(self, pose: ArrayLike) -> FloatArray:
        """Leg lengths (..., 6) [m] of pose (..., 7): Dasgupta 1998, eq. 1, 2.

        Raises:
            InvalidInput: pose of the wrong shape, not finite, or no unit quaternion.
            ZeroLegLength: a platform point lies on its base point.
        """
        shape, (flat,) = flatten(pose=as_pose("pose", pose))
        out, status = np.empty((len(flat), 6)), _status(flat)
        kernels.leg_lengths(self._legs, flat, out, status)
        raise_first(status, shape, flat, self._legs)
        return out.reshape(*shape, 6)

    def jacobian(self, pose: ArrayLike) -> FloatArray:
        """H (..., 6, 6) of pose (..., 7): wrench = H @ forces, columns [s; q x s], eq. 35.

        Leg rates are H' @ twist.

        Raises:
            InvalidInput, ZeroLegLength: as for `inverse_kinematics`.
        """
        shape, (flat,) = flatten(pose=as_pose("pose", pose))
        out, status = np.empty((len(flat), 6, 6)), _status(flat)
        kernels.jacobian(self._legs, flat, out, status)
        raise_first(status, shape, flat, self._legs)
        return out.reshape(*shape, 6, 6)

    def condition_number(self, pose: ArrayLike, characteristic_length: float = 1.0) -> FloatArray:
        """Ratio (...) of the extreme singular values of H, its moment rows divided by a length.

        `characteristic_length` [m] = 1 is the papers' condition number, which mixes N and N m;
        a length of the platform's size makes it independent of units. Infinite where H is
        exactly singular.

        Raises:
            InvalidInput: as for `jacobian`, or a length that is not positive.
        """
        values = self.singular_values(pose, characteristic_length)
        with np.errstate(divide="ignore"):
            return np.asarray(values[..., 0] / values[..., -1])

    def singular_values(self, pose: ArrayLike, characteristic_length: float = 1.0) -> FloatArray:
        """Singular values (..., 6) of H, largest first, its moment rows divided by a length [m].

        Raises:
            InvalidInput: as for `condition_number`.
        """
        length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
        H = self.jacobian(pose)
        H[..., 3:, :] /= length
        return np.linalg.svd(H, compute_uv=False)

    def inverse_dynamics(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        accel: ArrayLike,
        wrench: ArrayLike | None = None,
        formulation: str = "exact",
    ) -> FloatArray:
        """Actuator forces (..., 6) [N] of a motion, positive when they push a leg's parts apart.

        Args:
            pose: (..., 7) platform in base frame.
            twist: (..., 6) [m/s, rad/s].
            accel: (..., 6) [m/s^2, rad/s^2].
            wrench: (..., 6) [N, N m] what the surroundings exert on the platform, about its
                reference point; none by default.
            formulation: `exact`, or `massless` for legs without mass and friction (eq. 41).

        Raises:
            InvalidInput: wrong shapes, not finite, unknown formulation.
            ZeroLegLength, UniversalJointSingularity, SingularConfiguration: no forces exist.
        """
        if formulation not in FORMULATIONS:
            raise InvalidInput(
                f"formulation is {formulation!r}, expected one of {', '.join(FORMULATIONS)}",
                value=formulation,
            )
        shape, (q, v, a, w) = flatten(
            pose=as_pose("pose", pose),
            twist=as_array("twist", twist, (6,), "m/s, rad/s"),
            accel=as_array("accel", accel, (6,), "m/s^2, rad/s^2"),
            wrench=_wrench(wrench),
        )
        out, status = np.empty((len(q), 6)), _status(q)
        with_legs = formulation == "exact"
        kernels.inverse_dynamics(self._legs, self._platform, q, v, a, w, with_legs, out, status)
        raise_first(status, shape, q, self._legs)
        return out.reshape(*shape, 6)

    def mass_matrix(self, pose: ArrayLike) -> FloatArray:
        """M (..., 6, 6), symmetric positive definite: H F + wrench = M accel + bias.

        Raises:
            InvalidInput, ZeroLegLength, UniversalJointSingularity: as for `inverse_dynamics`.
        """
        shape, (flat,) = flatten(pose=as_pose("pose", pose))
        out, status = np.empty((len(flat), 6, 6)), _status(flat)
        kernels.mass_matrix(self._legs, self._platform, flat, out, status)
        raise_first(status, shape, flat, self._legs)
        return out.reshape(*shape, 6, 6)

    def bias(self, pose: ArrayLike, twist: ArrayLike) -> FloatArray:
        """Bias (..., 6) [N, N m]: gravity, velocity terms and friction, as a wrench to be met.

        Raises:
            InvalidInput, ZeroLegLength, UniversalJointSingularity: as for `inverse_dynamics`.
        """
        shape, (q, v) = flatten(
            pose=as_pose("pose", pose), twist=as_array("twist", twist, (6,), "m/s, rad/s")
        )
        out, status = np.empty((len(q), 6)), _status(q)
        kernels.bias(self._legs, self._platform, q, v, out, status)
        raise_first(status, shape, q, self._legs)
        return out.reshape(*shape, 6)

    def forward_dynamics(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        forces: ArrayLike,
        wrench: ArrayLike | None = None,
    ) -> FloatArray:
        """Platform acceleration (..., 6) [m/s^2, rad/s^2] that actuator forces (..., 6) [N] cause.

        Unlike `inverse_dynamics` it has an answer where H is singular.

        Raises:
            InvalidInput, ZeroLegLength, UniversalJointSingularity: as for `inverse_dynamics`.
        """
        shape, (q, v, f, w) = flatten(
            pose=as_pose("pose", pose),
            twist=as_array("twist", twist, (6,), "m/s, rad/s"),
            forces=as_array("forces", forces, (6,), "N"),
            wrench=_wrench(wrench),
        )
        out, status = np.empty((len(q), 6)), _status(q)
        kernels.forward_dynamics(self._legs, self._platform, q, v, f, w, out, status)
        raise_first(status, shape, q, self._legs)
        return out.reshape(*shape, 6)

    def joint_positions(self, configuration: ArrayLike) -> FloatArray:
        """Leg lengths (..., 6) [m]; see `inverse_kinematics`."""
        return self.inverse_kinematics(configuration)

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """Leg rates (..., 6) [m/s] of pose (..., 7) and twist (..., 6): H' @ twist, eq. 5."""
        twist = as_array("twist", velocity, (6,), "m/s, rad/s")
        return np.asarray((self.jacobian(configuration) * twist[..., :, None]).sum(axis=-2))

    def difference(self, start: ArrayLike, goal: ArrayLike) -> FloatArray:
        """Displacement (..., 6) [m, rad] between poses; see `robodyn.poses.pose_difference`."""
        return pose_difference(start, goal)

    def advance(self, configuration: ArrayLike, displacement: ArrayLike) -> FloatArray:
        """Pose after a displacement; see `robodyn.poses.advance_pose`."""
        return advance_pose(configuration, displacement)


def _wrench(wrench: ArrayLike | None) -> Any:
    return np.zeros(6) if wrench is None else as_array("wrench", wrench, (6,), "N, N m")


def _status(flat: FloatArray) -> NDArray[np.int64]:
    return np.zeros(len(flat), dtype=np.int64)
