# SPDX-License-Identifier: Apache-2.0

"""`robodyn view` from a terminal: one line to look at, one line for what is wrong."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from urllib.request import ProxyHandler, build_opener

import pytest

from robodyn.cli import main
from robodyn.extras import how_to_install

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-c", "from robodyn.cli import main; main()", "view"]


def run(*arguments):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120)


def test_view_serves_a_page_until_ctrl_c():
    process = subprocess.Popen(
        [*COMMAND, "stewart_dasgupta", "--path", "I", "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        line = process.stdout.readline()
        address = re.match(r"stewart_dasgupta: (http://localhost:\d+) ", line).group(1)
        with build_opener(ProxyHandler({})).open(address) as answer:
            assert b"<html" in answer.read().lower()
        # the kernel may hand a signal to any thread of a process
        youngest = max(int(thread) for thread in os.listdir(f"/proc/{process.pid}/task"))
        os.kill(youngest, signal.SIGINT)
        assert process.wait(60.0) == 0
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()


def test_a_busy_port_ends_it_with_one_line_and_code_1():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ended = run("stewart_dasgupta", "--port", str(port), "--no-browser")
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.startswith(f"error: port {port} of 127.0.0.1 is in use")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("stewart_dasgupa",), "did you mean 'stewart_dasgupta'?"),
        (("stewart_dasgupta", "--path", "IV"), "no path 'IV'"),
        (("puma560", "--path", "I"), "poses of a platform"),
        (("stewart_dasgupta", "--speed", "-1"), "speed is -1.0, must be above 0.0"),
    ],
)
def test_view_rejects_invalid_arguments_in_one_line(arguments, message, monkeypatch, capsys):
    words = ["robodyn", "view", *arguments, "--no-browser", "--port", "0"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    text = capsys.readouterr().err
    assert message in text
    assert text.count("\n") == 1


def test_without_viser_it_says_how_to_install_it():
    hidden = "import sys; sys.modules['viser'] = None; from robodyn.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", hidden, "view", "stewart_dasgupta"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 1
    assert ended.stderr == (
        f"error: the live view needs the package viser: {how_to_install('view')}\n"
    )
