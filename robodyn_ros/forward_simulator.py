"""Node `forward_simulator`: the mechanism that the efforts move, and the owner of time.

Subscribes `joint_commands`, `effort_controller/commands` and `external_wrench`; publishes
`platform_state`, `joint_states`, `/clock`, `/diagnostics` and, where tf2 is installed, the
platform's transform; serves `~/reset` and `~/pause`.

In lockstep it takes a control period only when the command stamped with its latest state has
arrived, so a run depends on nothing but its inputs. In realtime it follows the wall clock, takes
the latest command and waits for nobody.
"""

from __future__ import annotations

import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

import robodyn as rd
from robodyn.simulation import Plant
from robodyn_ros import diagnostics, messages, qos
from robodyn_ros.parameters import MECHANISM, Spec, declare, load_mechanism
from robodyn_ros.runner import Finished
from robodyn_ros.runner import main as run_main
from robodyn_ros.transforms import PlatformBroadcaster

PARAMETERS = MECHANISM | {
    "stepping": Spec("lockstep", "what time follows", choices=("lockstep", "realtime")),
    "dt": Spec(0.001, "integration step [s]", 1e-6, 0.1),
    "control_rate": Spec(200.0, "states published per second of simulated time [Hz]", 0.1, 1e5),
    "real_time_factor": Spec(1.0, "realtime: simulated seconds per second", 1e-3, 1e3),
    "path": Spec("", "start where this path starts: I, II, III, P1 or a waypoint file"),
    "initial_pose": Spec([0.0], "start at this pose, x y z qx qy qz qw; [0.0]: the model's home"),
    "min_subscribers": Spec(1, "lockstep: begin when platform_state is heard by so many", 0, 100),
    "command_timeout": Spec(30.0, "lockstep: longest wait for a command [s]", 0.1, 3600.0),
    "hold_until_command": Spec(True, "realtime: brakes hold the mechanism until the first command"),
    "base_frame": Spec("base_link", "frame of platform_state"),
    "platform_frame": Spec("platform_link", "the platform's own frame"),
}
# Lockstep: how often a state is said again to those who may not have been there [s].
REPEAT = 0.2
# Realtime: how many control periods may be made up for after a delay.
SLACK = 4


class ForwardSimulator(Node):
    """Moves a `Plant` by the efforts that arrive and tells its state."""

    def __init__(self) -> None:
        super().__init__("forward_simulator")
        self._p = p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(p, self.get_logger())
        self._steps = round(1.0 / (p["control_rate"] * p["dt"]))
        self._period = round(self._steps * p["dt"] * 1e9)
        if self._steps < 1 or abs(self._steps * p["dt"] * p["control_rate"] - 1.0) > 1e-9:
            raise rd.InvalidInput(
                f"parameter control_rate: a period of 1/{p['control_rate']} s is not a whole "
                f"number of steps dt = {p['dt']} s"
            )
        self._plant = Plant(self._mechanism, *self._initial_state(), dt=p["dt"])
        self._names = self._mechanism.joint_names
        self._wrench = np.zeros(6)
        self._command: np.ndarray | None = None
        self._ignored = 0
        self._stamp = 0
        self._failure = ""
        self._paused = False
        self._lockstep = p["stepping"] == "lockstep"
        states = qos.LOSSLESS if self._lockstep else qos.STATE
        self._state = self.create_publisher(Odometry, "platform_state", states)
        self._joints = self.create_publisher(JointState, "joint_states", states)
        self._clock_publisher = self.create_publisher(Clock, "/clock", qos.CLOCK)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", qos.EVENTS)
        self._transform = PlatformBroadcaster(self, p["base_frame"], p["platform_frame"])
        self.create_subscription(JointState, "joint_commands", self._on_command, qos.COMMAND)
        self.create_subscription(
            Float64MultiArray, "effort_controller/commands", self._on_efforts, qos.COMMAND
        )
        self.create_subscription(WrenchStamped, "external_wrench", self._on_wrench, qos.COMMAND)
        self.create_service(Trigger, "~/reset", self._on_reset)
        self.create_service(SetBool, "~/pause", self._on_pause)
        self._waiting_since = time.monotonic()
        self._begun = not self._lockstep
        if self._lockstep:
            self.create_timer(REPEAT, self._repeat)
        else:
            self._wall, self._due, self._lost = time.monotonic(), 0.0, 0.0
            # twice as often as periods fall due, so that a late one is made up for soon
            self.create_timer(0.5e-9 * self._period / p["real_time_factor"], self._follow_clock)
        self.create_timer(1.0, self._diagnose)
        self.get_logger().info(f"{p['stepping']} simulation of {self._mechanism.name}, ready")

    def _initial_state(self) -> tuple[np.ndarray, np.ndarray | None]:
        if self._p["path"]:
            start = rd.load_path(self._p["path"]).sample(0.0)
            return start.configuration, start.velocity
        pose = np.array(self._p["initial_pose"])
        return (self._mechanism.home if len(pose) == 1 else pose), None

    def _on_command(self, message: JointState) -> None:
        stamp = messages.to_nanoseconds(message.header.stamp)
        if self._lockstep and (stamp != self._stamp or not self._begun):
            return
        try:
            self._command = messages.joint_efforts(message, self._names)
        except rd.RobodynError as error:
            self._ignore("joint_commands", error)
            return
        if self._lockstep and not self._paused and not self._failure:
            self._advance(self._command)
            self._publish()

    def _on_efforts(self, message: Float64MultiArray) -> None:
        if self._lockstep:
            return  # without a stamp it cannot be told which state it answers
        try:
            efforts = messages.finite("effort", np.array(message.data))
            if len(efforts) != len(self._names):
                raise rd.InvalidInput(f"{len(efforts)} efforts for {len(self._names)} joints")
        except rd.RobodynError as error:
            self._ignore("effort_controller/commands", error)
            return
        self._command = efforts

    def _ignore(self, topic: str, error: Exception) -> None:
        self._ignored += 1
        self.get_logger().warn(
            f"{topic} ignored ({self._ignored} so far): {error}", throttle_duration_sec=1.0
        )

    def _advance(self, effort: np.ndarray) -> None:
        """One control period; after a failure the mechanism stands where it was last sound."""
        try:
            self._plant.hold(effort, self._steps, self._wrench)
        except rd.SimulationFailed as error:
            self._failure = f"simulation stopped at t = {self._stamp * 1e-9:.3f} s: {error}"
            self.get_logger().error(self._failure)
            self._diagnose()
            return
        self._stamp += self._period
        self._waiting_since = time.monotonic()

    def _repeat(self) -> None:
        """Say the state again while its command has not come, and give up in the end."""
        if self._failure or self._paused:
            self._waiting_since = time.monotonic()
            return
        if time.monotonic() - self._waiting_since < REPEAT:
            return
        heard = self._state.get_subscription_count()
        self._begun = self._begun or heard >= self._p["min_subscribers"]
        if self._begun:
            self._publish()
        if time.monotonic() - self._waiting_since > self._p["command_timeout"]:
            raise Finished(
                1,
                f"no joint_commands for the state at t = {self._stamp * 1e-9:.3f} s within "
                f"{self._p['command_timeout']:g} s, platform_state has {heard} subscribers of "
                f"{self._p['min_subscribers']}: is inverse_dynamics running, and has it a "
                "trajectory?",
            )

    def _follow_clock(self) -> None:
        """One control period if one is due; what cannot be caught up with is lost, and said.

        To make up for a pause of this process at once would hold one command over many periods.
        """
        now = time.monotonic()
        self._due += (now - self._wall) * self._p["real_time_factor"] * 1e9
        self._wall = now
        if self._paused or self._failure:
            self._due = 0.0
        if self._due < self._period:
            return
        lost = self._due - SLACK * self._period
        if lost > 0.0:
            self._due -= lost
            self._lost += lost
            self.get_logger().warn(
                f"slower than the clock: {self._lost * 1e-9:.3f} s lost so far",
                throttle_duration_sec=2.0,
            )
        self._due -= self._period
        if self._command is None and self._p["hold_until_command"]:
            self._stamp += self._period
        else:
            self._advance(self._plant.effort if self._command is None else self._command)
        self._publish()

    def _publish(self) -> None:
        plant, stamp = self._plant, self._stamp
        self._clock_publisher.publish(Clock(clock=messages.to_stamp(stamp)))
        frames = self._p["base_frame"], self._p["platform_frame"]
        position = self._mechanism.joint_positions(plant.configuration)
        velocity = self._mechanism.joint_velocities(plant.configuration, plant.velocity)
        self._joints.publish(
            messages.joint_state(stamp, self._names, position, velocity, plant.effort)
        )
        state = messages.odometry(stamp, frames, plant.configuration, plant.velocity)
        self._transform.send(state)
        self._state.publish(state)

    def _diagnose(self) -> None:
        cut = int(self._plant.saturated.max())
        level, text = (2, self._failure) if self._failure else (int(cut > 0), "")
        if not text:
            text = f"efforts cut to their limits {cut} times" if cut else "running"
        values = {"ignored_commands": self._ignored, "time": self._stamp * 1e-9}
        values |= dict(zip(self._names, self._plant.saturated.tolist(), strict=True))
        self._diagnostics.publish(
            diagnostics.array(
                self._stamp, [diagnostics.status(self, "simulation", level, text, values)]
            )
        )

    def _on_wrench(self, message: WrenchStamped) -> None:
        try:
            self._wrench = messages.finite("wrench", messages.wrench_array(message.wrench))
        except rd.RobodynError as error:
            self._ignore("external_wrench", error)

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Back to the initial state, and to time zero."""
        self._plant.reset(*self._initial_state())
        self._command, self._failure, self._stamp = None, "", 0
        response.success, response.message = True, "at the initial state, t = 0"
        self._publish()
        return response

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """Stop time, or let it go on."""
        self._paused = request.data
        response.success = True
        response.message = "paused" if self._paused else "running"
        if not self._paused:
            self._publish()
        return response


def main() -> None:
    """Entry point of the executable."""
    run_main(ForwardSimulator, "forward_simulator")
