"""Where machine code is kept: one folder for each version of the sources, a few versions."""

import os

from robodyn.kernels import compiler


def test_the_folder_follows_the_sources(monkeypatch, tmp_path):
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "a.py").write_text("x = 1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler, "HERE", sources)
    find = compiler._cache_folder.__wrapped__
    first = find()
    assert first.is_dir()
    assert first.parent == tmp_path / "cache" / "robodyn"
    assert find() == first
    (sources / "a.py").write_text("x = 2")
    assert find() != first


def test_only_the_newest_versions_are_kept(tmp_path):
    for age in range(compiler.KEPT_VERSIONS + 3):
        folder = tmp_path / f"kernels-{age}"
        folder.mkdir()
        os.utime(folder, (1000 - age, 1000 - age))
    (tmp_path / "other").mkdir()
    compiler._drop_old(tmp_path)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"other"} | {f"kernels-{age}" for age in range(compiler.KEPT_VERSIONS)}


def test_code_that_was_just_used_is_cached(dasgupta):
    dasgupta.inverse_kinematics(dasgupta.home)
    assert compiler.is_cached()
