# SPDX-License-Identifier: Apache-2.0

"""Parts of the launch files: the camera as far away as the mechanism is large, remappings."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from launch.actions import DeclareLaunchArgument, EmitEvent, LogInfo
from launch.events import Shutdown
from launch.events.process import ProcessIO
from launch_ros.actions import Node
from local_graph import LocalGraph

import robodyn as rd
from launch import LaunchContext
from robodyn_ros.launch_helpers import machine as machine_launch
from robodyn_ros.launch_helpers.description import (
    clock_remapping,
    own_files,
    selected_mechanism,
    view_of,
)
from robodyn_ros.launch_helpers.ros2_control import as_hardware, start_when_ready, with_controllers
from robodyn_ros.launch_helpers.simulation import (
    _on_bag_exit,
    _on_summary_exit,
    simulation_arguments,
    simulation_nodes,
    subscriber_count,
)
from robodyn_ros.nodes import NOT_COMPLETED
from robodyn_ros.parameter_files import read_sections


@pytest.fixture
def camera(tmp_path, monkeypatch):
    """The camera with which a mechanism is seen: distance and height [m]."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def camera_of(mechanism):
        file = Path(view_of(LaunchContext(), mechanism))
        assert file.parent == tmp_path
        view = yaml.safe_load(file.read_text())
        current = view["Visualization Manager"]["Views"]["Current"]
        return current["Distance"], current["Focal Point"]["Z"]

    return camera_of


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_a_larger_platform_is_seen_from_farther_away(camera):
    """Legs of 1.15 m against legs of 0.56 m, on average at home."""
    small, large = rd.load("stewart_dasgupta"), rd.load("stewart_symmetric")
    ratio = large.joint_positions(large.home).mean() / small.joint_positions(small.home).mean()
    assert ratio > 2.0
    assert camera(large) == pytest.approx([ratio * value for value in camera(small)])


def test_camera_looks_below_the_base_of_a_hanging_mechanism(camera):
    distance, height = camera(rd.load("delta"))
    assert distance > 0.0
    assert height < -0.3


@pytest.mark.parametrize(
    ("ros2_control", "hardware", "expected"),
    [
        ("false", "simulator", "joint_states"),
        ("true", "simulator", "/left/robodyn/hw/joint_states"),
        ("true", "robot", "joint_states"),
        ("true", "mock", "joint_states"),
    ],
)
def test_only_a_simulated_robot_speaks_by_topics_of_its_own(ros2_control, hardware, expected):
    context = LaunchContext()
    context.launch_configurations.update(
        ros2_control=ros2_control, hardware=hardware, namespace="left"
    )
    name, topic = as_hardware(context, "joint_states")
    assert name == "joint_states"
    assert (topic if isinstance(topic, str) else topic.perform(context)) == expected


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
@pytest.mark.parametrize(
    ("model", "hardware", "estimates"),
    [
        ("stewart_symmetric", "robot", True),
        ("delta", "robot", True),
        ("delta", "mock", True),
        ("delta", "simulator", False),
        ("stanford_arm", "robot", False),
    ],
)
def test_real_mechanisms_are_not_simulated_and_passive_joints_are_estimated(
    monkeypatch, model, hardware, estimates
):
    started = []
    monkeypatch.setattr("robodyn_ros.launch_helpers.settings.check_installed", lambda _: None)
    monkeypatch.setattr("robodyn_ros.launch_helpers.simulation.ros2_control_actions", lambda *_: [])
    monkeypatch.setattr(
        "robodyn_ros.launch_helpers.simulation.robodyn_node",
        lambda name, *_, **__: started.append(name),
    )
    monkeypatch.setattr("robodyn_ros.launch_helpers.simulation.OnProcessExit", lambda **_: None)
    monkeypatch.setattr(
        "robodyn_ros.launch_helpers.simulation.RegisterEventHandler", lambda _: None
    )
    context = LaunchContext()
    for argument in simulation_arguments(model, "mechanism_sim.yaml"):
        argument.execute(context)
    context.launch_configurations.update(ros2_control="true", hardware=hardware)
    simulation_nodes(context, "mechanism_sim.yaml", "")
    assert ("forward_simulator" in started) == (hardware == "simulator")
    assert ("state_estimator" in started) == estimates


@pytest.mark.parametrize(
    ("given", "expected"),
    [("", [0.0, 0.0, -9.81]), ("0 0 0", [0.0, 0.0, 0.0]), ("0 -9.81 1e-1", [0.0, -9.81, 0.1])],
)
def test_the_gravity_of_a_launch_is_that_of_its_mechanism_and_of_a_file_for_all_nodes(
    given, expected
):
    context = LaunchContext()
    for argument in simulation_arguments("stanford_arm", "mechanism_sim.yaml"):
        argument.execute(context)
    context.launch_configurations["gravity"] = given
    _, mechanism = selected_mechanism(context)
    np.testing.assert_array_equal(mechanism.model.gravity, expected)
    files = [context.launch_configurations[name] for name in own_files(context)]
    assert len(files) == 1 + bool(given)
    if given:
        assert read_sections(files[-1]) == {"/**": {"gravity": expected}}


@pytest.mark.parametrize("given", ["0 0", "0 0 down", "nan 0 0", "0,0,0"])
def test_a_gravity_that_is_no_vector_ends_the_launch(given):
    context = LaunchContext()
    context.launch_configurations["gravity"] = given
    with pytest.raises(RuntimeError, match="expected three numbers"):
        own_files(context)


# All processes of a launch that receive the state, except the recorder.
WATCH = ("trajectory_planner", "inverse_dynamics", "condition_monitor", "run_summary")


@pytest.mark.ros
@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
@pytest.mark.parametrize(
    ("model", "state", "hearing"),
    [
        ("stewart_dasgupta", "platform_state", len(WATCH)),
        # the summary receives the states of an arm and the efforts that led to them
        ("puma560", "joint_states", len(WATCH) + 1),
    ],
)
def test_a_run_waits_for_all_that_receive_the_state(model, state, hearing):
    """One less, and the first states of a run might be missed; one more, and it never begins."""
    with LocalGraph({name: {"model": model} for name in WATCH}) as graph:
        graph.until(lambda: graph.peer.count_subscribers(state) >= hearing, "all who listen")
        graph.spin(0.2)
        assert graph.peer.count_subscribers(state) == hearing
    context = LaunchContext()
    for record, more in (("false", 0), ("true", 1)):
        context.launch_configurations["record"] = record
        assert subscriber_count(context) == len(WATCH) + more


def test_nothing_is_recorded_unless_it_is_asked_for():
    arguments = simulation_arguments("model", "params.yaml")
    record = next(a for a in arguments if a.name == "record")
    assert isinstance(record, DeclareLaunchArgument)
    context = LaunchContext()
    record.execute(context)
    assert context.launch_configurations["record"] == "false"


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("code", [0, 1, -9])
def test_a_recorder_that_fails_fails_the_launch_also_after_the_run(code, done):
    context = LaunchContext()
    if done:
        context.launch_configurations["run_is_done"] = "true"
    event = SimpleNamespace(returncode=code, process_name="recorder-5")
    (action,) = _on_bag_exit(event, context)
    if done and code == 0:
        assert isinstance(action, EmitEvent)
        assert isinstance(action.event, Shutdown)
    else:
        with pytest.raises(RuntimeError, match=f"recorder-5 .*{code}"):
            action.execute(context)


SHIPPED = Path(__file__).resolve().parents[2] / "config"


def test_controllers_command_the_joints_of_any_mechanism():
    context, shipped = LaunchContext(), SHIPPED / "arm_controllers.yaml"
    joints = ("shoulder_pan_joint", "elbow_joint")
    settings = context.launch_configurations
    settings.update(ros2_control="true", controllers_file="")
    with_controllers(context, shipped, joints, rate=500.0)
    assert settings["controllers_file"] == settings["more_controllers_file"]
    made = read_sections(settings["more_controllers_file"])
    assert made["/**/effort_controller"] == {"interface_name": "effort", "joints": [*joints]}
    assert made["/**/controller_manager"]["update_rate"] == 500
    assert made["/**/inverse_dynamics"]["delay"] == pytest.approx(0.003)
    assert "idle" not in made["/**/inverse_dynamics"]


def test_a_file_of_the_users_own_has_the_last_word_over_what_is_shipped():
    context, shipped = LaunchContext(), SHIPPED / "arm_controllers.yaml"
    settings = context.launch_configurations
    settings.update(ros2_control="true", controllers_file="mine.yaml")
    with_controllers(context, shipped, ["elbow_joint"], rate=None)
    assert settings["more_controllers_file"] == "mine.yaml"
    # it may publish nothing about the controllers
    kept = read_sections(settings["controllers_file"])["/**/controller_manager"]
    assert kept == read_sections(shipped)["/**/controller_manager"]


def test_a_trajectory_controller_is_commanded_to_hold():
    """By itself it holds without efforts: the mechanism would sag by its weight over the gains."""
    context = LaunchContext()
    context.launch_configurations.update(
        ros2_control="true", controllers_file="", controller="leg_trajectory_controller"
    )
    with_controllers(context, SHIPPED / "stewart_controllers.yaml", ["leg1_actuator"], rate=None)
    made = read_sections(context.launch_configurations["more_controllers_file"])
    assert made["/**/inverse_dynamics"]["idle"] == "hold"


@pytest.mark.parametrize("namespace", ["", "left"])
def test_a_namespace_has_a_clock_of_its_own(namespace):
    context = LaunchContext()
    context.launch_configurations["namespace"] = namespace
    name, topic = clock_remapping()
    expected = f"/{namespace}/clock" if namespace else "/clock"
    assert (name, topic.perform(context)) == ("/clock", expected)


def test_nothing_is_commanded_before_all_are_ready():
    """Kernels that have to be compiled keep one node back far longer than another."""
    first, second = (Node(package="robodyn", executable=name) for name in ("one", "other"))
    begin = LogInfo(msg="begin")
    handlers = [part.event_handler for part in start_when_ready([first, second], begin)]
    context = LaunchContext()

    process = {"name": "node", "cmd": [], "cwd": None, "env": None, "pid": 1}

    def read_line(node, text):
        event = ProcessIO(text=text, fd=1, action=node, **process)
        answers = [h.handle(event, context) for h in handlers if h.matches(event)]
        return [answer for answer in answers if answer is not None]

    assert read_line(first, b"compiling kernels: 8 done") == []
    assert read_line(first, b"simulation of delta, ready") == []
    assert read_line(first, b"simulation of delta, ready") == []  # set twice
    assert read_line(second, b"computed_torque of delta, ready") == [begin]
    assert read_line(second, b"computed_torque of delta, ready") == []  # activated once more


@pytest.mark.parametrize("record", ["true", "false"])
def test_a_run_that_was_not_completed_fails_the_launch(record):
    """After everything has been stopped in order: the bag is complete, the summary is written."""
    context = LaunchContext()
    context.launch_configurations["stay"] = "false"
    recorder = Node(package="robodyn", executable="recorder")
    ended = SimpleNamespace(returncode=NOT_COMPLETED, process_name="run_summary-5")
    actions = _on_summary_exit(ended, context, recorder if record == "true" else None)
    if record == "true":
        for action in actions:
            action.execute(context)
        actions = _on_bag_exit(SimpleNamespace(returncode=0, process_name="recorder-6"), context)
    (action,) = actions
    with pytest.raises(RuntimeError, match="not completed"):
        action.execute(context)


@pytest.fixture
def launched(tmp_path, monkeypatch):
    """Launch arguments set over the parameters of each node of machine.launch.py."""
    robodyn_node, seen = machine_launch.robodyn_node, {}

    def spy(name, *, given=(), **more):
        seen[name] = given
        return robodyn_node(name, given=given, **more)

    monkeypatch.setattr(machine_launch, "robodyn_node", spy)

    def launched_with(sections, **given):
        file = tmp_path / "machine_parameters.yaml"
        parameters = {name: {"ros__parameters": values} for name, values in sections.items()}
        file.write_text(yaml.safe_dump(parameters))
        context = LaunchContext()
        defaults = {name: default for name, (default, *_) in machine_launch.ARGUMENTS.items()}
        settings = defaults | {"namespace": ""} | given | {"params_file": str(file)}
        context.launch_configurations.update(settings)
        seen.clear()
        machine_launch._nodes(context)
        return dict(seen)

    return launched_with


def test_launch_arguments_at_their_defaults_yield_to_the_parameter_file(launched):
    sections = {
        "/**/drive_link": {"link": "serial:/dev/ttyUSB0@115200"},
        "/**/trajectory_planner": {"path": "lap.yaml"},
    }
    own = launched(sections, hardware="link")
    assert own["drive_link"] == own["trajectory_planner"] == ()
    over = launched(sections, hardware="link", link="udp:10.0.0.7:9870", path="")
    assert over["drive_link"] == ("link",)
    assert over["trajectory_planner"] == ("path",)
    without = launched({"/**/joint_commander": {"slow": 0.2}}, hardware="link")
    assert without["drive_link"] == ("link",)


def test_a_machine_is_recorded_and_shown_at_a_port(launched):
    sections = {"/**": {"slow": 0.2}}
    nodes = launched(sections, record="true", viewer="true", port="8090")
    assert nodes["recorder"] == ("output",)
    assert nodes["web_viewer"] == ("port",)
    assert "recorder" not in launched(sections)
