# SPDX-License-Identifier: Apache-2.0

"""Publishers of other nodes on a topic."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo


def other_publishers(node: Node, topic: str) -> list[TopicEndpointInfo]:
    """Return the publishers on a topic that belong to other nodes."""
    own = node.get_name(), node.get_namespace()
    found = node.get_publishers_info_by_topic(node.resolve_topic_name(topic))
    return [p for p in found if (p.node_name, p.node_namespace) != own]


def publisher_names(node: Node, topic: str) -> list[str]:
    """Return the names of other nodes that publish on a topic, one for each publisher."""
    return sorted(p.node_name for p in other_publishers(node, topic))
