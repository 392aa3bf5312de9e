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

The tables explain the texts that appear on `/diagnostics`, in the log and as the reason for a
fault. In these texts, `...` stands for a value. After a fault, the machine brakes and stays at rest
until `~/reset` is called.
"""

FUNCTIONS = {
    "Faults and states of the machine (`joint_commander: machine`)": {
        f"{MACHINE}/machine.py": ("_fault_cause", "_stop_reason", "_begin_homing",
                                  "_step_homing", "_check_point", "_change_state", "step"),
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
            "_path_violation",
            "_derate",
        ),
        f"{MACHINE}/workspace.py": ("violation", "_describe", "path_violation", "_side_violation"),
        f"{MACHINE}/motion_sources.py": ("nearest_motion", "take", "_stamp_error"),
        f"{MACHINE}/stabilized.py": ("at",),
    },
    "States that arrive (`<node>: states`)": {
        "robodyn_ros/state_topic.py": ("waiting", "_reason", "reason", "_missing_joints",
                                       "_conflict", "notes"),
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
        ("No joint_states message with all driven joints arrived for `feedback_timeout`. The "
         "machine brakes.",
         "Check the bus and the driver of the drives, then call `reset`."),
    "... deviates from its command by ... ..., the limit is ...":
        ("A drive does not follow its command. The machine brakes.",
         "Look for an obstacle, a closed brake or an overload, then call `reset`."),
    "the emergency stop is pressed":
        ("A message on `emergency_stop` reported that the emergency stop is pressed. The "
         "machine brakes.",
         "Release the emergency stop, then call `reset`."),
    "the drives have not reported their positions, which homing ... needs (for drives without "
    "position reports, use homing 'assumed')":
        ("Homing cannot begin. Nothing moves.",
         "Publish joint_states, or set `homing` to assumed and park the machine by hand."),
    "...: move it inside by other means, or correct the zero of its drive or the limit":
        ("A joint is outside its limits, so homing cannot begin. Nothing moves.",
         "Move the joint with the drive's own tool, or correct its zero offset or the limit in "
         "the model."),
    "...: correct the zeros of the drives":
        ("No configuration matches the positions that the redundant drives report, so homing "
         "cannot begin. Nothing moves.",
         "Home the drives again, or correct their zero offsets."),
    "homing ended at invalid positions: ...":
        ("The mechanism has no configuration with the joint positions after homing.",
         "Check the zero offsets of the drives and the order of the joints."),
    "a command was not sent: ...":
        ("A set-point was not published. The machine brakes.",
         "Correct the cause that the end of the text states."),
    "homing was interrupted: ...":
        ("Homing did not complete, so the joint positions are unknown. The machine is at rest.",
         "Remove the cause. Then call `reset` twice: the first call switches the machine off, "
         "the second call homes it."),
    "the enable message is missing or false":
        ("No message arrived on `enable` for `enable_timeout`, or the last message was false. "
         "The machine freezes.",
         "Restore the signal, then call `engage` or `park`."),
    "reports ..., outside its range by more than the range itself":
        ("The position that a drive reports during homing is implausible.",
         "Check the unit and the zero offset of the drive."),
    "found no stop within ..., which is more than its range":
        ("During homing with `stall`, a joint moved through its whole range without reaching an "
         "end stop.",
         "Check that the drive moves the joint, and check the joint's limits in the model."),
    "remains at ... although it is commanded away from its stop":
        ("During homing with `stall`, a joint does not move away from its end stop.",
         "Free the joint by hand, and check the drive."),
    ".../... is ...":
        ("The value of an interface in `drive_faults` is not 0. The machine brakes.",
         "Look up the value in the drive's manual, then call `reset`."),
    "..., and it commands the drives: stop it, then reset":
        ("A second node publishes commands for the drives. joint_commander stops sending "
         "commands.",
         "Stop the other node, then call `reset`."),
    "collision: external force of ... N, the limit is ... N":
        ("The estimated force on the body exceeds `collision_threshold`. The motion is stopped.",
         "Remove the obstacle. If there was no contact, raise the threshold."),
    "no enable message for ... s or more":
        ("A motion was requested, but no message arrives on `enable`.",
         "Publish `enable`, then repeat the request."),
    "freeze was requested":
        ("A client called `freeze`. The machine is at rest.", "Call `engage` or `park`."),
    "the machine has not come to rest yet":
        ("A fault cannot be reset while the machine moves.", "Wait until the machine is at rest."),
    "... refused: ...":
        ("The request is not possible in this state. Nothing changes.",
         "Read the reason after the colon."),
    "the search for other nodes that command the drives has not ended":
        ("The node has just started.", "Repeat the request after one second."),
    "the requested motion is not finite, or has a value beyond ...":
        ("The source of the target sent NaN, infinity or an implausibly large number. The "
         "machine comes to rest.",
         "Correct the source of the target."),
    "...: moving to the nearest pose inside the workspace":
        ("The target is outside the workspace. The machine moves to the nearest pose inside.",
         "Send targets inside the workspace, which `robodyn workspace` computes."),
    "the path to the target is blocked: ...":
        ("No straight motion within the limits leads to the target. The machine comes to rest.",
         "Approach the target through other poses."),
    "... needs ... times its effort limit: slowing down":
        ("A drive is too weak for this motion. The machine follows the target more slowly.",
         "Reduce the acceleration or the payload."),
    "the condition number is ..., its limit is ...":
        ("The target is too close to a singularity.",
         "Choose a target farther from the singularity, or raise `condition_limit`."),
    "... would be ... ... beyond its ..., ... ...":
        ("The target requires a joint position beyond its limit.",
         "Send targets inside the workspace."),
    "the condition number would be ..., its limit is ...":
        ("The path to the target passes too close to a singularity.", "Choose another path."),
    "the motion to the target passes through a singularity":
        ("The target is on the other side of a singularity.",
         "Choose a target that the machine can reach without passing a singularity."),
    "the pose is out of reach by ... m and ... rad":
        ("The body cannot reach the target pose. The machine moves to the nearest pose that it "
         "can reach.",
         "Send poses that the body can reach."),
    "setpoint is ... s older than the previous one":
        ("The time stamp is older than that of the previous set-point. The set-point is "
         "rejected.",
         "Publish set-points from one node only."),
    "at most ... s are allowed":
        ("This text states the value of `setpoint_timeout`. It is part of the following texts.",
         "See the following texts."),
    "setpoint is ... s old, ..., and none arrived in time for ... s: check the clocks of both "
    "computers":
        ("All set-points are late, which indicates that the clocks differ. The machine comes to "
         "rest.",
         "Synchronize the clocks of both computers, for example with chrony or PTP."),
    "setpoint is ... s in the future, ...: synchronize the clocks of both computers":
        ("The clocks of the two computers differ. The set-point is rejected.",
         "Synchronize the clocks of both computers, for example with chrony or PTP."),
    "setpoint is ... s old, ...; others arrived in time: the sender, the network or this "
    "computer is busy":
        ("Some set-points are late and are rejected. If no other set-point arrives, the machine "
         "comes to rest.",
         "Check the load of both computers and of the network."),
    "the pose of the base is unknown: no messages on base_imu, or not yet for ... s":
        ("The platform cannot be stabilized yet. The machine comes to rest.",
         "Check base_imu, or wait until the estimate of the base pose has settled."),
    "waiting for ...: ...":
        ("The node has received no state since its start, and is waiting.",
         "Read the reason after the colon, and start the node that publishes the topic."),
    "no message was received from ...":
        ("The topic has publishers, but none of their messages arrived.",
         "Compare the QoS settings (`robodyn doctor`) and the domain IDs."),
    "it has no publisher":
        ("No node publishes the topic.", "Start the publisher, or check the remapping."),
    "... publishes ..., not ...":
        ("The messages on the topic are of another type than the one that the node reads.",
         "Remap the topic, or publish the type named last."),
    "no message contains the joints ...":
        ("Messages arrive, but without these joints.",
         "Publish these joints, or check the prefix of their names."),
    "one more message is needed for velocities":
        ("The node computes velocities as finite differences of positions.",
         "Wait for the next message."),
    "it has ...":
        ("The messages contain joints that the model does not have.",
         "Check the topic and the model."),
    "...: no positions of ... for ... s":
        ("The positions of some joints are no longer published.",
         "Check the publisher of these joints."),
    "... has ... publishers (...) that contradict each other: the states of one are refused "
    "(... so far); stop one of them":
        ("Two nodes publish different states of the same joints.", "Stop one of the two nodes."),
    "no velocities of ...: their positions are differentiated":
        ("The node computes velocities as filtered finite differences of positions. The filter "
         "delays the velocities.",
         "Publish velocities if possible."),
    "unknown: the middleware does not number messages":
        ("With this middleware, the node cannot count lost messages.", "No action is needed."),
    "... of ... states lost, ... late, longest gap ... ms":
        ("States were lost or late. The efforts stayed constant in the meantime.",
         "Check the load of the computer and of the network, see [latency](latency.md)."),
    "the trajectory began ... s late: it had not been read in time":
        ("The trajectory is so long that the node was still reading it when the motion should "
         "have started.",
         "Raise `start_in` or `sample_period` of trajectory_planner."),
    "no ... for ... s: ...":
        ("The watchdog has triggered: the efforts hold the configuration, then decrease to zero.",
         "Find out why no states arrive, then plan the motion again."),
    "no ... for ... s":
        ("The watchdog has triggered: the efforts hold the configuration, then decrease to zero.",
         "Find out why no states arrive."),
    "no ...: ...":
        ("The watchdog has triggered: the efforts hold the configuration, then decrease to zero.",
         "Find out why no states arrive."),
    "all states on time":
        ("No state was lost or late.", "No action is needed."),
    "...; the mechanism comes to rest and holds its position":
        ("The node stopped the motion for the reason before the semicolon.",
         "Remove the cause, then send a new trajectory."),
    "... has another publisher, ...":
        ("A second node publishes commands. inverse_dynamics therefore publishes no commands.",
         "Stop one of the two nodes."),
    "efforts not published; the drives keep the last ones: ...":
        ("The middleware did not accept the message.",
         "Correct the cause that the end of the text states."),
    "held by brakes: no efforts commanded":
        ("Simulated brakes hold the mechanism until the first nonzero command.", "Send commands."),
    "efforts limited ... times":
        ("Commands exceeded the effort limits of the actuators and were reduced to these limits.",
         "Plan slower motions, or check the limits in the model."),
    "...; beyond limits: ...":
        ("The listed joints are beyond their limits. Passive joints have no end stops in the "
         "simulation.",
         "Plan a motion within the limits, or check the limits in the model."),
    "... s behind the wall clock since the first command":
        ("The computer is too slow for `real_time_factor`.",
         "Reduce the load, raise `dt`, or lower `real_time_factor`."),
    "... periods with a command at least ... periods old, the oldest ... s":
        ("Commands arrive late and are applied to later states.",
         "Reduce the load, or set the parameter `delay` of inverse_dynamics."),
    "condition number ...":
        ("The condition number of the state is below `warn`.", "No action is needed."),
    ", above ...":
        ("The condition number exceeds `warn` or `error`.",
         "Move the mechanism away from this pose."),
    "; weakest: ...":
        ("This is the direction in which the mechanism is weakest.",
         "Reduce the load in this direction."),
    ", near a singularity of ... (...)":
        ("This is the type of the nearby singularity.", "Move the mechanism away from this pose."),
    "condition number ...: ...":
        ("The condition number cannot be computed in this state.",
         "Read the reason after the colon."),
    "t = ... s: ...":
        ("This is the time to which the status after the colon applies.",
         "Read the status after the colon."),
    "trajectory ahead: ...":
        ("The text lists the smallest margins to the limits in the rest of the planned motion.",
         "If the status is a warning, plan another path."),
    "trajectory not examined: ...":
        ("The mechanism cannot follow the trajectory.", "Read the reason after the colon."),
    "the ...'s pose is lost: ...":
        ("No pose matches the readings of the joints. No state is published.",
         "Check the readings. The estimator repeats the search automatically."),
    "pose of the ... found":
        ("The estimator tracks the pose.", "No action is needed."),
    "the ...s' readings jumped; searching for the pose from home":
        ("A joint reading changed by more than the parameter `jump` permits.",
         "Check the encoders."),
    "pose of the ... found again, from home":
        ("Several poses can have the same readings, so the pose that was found may be wrong.",
         "Compare the pose with the machine before the machine moves."),
    "no joint_states with the driven joints for ... s...":
        ("Joint readings no longer arrive. No state is published.",
         "Check the publisher of joint_states."),
    "the ...'s pose has not been found yet":
        ("No pose near the initial guess matches the first readings.", "Set `initial_pose`."),
    "near a singular pose: standard deviation of the pose ... m or rad":
        ("In this pose, the joint readings determine the pose only with low accuracy.",
         "Move the mechanism away from this pose."),
    "tracking: standard deviation of the pose ... m or rad":
        ("The node operates normally.", "No action is needed."),
    "...: no message for ... s: the platform returns to neutral":
        ("No message from the vehicle arrived for `timeout`. The platform returns to neutral.",
         "Restart the simulator."),
    "set-point not published; cueing restarts at neutral: ...":
        ("The computed set-point failed a check.",
         "Read the reason after the colon. If this occurs again, report it as a bug."),
    "no messages from the vehicle":
        ("No message from the vehicle arrived for `timeout`. The platform is at neutral.",
         "Start the simulator."),
    "receiving messages from the vehicle":
        ("The node operates normally.", "No action is needed."),
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
