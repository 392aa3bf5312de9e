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

"""Runs a launch, and tests beside it and after it."""

from __future__ import annotations

import functools
import inspect
import threading
import unittest
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from launch import LaunchDescription, LaunchDescriptionEntity, LaunchService
from launch.actions import RegisterEventHandler
from launch.event_handlers import OnProcessExit, OnProcessIO

from .actions import ReadyToTest
from .records import ProcessInfo, ProcessOutput

# How long the launch may take to reach ReadyToTest [s].
READY_WITHIN = 15.0


class LaunchDied(Exception):
    """The launch ended before the tests did."""


def run(module: ModuleType) -> list[unittest.TestResult]:
    """Run a module's tests; the results of those beside the launch and of those after it."""
    describe = module.generate_test_description
    keep_alive = getattr(describe, "__markers__", {}).get("keep_alive", False)
    description, arguments = _normalized(describe())
    ready, done = threading.Event(), threading.Event()
    actions = [e for e in _entities(description.entities) if isinstance(e, ReadyToTest)]
    if not actions:
        raise ValueError(
            "generate_test_description functions must return a LaunchDescription containing a "
            "ReadyToTest action"
        )
    actions[0]._add_callback(ready.set)
    output, info = ProcessOutput(), ProcessInfo()
    service = LaunchService()
    given = {"launch_service": service, "proc_info": info, "proc_output": output} | arguments
    results: list[unittest.TestResult] = []

    def test() -> None:
        try:
            if ready.wait(READY_WITHIN):
                results.append(_run(module, False, given))
                done.set()
        finally:
            service.shutdown()

    service.include_launch_description(
        LaunchDescription(
            [
                RegisterEventHandler(OnProcessExit(on_exit=lambda e, _: info.append(e))),
                RegisterEventHandler(
                    OnProcessIO(
                        on_stdout=lambda e: output.append(e), on_stderr=lambda e: output.append(e)
                    )
                ),
                description,
            ]
        )
    )
    tester = threading.Thread(target=test, name="launch tests", daemon=True)
    tester.start()
    service.run(shutdown_when_idle=not keep_alive)
    if not done.is_set():
        raise LaunchDied("Processes under test stopped before tests completed")
    tester.join()
    results.append(_run(module, True, given))
    return results


def _normalized(described: Any) -> tuple[LaunchDescription, dict[str, Any]]:
    return described if isinstance(described, tuple) else (described, {})


def _entities(entities: Iterable[LaunchDescriptionEntity]) -> Iterator[LaunchDescriptionEntity]:
    for entity in entities:
        yield entity
        yield from _entities(entity.describe_sub_entities())
        for _, conditional in entity.describe_conditional_sub_entities():
            yield from _entities(conditional)


def _run(module: ModuleType, after: bool, given: dict[str, Any]) -> unittest.TestResult:
    suite = unittest.TestSuite()
    for test_class in vars(module).values():
        if (
            isinstance(test_class, type)
            and issubclass(test_class, unittest.TestCase)
            and getattr(test_class, "__post_shutdown_test__", False) == after
        ):
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(test_class))
    for test in suite:
        for name in (test._testMethodName, "setUp", "tearDown"):
            method = getattr(test, name)
            wanted = inspect.signature(method).parameters
            bound = {key: value for key, value in given.items() if key in wanted}
            setattr(test, name, functools.partial(method, **bound))
    return unittest.TextTestRunner(verbosity=2).run(suite)
