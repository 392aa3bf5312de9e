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

"""Lets pytest collect launch tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import runner


class LaunchTestFailure(Exception):
    """Some tests of a launch have failed."""


class LaunchTestItem(pytest.Item):
    """A launch with all of its tests."""

    def __init__(self, *, module: Any, **kwargs: Any) -> None:
        """Keep the module whose tests they are."""
        super().__init__(**kwargs)
        self._module = module

    def runtest(self) -> None:
        """Run the launch and its tests."""
        results = runner.run(self._module)
        texts = [
            f"{test.id()}\n{text}"
            for result in results
            for test, text in (*result.errors, *result.failures)
        ]
        if texts:
            raise LaunchTestFailure("some test cases have failed\n\n" + "\n".join(texts))
        if not any(result.testsRun for result in results):
            raise LaunchTestFailure("no test cases")

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Show the tests' own tracebacks instead of this item's."""
        if isinstance(excinfo.value, LaunchTestFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Say where it is."""
        return self.path, 0, f"launch tests: {self.name}"


class LaunchTestModule(pytest.Module):
    """A module that is one launch test."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the one item."""
        yield LaunchTestItem.from_parent(self, name=self.obj.__name__, module=self.obj)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> pytest.Module | None:
    """Take modules that mark their generate_test_description."""
    if "generate_test_description" not in module_path.read_text(encoding="utf-8"):
        return None
    module = pytest.Module.from_parent(parent, path=module_path)
    marks = getattr(getattr(module.obj, "generate_test_description", None), "pytestmark", [])
    if not any(mark.name == "launch_test" for mark in marks):
        return None
    made: pytest.Module = LaunchTestModule.from_parent(parent, path=module_path)
    for mark in marks:
        made.add_marker(getattr(pytest.mark, mark.name)(*mark.args, **mark.kwargs))
    return made


def pytest_configure(config: Any) -> None:
    """Tell pytest the mark."""
    config.addinivalue_line(
        "markers", "launch_test: mark a generate_test_description function as a launch test"
    )
