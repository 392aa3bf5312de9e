"""The paths of the two Stewart papers, as printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.errors import PathError
from robodyn.trajectories.line import plan_line_rpy

if TYPE_CHECKING:
    from robodyn.trajectories.line import Line

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
    """Path I, II or III of Dasgupta and Mruthyunjaya (1998), or P1 of Pedrammehr (2012).

    Raises:
        PathError: lists the known names.
    """
    if name not in _PATHS:
        raise PathError(f"no path {name!r}; known are {', '.join(PAPER_PATHS)}", value=name)
    xyz, rpy, duration, v_max, w_max = _PATHS[name]
    return plan_line_rpy(xyz, rpy, duration, v_max, w_max)
