"""The live view: a mechanism in 3D in the browser, with plots and controls, over `viser`.

Nothing here knows ROS. A *source* tells a `Snapshot` whenever it is asked: the simulation in this
process (`live`), a recording (`recording`), or the topics of a running graph (`robodyn_ros`). A
`Page` draws what it tells. viser is an optional extra and is imported only when a page is opened.
"""

from robodyn.view.figure import Figure
from robodyn.view.figures import figure_of
from robodyn.view.live import LiveSimulation
from robodyn.view.snapshot import Snapshot

__all__ = ["Figure", "LiveSimulation", "Snapshot", "figure_of"]
