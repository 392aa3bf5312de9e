# SPDX-License-Identifier: Apache-2.0

"""A short run in lockstep beside a recorder that falls behind: nothing of it is lost.

The bags are read as people read them: by `robodyn analyze --bag` and by `robodyn replay`.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import yaml
from nav_msgs.msg import Odometry
from rclpy.utilities import get_rmw_implementation_identifier
from ros_harness import LATCHED, Peer, Process, executable, free_domain, ros_arguments
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.errors import InvalidInput, UnphysicalInertiaWarning
from robodyn.trajectories import knot_times
from robodyn.view import read_run
from robodyn_ros import messages
from robodyn_ros.recorded_transforms import transforms_are_missing

highlevel = pytest.importorskip("rosbags.highlevel", reason="the extra `record` is not installed")

pytestmark = pytest.mark.ros
NODES = ("recorder", "forward_simulator", "inverse_dynamics")


class RecordedRun(NamedTuple):
    """A bag, and the stamps [ns] of states and commands that a peer received."""

    bag: Path
    mechanism: object
    path: object
    states: list[int]
    commands: list[int]
    output: str


def record_run(folder: Path, model: str, path_name: str, rate: float) -> RecordedRun:
    """Fly in lockstep while the recorder is stopped, and let it go on when all is over."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        mechanism = rd.load(model)
    path = rd.load_path(path_name, mechanism)
    arm = mechanism.kind == "serial"
    given = {
        "recorder": {"output": folder, "name": "bag", "begin_with": "[joint_commands]"},
        "forward_simulator": {"path": path_name, "min_subscribers": 3, "control_rate": rate},
        "inverse_dynamics": {"watchdog_timeout": 0.0},
    }
    peer, processes = Peer(free_domain()), {}
    try:
        for name in NODES:
            words = ros_arguments({"model": model} | given[name])
            words += ["--log-level", "recorder:=debug"] if name == "recorder" else []
            processes[name] = Process([executable(name), *words], peer.domain)
            peer.partners.append(processes[name])
        recorder = processes["recorder"]
        commands = peer.listen(JointState, "joint_commands")
        states = peer.listen(JointState if arm else Odometry,
                             "joint_states" if arm else "platform_state")  # fmt: skip
        peer.until(lambda: states, "a state")
        publisher, plan = plan_of(peer, mechanism, path, 1.0 / rate)
        peer.until(lambda: publisher.get_subscription_count() >= 2, "controller and recorder")
        peer.until(lambda: peer.node.count_subscribers("joint_commands") >= 3, "all who listen")
        # each end of a connection learns of the other by itself, which a stopped recorder cannot:
        # leave it two seconds of its own time, which are more on a busy machine
        known = looks(recorder) + 20
        peer.until(lambda: looks(recorder) > known, "controller and recorder know each other")
        # while the recorder takes nothing, the whole path is executed
        recorder.signal(signal.SIGSTOP)
        publisher.publish(plan)
        end = round(path.duration * 1e9)
        try:
            peer.until(lambda: stamps(states)[-1] >= end, "the end of the path")
        finally:
            recorder.signal(signal.SIGCONT)
        received = stamps(states), stamps(commands)
        # as long as the run goes on, the recorder may never be level with it; what a stopped
        # process had no room for is sent again, some topics seconds later than others
        paused = peer.call(SetBool, "forward_simulator/pause", SetBool.Request(data=True))
        assert paused.success
        peer.spin(0.5)
        last = stamps(states)[-1] * 1e-9
        peer.until(lambda: has_all(recorder, last), "the recorder catches up")
        recorder.signal(signal.SIGINT)
        assert recorder.wait() == 0, recorder.output
        return RecordedRun(folder / "bag", mechanism, path, *received, recorder.output)
    finally:
        for process in processes.values():
            process.close()
        peer.close()


def looks(recorder: Process) -> int:
    """How often a recorder has looked for new topics, ten times a second."""
    return recorder.output.count("at t = ")


def has_all(recorder: Process, last: float) -> bool:
    """Whether a recorder is at the last instant [s], and has found nothing new for four seconds.

    It reports its progress ten times a second; Fast DDS sends again what is missing every three.
    """
    output = re.sub(r"/(rosout|diagnostics) \d+", "", recorder.output)  # go on in any case
    reported = re.findall(r"at t = ([\d.]+) s: (.*)", output)
    return (
        len(reported) > 40
        and float(reported[-1][0]) > last - 1e-3
        and len(set(reported[-40:])) == 1
    )


def plan_of(peer, mechanism, path, period):
    times = knot_times(path.duration, path.switching_times, period)
    if mechanism.kind == "serial":
        kind, topic = JointTrajectory, "joint_trajectory"
        plan = messages.joint_trajectory(mechanism.joint_names, times, path.sample(times))
    else:
        kind, topic = MultiDOFJointTrajectory, "platform_trajectory"
        base = mechanism.frames[0]
        plan = messages.platform_trajectory(base, "platform_joint", times, path.sample(times))
    return peer.node.create_publisher(kind, topic, LATCHED), plan


def stamps(received):
    return [messages.to_nanoseconds(message.header.stamp) for message in received]


def recorded_stamps(bag: Path, topic: str) -> list[int]:
    with highlevel.AnyReader([bag]) as reader:
        expected = [each for each in reader.connections if each.topic == topic]
        found = [reader.deserialize(raw, c.msgtype) for c, _, raw in reader.messages(expected)]
    return [m.header.stamp.sec * messages.NANOSECONDS + m.header.stamp.nanosec for m in found]


def after_start(rows: list[tuple]) -> list[tuple]:
    return [each for each in rows if any(each[0][:2])]


def recorded(bag: Path, topic: str) -> list[object]:
    with highlevel.AnyReader([bag]) as reader:
        expected = [each for each in reader.connections if each.topic == topic]
        if not expected:
            return []
        return [reader.deserialize(raw, c.msgtype) for c, _, raw in reader.messages(expected)]


def row(header, child, position, q):
    """Header and frames, place and orientation, of a transform or a state."""
    about = (header.stamp.sec, header.stamp.nanosec, header.frame_id, child)
    return about, (position.x, position.y, position.z), (q.x, q.y, q.z, q.w)


def transforms_of(bag: Path) -> list[tuple]:
    return [
        row(each.header, each.child_frame_id, each.transform.translation, each.transform.rotation)
        for message in recorded(bag, "/tf")
        for each in message.transforms
    ]


def transforms_by_state(bag: Path) -> list[tuple]:
    return [
        row(
            state.header,
            state.child_frame_id,
            state.pose.pose.position,
            state.pose.pose.orientation,
        )
        for state in recorded(bag, "/platform_state")
    ]


# as Fast DDS reads it from XML
PATIENT = """
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <participant profile_name="patient" is_default_profile="true">
    <rtps><builtin><discovery_config>
      <leaseDuration><sec>300</sec></leaseDuration>
    </discovery_config></builtin></rtps>
  </participant>
</profiles>
"""


@pytest.fixture(scope="module", autouse=True)
def patience(tmp_path_factory):
    """The middleware has to keep a whole path for a stopped recorder.

    Fast DDS would count the recorder as gone after twenty seconds, which a busy machine may need
    for the path, and Cyclone DDS after ten. Cyclone would also keep half a megabyte only, for which
    the run waits.
    """
    profile = tmp_path_factory.mktemp("patience") / "patient.xml"
    profile.write_text(PATIENT)
    settings = (
        "<Discovery><LeaseDuration>300s</LeaseDuration></Discovery>"
        "<Internal><Watermarks><WhcHigh>64MB</WhcHigh></Watermarks></Internal>"
    )
    with pytest.MonkeyPatch.context() as patch:
        for name in ("FASTRTPS", "FASTDDS"):  # as before Fast DDS 3 and since
            patch.setenv(f"{name}_DEFAULT_PROFILES_FILE", str(profile))
        patch.setenv("CYCLONEDDS_URI", f"<CycloneDDS><Domain>{settings}</Domain></CycloneDDS>")
        yield


@pytest.fixture(scope="module")
def platform(tmp_path_factory):
    """A motion from which parameters can be identified."""
    folder = tmp_path_factory.mktemp("platform")
    model = "stewart_symmetric"
    rd.exciting_trajectory(rd.load(model), 2.5, trials=3).save(folder / "exciting.yaml")
    return record_run(folder, model, str(folder / "exciting.yaml"), 200.0)


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    return record_run(tmp_path_factory.mktemp("arm"), "puma560", "puma_fast", 100.0)


@pytest.fixture(params=["platform", "arm"])
def recorded_run(request):
    return request.getfixturevalue(request.param)


def test_every_command_and_every_state_is_in_the_bag_exactly_once(recorded_run):
    state = "/joint_states" if recorded_run.mechanism.kind == "serial" else "/platform_state"
    for topic, received in (
        (state, recorded_run.states),
        ("/joint_commands", recorded_run.commands),
    ):
        # lockstep may repeat a state, and receive the same command: both are then there twice
        recorded = recorded_stamps(recorded_run.bag, topic)
        assert len(received) > 40
        # the peer began to listen at some message of time zero, and ended before the bag did
        began, ended = (
            stamps.index(next(t for t in stamps if t)) for stamps in (recorded, received)
        )
        assert recorded[began : began + len(received) - ended] == received[ended:]
        period = received[-1] // (len(set(received)) - 1)
        assert sorted(set(recorded)) == list(range(0, max(recorded) + 1, period))


def test_the_platform_moves_by_the_transforms_of_the_bag(platform):
    """One for each state, with tf2 and without: Foxglove knows of no other motion."""
    frames = platform.mechanism.frames
    found = [each for each in transforms_of(platform.bag) if each[0][2:] == frames]
    # while others still find each other, the start of the run may be missed by one of them; when
    # all are stopped, the last state may remain without a command
    moved, expected = after_start(found), after_start(transforms_by_state(platform.bag))
    assert moved == expected[: len(moved)]
    assert 100 < len(moved) >= len(expected) - 2
    assert np.ptp([place for _, place, _ in found], axis=0).max() > 0.01


def test_without_tf2_an_arm_moves_by_transforms_made_of_its_joints(arm):
    """With tf2 they are robot_state_publisher's, which does not run here."""
    found = transforms_of(arm.bag)
    if not transforms_are_missing():
        assert found == []
        return
    links = [f"link{i}" for i in range(1, 7)]
    assert {child for (*_, child), _, _ in found} == set(links)
    for link in links:
        turns = [turn for (*_, child), _, turn in found if child == link]
        assert len(turns) > 20
        assert np.ptp(turns, axis=0).max() > 0.01


def test_no_loss_is_reported(recorded_run):
    assert "lost" not in recorded_run.output
    reported = yaml.safe_load((recorded_run.bag / "metadata.yaml").read_text())
    custom = reported["rosbag2_bagfile_information"]["custom_data"]
    unknown = "cyclone" in get_rmw_implementation_identifier()  # it numbers no messages
    assert custom["lost_messages"].startswith("not known" if unknown else "none")


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_the_plan_is_the_recorded_one(recorded_run):
    plan, start = read_run(recorded_run.bag).plan()
    assert start == 0.0
    assert plan.duration == pytest.approx(recorded_run.path.duration)
    times = np.linspace(0.0, plan.duration, 7)
    expected = recorded_run.path.sample(times)
    for planned, known in zip(plan.sample(times)[:2], expected[:2], strict=True):
        np.testing.assert_allclose(planned, known, atol=1e-4)


def test_a_bag_is_analyzed_by_nothing_but_itself(recorded_run, tmp_path):
    page = tmp_path / "report.html"
    words = ["analyze", "--bag", str(recorded_run.bag), "--json", "--html", str(page)]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert found["path"] == "as recorded"
    assert found["path_start"] == {"time": 0.0, "fitted": False}
    mechanism, path = recorded_run.mechanism, recorded_run.path
    rate = 100.0 if mechanism.kind == "serial" else 200.0
    simulated = rd.simulate(mechanism, rd.ComputedTorque(mechanism), path, 1e-3, 1.0 / rate)
    assert found["samples"] == len(simulated.time)
    if mechanism.kind == "serial":
        largest = np.abs(simulated.error).max()
        assert found["tracking"]["joints"] == pytest.approx(largest, rel=1e-3)
    else:
        far = np.linalg.norm(simulated.error[:, :3], axis=1).max()
        assert found["tracking"]["position"] == pytest.approx(far, rel=1e-3)
    peaks = [row["peak_commanded"] for row in found["joints"]]
    # at instants of rest the node and the simulation may compensate friction of other sides
    friction = [max(actuator.coulomb_pair) for actuator in mechanism.actuators]
    expected = np.abs(simulated.effort).max(axis=0)
    assert (np.abs(peaks - expected) <= 1e-3 * expected + 2.0 * np.array(friction)).all()
    # feedback adds little where the model is the plant
    assert all(row["rms_difference"] < 0.1 * row["peak_model"] for row in found["joints"])
    assert "Measured and planned" in page.read_text()


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_a_bag_is_replayed_by_nothing_but_itself(recorded_run):
    recording = read_run(recorded_run.bag).replay
    recording.set_playing(False)
    recording.seek(recorded_run.path.duration)
    now = recording.snapshot()
    goal = recorded_run.path.sample(recorded_run.path.duration).configuration
    np.testing.assert_allclose(now.configuration, goal, atol=0.01)
    assert set(now.joints) >= set(recorded_run.mechanism.joint_names)


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_a_bag_is_a_recording_to_identify_from(recorded_run):
    """Every state once, of the driven joints, with the efforts that the plant was given."""
    mechanism, run = recorded_run.mechanism, read_run(recorded_run.bag)
    recording = rd.read_recording(recorded_run.bag, mechanism)
    assert recording.segments == [slice(0, len(recording.time))]
    # of the last instant the bag may have the platform's state only
    count = len(recording.time)
    assert len(run.times) - count in (0, 1)
    np.testing.assert_allclose(recording.time, run.times[:count] - run.times[0], atol=1e-9)
    where, known = recording.configuration(mechanism), run.configurations[:count]
    np.testing.assert_allclose(mechanism.difference(known, where), 0.0, atol=1e-8)
    assert recording.velocity is not None
    given = np.abs(recording.effort).max(axis=0)
    np.testing.assert_allclose(given, np.abs(run.commanded).max(axis=0), rtol=0.05, atol=1e-6)


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_a_model_identified_from_a_bag_tracks_better_than_the_nominal_one(platform, tmp_path):
    """Every body of the model that is at hand is a quarter too heavy."""
    truth, path = platform.mechanism, platform.path
    own = truth.parameters
    factors = np.where(np.arange(len(own.values)) < 10 * len(own.bodies), 1.25, 1.0)
    rd.save(rd.with_parameters(truth, own.values * factors), tmp_path / "known.yaml")
    words = ["identify", tmp_path / "known.yaml", platform.bag, "--friction", "described"]
    words += ["--output", tmp_path / "identified.yaml", "--json"]
    answer = CliRunner().invoke(app, [str(word) for word in words])
    assert answer.exit_code == 0, answer.output
    errors = [
        np.abs(rd.simulate(truth, rd.ComputedTorque(rd.load(file)), path).error).max()
        for file in (tmp_path / "known.yaml", tmp_path / "identified.yaml")
    ]
    assert errors[1] < 0.4 * errors[0]  # the rest is dry friction at reversals of legs
    (fit,) = json.loads(answer.stdout)["fit"]
    assert max(fit["relative"]) < 0.1 * max(fit["relative_before"])


def test_replay_shows_it_in_the_browser(platform):
    pytest.importorskip("viser", reason="the extra `view` is not installed")
    sys.path.insert(0, str(Path(__file__).parents[1] / "robodyn" / "view"))
    from viser_client import Client

    code = "from robodyn.cli import main; main()"
    words = ["replay", str(platform.bag), "--port", "0", "--no-browser"]
    process, client = Process([sys.executable, "-c", code, *words], 0), None
    try:
        line = process.wait_for_line(f"of {platform.mechanism.name}: http://localhost:")
        client = Client(int(re.search(r"localhost:(\d+)", line)[1]))
        goal = platform.path.sample(platform.path.duration).configuration
        place = platform.mechanism.body_pose(goal)[:3]
        tip = f"/model/{platform.mechanism.frames[1]}"
        client.until(
            lambda: (
                tip in client.frames and np.allclose(client.frames[tip][:3, 3], place, atol=0.01)
            ),
            "the end of the path",
        )
        process.signal(signal.SIGINT)
        assert process.wait() == 0, process.output
        # a kernel that nothing has compiled before is announced
        lines = [each for each in process.lines if not each.startswith("compiling")]
        assert len(lines) == 1, process.output
    finally:
        if client is not None:
            client.close()
        process.close()


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_a_bag_of_another_mechanism_is_refused_in_a_line(platform):
    with pytest.raises(InvalidInput, match="no joint_states of puma560"):
        read_run(platform.bag, "puma560")
