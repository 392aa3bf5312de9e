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

"""How processes start, talk, end, and are ended."""

import contextlib
import os
import pty
import re
import signal
import sys
import time
from pathlib import Path

import pytest

ROS2 = str(Path(sys.executable).with_name("ros2"))
TEMPLATE = "\ndef generate_launch_description():\n    return LaunchDescription([{}])\n"


def launch(ros2, entities: str, before: str = ""):
    return ros2.start("launch", ros2.write(before + TEMPLATE.format(entities)))


def test_a_process_that_ends_by_itself(ros2):
    running = launch(ros2, "python('print(1); print(2, end=\"\")', name='one', output='screen')")
    assert running.end() == 0
    pid = running.wait_for("process started").split("[")[-1].rstrip("]")
    assert running.lines[-4:] == [
        f"[INFO] [one-1]: process started with pid [{pid}]",
        "[one-1] 1",
        "[one-1] 2",
        f"[INFO] [one-1]: process has finished cleanly [pid {pid}]",
    ]


def test_a_process_that_fails_is_told_but_does_not_fail_the_launch(ros2):
    # As upstream: who wants more says so with on_exit.
    running = launch(ros2, "python('raise SystemExit(3)', 'word', name='bad')")
    assert running.end() == 0
    line = running.wait_for("process has died")
    assert line.startswith("[ERROR] [bad-1]: process has died [pid ")
    assert re.search(r"exit code 3, cmd '\S+ -c raise SystemExit\(3\) word'\]\.$", line)


def test_output_log_keeps_stdout_off_the_screen(ros2):
    code = "import sys; print('to the log'); print('to the screen', file=sys.stderr)"
    running = launch(ros2, f"python({code!r}, name='p')")
    assert running.end() == 0
    assert "[p-1] to the screen" in running.lines
    assert "to the log" not in "\n".join(x for x in running.lines if x.startswith("[p-1]"))
    log = (ros2.folder / "log/latest/launch.log").read_text()
    assert "[p-1] to the log" in log
    assert "[p-1] to the screen" in log


def test_shutdown_on_exit_stops_the_others(ros2, token):
    running = launch(
        ros2,
        f"sleeper({token!r}, name='other', output='screen'),"
        "python('', name='required', on_exit=Shutdown(reason='done'))",
    )
    assert running.end() == 0
    running.wait_for("[launch]: process[required-2] was required: shutting down launched system")
    running.wait_for("sending signal 'SIGINT' to process[other-1]")


ON_EXIT = """
def check(event, context):
    if not context.is_shutdown:
        raise RuntimeError(f'{event.process_name} died with {event.returncode}')
"""


def test_an_exception_in_a_handler_ends_the_launch_with_1(ros2, token):
    running = launch(
        ros2,
        f"sleeper({token!r}, name='other'), python('raise SystemExit(5)', name='p', on_exit=check)",
        ON_EXIT,
    )
    assert running.end() == 1
    assert (
        "[ERROR] [launch]: Caught exception in launch (see debug for traceback): p-2 died with 5"
        in running.lines
    )
    assert running.text.count("Caught exception") == 1


def test_a_required_process_that_is_killed_is_named(ros2, token, pids_with):
    running = launch(
        ros2,
        f"sleeper('{token}', name='other', on_exit=check),"
        f"sleeper('{token}', 'victim{token}', name='victim', on_exit=check, output='screen')",
        ON_EXIT,
    )
    running.wait_for("[victim-2] up")
    (victim,) = pids_with(f"victim{token}")
    os.kill(victim, signal.SIGKILL)
    assert running.end() == 1
    running.wait_for("[victim-2]: process has died [pid")
    running.wait_for("victim-2 died with -9")


def test_an_exception_in_an_opaque_function_ends_the_launch_with_1(ros2, token):
    running = launch(
        ros2,
        f"sleeper({token!r}, output='screen'),"
        "TimerAction(period=0.2, actions=[OpaqueFunction(function=boom)])",
        "def boom(context):\n    raise ValueError('no such model')\n",
    )
    assert running.end() == 1
    running.wait_for("Caught exception in launch (see debug for traceback): no such model")


@pytest.mark.parametrize(
    ("signum", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 1), (signal.SIGKILL, -9)]
)
def test_no_process_is_left_behind(ros2, token, pids_with, signum, code):
    running = launch(
        ros2,
        f"*[sleeper('{token}', name=n, output='screen') for n in 'abc'], "
        f"ExecuteProcess(cmd=['sleep', '600;', 'true', '{token}'], shell=True)",
    )
    for name in ("a-1", "b-2", "c-3"):
        running.wait_for(f"[{name}] up")
    assert len(pids_with(token)) >= 4
    assert running.end(signum) == code
    # The fixture `token` waits until they are all gone.
    if signum == signal.SIGINT:
        assert running.text.count("interrupted") == 4  # three processes, and the launch's warning


def test_what_a_process_started_goes_with_it(ros2, token, pids_with):
    child = f"sleep 600 & exec sh -c 'trap : INT TERM; sleep 600; : {token}'"
    code = f"import subprocess, sys; subprocess.run(['sh', '-c', {child!r}])"
    running = launch(ros2, f"python({code!r}, name='parent', sigterm_timeout='0.5')")
    running.wait_for("process started")
    deadline = time.monotonic() + 60.0
    while not [p for p in pids_with(token) if p != running.popen.pid]:
        assert time.monotonic() < deadline, running.text
        time.sleep(0.01)
    assert running.end(signal.SIGINT) == 0


def test_a_stubborn_process_is_killed_in_the_end(ros2, token):
    code = (
        "import signal, time\nfor s in (signal.SIGINT, signal.SIGTERM): "
        "signal.signal(s, lambda n, f: print('no', n, flush=True))\n"
        "print('up', flush=True)\nwhile True: time.sleep(1)"
    )
    running = launch(
        ros2,
        f"python({code!r}, {token!r}, name='mule', output='screen', sigterm_timeout='0.3', "
        "sigkill_timeout='0.3')",
    )
    running.wait_for("[mule-1] up")
    assert running.end(signal.SIGINT) == 0
    order = [
        "sending signal 'SIGINT' to process[mule-1]",
        "[mule-1] no 2",
        "failed to terminate '0.3' seconds after receiving 'SIGINT', escalating to 'SIGTERM'",
        "[mule-1] no 15",
        "failed to terminate '0.3' seconds after receiving 'SIGTERM', escalating to 'SIGKILL'",
        "exit code -9",
    ]
    places = [running.text.index(words) for words in order]
    assert places == sorted(places)


def test_a_program_that_does_not_exist(ros2):
    running = launch(ros2, "ExecuteProcess(cmd=['no_such_program_here'])")
    assert running.end() == 0  # as upstream
    running.wait_for("exception occurred while executing process: [Errno 2] No such file")
    running = launch(ros2, "Node(package='bare_demo', executable='no_such_node')")
    assert running.end() == 1
    running.wait_for("executable 'no_such_node' not found on the libexec directory")


def test_events_and_timers(ros2, token):
    running = launch(
        ros2,
        f"s := sleeper({token!r}, name='s', output='screen'),"
        "RegisterEventHandler(OnProcessStart(target_action=s, on_start=[LogInfo(msg='started')])),"
        "RegisterEventHandler(OnProcessIO(target_action=s, on_stdout=lambda e:"
        "    TimerAction(period=0.1, actions=[EmitEvent(event=SignalProcess("
        "        signal_number='SIGINT', process_matcher=matches_action(s)))]))),"
        "RegisterEventHandler(OnProcessExit(target_action=s, on_exit=lambda e, c:"
        "    LogInfo(msg=['ended ', LocalSubstitution('event.returncode')]))),"
        "RegisterEventHandler(OnShutdown(on_shutdown=lambda e, c: LogInfo(msg=e.reason)))",
    )
    assert running.end() == 0
    for words in ("started", "ended 0", "idle"):
        assert f"[INFO] [launch.user]: {words}" in running.lines


def test_environment_folder_tty_and_shell(ros2):
    code = "import os, sys; print(os.environ['BARE'], os.getcwd(), sys.stdout.isatty())"
    running = launch(
        ros2,
        "SetEnvironmentVariable('BARE', 'all'),"
        f"python({code!r}, output='screen', name='a', cwd='/', emulate_tty=True),"
        f"python({code!r}, output='screen', name='b', cwd='/', additional_env={{'BARE': 'one'}}),"
        "ExecuteProcess(cmd=['echo', '$BARE', '|', 'tr', 'l', 'L'], shell=True, name='c',"
        "    output='screen')",
    )
    assert running.end() == 0
    for line in ("[a-1] all / True", "[b-2] one / False", "[c-3] aLL"):
        assert line in running.lines


def test_respawn(ros2):
    running = launch(
        ros2,
        "python('print(\"again\")', name='p', output='screen', respawn=True, respawn_delay=0.05,"
        " respawn_max_retries=2)",
    )
    assert running.end() == 0
    assert running.lines.count("[p-1] again") == 3


def test_a_process_takes_its_time_to_start_and_is_interrupted_at_once(ros2, token):
    running = launch(ros2, f"*[sleeper({token!r}) for _ in range(4)]")
    running.wait_for("process started")
    running.end(signal.SIGINT)


def test_ctrl_c_in_a_terminal(ros2, token):
    path = ros2.write(TEMPLATE.format(f"sleeper({token!r}, name='s', output='screen')"))
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(ROS2, [ROS2, "launch", path], ros2.env)
    output = b""
    with contextlib.suppress(OSError):  # what reading a terminal without writers ends with
        while data := os.read(terminal, 4096):
            output += data
            if b"[s-1] up" in data:
                os.write(terminal, b"\x03")
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    # Once, and not by the terminal as well as by the launch.
    assert output.count(b"[s-1] interrupted") == 1
    assert b"process has finished cleanly" in output
