# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The live view: a mechanism in 3D in the browser, with plots and controls, over `viser`.

Nothing here depends on ROS. A *source* returns a `Snapshot` on request: the simulation in this
process (`live`), a recording (`recording`), or the topics of a running graph (`robodyn_ros`). A
`Page` draws it. viser is an optional extra and is imported only when a page is opened.
"""

from robodyn.mechanisms.common.figure import Figure
from robodyn.view.live import LiveSimulation
from robodyn.view.model_figure import figure_of
from robodyn.view.snapshot import Snapshot

__all__ = ["Figure", "LiveSimulation", "Snapshot", "figure_of"]
