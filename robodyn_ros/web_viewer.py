# SPDX-License-Identifier: Apache-2.0

"""Node that shows a running graph in the browser.

The node subscribes to `joint_states`, `platform_state`, `inverse_dynamics/forces`,
`condition_number` and, if no parameter names a mechanism, `robot_description`. Buttons on the page
call `forward_simulator/pause` and `forward_simulator/reset`, and a push button publishes
`external_wrench`. If a `machine_state` is published, the page also shows the state of the machine
and the target pose from `joint_commander/target_state`, with buttons that call the services of
`joint_commander` and start a path. If `motion_cueing` publishes `felt_imu`, the page plots the
specific forces of `felt_imu` and `vehicle/imu`.

The viewer does not influence the run. The viewer subscribes with best-effort reliability, so no
publisher waits for it. The viewer subscribes to the state after the simulation has started, because
a lockstep run starts when the states have a given number of subscribers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger

import robodyn as rd
from robodyn.arrays import FloatArray
from robodyn.errors import OutputError, shorten
from robodyn.formats.output_file import write_text
from robodyn.formats.received_text import received_description
from robodyn.formats.ros_packages import package_folders
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.machine.head_motion import REST
from robodyn.presentation import presentation
from robodyn.view.machine_panel import NAMED, REQUESTS, TUNED, CueingPanel, MachinePanel
from robodyn.view.model_figure import figure_of
from robodyn.view.page import SLOW, ViewerPage
from robodyn.view.plots import RidePlots
from robodyn.view.serving import serve, stop
from robodyn.view.snapshot import Snapshot, condition_number, drawn_joints
from robodyn_ros import messages, qos
from robodyn_ros.interfaces import Interface, steady_timer, subscribe
from robodyn_ros.parameters import declare, load_mechanism, table

PARAMETERS = table("mechanism", "web_viewer")
VIEW = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
FORCES = "inverse_dynamics/forces"
# States without /clock for this long [s] come from a real machine, not from lockstep.
NO_CLOCK = 2.0
# Stamps beyond a year [ns] are wall time, not simulated time.
LONG = 365 * 86400 * messages.NANOSECONDS
# Statuses of other nodes that the page shows, and their lifetime [s].
MACHINE, VEHICLE, STALE = "joint_commander: machine", "motion_cueing: cueing", 5.0
# Values of the vehicle's status that the page shows.
VEHICLE_VALUES = ("source", "rate", "age", "refused")
DIAGNOSTICS = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
# Time for which the page reports a missing service [s].
NOTICE = 4.0


class WebViewer(Node):
    """Node that shows a running graph on a web page."""

    def __init__(self) -> None:
        super().__init__("web_viewer")
        self._p = p = declare(self, PARAMETERS)
        self._page: ViewerPage | None = None
        self._mechanism: Mechanism
        self._queued: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._is_subscribed = False
        self._waiting_since = time.monotonic()
        self._state: tuple[int, FloatArray] | None = None
        self._joints: JointState | None = None
        self._latest: dict[str, Any] = {}  # latest data by topic
        self._paused = False
        self._notice = ("", 0.0)
        self._server = serve(p["port"], p["hosts"] or ())
        self._pulse = WrenchPulse(self, p["push_duration"])
        self._pause = self.create_client(SetBool, "forward_simulator/pause")
        self._reset = self.create_client(Trigger, "forward_simulator/reset")
        self._zero, self._is_simulated = 0, False
        self._vehicle = -math.inf  # time of its last message
        self._tunes = False  # whether the page has controls of the washout
        self._machine: MachinePanel | None = None
        self._ride: RidePlots | None = None
        self._get_cueing = self.create_client(GetParameters, "motion_cueing/get_parameters")
        self._set_cueing = self.create_client(SetParameters, "motion_cueing/set_parameters")
        self._requests = {name: self.create_client(Trigger, name) for name in REQUESTS.values()}
        if p["model"] or p["robot_description"]:
            self._open(p)
        else:
            self.get_logger().info(
                "parameter `model` is not set: waiting for the topic robot_description"
            )
            subscribe(self, String, "robot_description", self._on_description, qos.LATCHED)
        steady_timer(self, 1.0 / p["rate"], self._tick)

    def destroy_node(self) -> None:
        """Close the page and destroy the node."""
        server, self._server = getattr(self, "_server", None), None
        if server is not None:
            stop(server)
        super().destroy_node()

    def snapshot(self) -> Snapshot | None:
        """Return the latest received state for the page; None if there is none."""
        if self._state is None:
            return None
        stamp, configuration = self._state
        joints = drawn_joints(self._mechanism, configuration)
        effort, number = self._latest.get(FORCES), self._latest.get("condition_number")
        if self._joints is not None:
            joints |= dict(zip(self._joints.name, self._joints.position, strict=False))
        text, until = self._notice
        machine = self._machine
        return Snapshot(
            (stamp - self._zero) * 1e-9,
            configuration,
            joints,
            self._mechanism.body_pose(configuration),
            presentation.floating_poses(self._mechanism, configuration),
            np.zeros(len(self._mechanism.joint_names)) if effort is None else effort,
            condition_number(self._mechanism, configuration) if number is None else number,
            not self._paused,
            text if time.monotonic() < until else "",
            # without a simulator, it is a machine or the playback of a recording
            "" if self._is_simulated else "live" if machine is None else machine.state,
        )

    def set_playing(self, playing: bool) -> None:
        """Send the simulator a request to resume or to pause."""

        def done(response: SetBool.Response) -> None:
            self._paused = not playing if response.success else self._paused

        self._call_service(self._pause, SetBool.Request(data=not playing), done)

    def reset(self) -> None:
        """Send the simulator a request to reset."""
        self._call_service(self._reset, Trigger.Request(), lambda _: None)

    def push(self, wrench: FloatArray) -> None:
        """Publish a wrench (6,) [N, N m] on the body, base frame, for a short push."""

        def begin() -> None:
            if self._state is not None:
                self._pulse.begin(self._state[0], self._interface.base_frame, wrench)

        self._queued.put(begin)

    def _open(
        self, parameters: dict[str, Any], mesh_folders: Collection[Path] | None = None
    ) -> None:
        self._mechanism = load_mechanism(parameters)
        source = parameters["robot_description"] or parameters["model"]
        figure = figure_of(source, self._mechanism, mesh_folders)
        page = ViewerPage(
            self._server,
            self._mechanism,
            figure,
            self,
            warn=self._p["warn"],
            error=self._p["error"],
        )
        page.add_push(self.push)
        self._page = page
        self._interface = Interface(self, self._mechanism)
        names = self._mechanism.joint_names
        self._store(Clock, "/clock", lambda message: True)
        self._store(
            JointState, FORCES, lambda message: messages.joint_values(message, names, "effort")
        )
        self._store(Float64, "condition_number", lambda message: message.data)
        self._store(Imu, "vehicle/imu", _specific_force)
        subscribe(self, String, "machine_state", self._on_machine, qos.LATCHED)
        subscribe(self, Odometry, "joint_commander/target_state", self._on_target, VIEW)
        subscribe(self, Imu, "felt_imu", self._on_felt, VIEW)
        subscribe(self, DiagnosticArray, "/diagnostics", self._on_diagnostics, DIAGNOSTICS)
        for remark in figure.remarks:
            self.get_logger().warning(remark)
        address = f"http://localhost:{self._server.get_port()}"
        self.get_logger().info(f"showing {shorten(self._mechanism.name, 80)} at {address}")

    def _on_description(self, message: String) -> None:
        if self._page is not None:
            return
        text = received_description(message.data, "topic robot_description")
        folders = (*package_folders(), *map(Path, self._p["mesh_folders"] or ()))
        try:
            self._open(self._p | {"robot_description": text}, folders)
        finally:
            if self._page is None:  # data already on the page
                self._server.gui.reset()
                self._server.scene.reset()

    def _store(self, kind: type[Any], topic: str, read: Callable[[Any], Any]) -> None:
        """Subscribe to a topic, and store what `read` returns for its latest message."""
        subscribe(
            self, kind, topic, lambda message: self._latest.update({topic: read(message)}), VIEW
        )

    def _on_state(self, stamp: int, configuration: FloatArray, _: FloatArray) -> None:
        # wall time is shown from the first state on, simulated time as it is
        if self._state is None or stamp < self._zero:
            self._zero = stamp if stamp > LONG else 0
        self._state = stamp, configuration

    def _on_joints(self, message: JointState) -> None:
        if len(message.position) == len(message.name) and np.isfinite(message.position).all():
            self._joints = message

    def _on_machine(self, message: String) -> None:
        if self._machine is None and self._page is not None:
            self._machine = MachinePanel(self._page, self._request)
        if self._machine is not None:
            self._machine.show(message.data)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        """Show why the machine stopped, and whether data arrive from the vehicle."""
        if self._machine is None:
            return
        own = self.get_namespace().strip("/")
        for status in message.status:
            name = status.name.removeprefix(f"{own}/") if own else status.name
            if name == MACHINE:
                reason = status.message if self._machine.state in NAMED else ""
                self._machine.explain(reason)
            elif name == VEHICLE:
                values = {value.key: value.value for value in status.values}
                details = ", ".join(f"{k} {values[k]}" for k in VEHICLE_VALUES if k in values)
                self._machine.show_vehicle(
                    f"{status.message} ({details})" if details else status.message
                )
                if values.get("algorithm") == "classical" and not self._tunes:
                    self._read_cueing()
                self._vehicle = time.monotonic()

    def _read_cueing(self) -> None:
        """Request the washout's parameters, then add controls for them to the page."""
        names, found = ("preset", *TUNED.values()), dict[str, Any]()

        def take(name: str, response: GetParameters.Response) -> None:
            # one request per parameter, since a node returns no values at all if one of them is not
            # set
            found[name] = parameter_value_to_python(response.values[0]) if response.values else None
            if self._page is not None and len(found) == len(names) and found["preset"]:
                CueingPanel(self._page, found, self._tune, self._save_cueing)

        if self._get_cueing.service_is_ready():
            self._tunes = True
            for name in names:
                request = GetParameters.Request(names=[name])
                self._call_service(self._get_cueing, request, partial(take, name))

    def _tune(self, values: dict[str, Any]) -> None:
        def done(response: SetParameters.Response) -> None:
            if reasons := [each.reason for each in response.results if not each.successful]:
                self._notice = reasons[0], time.monotonic() + NOTICE

        given = [Parameter(name, value=value) for name, value in values.items()]
        request = SetParameters.Request(parameters=[each.to_parameter_msg() for each in given])
        self._call_service(self._set_cueing, request, done)

    def _save_cueing(self, values: dict[str, Any]) -> None:
        """Write the washout's parameters to a file for the launch argument `params_file`."""
        file = Path(self._p["cueing_file"]).absolute()
        text = yaml.safe_dump({"/**/motion_cueing": {"ros__parameters": values}})
        try:
            notice = f"saved: {write_text(file, text)}"
        except OutputError as error:
            notice = f"parameters not saved: {error}"
        self._notice = notice, time.monotonic() + NOTICE

    def _on_target(self, message: Odometry) -> None:
        _, pose, _ = messages.platform_state(message)
        if self._machine is not None:
            self._machine.show_target(pose)

    def _on_felt(self, message: Imu) -> None:
        felt, vehicle = _specific_force(message), self._latest.get("vehicle/imu", REST)
        if self._page is None or not np.isfinite([*felt, *vehicle]).all():
            return
        self._ride = self._ride or self._page.add_ride()
        self._ride.add(messages.to_nanoseconds(message.header.stamp) * 1e-9, vehicle, felt)

    def _request(self, service: str) -> None:
        def done(response: Trigger.Response) -> None:
            if not response.success:
                self._notice = response.message, time.monotonic() + NOTICE

        self._call_service(self._requests[service], Trigger.Request(), done)

    def _tick(self) -> None:
        try:
            while True:
                self._queued.get_nowait()()
        except Empty:
            pass
        if self._state is not None:
            self._pulse.update(self._state[0])
        if self._page is None:
            return
        if not self._is_subscribed:
            self._subscribe_to_state()
        if self._page.updates % SLOW == 0:
            self._check_graph(self._page)
        if self._ride is not None and self._page.updates % SLOW == 0:
            self._ride.send()
        try:
            self._page.update()
        except rd.RobodynError as error:
            self.get_logger().error(
                f"state cannot be displayed: {error}", throttle_duration_sec=1.0
            )

    def _check_graph(self, page: ViewerPage) -> None:
        """Show each control only while the node that it acts on is running."""
        self._is_simulated = self._pause.service_is_ready()
        if page.run.visible != self._is_simulated:
            page.run.visible = self._is_simulated
        is_pushed = self.count_subscribers("external_wrench") > 0
        if page.push is not None and page.push.visible != is_pushed:
            page.push.visible = is_pushed
        if self._machine is not None and time.monotonic() - self._vehicle > STALE:
            self._machine.show_vehicle("")

    def _subscribe_to_state(self) -> None:
        """Subscribe to the state, but not while a lockstep run still counts subscribers."""
        clocks = self.count_publishers("/clock")
        if clocks or not self.count_publishers(self._interface.state_topic):
            self._waiting_since = time.monotonic()
        if "/clock" not in self._latest and time.monotonic() - self._waiting_since < NO_CLOCK:
            return
        self._is_subscribed = True
        self._interface.on_state(self._on_state, VIEW)
        subscribe(self, JointState, "joint_states", self._on_joints, VIEW)

    def _call_service(self, client: Any, request: Any, done: Callable[[Any], None]) -> None:
        def send() -> None:
            if not client.service_is_ready():
                text = f"no service {client.srv_name}: is its node running?"
                self._notice = text, time.monotonic() + NOTICE
                return
            client.call_async(request).add_done_callback(lambda future: done(future.result()))

        self._queued.put(send)


def _specific_force(message: Imu) -> FloatArray:
    """Return the specific force (3,) [m/s^2] of an IMU message."""
    return messages.vector_pair(message.linear_acceleration, message.angular_velocity)[:3]


class WrenchPulse:
    """Publisher of a wrench that lasts for a given time.

    At its end, and when time is reset, a zero wrench is published.

    Args:
        node: node that publishes.
        duration: duration [s] of a pulse, measured by the stamps of the states.
    """

    def __init__(self, node: Node, duration: float) -> None:
        self._publisher = node.create_publisher(WrenchStamped, "external_wrench", qos.COMMAND)
        self._duration = round(duration * messages.NANOSECONDS)
        self._begun: int | None = None

    def begin(self, stamp: int, frame: str, wrench: FloatArray) -> None:
        """Publish a wrench (6,) [N, N m] in a frame, and start its pulse at a stamp [ns].

        A wrench with a value that is not finite is ignored.
        """
        if not np.isfinite(wrench).all():
            return
        self._frame, self._begun = frame, stamp
        self._publish(wrench)

    def update(self, stamp: int) -> None:
        """Publish a zero wrench if the pulse is over at a stamp [ns]."""
        if self._begun is not None and not 0 <= stamp - self._begun < self._duration:
            self._begun = None
            self._publish(np.zeros(6))

    def _publish(self, wrench: FloatArray) -> None:
        self._publisher.publish(messages.wrench_stamped(0, self._frame, wrench))
