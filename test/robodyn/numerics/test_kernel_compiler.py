# SPDX-License-Identifier: Apache-2.0

"""Folders of machine code: one for each version of sources, compiler and processor."""

import ast
import importlib
import io
import os
import re
import subprocess
import sys
import textwrap
import tokenize
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import llvmlite
import numba
import numpy as np
import pytest

from robodyn.algorithms import stepping
from robodyn.numerics import cache_folders, compiler, kernel_keys
from robodyn.numerics.kernel_cache import is_cached

pytestmark = pytest.mark.slow

# types and exceptions: nothing that machine code is made of
NOT_COMPILED = {"robodyn.arrays", "robodyn.errors", "robodyn.checks"}


KIND = {
    "__init__": "",
    "kernels/__init__": "",
    "kernels/entries": """
        from kind.kernels import helpers
        from kind.constants import (
            HALF,  # of one
        )
        from robodyn.numerics.compiler import entry_kernel
        from robodyn.numerics.vectors import add

        @entry_kernel
        def entry(x):
            \"\"\"Double it.\"\"\"
            return helpers.twice(x) * HALF
    """,
    "kernels/helpers": """
        from robodyn.numerics.compiler import inner

        @inner
        def twice(x):
            return 2.0 * x
    """,
    "kernels/other": "THIRD = 1.0 / 3.0",
    "constants": "HALF = 0.5",
}


@pytest.fixture
def key_with(tmp_path, monkeypatch):
    """The key of a kind's entry, and whether it is another one after a change of a module."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name, text):
        file = tmp_path / "kind" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))

    def find():
        for name in [name for name in sys.modules if name.partition(".")[0] == "kind"]:
            del sys.modules[name]
        importlib.invalidate_caches()
        kernel_keys._source.cache_clear()
        kernel_keys._closure.cache_clear()
        importlib.import_module("kind.kernels.other")
        return importlib.import_module("kind.kernels.entries").entry._cache.saved_as

    for name, text in KIND.items():
        write(name, text)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def key(name=None, old="", new=""):
        if name is not None:
            assert old in KIND[name]
            write(name, KIND[name].replace(old, new))
        found = find()
        if name is not None:
            write(name, KIND[name])
        return found

    return key


def test_the_key_follows_what_an_entry_imports(key_with):
    key = key_with()
    assert key == key_with()
    assert key != key_with("kernels/entries", "* HALF", "* HALF * 2.0")
    assert key != key_with("kernels/helpers", "2.0 * x", "3.0 * x")
    assert key != key_with("constants", "0.5", "0.25")
    assert key == key_with("kernels/other", "3.0", "4.0")  # no module imports it


def test_the_key_is_of_the_code_that_was_imported(key_with, tmp_path):
    """A file that is edited while a process runs gives that process's code no new key."""
    before = key_with()
    (tmp_path / "kind" / "constants.py").write_text("HALF = 0.25")
    assert importlib.import_module("kind.kernels.entries").entry._cache.saved_as == before


def test_kernel_keys_of_dynamics_do_not_depend_on_planning_or_other_kinds():
    entries = {kind: f"robodyn.solvers.{kind}.kernels.entries" for kind in ("serial",)}
    entries["closed_loop"] = "robodyn.solvers.tree.kernels.entries"
    entries["stewart"] = "robodyn.solvers.stewart.kernels.single"
    for kind, name in entries.items():
        importlib.import_module(name)
        closure = set(kernel_keys._closure(name))
        assert {"robodyn.numerics.vectors", "robodyn.numerics.compiler", name} <= closure
        assert not any(module.startswith("robodyn.planning") for module in closure)
        if kind != "closed_loop":  # whose tree uses the arms' kernels
            others = {"serial", "stewart", "closed_loop"} - {kind}
            assert not any(f".{other}." in module for module in closure for other in others)


def test_comments_and_docstrings_do_not_count():
    """Of all compiled sources the same tokens count, without these."""
    for source in kernel_keys.compiled_sources():
        text = source.read_text()
        tree = ast.parse(text)
        docstrings = {
            node.body[0].lineno
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and ast.get_docstring(node) is not None
        }
        silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}

        def tokens(text, without=(), silent=silent):
            read = tokenize.generate_tokens(io.StringIO(text).readline)
            return [
                token.string
                for token in read
                if token.type not in silent
                and not (token.type == tokenize.STRING and token.start[0] in without)
            ]

        # a function of nothing but a docstring needs something in its place
        counted = re.sub(
            r":\n(?=\S|\Z|[ \t]*(?:def|@))", ": 0\n", kernel_keys.normalized_source(text)
        )
        assert [t for t in tokens(counted) if t != "0"] == [
            t for t in tokens(text, docstrings) if t != "0"
        ], source


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
    first = cache_folders.compiler_digest()
    monkeypatch.setattr(where, name, "another")
    assert cache_folders.compiler_digest() != first


def test_compiled_sources_import_only_compiled_sources():
    """Else machine code could be stale: a key follows only imports of `compiled_sources`."""
    for source in kernel_keys.compiled_sources():
        tree = ast.parse(source.read_text())
        top = {id(node) for node in tree.body}
        for node in ast.walk(tree):
            ours = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("robodyn")
            if ours:
                assert id(node) in top, (source, node.lineno)  # read when the key is made
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("robodyn"):
                names = [node.module, *(f"{node.module}.{item.name}" for item in node.names)]
                allowed = any(map(kernel_keys.is_compiled_module, names))
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


def test_of_every_kernel_the_newest_versions_are_kept(tmp_path):
    @compiler.entry_kernel
    def entry(x):
        return x

    cache = entry._cache
    for age in range(cache_folders.KEPT_VERSIONS + 3):
        for signature in "ab":
            file = tmp_path / f"{cache._base}.{age}.{signature}.nbc"
            file.touch()
            os.utime(file, (1000 - age, 1000 - age))
    longer = tmp_path / f"{cache._base}.longer.0.a.nbc"
    longer.touch()
    cache._drop_old(tmp_path)
    kept = {path.name.split(".")[-3] for path in set(tmp_path.iterdir()) - {longer}}
    assert kept == {str(age) for age in range(cache_folders.KEPT_VERSIONS)}
    assert longer.exists()
    assert len(list(tmp_path.iterdir())) == 2 * cache_folders.KEPT_VERSIONS + 1


def test_private_interfaces_of_numba_are_in_one_file():
    """A new release of Numba is then a matter of one file."""
    package = Path(compiler.__file__).parents[1]
    for source in package.rglob("*.py"):
        if source.name == "numba_compat.py":
            continue
        for node in ast.walk(ast.parse(source.read_text())):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            for module in filter(None, modules):
                if module.partition(".")[0] == "numba":
                    assert module in ("numba", "numba.extending"), (source, module)


def test_code_that_was_just_used_is_cached(dasgupta):
    dasgupta.inverse_kinematics(dasgupta.home)
    assert is_cached()


SECOND_PROCESS = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
import pytest
import robodyn as rd
from robodyn.algorithms import stepping
from robodyn.solvers.serial.kernels.integration import simulate_hybrid as of_arms
from robodyn.solvers.stewart.kernels.integration import simulate as of_platforms

for name, simulate in (("puma560", of_arms), ("stewart_dasgupta", of_platforms)):
    m = rd.load(name)
    rest = m.difference(m.home, m.home)
    stepping.step(m, m.home, rest, rest, np.zeros(6), 1e-4, 1)
    assert sum(simulate.stats.cache_hits.values()) == 1, simulate.stats
    assert not simulate.stats.cache_misses, simulate.stats
"""


def test_the_simulation_loop_of_every_kind_is_compiled_once_for_all_processes(dasgupta, puma):
    """Its functions are passed in as arguments, which must not keep it off the disk."""
    for m in (dasgupta, puma):
        rest = m.difference(m.home, m.home)
        stepping.step(m, m.home, rest, rest, np.zeros(6), 1e-4, 1)
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

    entry._cache.flush()  # of an earlier run
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
