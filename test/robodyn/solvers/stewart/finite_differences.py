# SPDX-License-Identifier: Apache-2.0

"""Central differences of order 8 for smooth functions of one variable, about zero."""

import numpy as np

FIRST = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([8 / 5, -1 / 5, 8 / 315, -1 / 560])
CENTER = -205 / 72


def derivatives(function, step=1e-3):
    """First and second derivative at zero of a function of time that returns an array."""
    ahead = np.array([function(k * step) for k in (1, 2, 3, 4)])
    backward = np.array([function(-k * step) for k in (1, 2, 3, 4)])
    first = np.tensordot(FIRST, ahead - backward, 1) / step
    second = (np.tensordot(SECOND, ahead + backward, 1) + CENTER * function(0.0)) / step**2
    return first, second


def along(platform, pose, twist, accel):
    """A curve of poses that passes through `pose` at time 0 with `twist` and `accel`.

    With the rotation vector x(t) = w t + alpha t^2 / 2 the angular velocity at 0 is x' and the
    angular acceleration x'', for the terms in x vanish there and x' x x' is zero.
    """
    return lambda t: platform.advance(pose, twist * t + 0.5 * accel * t**2)
