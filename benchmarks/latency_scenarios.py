# SPDX-License-Identifier: Apache-2.0
"""Requests to the nodes in the latency measurements."""

from __future__ import annotations

from typing import NamedTuple

PLATFORM, ARM = "stewart_symmetric", "puma560"


class Scenario(NamedTuple):
    """A node and its requests.

    Attributes:
        node, model: the executable and its mechanism.
        topic: what it is asked on; `joint_commands` for the simulator.
        answer: the topic on which it answers.
        parameters: of the node.
    """

    node: str
    model: str
    topic: str
    answer: str
    parameters: tuple[str, ...] = ()


SCENARIOS = (
    Scenario("inverse_dynamics", PLATFORM, "platform_state", "joint_commands"),
    Scenario("inverse_dynamics", ARM, "joint_states", "joint_commands"),
    Scenario("condition_monitor", PLATFORM, "platform_state", "condition_number"),
    Scenario("condition_monitor", ARM, "joint_states", "condition_number"),
    Scenario("state_estimator", PLATFORM, "joint_states", "platform_state"),
    Scenario("forward_simulator", PLATFORM, "joint_commands", "platform_state"),
    Scenario("forward_simulator", ARM, "joint_commands", "joint_states"),
)
