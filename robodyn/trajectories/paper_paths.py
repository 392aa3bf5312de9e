# SPDX-License-Identifier: Apache-2.0

"""Paths of the two Stewart papers, as printed, and the PUMA path of Lee et al."""

from __future__ import annotations

import numpy as np

from robodyn.errors import PathError
from robodyn.trajectories.line import JointLine, Line, plan_joints, plan_line_rpy
from robodyn.trajectories.profiles import ProfileName

# xyz [m], rpy [rad], duration [s], v_max [m/s], w_max [rad/s]
_PATHS = {
    "I": (((0.1, 0.0, 0.4), (0.3, 0.0, 0.6)), ((0.0, 0.0, -0.2), (0.0, 0.0, 0.2)), 6.0, 0.08, 0.08),
    "II": (((0.1, 0.0, 0.4), (0.3, 0.0, 0.6)), ((0.0, 0.0, -0.2), (0.0, 0.0, 0.2)), 0.6, 0.8, 0.8),
    "III": (((0.4, 1.4, 1.2), (0.8, 1.8, 1.8)), ((0.1, 0.2, 0.0), (0.3, 0.4, 0.0)), 6.0, 0.2, 0.08),
    # The 2012 paper prints V = 0.08, which cannot cover 0.5 m in 6 s; its figures show the
    # constant speed that can.
    "P1": (((0.1, 0.0, 0.5), (0.6, 0.0, 0.5)), ((0.0,) * 3, (0.0,) * 3), 6.0, 0.5 / 6.0, None),
}

PAPER_PATHS = tuple(_PATHS)


def paper_path(name: str) -> Line:
    """Return a path of the Stewart papers by its name.

    The names are `I`, `II` and `III` (Dasgupta and Mruthyunjaya, 1998) and `P1` (Pedrammehr, 2012).

    Raises:
        PathError: the name is unknown; the error lists the known names.
    """
    if name not in _PATHS:
        raise PathError(f"no path {name!r}; expected one of {', '.join(PAPER_PATHS)}", value=name)
    xyz, rpy, duration, v_max, w_max = _PATHS[name]
    return plan_line_rpy(xyz, rpy, duration, v_max, w_max)


# Motion of the PUMA [deg]. The paper does not state profile and duration, so there are several.
_PUMA = ((90.0, 0.0, 90.0, 0.0, 0.0, 0.0), (45.0, 30.0, 0.0, 45.0, 60.0, 90.0))
_ARM_PATHS: dict[str, tuple[ProfileName, float]] = {
    "puma": ("cubic", 2.0),
    "puma_cycloidal": ("cycloidal", 2.0),
    "puma_fast": ("cubic", 1.0),
}

ARM_PATHS = tuple(_ARM_PATHS)


def arm_path(name: str) -> JointLine:
    """Return a PUMA path of Lee et al. by its name.

    The names are `puma`, `puma_cycloidal` and `puma_fast`.

    Raises:
        PathError: the name is unknown; the error lists the known names.
    """
    if name not in _ARM_PATHS:
        raise PathError(f"no path {name!r}; expected one of {', '.join(ARM_PATHS)}", value=name)
    profile, duration = _ARM_PATHS[name]
    start, goal = np.deg2rad(_PUMA)
    return plan_joints(start, goal, duration, profile=profile)
