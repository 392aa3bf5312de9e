# SPDX-License-Identifier: Apache-2.0

"""The catalog of diagnostics and faults in docs/nodes.md, from the texts in the code.

`FUNCTIONS` names the functions whose texts become diagnostics or reasons of faults. Every text of
theirs has to have a meaning and a remedy in `CATALOG`, and every entry of it has to be in the code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from generated import table

ROOT = Path(__file__).resolve().parents[1]
MACHINE = "robodyn/motion_base/machine"
# Shorter texts are parts of others.
WORDS = 3

INTRODUCTION = """
## Diagnostics and faults

The tables explain the texts on `/diagnostics`, in the log and in the reason of a fault; `...`
stands for values. After a fault, the machine brakes and stays at rest until `reset` is called.
"""

FUNCTIONS = {
    "Faults and states of the machine (`joint_commander: machine`)": {
        f"{MACHINE}/machine.py": ("_cause", "_pressed", "_begin_homing", "_home", "_pass",
                                  "_enter", "step"),
        f"{MACHINE}/homing.py": ("step",),
        "robodyn_ros/joint_commander.py": ("_on_interfaces", "_on_other"),
        "robodyn_ros/external_wrench.py": ("update",),
    },
    "Refused requests (services of `joint_commander`)": {
        f"{MACHINE}/machine.py": ("request",),
        "robodyn_ros/joint_commander.py": ("_request",),
    },
    "Departures from the target (`joint_commander: machine`, WARN)": {
        f"{MACHINE}/commander.py": (
            "_requested_target",
            "_admissible_target",
            "_objection",
            "_derate",
        ),
        f"{MACHINE}/workspace.py": ("objection", "_describe", "closes_in", "_problem"),
        f"{MACHINE}/motion_sources.py": ("nearest_motion", "take", "_objection"),
        f"{MACHINE}/stabilized.py": ("at",),
    },
    "States that arrive (`<node>: states`)": {
        "robodyn_ros/state_topic.py": ("waiting", "_reason", "reason", "_lacking", "_conflict",
                                       "notes"),
        "robodyn_ros/losses.py": ("text",),
    },
    "`inverse_dynamics: efforts`": {
        "robodyn_ros/inverse_dynamics.py": ("_watch", "_diagnose", "_check_collision"),
        "robodyn_ros/effort_outputs.py": ("command", "others"),
    },
    "`forward_simulator: simulation` and `real time`": {
        "robodyn_ros/forward_simulator.py": ("_diagnose", "_real_time"),
    },
    "`condition_monitor: condition number` and `trajectory ahead`": {
        "robodyn_ros/condition_monitor.py": ("_status", "_on_state", "_look_ahead"),
    },
    "`state_estimator: state estimation`": {
        "robodyn_ros/state_estimator.py": ("_on_joints", "_estimate", "_status"),
    },
    "`motion_cueing: cueing`": {
        "robodyn_ros/motion_cueing.py": ("_tick", "_diagnose"),
    },
}  # fmt: skip

# Of each text, with ... for its values: what it means, and what to do.
CATALOG = {
    "the drives have not reported their positions for ... s":
        ("no joint_states with all driven joints for `feedback_timeout`; the machine brakes",
         "check the bus and the driver of the drives, then call `reset`"),
    "... deviates from its command by ... ..., the limit is ...":
        ("a drive does not follow its command; the machine brakes",
         "look for an obstacle, a brake that is closed or an overload; then call `reset`"),
    "the emergency stop is pressed":
        ("the emergency stop was reported; the machine brakes",
         "release the emergency stop, then call `reset`"),
    "the drives have not reported their positions, which homing ... needs (drives that report "
    "none need homing 'assumed')":
        ("homing cannot begin; nothing moves",
         "publish joint_states, or set `homing` to assumed and park the machine by hand"),
    "...: move it inside by other means, or correct the zero of its drive or the limit":
        ("a joint is outside its limits; homing cannot begin, nothing moves",
         "move the joint with the drive's own tool, or correct its zero or the limit in the model"),
    "...: correct the zeros of the drives":
        ("no configuration matches the positions that the redundant drives report; homing cannot "
         "begin, nothing moves",
         "home the drives again, or correct their zeros"),
    "homing ended at invalid positions: ...":
        ("the positions after homing belong to no configuration of the mechanism",
         "check the zeros of the drives and the order of the joints"),
    "a command was not sent: ...":
        ("a set-point was not published; the machine brakes",
         "read the reason at the end of the text"),
    "homing was interrupted: ...":
        ("the positions are unknown; the machine is at rest",
         "remove the cause, call `reset` and then `power_on`: the machine is homed again"),
    "no enable message arrives":
        ("no message on `enable` for `enable_timeout`, or `enable` was false; the machine freezes",
         "restore the signal, then call `engage` or `park`"),
    "reports ..., outside its range by more than the range itself":
        ("the reported position of a drive is implausible during homing",
         "check the unit and the zero of the drive"),
    "found no stop within ..., its whole range":
        ("homing 'stall': a joint went through its range without a stop",
         "check that the drive moves the joint, and its limits in the model"),
    "remains at ... although it is commanded away from its stop":
        ("homing 'stall': a joint sticks at its stop",
         "free the joint by hand, check the drive"),
    ".../... is ...":
        ("an interface in `drive_faults` is not 0; the machine brakes",
         "look up the number in the drive's manual, then call `reset`"),
    "..., and it commands the drives: stop it, then reset":
        ("a second node publishes commands for the drives; this machine sends none",
         "stop the other node, then call `reset`"),
    "collision: external force of ... N, the limit is ... N":
        ("the estimated force on the body exceeds `collision_threshold`; the motion is abandoned",
         "remove the obstacle; if there was no contact, raise the threshold"),
    "no enable message for ... s or more":
        ("a motion was requested without `enable`", "publish `enable`, then repeat the request"),
    "freeze was requested":
        ("a client called `freeze`; the machine is at rest", "call `engage` or `park`"),
    "the machine has not come to rest yet":
        ("a fault cannot be reset while the machine moves", "wait until it is at rest"),
    "... refused: ...":
        ("the request is not possible in this state; nothing changed", "read the reason"),
    "the search for other nodes that command the drives has not ended":
        ("the node has just started", "repeat the request after a second"),
    "the requested motion is not finite, or has a number beyond ...":
        ("the source of the target sent NaN, infinity or a huge number; the machine comes to rest",
         "correct the source of the target"),
    "...: moving to the nearest pose inside the workspace":
        ("the target is outside the workspace; the machine moves to the nearest pose within",
         "send targets within the workspace (`robodyn workspace`)"),
    "the path to the target is blocked: ...":
        ("no straight motion within the limits leads to the target; the machine comes to rest",
         "approach the target through other poses"),
    "... needs ... times its effort limit: slowing down":
        ("a drive is too weak for this motion; the machine follows more slowly",
         "reduce the acceleration or the payload"),
    "the condition number is ..., its limit is ...":
        ("the target is too close to a singularity",
         "stay away from it, or raise `condition_limit`"),
    "... would be ... ... beyond its ..., ... ...":
        ("the target needs a joint beyond its limit", "send targets within the workspace"),
    "the condition number would be ..., its limit is ...":
        ("the path to the target passes too close to a singularity", "choose another path"),
    "the way to the target passes through a singularity":
        ("the target is on the other side of a singularity", "choose a target on this side"),
    "the pose is out of reach by ... m and ... rad":
        ("the body cannot reach the pose of the target; the nearest one is used",
         "send poses that the body can reach"),
    "setpoint is ... s older than the last one":
        ("the time stamp is older than the previous one; the set-point is rejected",
         "publish set-points from one node only"),
    "at most ... s are allowed":
        ("`setpoint_timeout`, as part of the following texts", "see the following texts"),
    "setpoint is ... s old, ..., and none arrived in time for ... s: do both clocks agree?":
        ("all set-points are late, as if clocks differed; the machine comes to rest",
         "synchronize the clocks of both computers (chrony, PTP)"),
    "setpoint is ... s in the future, ...: set the clocks of both computers":
        ("the clocks differ; the set-point is rejected",
         "synchronize the clocks of both computers (chrony, PTP)"),
    "setpoint is ... s old, ...; others arrived in time: the sender, the network or this computer "
    "is busy":
        ("single set-points are late and rejected; without others the machine comes to rest",
         "look for a high load on both computers and the network"),
    "the pose of the base is unknown: no messages on base_imu, or for less than ... s":
        ("the platform cannot be stabilized yet; the machine comes to rest",
         "check base_imu, or wait until the estimate has settled"),
    "waiting for ...: ...":
        ("no state has been received since the start; the node does nothing yet",
         "read the reason; start the node that publishes the topic"),
    "no message was received from ...":
        ("there are publishers, but none of their messages arrived",
         "compare the QoS (`robodyn doctor`) and the domain"),
    "it has no publisher":
        ("no node publishes the topic", "start its publisher, check the remapping"),
    "no message has the joints ...":
        ("messages arrive, but without these joints",
         "publish these joints, or check the prefix of the names"),
    "one more message is needed for velocities":
        ("velocities are computed as differences of positions", "wait for the next message"),
    "it has ...": ("the messages contain other joints", "check the topic and the model"),
    "...: no positions of ... for ... s":
        ("some joints are no longer published",
         "check the publisher of these joints"),
    "... has ... publishers (...) that contradict each other: the states of one are refused "
    "(... so far); stop it":
        ("two nodes publish different states of the same joints", "stop one of them"),
    "no velocities of ...: positions are differentiated":
        ("velocities are computed as filtered differences of positions, with a delay",
         "publish velocities if you can"),
    "unknown: the middleware does not number messages":
        ("lost messages cannot be counted with this middleware", "nothing"),
    "... of ... states lost, ... late, ... ms without one at most":
        ("states were lost or late; the efforts were constant in the meantime",
         "look for a high load on the computer and the network (docs/latency.md)"),
    "the trajectory began ... s late: it had not been read in time":
        ("the trajectory was so long that the node had not read it completely before its start",
         "raise `start_in`, or `sample_period` of trajectory_planner"),
    "no ... for ... s: ...":
        ("the watchdog has triggered: efforts hold the configuration, then decrease to zero",
         "find out why no states arrive; then plan the motion again"),
    "no ... for ... s":
        ("the watchdog has triggered; see above", "find out why no states arrive"),
    "no ...: ...": ("the watchdog has triggered; see above", "find out why no states arrive"),
    "all commands in time": ("no state was lost or late", "nothing"),
    "...; the mechanism comes to rest and is held":
        ("the motion was abandoned for the reason before the semicolon",
         "remove the cause and send a new trajectory"),
    "... has another publisher, ...":
        ("a second node publishes commands; this one publishes none",
         "stop one of the two nodes"),
    "efforts not published, the drives keep the last ones: ...":
        ("the middleware did not accept the message", "read the reason at the end of the text"),
    "held by brakes: no efforts commanded":
        ("simulated brakes hold the mechanism until the first nonzero command", "send commands"),
    "efforts limited ... times":
        ("commands exceeded the limits of the actuators and were reduced to them",
         "plan slower motions, or check the limits in the model"),
    "...; beyond limits: ...":
        ("these joints are beyond their limits; passive joints have no end stops in simulation",
         "plan a motion within the limits, or check the limits in the model"),
    "... s behind the wall clock since the first command":
        ("the computer is too slow for `real_time_factor`",
         "reduce the load, raise `dt`, or lower `real_time_factor`"),
    "... periods with a command older than ... of them, the oldest ... s":
        ("commands arrive late and are applied to later states",
         "reduce the load, or set `delay` of inverse_dynamics"),
    "condition number ...": ("the state's condition number, below `warn`", "nothing"),
    ", above ...": ("the condition number exceeds `warn` or `error`", "move away from this pose"),
    "; weakest: ...":
        ("the direction in which the mechanism is weakest", "reduce the load in this direction"),
    ", near a singularity of ... (...)":
        ("the kind of the singularity nearby", "move away from this pose"),
    "condition number ...: ...":
        ("the condition number cannot be computed in this state", "read the reason"),
    "t = ... s: ...": ("the status at this time", "read the status after the colon"),
    "trajectory ahead: ...":
        ("the smallest margins of the planned motion ahead", "plan another path if it warns"),
    "trajectory not examined: ...":
        ("the trajectory cannot be followed by this mechanism", "read the reason"),
    "the ...'s pose is lost: ...":
        ("no pose matches the joints' readings; no state is published",
         "check the readings; the estimator searches again by itself"),
    "pose of the ... found": ("the estimator tracks the pose", "nothing"),
    "the ...s' readings jumped; searching for the pose from home":
        ("a reading changed faster than `jump` allows", "check the encoders"),
    "pose of the ... found again, from home":
        ("the pose may be another one with the same readings",
         "compare it with the machine before it moves"),
    "no joint_states with the driven joints for ... s...":
        ("readings stopped; no state is published", "check the publisher of joint_states"),
    "the ...'s pose is not found yet":
        ("no pose near the initial guess matches the first readings", "set `initial_pose`"),
    "near a singular pose: standard deviation of the pose ... m or rad":
        ("the readings determine the pose only inaccurately", "move away from this pose"),
    "tracking: standard deviation of the pose ... m or rad": ("normal operation", "nothing"),
    "...: no message for ... s: the platform returns to neutral":
        ("no vehicle message for `timeout`; the motion fades out", "restart the simulator"),
    "set-point not published, cueing restarts at neutral: ...":
        ("the set-point failed a check", "read the reason; report it as a bug if it occurs again"),
    "no messages from the vehicle":
        ("no vehicle message for `timeout`; the platform is at neutral", "start the simulator"),
    "messages from the vehicle arrive": ("normal operation", "nothing"),
}  # fmt: skip


def section() -> str:
    """Return the section of the page.

    Raises:
        KeyError: a text of the code has no entry in the catalog.
        ValueError: an entry of the catalog is not in the code.
    """
    parts = [INTRODUCTION]
    seen: set[str] = set()
    for heading, files in FUNCTIONS.items():
        texts = list(dict.fromkeys(t for file, names in files.items() for t in _texts(file, names)))
        seen.update(texts)
        rows = [(f"`{text}`", *CATALOG[text]) for text in texts]
        parts.append(f"\n### {heading}\n\n" + table(["text", "meaning", "what to do"], rows))
    if stale := sorted(CATALOG.keys() - seen):
        raise ValueError(f"texts of docs/diagnostics.py that are not in the code: {stale}")
    return "".join(parts)


def _texts(file: str, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts of functions, values replaced by `...`."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name in names:
            yield from (text for text in _strings(function) if len(text.split()) >= WORDS)


def _strings(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the strings of a function without its docstring."""
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    if ast.get_docstring(function) is not None:
        nodes = [node for statement in function.body[1:] for node in ast.walk(statement)]
    parts = {
        id(part)
        for node in nodes
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in nodes:
        if id(node) in parts:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(v.value if isinstance(v, ast.Constant) else "..." for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.replace("{}", "...")
