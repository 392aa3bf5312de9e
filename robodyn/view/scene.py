# SPDX-License-Identifier: Apache-2.0

"""3D scene of a mechanism in viser: links, effort arrows, traces and labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from robodyn.arrays import FloatArray
from robodyn.errors import UnderActuated
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import Figure, Shape, presentation
from robodyn.view import colors
from robodyn.view.snapshot import Snapshot

# Number of points of the trace, and their least distance, relative to the mechanism's size.
TRACE_LENGTH, TRACE_STEP = 600, 0.004
# Length of the reference effort's arrow, and of the longest arrow, also near a singularity,
# relative to the mechanism's size.
LENGTH, LONGEST = 0.35, 0.9


def reference_effort(mechanism: Mechanism) -> float:
    """Return the effort [N or N m] drawn as an arrow of standard length.

    It is the largest effort that holds the mechanism at home, but at least
    `presentation.typical_effort`.
    """
    home = mechanism.home
    rest = mechanism.difference(home, home)
    try:
        holding = float(np.abs(mechanism.inverse_dynamics(home, rest, rest)).max())
    except UnderActuated:
        holding = 0.0
    return max(holding, presentation.typical_effort(mechanism), 1e-6)


def arrow_lengths(mechanism: Mechanism, effort: FloatArray, reference: float) -> FloatArray:
    """Return the lengths of the arrows that represent efforts.

    Lengths are limited, because efforts are large near a singularity.

    Args:
        mechanism: mechanism with the actuators.
        effort: (n,) [N or N m] efforts of the actuators.
        reference: effort that has the standard length, see `reference_effort`.

    Returns:
        Lengths (n,) [m] with the signs of the efforts.
    """
    return np.clip(LENGTH * effort / reference, -LONGEST, LONGEST) * mechanism.size


class Scene:
    """3D scene of a mechanism in the browser.

    Args:
        server: server of the page.
        mechanism, figure: mechanism to draw, and its figure with the shapes of links.

    Attributes:
        frames: (L, 4, 4) frames of the L links relative to the figure's root, as last sent to the
            browser, in the figure's order.
    """

    def __init__(self, server: Any, mechanism: Mechanism, figure: Figure) -> None:
        self._server = server
        self._figure = figure
        self._mechanism = mechanism
        self._reference = reference_effort(mechanism)
        base = mechanism.frames[0]
        self._base = figure.index(base) if base in figure.links else 0
        self._size = mechanism.size
        self._trace: list[FloatArray] = []
        self._planned: Any = None
        self._mark: Any = None
        self._time = 0.0
        self._ahead = np.empty((0, 3))
        self._view = np.zeros(3), 0.0
        self.frames = np.tile(np.eye(4), (len(figure.links), 1, 1))
        scene = server.scene
        scene.world_axes.visible = False
        scene.configure_default_lights(True, cast_shadow=False)
        self._nodes = [scene.add_frame(f"/model/{link}", show_axes=False) for link in figure.links]
        for number, shape in enumerate(figure.shapes):
            self._draw(shape, number)
        count = len(mechanism.joint_names)
        self._efforts = scene.add_arrows(
            "/efforts",
            np.zeros((count, 2, 3)),
            np.array([colors.linear(colors.of_actuator(i)) for i in range(count)], np.uint8),
            shaft_radius=0.014 * self._size,
            head_radius=0.034 * self._size,
            head_length=0.08 * self._size,
        )
        # a thin rod along every leg, as the visuals of an extended leg have gaps
        axes = self._leg_axes(mechanism.home)
        rod = 0.022 * self._size
        self._rods = self._segments("/rods", axes, colors.ROD, thickness=rod) if len(axes) else None
        self._traveled = self._segments(
            "/travelled", np.zeros((1, 2, 3)), colors.TRAVELED,
            thickness=3.0, thickness_units="screen",
        )  # fmt: skip
        self._numbers = [
            scene.add_label(
                f"/actuators/{i + 1}", str(i + 1), anchor="center-center", font_screen_scale=0.8
            )
            for i in range(count)
        ]

    def update(self, snapshot: Snapshot) -> None:
        """Move links, arrows and labels to the state in a snapshot."""
        frames = self._figure.link_frames(snapshot.joints, snapshot.floating)
        moved = np.abs(frames - self.frames).max(axis=(1, 2)) > 1e-9
        quaternions = Rotation.from_matrix(frames[:, :3, :3]).as_quat()[:, [3, 0, 1, 2]]
        lengths = arrow_lengths(self._mechanism, snapshot.effort, self._reference)
        arrows = presentation.effort_arrows(
            self._mechanism, self._figure, frames, snapshot.configuration, lengths
        )
        for i in np.flatnonzero(moved):
            self._nodes[i].wxyz = quaternions[i]
            self._nodes[i].position = frames[i, :3, 3]
        self.frames = frames
        if self._rods is not None:
            self._rods.points = self._leg_axes(snapshot.configuration).astype(np.float32)
        self._efforts.points = arrows.astype(np.float32)
        for label, arrow in zip(self._numbers, arrows, strict=True):
            label.position = _extend(arrow, 0.05 * self._size)
        self._follow(snapshot)

    def send_trace(self) -> None:
        """Send the trace of the body's motion so far to the browser.

        The trace is long, so this may be called less often than `update`.
        """
        if len(self._trace) > 1:
            points = np.array(self._trace, dtype=np.float32)
            self._traveled.points = np.stack([points[:-1], points[1:]], axis=1)
        else:
            self._traveled.points = np.zeros((1, 2, 3), dtype=np.float32)

    def plan(self, poses: FloatArray) -> None:
        """Draw a planned path of the body in place of the previous one.

        `poses` (N, 7) are those of the body in the base frame.
        """
        if self._planned is not None:
            self._planned.remove()
            self._planned = None
        self._ahead = self._in_root(poses[:, :3])
        self.frame_view()
        if len(poses) < 2:
            return
        points = self._ahead.astype(np.float32)
        segments = np.stack([points[:-1], points[1:]], axis=1)
        self._planned = self._segments(
            "/planned", segments, colors.PLANNED, thickness=2.0, thickness_units="screen"
        )

    def mark(self, pose: FloatArray) -> None:
        """Draw axes at the target pose (7,) in the base frame."""
        frame = self.frames[self._base]
        x, y, z, w = (Rotation.from_matrix(frame[:3, :3]) * Rotation.from_quat(pose[3:])).as_quat()
        if self._mark is None:
            self._mark = self._server.scene.add_frame(
                "/target", axes_length=0.3 * self._size, axes_radius=0.008 * self._size
            )
        self._mark.wxyz, self._mark.position = (w, x, y, z), self._in_root(pose[:3])

    def frame_view(self) -> None:
        """Move the camera, if necessary, so that mechanism and path are in view."""
        points = np.concatenate([self.frames[:, :3, 3], self._ahead])
        low, high = points.min(axis=0), points.max(axis=0)
        middle = 0.5 * (low + high)
        radius = max(0.5 * float(np.linalg.norm(high - low)), self._size)
        seen, reach = self._view
        if np.linalg.norm(middle - seen) + radius < 1.4 * reach and radius > 0.5 * reach:
            return
        self._view = middle, radius
        position = middle + 2.4 * radius * np.array([0.74, -0.56, 0.36])
        cameras = [client.camera for client in self._server.get_clients().values()]
        with warnings.catch_warnings():
            # a page that was closed meanwhile, or a server that is ending, needs no camera
            warnings.filterwarnings("ignore", message=".*on a closed connection")
            for camera in (self._server.initial_camera, *cameras):
                camera.look_at = middle
                camera.position = position
        self._ground(middle, radius, min(float(self.frames[:, 2, 3].min()), 0.0))

    def _ground(self, middle: FloatArray, radius: float, height: float) -> None:
        cell = 10.0 ** np.floor(np.log10(radius))
        self._server.scene.add_grid(
            "/ground",
            width=8.0 * radius,
            height=8.0 * radius,
            position=(middle[0], middle[1], height - 0.1 * self._size),
            cell_size=0.5 * cell,
            section_size=cell,
            cell_color=(236, 238, 240),
            section_color=(214, 217, 221),
            fade_distance=9.0 * radius,
        )

    def _segments(self, name: str, points: NDArray[Any], color: Any, **thickness: Any) -> Any:
        """Add line segments (k, 2, 3) of one color to the scene."""
        return self._server.scene.add_line_segments(
            name, points, np.array(color, dtype=np.uint8), **thickness
        )

    def _leg_axes(self, configuration: FloatArray) -> FloatArray:
        """Return the positions (legs, 2, 3) [m] of each leg's lower and upper joint."""
        feet, tips = presentation.leg_ends(self._mechanism, configuration)
        return np.stack([self._in_root(feet), self._in_root(tips)], axis=1)

    def _draw(self, shape: Shape, number: int) -> None:
        scene = self._server.scene
        x, y, z, w = Rotation.from_matrix(shape.place[:3, :3]).as_quat()
        common = {
            "color": tuple(round(255 * part) for part in shape.color),
            "opacity": shape.opacity if shape.opacity < 1.0 else None,
            "wxyz": (w, x, y, z),
            "position": shape.place[:3, 3],
        }
        name = f"/model/{shape.link}/visual_{number}"
        if shape.mesh is not None:
            scene.add_mesh_simple(name, *shape.mesh, flat_shading=True, side="double", **common)
        elif shape.kind == "cylinder":
            scene.add_cylinder(name, *shape.size, **common)
        elif shape.kind == "sphere":
            scene.add_icosphere(name, *shape.size, **common)
        else:
            scene.add_box(name, dimensions=shape.size, **common)

    def _follow(self, snapshot: Snapshot) -> None:
        if snapshot.time < self._time:
            self._trace.clear()
        self._time = snapshot.time
        here = self._in_root(snapshot.body_pose[:3])
        step = TRACE_STEP * self._size
        if not self._trace or np.linalg.norm(here - self._trace[-1]) > step:
            self._trace.append(here)
            del self._trace[:-TRACE_LENGTH]

    def _in_root(self, points: FloatArray) -> FloatArray:
        base = self.frames[self._base]
        return np.asarray(points @ base[:3, :3].T + base[:3, 3])


def _extend(arrow: FloatArray, distance: float) -> FloatArray:
    """Return the point a distance beyond an arrow's head, for the arrow's label."""
    way = arrow[1] - arrow[0]
    length = float(np.linalg.norm(way))
    return np.asarray(arrow[1] + (distance / length) * way if length > 1e-9 else arrow[1])
