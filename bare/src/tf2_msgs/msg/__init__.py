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

"""TFMessage: any number of transforms, as `/tf` and `/tf_static` carry them.

rclpy sends and receives it as bytes only: `publisher.publish(bytes(message))`, and
`create_subscription(..., raw=True)` with `TFMessage.from_bytes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import TransformStamped

from tf2_msgs import cdr
from tf2_msgs.type_support import Metaclass

__all__ = ["TFMessage"]


class TFMessage(metaclass=Metaclass):
    """A list of geometry_msgs/TransformStamped."""

    __slots__ = ("transforms",)

    def __init__(self, *, transforms: Sequence[TransformStamped] = ()) -> None:
        """Take the transforms."""
        self.transforms = list(transforms)

    def __bytes__(self) -> bytes:
        """Return the message as DDS carries it."""
        return cdr.write(self.transforms)

    @classmethod
    def from_bytes(cls, data: bytes) -> TFMessage:
        """Return the message that DDS carried; raises ValueError where it is none."""
        return cls(transforms=cdr.read(data))

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """Return the fields' types by name."""
        return {"transforms": "sequence<geometry_msgs/TransformStamped>"}

    def __eq__(self, other: Any) -> bool:
        """Compare the transforms."""
        return isinstance(other, TFMessage) and self.transforms == other.transforms

    __hash__ = None  # type: ignore[assignment]
