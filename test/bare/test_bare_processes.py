# SPDX-License-Identifier: Apache-2.0

"""Start, messages and end of processes."""

import contextlib
import os
import pty
import re
import signal
import sys
from pathlib import Path

import pytest

ROS2 = str(Path(sys.executable).with_name("ros2"))
TEMPLATE = "\ndef generate_launch_description():\n    return LaunchDescription([{}])\n"


def launch(ros2, entities: str, *words: str, before: str = ""):
    return ros2.start("launch", ros2.write(before + TEMPLATE.format(entities)), *words)


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


def test_a_process_that_fails_is_reported_but_does_not_fail_the_launch(ros2):
    # As upstream: a launch file that wants more handles the event.
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
    (file,) = (ros2.folder / "log").glob("*/launch.log")
    log = file.read_text()
    assert "[p-1] to the log" in log
    assert "[p-1] to the screen" in log


def test_a_shutdown_stops_the_others(ros2, token):
    running = launch(
        ros2,
        f"sleeper({token!r}, name='other', output='screen'), p := python('', name='p'),"
        "on_exit(p, lambda e, c: EmitEvent(event=Shutdown(reason='done'))),"
        "on_exit(p, lambda e, c: LogInfo(msg=f'{e.process_name}: {e.returncode}'))",
    )
    assert running.end() == 0
    running.wait_for("[launch.user]: p-2: 0")
    running.wait_for("sending signal 'SIGINT' to process[other-1]")


CHECK = """
def check(event, context):
    if not context.is_shutdown:
        raise RuntimeError(f'{event.process_name} died with {event.returncode}')
"""


def test_an_exception_in_a_handler_ends_the_launch_with_1(ros2, token):
    running = launch(
        ros2,
        f"sleeper({token!r}, name='other'), p := python('raise SystemExit(5)', name='p'),"
        "on_exit(p, check)",
        before=CHECK,
    )
    assert running.end() == 1
    assert (
        "[ERROR] [launch]: Caught exception in launch (see debug for traceback): p-2 died with 5"
        in running.lines
    )
    assert running.text.count("Caught exception") == 1


def test_a_process_that_is_killed_is_named(ros2, token, pids_with):
    running = launch(
        ros2,
        f"sleeper('{token}', name='other'),"
        f"v := sleeper('{token}', 'victim{token}', name='victim', output='screen'),"
        "on_exit(v, check)",
        before=CHECK,
    )
    running.wait_for("[victim-2] up")
    (victim,) = pids_with(f"victim{token}")
    os.kill(victim, signal.SIGKILL)
    assert running.end() == 1
    running.wait_for("[victim-2]: process has died [pid")
    running.wait_for("victim-2 died with -9")


def test_an_exception_in_an_opaque_function_stops_what_was_started(ros2, token):
    running = launch(
        ros2,
        f"sleeper({token!r}, output='screen'), OpaqueFunction(function=boom),"
        f"sleeper({token!r}, name='late')",
        before="def boom(context):\n    raise ValueError('no such model')\n",
    )
    assert running.end() == 1
    running.wait_for("Caught exception in launch (see debug for traceback): no such model")
    assert "late" not in running.text


@pytest.mark.parametrize(
    ("signum", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 1), (signal.SIGKILL, -9)]
)
def test_no_process_is_left_behind(ros2, token, pids_with, signum, code):
    running = launch(
        ros2,
        f"*[sleeper('{token}', name=n, output='screen') for n in 'abc']",
    )
    for name in ("a-1", "b-2", "c-3"):
        running.wait_for(f"[{name}] up")
    assert len(pids_with(token)) >= 3
    assert running.end(signum) == code
    # The fixture `token` waits until they are all gone.
    if signum == signal.SIGINT:
        assert running.text.count("interrupted") == 4  # three processes, and the launch's warning


def test_children_end_with_their_process(ros2, token, pids_with, until):
    child = f"sleep 600 & exec sh -c 'trap : INT TERM; sleep 600; : {token}'"
    code = f"import subprocess, sys; subprocess.run(['sh', '-c', {child!r}])"
    running = launch(ros2, f"python({code!r}, name='parent')", "sigterm_timeout:=0.5")
    running.wait_for("process started")
    until(lambda: len(pids_with(f"sleep 600; : {token}")) > 1, "the grandchild")
    assert running.end(signal.SIGINT) == 0


def test_a_stubborn_process_is_killed_in_the_end(ros2, token):
    code = (
        "import signal, time\nfor s in (signal.SIGINT, signal.SIGTERM): "
        "signal.signal(s, lambda n, f: print('no', n, flush=True))\n"
        "print('up', flush=True)\nwhile True: time.sleep(1)"
    )
    running = launch(
        ros2,
        f"python({code!r}, {token!r}, name='mule', output='screen')",
        *("sigterm_timeout:=0.3", "sigkill_timeout:=0.3"),
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
    running = launch(ros2, "Node(package='bare_demo', executable='no_such_node')")
    assert running.end() == 1
    running.wait_for("executable 'no_such_node' not found on the libexec directory")
    running = launch(ros2, "Node(package='no_such_package', executable='talker')")
    assert running.end() == 1
    running.wait_for("package 'no_such_package' not found")


def test_on_process_io_can_shut_down_one_process(ros2, token):
    running = launch(
        ros2,
        f"s := sleeper({token!r}, name='s', output='screen'),"
        f"sleeper({token!r}, name='other', output='screen'),"
        "RegisterEventHandler(OnProcessIO(target_action=s, on_stdout=lambda e:"
        "    EmitEvent(event=ShutdownProcess(process_matcher=matches_action(s)))"
        "    if e.text == b'up\\n' else None, on_stderr=lambda e: LogInfo(msg=e.text.decode()))),"
        "on_exit(s, lambda e, c: LogInfo(msg=f'ended {e.returncode} {c.is_shutdown}'))",
    )
    running.wait_for("[INFO] [launch.user]: ended 0 False")
    running.wait_for("[other-2] up")
    assert "SIGINT' to process[other-2]" not in running.text
    assert running.end(signal.SIGINT) == 0


def test_a_process_takes_its_time_to_start_and_is_interrupted_at_once(ros2, token):
    running = launch(ros2, f"*[sleeper({token!r}) for _ in range(4)]")
    running.wait_for("process started")
    running.end(signal.SIGINT)


SLOW_TO_END = """
import pathlib, signal, sys, time
ends = []
signal.signal(signal.SIGINT, lambda *_: (ends.append(1), print("ending", flush=True)))
print("up", flush=True)
while not (ends and pathlib.Path(sys.argv[1]).exists()):
    time.sleep(0.01)
print("interrupted", len(ends), flush=True)
"""


def test_a_second_ctrl_c_neither_hurries_nor_breaks_the_end(ros2, token):
    """A process that needs time to end gets it, and receives the first one only."""
    may_end = ros2.folder / f"{token}_may_end"
    process = f"python({SLOW_TO_END!r}, {str(may_end)!r}, name='s', output='screen')"
    running = launch(ros2, f"s := {process}, on_exit(s, lambda e, c: LogInfo(msg='handled'))")
    running.wait_for("[s-1] up")
    running.popen.send_signal(signal.SIGINT)
    running.wait_for("[s-1] ending")
    running.popen.send_signal(signal.SIGINT)
    running.wait_for("user interrupted with ctrl-c (SIGINT) again, ignoring...")
    may_end.touch()
    assert running.end() == 0, running.text
    assert "[s-1] interrupted 1" in running.lines
    assert "[INFO] [launch.user]: handled" in running.lines
    assert running.text.count("sending signal") == 1
    assert "Traceback" not in running.text


@pytest.mark.parametrize(
    ("signum", "code", "name"), [(signal.SIGKILL, 247, "Killed"), (signal.SIGTERM, 241, "Terminat")]
)
def test_run_ends_with_the_signal_that_killed_its_child(ros2, token, pids_with, signum, code, name):
    """As upstream: exit code 256 - signal, and a line with its name."""
    running = ros2.start("run", "bare_demo", "tool", "wait", token)
    running.wait_for("tool: wait")
    (child,) = (pid for pid in pids_with(token) if pid != running.popen.pid)
    os.kill(child, signum)
    assert running.end() == code
    assert running.lines[-1].startswith(f"[ros2run]: {name}")


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
