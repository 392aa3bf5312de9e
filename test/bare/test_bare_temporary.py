# SPDX-License-Identifier: Apache-2.0

"""Where the environment cannot be written, links go to a private temporary folder."""

import os
import stat

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


def test_it_is_private_and_used_again(temporary):
    first = environment.link_prefix()
    assert first.parent == usual(temporary)
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700
    assert environment.link_prefix() == first


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o755])
def test_one_that_others_may_enter_is_left_alone(temporary, mode):
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


def test_one_of_another_user_is_left_alone(temporary, monkeypatch):
    planted = usual(temporary)
    planted.mkdir(mode=0o700)
    if os.getuid() == 0:
        os.chown(planted, 65534, 65534)
    else:
        monkeypatch.setattr(environment.os, "getuid", lambda: os.stat(planted).st_uid + 1)
        planted.rename(usual(temporary))
    assert not list(usual(temporary).iterdir())
    prefix = environment.link_prefix()
    assert usual(temporary) not in prefix.parents
