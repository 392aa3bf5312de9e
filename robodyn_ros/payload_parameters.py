# SPDX-License-Identifier: Apache-2.0

"""A payload on the platform or at the arm's tip, changeable while the node runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import InvalidInput
from robodyn_ros.parameters import check, on_set, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from rclpy.node import Node
    from rclpy.parameter import Parameter

    from robodyn.mechanisms.mechanism import Mechanism

_TRIANGLE = np.triu_indices(3)

PAYLOAD = table("payload")


class PayloadParameters:
    """The mechanism with the payload that the parameters describe.

    Attributes:
        mechanism: with the payload.
    """

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        values: dict[str, Any],
        changed: Callable[[list[Parameter]], None],
    ) -> None:
        self._bare = mechanism
        self._values = {name: values[name] for name in PAYLOAD}
        self._changed = changed
        self.mechanism = self._loaded(self._values)
        on_set(node, self._set)

    def _loaded(self, values: dict[str, Any]) -> Mechanism:
        if not values["payload_mass"]:
            return self._bare
        inertia = np.zeros((3, 3))
        inertia[_TRIANGLE] = values["payload_inertia"]
        inertia = inertia + np.triu(inertia, 1).T
        return self._bare.with_payload(values["payload_mass"], values["payload_com"], inertia)

    def _set(self, parameters: list[Parameter]) -> None:
        ours = [parameter for parameter in parameters if parameter.name in PAYLOAD]
        if not ours:
            return
        values = self._values | {parameter.name: parameter.value for parameter in ours}
        for name, value in values.items():
            check(name, PAYLOAD[name], value)
            size = np.size(PAYLOAD[name].default)
            if np.size(value) != size:
                raise InvalidInput(f"{name} has {np.size(value)} values, not {size}", value=value)
        self.mechanism, self._values = self._loaded(values), values
        self._changed(ours)
