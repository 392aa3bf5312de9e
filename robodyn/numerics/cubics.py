# SPDX-License-Identifier: Apache-2.0

"""Motion between the knots of a trajectory; all arrays are flat batches (N, k)."""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import kernel
from robodyn.numerics.rotations import advanced_pose, rotation_vector_motion
from robodyn.numerics.vectors import store, vector


@kernel
def cubic_motions(
    time: Any,
    begin: Any,
    end: Any,
    first: Any,
    first_velocity: Any,
    c2: Any,
    c3: Any,
    turns: bool,
    configuration: Any,
    velocity: Any,
    acceleration: Any,
) -> None:
    """Evaluate cubic segments of a trajectory at N times.

    Sample n is on the segment from `begin` to `end` (N,). With the velocity v (N, nv) at its start,
    the displacement (N, nv) from its first configuration is x (h v + x (c2 + x c3)) with x = (time
    - begin)/h, h = end - begin and the coefficients c2, c3 (N, nv). If `turns`, its last three
    coordinates are a rotation vector, and a configuration is a pose. Configurations, velocities and
    accelerations are written to the last three arguments.
    """
    for n in range(time.shape[0]):
        h = end[n] - begin[n]
        x = (time[n] - begin[n]) / h
        count = velocity.shape[1]
        # the displacement is stored in the memory of the resulting configuration
        displacement = configuration[n]
        for j in range(count):
            v = first_velocity[n, j]
            displacement[j] = x * (h * v + x * (c2[n, j] + x * c3[n, j]))
            velocity[n, j] = v + x * (2.0 * c2[n, j] + 3.0 * x * c3[n, j]) / h
            acceleration[n, j] = (2.0 * c2[n, j] + 6.0 * x * c3[n, j]) / (h * h)
        if turns:
            omega, alpha = rotation_vector_motion(
                vector(displacement, 3), vector(velocity[n], 3), vector(acceleration[n], 3)
            )
            store(velocity[n], 3, omega)
            store(acceleration[n], 3, alpha)
            advanced_pose(first[n], displacement, configuration[n])
        else:
            for j in range(count):
                configuration[n, j] = first[n, j] + displacement[j]
