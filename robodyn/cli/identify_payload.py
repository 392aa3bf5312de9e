# SPDX-License-Identifier: Apache-2.0

"""`robodyn identify-payload MODEL RECORDING...`: identify a payload, set it in a node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import robodyn as rd
from robodyn.cli.commands import CommandResult, options_of
from robodyn.cli.identify import read_all
from robodyn.cli.session import load_model
from robodyn.identification.payload import Payload, payload_summary, payload_text

# [s] until a node has taken its parameters.
RESPONSE_TIMEOUT = 30.0


def identify_payload_command(
    model: str,
    recordings: list[str],
    /,
    *,
    sources: dict[str, Any] = options_of(read_all, "effort_gain joint"),
    reading: dict[str, Any] = options_of(
        "read_recording", "start stop topic effort_topic position_unit"
    ),
    empty: list[str] | None = None,
    apply: bool = False,
    node: str = "/inverse_dynamics",
    output: Path | None = None,
) -> CommandResult:
    """Identify the body that a machine carries, and set it in the running controller.

    Record a motion that excites the payload, such as that of `robodyn excite MODEL --duration 20`.
    The difference between the measured efforts and those of the model belongs to the payload.
    Parameters that the motion does not determine, such as the center of mass of a body that never
    rotates, are set to zero.

    Args:
        recordings: rosbag2 folders, .mcap, .db3 or .csv files of joint states with efforts.
        empty: A recording without the payload, with which the machine is identified first; may be
            repeated.
        apply: Set payload_mass, payload_com and payload_inertia of the node.
        node: Name of the node.
        output: Write the model with the payload to this file (.yaml or .urdf).
    """
    m = load_model(model)
    given, without, _ = read_all(m, recordings, reading, validate=empty, **sources)
    found = rd.identify_payload(m, given, without)
    facts, lines = payload_summary(found), payload_text(found)
    facts["written"] = [] if output is None else [str(p) for p in rd.save(found.mechanism, output)]
    if apply:
        facts["set"] = set_payload(found, node)
        lines += f"\n{node}: payload set"
    return CommandResult(facts, lines)


def payload_parameters(found: Payload) -> dict[str, float | list[float]]:
    """Convert an identified payload to parameters of a node, by name.

    Values that the recording does not determine are zero.
    """
    com = np.where(np.isfinite(found.com_deviation), found.com, 0.0)
    seen = np.isfinite(found.inertia_deviation).all()
    inertia = found.inertia[np.triu_indices(3)] if seen else np.zeros(6)
    return {
        "payload_com": com.tolist(),
        "payload_inertia": inertia.tolist(),
        "payload_mass": float(found.mass),
    }


def set_payload(found: Payload, node: str) -> dict[str, float | list[float]]:
    """Set the payload parameters of a running node with the command `ros2`.

    Returns:
        The parameters that were set, by name.

    Raises:
        InvalidInput: there is no such command, or the node rejects the payload.
    """
    ros2 = shutil.which("ros2")
    if ros2 is None:
        raise rd.InvalidInput("--apply needs the command ros2, which is not on the PATH")
    required = payload_parameters(found)
    for name, value in required.items():  # the mass last: without it there is no payload
        order = [ros2, "param", "set", node, name, yaml.safe_dump(value, default_flow_style=True)]
        try:
            done = subprocess.run(
                order, capture_output=True, text=True, timeout=RESPONSE_TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            raise rd.InvalidInput(
                f"{node}: {name} was not set: no response within {RESPONSE_TIMEOUT:g} s; is the "
                "node running?", value=value,
            ) from None  # fmt: skip
        output = (done.stdout + done.stderr).strip()
        if done.returncode or "uccessful" not in output:
            raise rd.InvalidInput(
                f"{node}: {name} was not set: {output or 'no response'}", value=value
            )
    return required
