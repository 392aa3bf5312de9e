# SPDX-License-Identifier: Apache-2.0

"""Links go to a private temporary folder if the environment is not writable."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from robodyn_bare import environment


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """An environment that cannot be written, and a folder for temporary files."""
    monkeypatch.setattr(environment, "_writable", lambda folder: False)
    monkeypatch.setattr(environment.tempfile, "tempdir", str(tmp_path))
    return tmp_path


def usual(temporary):
    return temporary / f"robodyn_bare_{os.getuid()}"


def test_the_temporary_folder_is_private_and_used_again(temporary):
    first = environment.link_prefix()
    assert first.parent == usual(temporary)
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700
    assert environment.link_prefix() == first


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o755])
def test_a_temporary_folder_that_others_may_enter_is_not_used(temporary, mode):
    planted = usual(temporary)
    planted.mkdir()
    planted.chmod(mode)
    prefix = environment.link_prefix()
    assert planted not in prefix.parents
    assert not list(planted.iterdir())
    assert stat.S_IMODE(prefix.parent.stat().st_mode) == 0o700


def test_a_link_is_not_followed(temporary):
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    usual(temporary).symlink_to(elsewhere)
    prefix = environment.link_prefix()
    assert not list(elsewhere.iterdir())
    assert prefix.is_dir()


def test_a_temporary_folder_of_another_user_is_not_used(temporary, monkeypatch):
    planted = usual(temporary)
    planted.mkdir(mode=0o700)
    if os.getuid() == 0:
        os.chown(planted, 65534, 65534)
    else:  # nobody but root can give a folder away: this process takes another name instead
        somebody_else = os.getuid() + 1
        monkeypatch.setattr(environment.os, "getuid", lambda: somebody_else)
        planted = planted.rename(usual(temporary))
    prefix = environment.link_prefix()
    assert planted not in prefix.parents
    assert not list(planted.iterdir())


@pytest.mark.parametrize("folder", ["with blank", 'it\'s "quoted" $HOME', "x" * 140])
def test_executables_run_whatever_the_path_of_the_interpreter_is(temporary, monkeypatch, folder):
    prefix = temporary / folder
    prefix.symlink_to(sys.prefix)
    python = prefix / "bin" / Path(sys.executable).name
    monkeypatch.setattr(environment.sys, "executable", str(python))
    command = environment.link_prefix() / "lib" / "robodyn" / "robodyn"
    run = subprocess.run([command, "models"], capture_output=True, text=True, check=True)
    assert "puma560" in run.stdout


def test_ros2_names_the_middleware_that_is_not_here():
    script = "import sys; from robodyn_bare.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", script, "topic", "list"]
    surroundings = os.environ | {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"}
    run = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "RMW_IMPLEMENTATION" in run.stderr
    assert "rmw_cyclonedds_cpp" in run.stderr
