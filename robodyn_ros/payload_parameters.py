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


class PayloadParameters:
    """The mechanism with the payload that the parameters describe.

    Args:
        node: that has declared them.
        mechanism: without it.
        values: current values of the parameters, kept up to date.
        changed: takes the mechanism whenever its payload is another one.

    Attributes:
        mechanism: with the payload.
    """

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        values: dict[str, Any],
        changed: Callable[[Mechanism], None],
    ) -> None:
        self._bare = mechanism
        self.mechanism = self._loaded(values)

        def apply(values: dict[str, Any]) -> None:
            self.mechanism = self._loaded(values)
            changed(self.mechanism)

        on_change(node, PAYLOAD, values, apply)

    def _loaded(self, values: dict[str, Any]) -> Mechanism:
        for name, spec in PAYLOAD.items():
            if (given := np.size(values[name])) != (size := np.size(spec.default)):
                raise InvalidInput(f"{name} has {given} values, not {size}", value=values[name])
        if not values["payload_mass"]:
            return self._bare
        xx, xy, xz, yy, yz, zz = values["payload_inertia"]
        inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        return self._bare.with_payload(values["payload_mass"], values["payload_com"], inertia)
