# SPDX-License-Identifier: Apache-2.0

"""force_markers: arrows where the legs hold the platform, as long as the forces are large."""

from __future__ import annotations

import numpy as np
import pytest
from local_graph import LocalGraph
from message_makers import joint_state, odometry
from nav_msgs.msg import Odometry
from ros_harness import zero_length_pose
from sensor_msgs.msg import JointState
from six_legs import six_legs
from std_msgs.msg import Float64
from visualization_msgs.msg import Marker, MarkerArray

from robodyn.poses import rotation_matrix
from robodyn_ros.force_markers import PULL, PUSH, ForceArrows
from robodyn_ros.markers import LEVELS

pytestmark = pytest.mark.ros
SCALE = 200.0
LOOK = {"newtons_per_meter": SCALE, "width": 0.01, "lifetime": 0.5}
FORCES = np.array([100.0, -50.0, 20.0, -10.0, 400.0, 0.0])


def point(message) -> np.ndarray:
    return np.array([message.x, message.y, message.z])


def color(marker) -> tuple[float, float, float]:
    return marker.color.r, marker.color.g, marker.color.b


@pytest.fixture(scope="module")
def pose(mechanism):
    return mechanism.advance(mechanism.home, np.array([0.02, 0.01, 0.03, 0.1, -0.05, 0.2]))


def check_arrows(markers, mechanism, pose) -> None:
    """Each arrow begins at its leg's anchor and is the force of the leg on the platform."""
    arrows = {m.id: m for m in markers if m.ns == "force"}
    assert sorted(arrows) == list(range(6))
    R = rotation_matrix(pose)
    H = mechanism.jacobian(pose)
    total = np.zeros(6)
    for leg, force in enumerate(FORCES):
        arrow = arrows[leg]
        assert arrow.header.frame_id == mechanism.frames[0]
        if force == 0.0:
            assert arrow.action == Marker.DELETE
            continue
        start, end = (point(p) for p in arrow.points)
        anchor = R @ six_legs(mechanism).legs[leg].platform
        assert np.allclose(start, pose[:3] + anchor, rtol=0, atol=1e-12)
        shown = (end - start) * SCALE
        total += np.concatenate([shown, np.cross(anchor, shown)])
        assert arrow.action == Marker.ADD
        assert 0.0 < arrow.scale.z < np.linalg.norm(end - start)
    # the sum of the arrows is the wrench of the legs on the platform
    assert np.allclose(total, H @ FORCES, rtol=0, atol=1e-9)


def test_arrows_are_the_forces_on_the_platform(mechanism, pose):
    arrows = ForceArrows(mechanism, LOOK | {"color_by": "sign", "values": True})
    made = arrows.markers(5 * 10**8, pose, FORCES, 0)
    check_arrows(made, mechanism, pose)
    by_leg = {m.id: m for m in made if m.ns == "force"}
    assert color(by_leg[0]) == pytest.approx(PUSH)
    assert color(by_leg[1]) == pytest.approx(PULL)
    texts = {m.id: m.text for m in made if m.ns == "force_value"}
    assert texts[0] == "100N"
    assert texts[1] == "-50N"
    assert all(m.lifetime.nanosec == 5 * 10**8 for m in made)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_arrows_are_colored_by_the_condition_number(mechanism, pose, level):
    arrows = ForceArrows(mechanism, LOOK | {"color_by": "condition", "values": False})
    made = arrows.markers(0, pose, FORCES, level)
    assert len(made) == 6
    assert all(color(m) == pytest.approx(LEVELS[level]) for m in made)
    assert color(arrows.condition(0, pose, 12.0, level)) == pytest.approx(LEVELS[level])


def test_colors_of_arrows_differ_in_brightness():
    """They differ even without any hue."""

    def luminance(rgb):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    assert luminance(PULL) / luminance(PUSH) > 2.0
    bright = sorted(map(luminance, LEVELS))
    assert min(b / a for a, b in zip(bright, bright[1:], strict=False)) > 1.1


def test_the_node_shows_the_latest_forces(peer, start, mechanism, pose):
    process = start(
        "force_markers",
        {"newtons_per_meter": SCALE, "values": True, "rate": 100.0, "lifetime": 1.0},
    )
    states = peer.publisher(Odometry, "platform_state")
    forces = peer.publisher(JointState, "inverse_dynamics/forces")
    numbers = peer.publisher(Float64, "condition_number")
    shown = peer.listen(MarkerArray, "force_markers")
    state = odometry(10**9, mechanism.frames, pose, np.zeros(6))
    order = [5, 0, 4, 1, 3, 2]
    names = [mechanism.joint_names[i] for i in order]
    force = joint_state(10**9, names, effort=FORCES[order])

    def complete():
        numbers.publish(Float64(data=150.0))
        states.publish(state)
        forces.publish(force)
        peer.spin(0.05)
        found = [a for a in shown if any(m.ns == "condition_number" for m in a.markers)]
        # the level follows the number, and messages of two topics may change places
        return [a for a in found if color(a.markers[-1]) == pytest.approx(LEVELS[1])]

    markers = peer.until(complete, "markers")[-1].markers
    check_arrows(markers, mechanism, pose)
    assert markers[-1].text == "condition=150"
    assert {m.header.stamp.sec for m in markers} == {1}

    # broken messages are logged and change nothing
    broken = joint_state(0, names, effort=FORCES * np.nan)
    process.provoke(lambda: forces.publish(broken), "forces refused")
    tilted = odometry(0, mechanism.frames, pose, np.zeros(6))
    tilted.pose.pose.orientation.w = 7.0
    process.provoke(lambda: states.publish(tilted), "platform_state refused")

    # old forces are shown no more, however often the platform moves
    peer.spin(1.2)
    known = len(shown)
    for _ in range(5):
        states.publish(state)
        peer.spin(0.05)
    assert len(shown) == known
    forces.publish(force)
    peer.until(lambda: len(shown) > known, "markers again")
    check_arrows(shown[-1].markers, mechanism, pose)


def test_a_pose_without_arrows_is_reported(mechanism, pose):
    """A leg has no direction; the next pose has arrows again."""
    given = {"model": mechanism.name, "newtons_per_meter": SCALE, "lifetime": 60.0}
    with LocalGraph({"force_markers": given}) as graph:
        states = graph.publisher(Odometry, "platform_state")
        forces = graph.publisher(JointState, "inverse_dynamics/forces")
        shown = graph.listen(MarkerArray, "force_markers")
        nowhere = zero_length_pose(mechanism)
        forces.publish(joint_state(0, mechanism.joint_names, effort=FORCES))
        states.publish(odometry(0, mechanism.frames, nowhere, np.zeros(6)))
        graph.line("forces not drawn: leg 1 has zero length")
        assert shown == []
        states.publish(odometry(0, mechanism.frames, pose, np.zeros(6)))
        graph.until(lambda: shown, "markers")
        check_arrows(shown[-1].markers, mechanism, pose)
