# SPDX-License-Identifier: Apache-2.0

"""A payload on the platform or at the arm's tip, changeable while the node runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.node import Node

from robodyn.errors import InvalidInput
from robodyn.mechanisms.mechanism import Mechanism
from robodyn_ros.parameters import on_change, table

PAYLOAD = table("payload")


def with_payload(
    node: Node,
    mechanism: Mechanism,
    values: dict[str, Any],
    changed: Callable[[Mechanism], None],
) -> Mechanism:
    """The mechanism with the payload that the parameters describe.

    Args:
        node: that has declared them.
        mechanism: without it.
        values: current values of the parameters, kept up to date.
        changed: takes the mechanism whenever its payload is another one.
    """

    def loaded(values: dict[str, Any]) -> Mechanism:
        for name, spec in PAYLOAD.items():
            if (given := np.size(values[name])) != (size := np.size(spec.default)):
                raise InvalidInput(f"{name} has {given} values, not {size}", value=values[name])
        if not values["payload_mass"]:
            return mechanism
        xx, xy, xz, yy, yz, zz = values["payload_inertia"]
        inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        return mechanism.with_payload(values["payload_mass"], values["payload_com"], inertia)

    on_change(node, PAYLOAD, values, lambda values: changed(loaded(values)))
    return loaded(values)
