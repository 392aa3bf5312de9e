# SPDX-License-Identifier: Apache-2.0

"""Every example runs, draws something, and is short."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest

from robodyn.errors import MissingExtra

mpl = pytest.importorskip("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("[0-9]*.py"))


@pytest.fixture(autouse=True)
def no_window():
    mpl.use("agg")
    plt.close("all")
    yield
    plt.close("all")


def test_examples_are_numbered():
    numbers = [int(file.name.split("_")[0]) for file in EXAMPLES]
    assert numbers == list(range(1, len(EXAMPLES) + 1))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_runs_and_draws(file, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        # the papers' own inertias
        warnings.filterwarnings("ignore", message=".*no rigid body has the principal moments")
        try:
            runpy.run_path(str(file), run_name="__main__")
        except MissingExtra as error:
            pytest.skip(str(error))
    drawn = [axes for number in plt.get_fignums() for axes in plt.figure(number).axes]
    assert any(axes.has_data() for axes in drawn)
    assert len(file.read_text().splitlines()) < 60
