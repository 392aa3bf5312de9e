# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Quality of service from the command line, or to fit the publishers that are there."""

from __future__ import annotations

import argparse

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import (
    QoSDurabilityPolicy,
    QoSHistoryPolicy,
    QoSLivelinessPolicy,
    QoSPresetProfiles,
    QoSProfile,
    QoSReliabilityPolicy,
)

POLICIES = {
    "history": QoSHistoryPolicy,
    "reliability": QoSReliabilityPolicy,
    "durability": QoSDurabilityPolicy,
    "liveliness": QoSLivelinessPolicy,
}


def add_qos_arguments(parser: argparse.ArgumentParser, verb: str, default: str) -> None:
    """Add upstream's --qos-* arguments."""
    parser.add_argument(
        "--qos-profile",
        choices=QoSPresetProfiles.short_keys(),
        default=default,
        help=f"Quality of service preset profile to {verb} with (default: {default})",
    )
    parser.add_argument(
        "--qos-depth", metavar="N", type=int, help=f"Queue size setting to {verb} with"
    )
    for name, policy in POLICIES.items():
        parser.add_argument(
            f"--qos-{name}",
            choices=policy.short_keys(),
            help=f"Quality of service {name} setting to {verb} with "
            f"(overrides {name} value of --qos-profile option)",
        )
    parser.add_argument(
        "--qos-liveliness-lease-duration-seconds",
        type=float,
        metavar="SECONDS",
        help="Quality of service liveliness lease duration",
    )


def has_overrides(args: argparse.Namespace) -> bool:
    """Return whether anything but the profile was given."""
    given = [getattr(args, f"qos_{name}") for name in (*POLICIES, "depth")]
    return any(x is not None for x in (*given, args.qos_liveliness_lease_duration_seconds))


def profile_from(args: argparse.Namespace) -> QoSProfile:
    """Return the profile that was asked for."""
    profile = QoSPresetProfiles.get_from_short_key(args.qos_profile)
    for name, policy in POLICIES.items():
        key = getattr(args, f"qos_{name}")
        if key is not None:
            setattr(profile, name, policy.get_from_short_key(key))
    if args.qos_liveliness_lease_duration_seconds is not None:
        seconds = args.qos_liveliness_lease_duration_seconds
        profile.liveliness_lease_duration = Duration(seconds=seconds)
    if args.qos_depth is not None:
        profile.depth = args.qos_depth
    elif profile.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL and profile.depth == 0:
        profile.depth = 1
    return profile


def profile_to_hear(node: Node, topic: str, args: argparse.Namespace) -> QoSProfile:
    """Return the profile asked for, or the strictest that still hears every publisher."""
    profile = profile_from(args)
    publishers = [info.qos_profile for info in node.get_publishers_info_by_topic(topic)]
    if has_overrides(args) or not publishers:
        return profile
    reliable = [p.reliability == QoSReliabilityPolicy.RELIABLE for p in publishers]
    latched = [p.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL for p in publishers]
    for offered, strict, loose in (
        (reliable, "QoSReliabilityPolicy.RELIABLE", "QoSReliabilityPolicy.BEST_EFFORT"),
        (latched, "QoSDurabilityPolicy.TRANSIENT_LOCAL", "QoSDurabilityPolicy.VOLATILE"),
    ):
        if any(offered) and not all(offered):
            print(
                f"Some, but not all, publishers are offering {strict}. Falling back to {loose} "
                "as it will connect to all publishers"
            )
    profile.reliability = (
        QoSReliabilityPolicy.RELIABLE if all(reliable) else QoSReliabilityPolicy.BEST_EFFORT
    )
    profile.durability = (
        QoSDurabilityPolicy.TRANSIENT_LOCAL if all(latched) else QoSDurabilityPolicy.VOLATILE
    )
    return profile
