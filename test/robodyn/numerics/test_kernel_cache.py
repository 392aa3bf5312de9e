# SPDX-License-Identifier: Apache-2.0
"""A kernel cache that is damaged, read-only or nowhere: the kernels are called all the same."""

import ctypes
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from robodyn.numerics import kernel_cache
from robodyn.numerics.cache_folders import private_folder, untrusted_status

pytestmark = pytest.mark.slow

# One kernel, so that compiling it again takes seconds.
SCRIPT = """
from robodyn.poses import twist_in_base
print(twist_in_base([0.0, 0.0, 0.0, 0.0, 0.0, 0.6, 0.8], [1.0] * 6).tolist())
"""
COMPILING = "compiling kernels for their first use"


def run(cache, *, first="", read_only=False, **environment):
    """The script in a process of its own, without the right to write to `cache` if read-only.

    It runs `first` before anything else.
    """
    known = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    folders = [cache, *(path for path in cache.rglob("*") if path.is_dir())] if read_only else []
    for folder in folders:
        folder.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", first + SCRIPT],
        env=known | {"XDG_CACHE_HOME": str(cache)} | environment,
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=_obey_modes if read_only else None,
    )
    for folder in folders:
        folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def _obey_modes():
    """Of root: without the privilege to write where modes forbid it (CAP_DAC_OVERRIDE)."""
    if os.getuid() == 0:
        drop_from_bounding_set, dac_override = 24, 1
        assert ctypes.CDLL(None).prctl(drop_from_bounding_set, dac_override, 0, 0, 0) == 0


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A cache in a folder that everybody may read, and what the script prints."""
    cache = tmp_path_factory.mktemp("cache")
    printed, reported = run(cache)
    assert COMPILING in reported  # on first use, in a library call
    assert run(cache) == (printed, "")
    return cache, printed


def files(cache, suffix):
    found = sorted(cache.rglob(f"*.{suffix}"))
    assert found
    return found


def test_another_numba_and_another_processor_have_files_of_their_own(warm, tmp_path):
    """A virtual environment beside a ROS 2 workspace: neither compiles what the other has made."""
    cache, printed = tmp_path / "cache", warm[1]
    shutil.copytree(warm[0], cache)
    other = (
        "import numba; numba.__version__ = '0.1.2';"
        "numba.config.CPU_NAME = 'generic'; numba.config.CPU_FEATURES = '+sse2'"
    )
    again, reported = run(cache, first=other)
    assert again == printed
    assert COMPILING in reported
    assert run(cache) == run(cache, first=other) == (printed, "")


def emptied(content, rng):
    return b""


def truncated(content, rng):
    return content[: rng.integers(1, len(content))]


def flipped(content, rng):
    changed = bytearray(content)
    changed[rng.integers(len(changed))] ^= 1 << rng.integers(8)
    return bytes(changed)


@pytest.mark.parametrize("damage", [emptied, truncated, flipped])
def test_a_damaged_file_is_said_and_made_again(warm, rng, damage):
    cache, printed = warm
    for path in files(cache, "nbc"):
        path.write_bytes(damage(path.read_bytes(), rng))
    again, reported = run(cache)
    assert again == printed
    assert reported.count("the kernel cache is damaged") == 1
    assert "Traceback" not in reported
    assert run(cache) == (printed, "")  # healed


def test_no_altered_byte_passes(warm, rng, tmp_path):
    """Machine code with one wrong bit can be a plausible wrong number: it is never unpickled."""
    (path, *_) = files(warm[0], "nbc")
    whole = path.read_bytes()
    copy = tmp_path / path.name
    copy.write_bytes(whole)
    assert kernel_cache._read(copy)
    for _ in range(300):
        copy.write_bytes((flipped if rng.random() < 0.7 else truncated)(whole, rng))
        with pytest.raises(ValueError, match="checksum"):
            kernel_cache._read(copy)
    copy.write_bytes(whole + b"\0")
    with pytest.raises(ValueError, match="checksum"):
        kernel_cache._read(copy)
    elsewhere = tmp_path / f"other.{path.name}"  # code of another function
    elsewhere.write_bytes(whole)
    with pytest.raises(ValueError, match="checksum"):
        kernel_cache._read(elsewhere)


class Planted:
    """Creates a file when it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return open, (str(self.file), "w")


def plant(path, mark):
    """Put code with a right checksum in a file's place."""
    kernel_cache._write(path, pickle.dumps(Planted(mark)))


@pytest.mark.parametrize(
    ("what", "owner", "mode"),
    [
        pytest.param(
            "all", 65534, 0o777, marks=pytest.mark.skipif(os.getuid() != 0, reason="not root")
        ),
        ("folder", None, 0o775),
        ("files", None, 0o664),
    ],
)
def test_code_that_others_may_have_written_is_not_executed(warm, tmp_path, what, owner, mode):
    cache, printed = tmp_path / "cache", warm[1]
    shutil.copytree(warm[0], cache)
    mark = tmp_path / "executed"
    planted = files(cache, "nbc")
    for path in planted:
        plant(path, mark)
    (folder,) = {path.parent for path in planted}
    paths = {"all": [cache, *cache.rglob("*")], "folder": [folder], "files": planted}
    for path in paths[what]:
        if owner is not None:
            os.chown(path, owner, owner)
        path.chmod(mode)
    environment = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    again, reported = run(cache, **environment)
    assert again == printed
    assert not mark.exists()
    assert str(folder) in reported  # which
    assert (f"user {owner}" if owner else f"{mode:o}") in reported  # and why
    # that others can write there is no reason to compile at every start
    assert COMPILING not in run(cache, **environment)[1]


@pytest.mark.parametrize(
    ("owner", "mode", "trusted"),
    [
        (1000, 0o700, True),
        (1000, 0o755, True),
        (0, 0o755, True),  # an image's, made by root and used by an unprivileged user
        (1000, 0o775, False),
        (1000, 0o757, False),
        (0, 0o777, False),
        (0, 0o1777, False),
        (1001, 0o700, False),
        (1001, 0o755, False),
    ],
)
def test_cache_folder_is_trusted_by_owner_and_mode(monkeypatch, owner, mode, trusted):
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    status = os.stat_result((0o040000 | mode, 1, 1, 1, owner, 100, 0, 0, 0, 0))
    reason = untrusted_status(status)
    assert (reason is None) == trusted
    if owner == 1001:
        assert "1001" in reason
    elif not trusted:
        assert f"{mode:o}" in reason


def test_a_read_only_warm_cache_is_used(warm):
    cache, printed = warm
    before = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
    assert run(cache, read_only=True, HOME="/dev/null/no") == (printed, "")
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == before


def test_a_damaged_read_only_cache_is_made_up_for_elsewhere(warm, tmp_path):
    cache, printed = warm
    elsewhere = tmp_path / "tmp"
    elsewhere.mkdir()
    for path in files(cache, "nbc"):
        os.truncate(path, 0)
    environment = {"TMPDIR": str(elsewhere), "HOME": "/dev/null/no"}
    again, reported = run(cache, read_only=True, **environment)
    assert again == printed
    assert "damaged" in reported
    assert files(elsewhere, "nbc")
    run(cache)  # its owner repairs it


def test_without_a_home_there_is_a_temporary_folder_of_ones_own(warm, tmp_path):
    printed = warm[1]
    environment = {"HOME": "/dev/null/no", "TMPDIR": str(tmp_path)}
    again, reported = run(Path("/dev/null/no"), **environment)
    assert again == printed
    assert f"stored in {tmp_path}/robodyn-" in reported
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert run(Path("/dev/null/no"), **environment) == (printed, "")


def test_a_folder_that_others_may_write_is_not_used(warm, tmp_path):
    planted = tmp_path / f"robodyn-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    again, _ = run(Path("/dev/null/no"), HOME="/dev/null/no", TMPDIR=str(tmp_path))
    assert again == warm[1]
    assert list(planted.iterdir()) == []
    assert list(tmp_path.iterdir()) == [planted]  # the one in its place was gone with its process


def test_a_private_folder_is_ours_and_no_link(tmp_path):
    assert private_folder(tmp_path / "fresh")
    assert private_folder(tmp_path / "fresh")
    (tmp_path / "link").symlink_to(tmp_path / "fresh")
    assert not private_folder(tmp_path / "link")
    (tmp_path / "file").touch()
    assert not private_folder(tmp_path / "file")
    assert not private_folder(tmp_path / "missing" / "folder")
    (tmp_path / "open").mkdir(mode=0o755)
    assert not private_folder(tmp_path / "open")


COUNTING = (
    SCRIPT
    + """
from robodyn.numerics.compilation_notes import notes
print(notes._done)
"""
)


def test_processes_that_start_together_compile_every_kernel_once(warm, tmp_path):
    """As the nodes of a launch do: one compiles and logs it, the others wait for it."""
    _, printed = warm
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", COUNTING],
            env=os.environ | {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""},
            cwd=Path(__file__).parents[3],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    ends = [process.communicate(timeout=300) for process in started]
    assert [out.splitlines(keepends=True)[0] for out, _ in ends] == [printed] * 3, ends
    compiled = [int(out.splitlines()[1]) for out, _ in ends]
    assert sum(compiled) == len(files(tmp_path, "nbc"))
    assert sum(reported.count(COMPILING) for _, reported in ends) == 1
