# SPDX-License-Identifier: Apache-2.0

"""Kinematics of an arm: names, limits, poses of the tip, Jacobian."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.checks import as_array, as_scalar
from robodyn.mechanisms.common.single_calls import condition_of
from robodyn.mechanisms.serial import batch_calls as many
from robodyn.mechanisms.serial import single_calls as single
from robodyn.mechanisms.serial.answers import SerialAnswers
from robodyn.mechanisms.serial.kernels import batch as kernels
from robodyn.mechanisms.serial.packing import pack_chain
from robodyn.numerics.broadcasting import flatten
from robodyn.numerics.singular_values import extreme_ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.serial.model import SerialModel


class SerialKinematics(SerialAnswers):
    """The kinematic half of `SerialArm`; configurations, q, are (..., n) in rad or m.

    Attributes:
        model: the description it was built from.
    """

    kind = "serial"

    def __init__(self, model: SerialModel) -> None:
        self.model = model
        self._geometry = pack_chain(model)
        # a view, as unpickled arrays have another dtype object, which kernels do not accept
        self._gravity = np.array(model.gravity).view(np.float64)
        self._n = len(model.joints)

    @property
    def name(self) -> str:
        """Name of the arm."""
        return self.model.name

    @property
    def n(self) -> int:
        """Number of joints."""
        return self._n

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """From the base to the tip."""
        return tuple(joint.name for joint in self.model.joints)

    @cached_property
    def _condition(self) -> Callable[[Any, Any, bool], float]:
        return single.condition(self._geometry)

    @cached_property
    def frames(self) -> tuple[str, str]:
        """Names of the base frame and of the tip's."""
        return self.model.base_link, self.model.tip_link

    @property
    def effort_limits(self) -> FloatArray:
        """(n,) [N m or N], the smaller of a joint's limit and its motor's at standstill."""
        return np.array(
            [min(joint.effort, joint.drive.effort_limit) for joint in self.model.joints],
            dtype=np.float64,
        )

    @property
    def position_limits(self) -> FloatArray:
        """(n, 2) [rad or m]."""
        return np.array([joint.position for joint in self.model.joints], dtype=np.float64)

    @property
    def velocity_limits(self) -> FloatArray:
        """(n,) [rad/s or m/s], the smaller of a joint's limit and of its motor's."""
        return np.array(
            [min(joint.velocity, joint.drive.rate_limit) for joint in self.model.joints]
        )

    @property
    def home(self) -> FloatArray:
        """(n,) the model's home position."""
        return np.array(self.model.home)

    def body_pose(self, configuration: ArrayLike) -> FloatArray:
        """Pose (..., 7) of the tip; see `forward_kinematics`."""
        return self.forward_kinematics(configuration)

    def joint_positions(self, configuration: ArrayLike) -> FloatArray:
        """(..., n) [rad or m] the configuration itself, checked."""
        return self._q("configuration", configuration)

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """(..., n) [rad/s or m/s] the velocity itself, checked."""
        shape, (_, qd) = self._flat(configuration=configuration, velocity=velocity)
        return np.asarray(qd.reshape(*shape, self.n))

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
        kernels.poses(self._geometry, flat, out)
        return out.reshape(*shape, 7)

    def jacobian(self, q: ArrayLike) -> FloatArray:
        """J (..., 6, n) of the tip, base frame: [v; omega] = J @ qd, efforts = J' @ wrench."""
        return many.jacobian((self._geometry, self._gravity), q)

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
        ratio = condition_of(self._condition, q, characteristic_length)
        if ratio is not None:
            return ratio
        return extreme_ratio(self.singular_values(q, characteristic_length))

    def configuration_rate(self, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        """Time derivative (n,) of a configuration, the velocity itself; unchecked."""
        return velocity

    def normalized(self, configuration: FloatArray) -> FloatArray:
        """The configuration (n,) unchanged: joint space is flat."""
        return configuration

    def _q(self, name: str, value: ArrayLike) -> FloatArray:
        return as_array(name, value, (self.n,), f"{self.n} joints, rad or m")

    def _flat(self, **values: Any) -> tuple[tuple[int, ...], Any]:
        checked = {
            name: value if name == "wrench" else self._q(name, value)
            for name, value in values.items()
        }
        return flatten(**checked)
