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

"""launch_testing as `bare/` has it: a launch test passes, fails and dies as it should."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

HEAD = """
import sys
import unittest

import launch_testing
import launch_testing.asserts
import launch_testing.markers
import pytest
from launch import LaunchDescription
from launch.actions import ExecuteProcess
from launch_testing.actions import ReadyToTest

TALK = "import time; print('talking', flush=True); time.sleep(60)"


@pytest.mark.launch_test
{keep_alive}
def generate_test_description():
    talker = ExecuteProcess(cmd=[sys.executable, "-c", {program}], name="talker")
    return LaunchDescription([talker, ReadyToTest()]), {{"talker": talker}}

"""


def run(folder, tests, program="TALK", keep_alive=""):
    """Run a launch test in a pytest of its own; its exit code and what it printed."""
    text = HEAD.format(program=program, keep_alive=keep_alive) + textwrap.dedent(tests)
    (folder / "test_a_launch.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_a_launch.py"],
        cwd=folder,
        env={**os.environ, "ROS_LOG_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout


PASSES = """
class TestWhileItRuns(unittest.TestCase):
    def test_output(self, proc_output, talker):
        proc_output.assertWaitFor("talking", process=talker, timeout=20, stream="stdout")
        assert not proc_output.waitFor("silence", process=talker, timeout=0.1, stream="both")


@launch_testing.post_shutdown_test()
class TestAfterwards(unittest.TestCase):
    def test_exit(self, proc_info, proc_output):
        launch_testing.asserts.assertExitCodes(proc_info, [-2, 1])
        with self.assertRaises(AssertionError):
            launch_testing.asserts.assertExitCodes(proc_info, [7], "talker")
        assert b"talking" in b"".join(io.text for io in proc_output)
"""


def test_it_passes(tmp_path):
    code, text = run(tmp_path, PASSES)
    assert code == 0, text
    assert "1 passed" in text


@pytest.mark.parametrize("post", ["", "@launch_testing.post_shutdown_test()"])
def test_a_failure_is_shown_with_its_reason(tmp_path, post):
    tests = f"""
{post}
class TestIt(unittest.TestCase):
    def test_sums(self):
        assert 1 + 1 == 3, "sums"
"""
    code, text = run(tmp_path, tests)
    assert code == 1
    assert "TestIt.test_sums" in text
    assert "AssertionError: sums" in text


def test_a_launch_that_ends_too_soon_fails(tmp_path):
    tests = """
import time

class TestIt(unittest.TestCase):
    def test_slow(self):
        time.sleep(5)
"""
    code, text = run(tmp_path, tests, program="'pass'")
    assert code == 1
    assert "stopped before tests completed" in text


def test_keep_alive_lets_the_tests_finish(tmp_path):
    tests = """
class TestIt(unittest.TestCase):
    def test_end(self, proc_info, talker):
        proc_info.assertWaitForShutdown(talker, timeout=20)
"""
    code, text = run(tmp_path, tests, "'pass'", "@launch_testing.markers.keep_alive")
    assert code == 0, text


def test_without_tests_nothing_passes(tmp_path):
    code, text = run(tmp_path, "")
    assert code == 1
    assert "no test cases" in text
