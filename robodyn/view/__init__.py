# SPDX-License-Identifier: Apache-2.0

"""Viewer: a mechanism in 3D in the browser, with plots and controls, based on `viser`.

Nothing here depends on ROS. A *source* returns a `Snapshot`, the state of a mechanism at one
moment, on request: the simulation in this process (`live`), a recording (`replay`), or the topics
of a running graph (`robodyn_ros`). A `ViewerPage` draws it. viser is an optional extra and is
imported only when a page is opened.
"""

from robodyn.view.bag import read_run
from robodyn.view.design_editor import IDEAL, DesignEditor
from robodyn.view.live import BY_HAND, LiveSimulation
from robodyn.view.model_figure import figure_of
from robodyn.view.modes import ModeAnimation, open_modes
from robodyn.view.paths import paths_of
from robodyn.view.replay import Replay
from robodyn.view.scene import arrow_lengths, reference_effort
from robodyn.view.serving import PortInUse, serve, stop
from robodyn.view.snapshot import drawn_joints
from robodyn.view.studio import open_studio

__all__ = [
    "BY_HAND", "IDEAL", "DesignEditor", "LiveSimulation", "ModeAnimation", "PortInUse",
    "Replay", "arrow_lengths", "drawn_joints", "figure_of", "open_modes", "open_studio",
    "paths_of", "read_run", "reference_effort", "serve", "stop",
]  # fmt: skip
