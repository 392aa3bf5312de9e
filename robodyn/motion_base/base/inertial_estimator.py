# SPDX-License-Identifier: Apache-2.0

"""State estimation from the sensors of a mechanism's joints and an IMU on a link."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_scalar
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.base.base_pose import FORCE_BIAS, GYRO_BIAS, ImuNoise, kalman_gain
from robodyn.poses import rotation_matrix

# Initial standard deviations of position, velocity and acceleration.
UNKNOWN = 1e-2, 1.0, 10.0


class InertialEstimator:
    """Extended Kalman filter for the motion of a mechanism on a fixed base.

    The jerk is modeled as white noise. No masses or efforts are required. The IMU's biases are part
    of the state (Farrell, Aided Navigation, 2008).

    Args:
        mechanism: mechanism that moves.
        link: link that carries the IMU, which measures in the frame of that link; see `with_frame`.
        dt: [s] between steps.
        position_noise: [m or rad] standard deviation of each driven joint's position sensor.
        jerk: [m/s^3, rad/s^3 per sqrt(Hz)] noise density of the jerk, for each velocity coordinate.
        noise: errors of the IMU.

    Attributes:
        configuration, velocity, acceleration: (nq,), (nv,), (nv,), initially home at rest.
        bias: (6,) of the IMU, specific force [m/s^2], then angular velocity [rad/s].
        covariance: (3 nv + 6, 3 nv + 6) of the errors of the estimate: displacement of the
            configuration, velocity, acceleration and bias.

    Raises:
        InvalidInput: a number is not positive, or the link does not exist.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        link: str,
        dt: float,
        position_noise: float = 1e-5,
        jerk: float = 10.0,
        noise: ImuNoise | None = None,
    ) -> None:
        m, self._link, h = mechanism, link, as_scalar("dt", dt, "s", above=0.0)
        self.mechanism, self.configuration = m, m.home
        m.link_pose(m.home, link)  # raises for an unknown link
        nv, n, imu = m.coordinates.velocity_size, len(m.joint_names), noise or ImuNoise()
        self.velocity, self.acceleration, self.bias = np.zeros(nv), np.zeros(nv), np.zeros(6)
        unknown = np.append(np.repeat(UNKNOWN, nv), np.repeat([FORCE_BIAS, GYRO_BIAS], 3))
        self.covariance = np.diag(unknown**2)
        motion = np.array([[1.0, h, 0.5 * h**2], [0.0, 1.0, h], [0.0, 0.0, 1.0]])
        self._step = np.eye(3 * nv + 6)
        self._step[: 3 * nv, : 3 * nv] = np.kron(motion, np.eye(nv))
        white = [[h**5 / 20, h**4 / 8, h**3 / 6], [h**4 / 8, h**3 / 3, h**2 / 2]]
        white.append([h**3 / 6, h**2 / 2, h])
        density = as_scalar("jerk", jerk, above=0.0) ** 2
        walks = np.repeat([imu.accelerometer_bias, imu.gyroscope_bias], 3) ** 2 * h / 100.0
        self._white = np.diag(np.append(np.zeros(3 * nv), walks))
        self._white[: 3 * nv, : 3 * nv] = density * np.kron(white, np.eye(nv))
        sensors = np.full(n, as_scalar("position_noise", position_noise, "m or rad", above=0.0))
        felt = np.repeat([imu.accelerometer, imu.gyroscope], 3) / np.sqrt(2.0 * h)
        self._noise = np.diag(np.append(sensors, felt) ** 2)

    def step(
        self, positions: ArrayLike, specific_force: ArrayLike, angular_velocity: ArrayLike
    ) -> None:
        """Update the estimate with the measurements of the next period.

        Args:
            positions: (n,) [m or rad] of the driven joints.
            specific_force: (3,) [m/s^2] in the frame of the link.
            angular_velocity: (3,) [rad/s] in the frame of the link.

        Raises:
            InvalidInput: shapes are wrong or a value is not finite; the state is unchanged.
            KinematicsError: the kinematics have no solution at this configuration.
        """
        m, nv = self.mechanism, len(self.velocity)
        given = as_exact("positions", positions, (len(m.joint_names),), "m or rad")
        force = as_exact("specific_force", specific_force, (3,), "m/s^2")
        rate = as_exact("angular_velocity", angular_velocity, (3,), "rad/s")
        moved = self._step[:nv, nv : 3 * nv] @ np.append(self.velocity, self.acceleration)
        q = m.advance(self.configuration, moved)
        v = self.velocity + self._step[nv : 2 * nv, 2 * nv : 3 * nv] @ self.acceleration
        P = self._step @ self.covariance @ self._step.T + self._white
        expected, H = self._predict(q, v)
        K, self.covariance = kalman_gain(P, H, self._noise)
        change = K @ (np.concatenate([given, force, rate]) - expected)
        self.configuration = m.advance(q, change[:nv])
        self.velocity = v + change[nv : 2 * nv]
        self.acceleration = self.acceleration + change[2 * nv : 3 * nv]
        self.bias = self.bias + change[3 * nv :]

    def _predict(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict the joint positions and the IMU's specific force and angular velocity.

        The derivatives treat the Jacobian as constant; this error is small compared with the noise.

        Returns:
            Measurements (n + 6,), and their derivatives (n + 6, 3 nv + 6) w.r.t. the filter's
            state.
        """
        m, nv, n = self.mechanism, len(v), len(self.mechanism.joint_names)
        J = m.link_jacobian(q, self._link)
        R = rotation_matrix(m.link_pose(q, self._link)).T
        force = m.link_acceleration(q, v, self.acceleration, self._link)[:3] - m.model.gravity
        felt = np.append(R @ force, R @ J[3:] @ v) + self.bias
        H = np.zeros((n + 6, 3 * nv + 6))
        H[:n, :nv] = m.joint_velocities(np.broadcast_to(q, (nv, len(q))), np.eye(nv)).T
        # a rotation of the link rotates the measured gravity
        H[n : n + 3, :nv] = R @ np.cross(force, J[3:].T).T
        H[n + 3 :, :nv] = R @ np.cross(J[3:] @ v, J[3:].T).T
        H[n + 3 :, nv : 2 * nv] = R @ J[3:]
        H[n : n + 3, 2 * nv : 3 * nv] = R @ J[:3]
        H[n:, 3 * nv :] = np.eye(6)
        return np.append(m.joint_positions(q), felt), H
