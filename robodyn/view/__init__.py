# SPDX-License-Identifier: Apache-2.0

"""The live view: a mechanism in 3D in the browser, with plots and controls, over `viser`.

Nothing here depends on ROS. A *source* returns a `Snapshot` on request: the simulation in this
process (`live`), a recording (`replay`), or the topics of a running graph (`robodyn_ros`). A
`Page` draws it. viser is an optional extra and is imported only when a page is opened.
"""
