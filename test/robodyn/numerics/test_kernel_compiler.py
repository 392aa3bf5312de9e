# SPDX-License-Identifier: Apache-2.0

"""Where machine code is kept: one folder for each version of sources, compiler and processor."""

import ast
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import llvmlite
import numba
import numpy as np
import pytest

from robodyn.numerics import cache_folders, compiler
from robodyn.numerics.compilation_notes import is_cached

# types and exceptions: nothing that machine code is made of
NOT_COMPILED = {"robodyn.arrays", "robodyn.errors", "robodyn.checks"}


def test_the_folder_follows_the_sources(monkeypatch, tmp_path):
    kernels = tmp_path / "kind" / "kernels" / "deeper"
    kernels.mkdir(parents=True)
    (kernels / "a.py").write_text("x = 1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(cache_folders, "PACKAGE", tmp_path)

    def find():
        (folder,) = cache_folders.cache_folders.__wrapped__()
        return folder.path

    first = find()
    assert first.is_dir()
    assert first.parent == tmp_path / "cache" / "robodyn"
    assert find() == first
    (tmp_path / "kind" / "other.py").write_text("nothing that is compiled")
    assert find() == first
    (kernels / "a.py").write_text("x = 2")
    second = find()
    assert second != first
    (kernels / "a.py").rename(kernels / "b.py")
    assert find() not in (first, second)


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (numba, "__version__"),
        (llvmlite, "__version__"),
        (np, "__version__"),
        (numba.config, "CPU_NAME"),
        (numba.config, "CPU_FEATURES"),
    ],
)
def test_the_folder_follows_what_compiles(monkeypatch, where, name):
    first = cache_folders.sources_digest()
    monkeypatch.setattr(where, name, "another")
    assert cache_folders.sources_digest() != first


def test_what_is_compiled_takes_nothing_from_elsewhere():
    """Else machine code could be stale: the folder follows only `compiled_sources`."""
    for source in cache_folders.compiled_sources():
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("robodyn"):
                names = [node.module, *(f"{node.module}.{item.name}" for item in node.names)]
                allowed = any(map(compiler.is_compiled_module, names))
                assert allowed or node.module in NOT_COMPILED, (source, node.module)


def test_only_the_newest_versions_are_kept(tmp_path):
    for age in range(cache_folders.KEPT_VERSIONS + 3):
        folder = tmp_path / f"kernels-{age}"
        folder.mkdir()
        os.utime(folder, (1000 - age, 1000 - age))
    (tmp_path / "other").mkdir()
    cache_folders._drop_old(tmp_path)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"other"} | {f"kernels-{age}" for age in range(cache_folders.KEPT_VERSIONS)}


def test_code_that_was_just_used_is_cached(dasgupta):
    dasgupta.inverse_kinematics(dasgupta.home)
    assert is_cached()


SECOND_PROCESS = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
import pytest
import robodyn as rd
from robodyn.mechanisms.serial.kernels.integration import simulate as of_arms
from robodyn.mechanisms.stewart.kernels.integration import simulate as of_platforms

for name, simulate in (("puma560", of_arms), ("stewart_dasgupta", of_platforms)):
    m = rd.load(name)
    rest = m.difference(m.home, m.home)
    m.step(m.home, rest, rest, np.zeros(6), 1e-4, 1)
    assert sum(simulate.stats.cache_hits.values()) == 1, simulate.stats
    assert not simulate.stats.cache_misses, simulate.stats
"""


def test_the_simulation_loop_of_every_kind_is_compiled_once_for_all_processes(dasgupta, puma):
    """Its functions are passed in as arguments, which must not keep it off the disk."""
    for m in (dasgupta, puma):
        rest = m.difference(m.home, m.home)
        m.step(m.home, rest, rest, np.zeros(6), 1e-4, 1)
    subprocess.run([sys.executable, "-c", SECOND_PROCESS], check=True, timeout=120)


def test_a_kernel_answers_python_and_other_kernels_alike():
    @compiler.kernel
    def half(x):
        return 0.5 * x

    @compiler.kernel
    def quarter(x):
        return half(half(x))

    assert quarter(8.0) == 2.0
    assert half(8.0) == half(np.float64(8.0)) == 4.0
    assert half.py_func(8.0) == 4.0
    assert half(np.array([2.0, 4.0]))[1] == 2.0  # types it had not met before


def test_a_part_of_kernels_is_compiled_once_for_all_constants():
    """And not to machine code, of which the entry that Python calls has a copy."""

    @compiler.inner
    def scaled(x, factor):
        return factor * x

    @compiler.noinline
    def longer(x):
        return scaled(x, 4) + scaled(x, 0.5)

    @compiler.entry_kernel
    def entry(x):
        return scaled(x, 2) + scaled(x, 3) + longer(x)

    assert entry.py_func(8.0) == entry(8.0) == 76.0
    assert len(scaled.overloads) == 2  # an integer and a float
    for part in (scaled, longer):
        for compiled in part.overloads.values():
            assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0


def test_several_threads_may_call_a_kernel_for_the_first_time():
    @compiler.kernel
    def double(x):
        return 2.0 * x

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(double, [3.0] * 8)) == [6.0] * 8
