# SPDX-License-Identifier: Apache-2.0

"""Parameters of every node: described, and refused in one line when they cannot be taken."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml
from local_graph import LocalGraph
from rcl_interfaces.msg import Parameter, ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters
from ros_harness import Process, executable, free_domain, ros_arguments

import robodyn as rd

pytestmark = pytest.mark.ros
NODES = (
    "condition_monitor",
    "forward_simulator",
    "inverse_dynamics",
    "run_summary",
    "trajectory_planner",
)
# Those that every ROS node has.
ROS_OWN = ("use_sim_time", "start_type_description_service", "qos_overrides")


@pytest.fixture(scope="module")
def nodes(start):
    # in lockstep the simulator would leave after a while without a command
    given = {"forward_simulator": {"command_timeout": 3600.0}}
    return {name: start(name, given.get(name)) for name in NODES}


@pytest.fixture(scope="module")
def described(nodes, peer):
    """Names and descriptors of one node's own parameters."""

    def describe(node):
        names = peer.call(ListParameters, f"{node}/list_parameters").result.names
        own = [name for name in names if not name.startswith(ROS_OWN)]
        answer = peer.call(
            DescribeParameters, f"{node}/describe_parameters", DescribeParameters.Request(names=own)
        )
        return list(zip(own, answer.descriptors, strict=True))

    return describe


@pytest.mark.parametrize("node", NODES)
def test_every_parameter_is_described(described, node):
    parameters = described(node)
    assert {"model", "robot_description"} <= {name for name, _ in parameters}
    for name, descriptor in parameters:
        assert len(descriptor.description) > 10, name
        ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
        for allowed in ranges:
            assert allowed.from_value < allowed.to_value, name
        if descriptor.type in (ParameterType.PARAMETER_DOUBLE, ParameterType.PARAMETER_INTEGER):
            assert ranges, f"{name} has no range"


@pytest.mark.parametrize("node", NODES)
def test_a_read_only_parameter_cannot_be_set(described, peer, node):
    parameters = described(node)
    assert any(descriptor.read_only for _, descriptor in parameters)
    for name, descriptor in parameters:
        if not descriptor.read_only:
            continue
        request = GetParameters.Request(names=[name])
        values = peer.call(GetParameters, f"{node}/get_parameters", request).values
        if not values:
            continue  # a parameter without a value
        again = SetParameters.Request(parameters=[Parameter(name=name, value=values[0])])
        (result,) = peer.call(SetParameters, f"{node}/set_parameters", again).results
        assert not result.successful, name
        assert "read-only" in result.reason, name


@pytest.mark.parametrize("node", NODES)
def test_ctrl_c_ends_each_node_without_a_word(nodes, peer, described, node):
    process = nodes[node]
    described(node)  # it is up: a signal during its imports ends Python itself
    assert process.alive
    peer.partners.remove(process)
    known = len(process.lines)
    process.signal(signal.SIGINT)
    assert process.wait() == 0
    assert process.lines[known:] == []


MALFORMED = "type: stewart\nname: [unclosed\n"
INCOMPLETE = "type: stewart\nname: half\nplatform: {mass: -1.0}\n"
GOOD = {"model": "stewart_dasgupta"}
# name: node, parameters, and what its one line has to name
REFUSED = {
    "no_model": ("inverse_dynamics", {}, "model"),
    "missing_model": ("condition_monitor", {"model": "no_such_model"}, "no_such_model"),
    "missing_file": ("forward_simulator", {"model": "/no/such/model.yaml"}, "/no/such/model.yaml"),
    "malformed_yaml": ("inverse_dynamics", {"model": "malformed.yaml"}, "malformed.yaml"),
    "incomplete_yaml": ("trajectory_planner", {"model": "incomplete.yaml"}, "incomplete.yaml"),
    "description_is_no_urdf": ("condition_monitor", {"robot_description": "<robot"}, ""),
    "unknown_path": ("trajectory_planner", GOOD | {"path": "IX"}, "'IX'"),
    "unknown_path_of_the_simulator": ("forward_simulator", GOOD | {"path": "IX"}, "'IX'"),
    "out_of_range": ("inverse_dynamics", GOOD | {"kp": -1.0}, "kp"),
    "nan": ("inverse_dynamics", GOOD | {"kv": ".nan"}, "kv"),
    "infinite": ("trajectory_planner", GOOD | {"v_max": ".inf"}, "v_max"),
    "nan_in_a_list": (
        "forward_simulator",
        GOOD | {"initial_configuration": "[0.0, .nan, 0.5, 0.0, 0.0, 0.0, 1.0]"},
        "initial_configuration",
    ),
    "wrong_length": (
        "forward_simulator", GOOD | {"initial_configuration": "[0.0, 1.0]"}, "configuration",
    ),
    "wrong_type": ("condition_monitor", GOOD | {"warn": "high"}, "warn"),
    "wrong_type_of_a_text": ("run_summary", GOOD | {"output": 5}, "output"),
    "not_a_choice": ("inverse_dynamics", GOOD | {"mode": "guess"}, "mode"),
    "not_a_choice_of_stepping": ("forward_simulator", GOOD | {"stepping": "jump"}, "stepping"),
    "thresholds_out_of_order": ("condition_monitor", GOOD | {"warn": 50.0, "error": 20.0}, "error"),
    "period_is_no_whole_number_of_steps": (
        "forward_simulator", GOOD | {"control_rate": 300.0}, "control_rate",
    ),
    "zero_step": ("forward_simulator", GOOD | {"dt": 0.0}, "dt"),
}  # fmt: skip


# one of each way to be rejected ends a process, the others are rejected in this one
ENDS = ("malformed_yaml", "unknown_path", "nan", "wrong_type", "wrong_length")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("refused")
    (made / "malformed.yaml").write_text(MALFORMED)
    (made / "incomplete.yaml").write_text(INCOMPLETE)
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(MALFORMED)
    return made


@pytest.fixture(scope="module")
def refusals(folder):
    """Run each invalid node; return exit code and lines of output."""
    domain = free_domain()

    def end_of(case):
        node, parameters, _ = REFUSED[case]
        process = Process([executable(node), *ros_arguments(parameters)], domain, cwd=folder)
        try:
            return process.wait(), process.lines
        finally:
            process.close()

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(ENDS, pool.map(end_of, ENDS), strict=True))


@pytest.mark.parametrize("case", ENDS)
def test_refused_in_one_line(refusals, case):
    node, _, named = REFUSED[case]
    code, lines = refusals[case]
    assert code == 1, lines
    # warnings about a model come first
    lines = [line for line in lines if "[WARN]" not in line and "[INFO]" not in line]
    assert len(lines) == 1, lines
    assert "[FATAL]" in lines[0]
    assert f"[{node}]" in lines[0]
    assert named in lines[0]


@pytest.mark.parametrize("case", sorted(REFUSED.keys() - set(ENDS)))
def test_refused_by_the_node_with_an_error_of_ours(folder, monkeypatch, case):
    """The runner logs it in its one line."""
    monkeypatch.chdir(folder)
    node, parameters, named = REFUSED[case]
    with pytest.raises(rd.RobodynError) as refused:
        LocalGraph({node: parameters})
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_node_that_waits_for_the_compiler_logs_it_and_can_be_interrupted(tmp_path, monkeypatch):
    """Ctrl-C while the kernels are compiled, which takes long, ends a node without a word more."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    process = Process([executable("inverse_dynamics"), *ros_arguments(GOOD)], free_domain())
    try:
        process.wait_for_line("[INFO] ", "compiling kernels for their first use")
        process.signal(signal.SIGINT)
        assert process.wait() == 0
        assert len(process.lines) == 1, process.output
    finally:
        process.close()
