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

"""What holds for all tests."""

from __future__ import annotations

import pytest

# Folders of tests that talk to other processes.
SEVERAL_PROCESSES = {"bare", "launch", "robodyn_ros", "view"}
# Folders that take long: a file is one worker's, and what comes last should be short.
FIRST = ("launch", "robodyn_ros", "bare", "stewart", "view")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long ones first, and a second try for some.

    Tests of processes that find each other over DDS get a second try.

    A message sent while discovery is still under way is lost by design; on a loaded machine that
    can happen to any of them. A real fault fails twice.
    """
    ranks = {name: rank for rank, name in enumerate(FIRST)}
    items.sort(key=lambda item: ranks.get(item.path.parent.name, len(ranks)))
    if not config.pluginmanager.hasplugin("rerunfailures"):
        return
    for item in items:
        if SEVERAL_PROCESSES & set(item.path.parts):
            item.add_marker(pytest.mark.flaky(reruns=1))
