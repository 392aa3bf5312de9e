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

"""Decorators of `generate_test_description`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Describe = TypeVar("Describe", bound=Callable[..., object])


def keep_alive(description: Describe) -> Describe:
    """Keep the launch running until the tests are done, even when all processes have ended."""
    description.__dict__.setdefault("__markers__", {})["keep_alive"] = True
    return description
