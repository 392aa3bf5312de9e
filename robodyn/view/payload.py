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

"""What a mechanism moves, with something to carry and without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.checks import as_scalar

if TYPE_CHECKING:
    from robodyn.mechanisms.protocol import Mechanism


def with_payload(mechanism: Mechanism, mass: float) -> Mechanism:
    """The mechanism with a point mass [kg] at the platform's reference point or the arm's tip.

    Raises:
        InvalidInput: a mass below zero.
    """
    added = as_scalar("payload", mass, "kg", at_least=0.0)
    either: Any = mechanism  # both kinds carry payloads, which no controller needs to know of
    loaded: Mechanism = either.with_payload(added) if added > 0.0 else mechanism
    return loaded


def moving_mass(mechanism: Mechanism) -> float:
    """[kg] of the platform, or of all links of an arm."""
    model: Any = getattr(mechanism, "model", None)
    if mechanism.kind == "stewart":
        return float(model.platform.mass)
    return float(sum(joint.mass for joint in model.joints))
