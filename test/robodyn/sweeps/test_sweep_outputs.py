# SPDX-License-Identifier: Apache-2.0

"""Files for xarray, and sweeps that are killed, resumed, rejected and restarted."""

import json
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import xarray
from typer.testing import CliRunner

from robodyn.cli import app
from robodyn.errors import ResumeRefused
from robodyn.sweeps import SweepPlan, make_plan, run

pytestmark = pytest.mark.slow

# A process that sweeps the plan given on its standard input until it kills itself.
KILLED = """
import os, pickle, signal, sys
from robodyn.sweeps.store import OutputFolder
from robodyn.sweeps.sweep import run

plan, output, where = pickle.load(sys.stdin.buffer)

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def write(folder, index, results, whole=OutputFolder.write):
    if where == "within a chunk" and len(folder.done) >= 9:
        whole(folder, index, {"effort": results["effort"]})
        die()
    whole(folder, index, results)

def finish(folder, whole=OutputFolder.finish):
    if where == "at the end":
        die()
    whole(folder)

OutputFolder.write, OutputFolder.finish = write, finish
run(plan, output)
"""

# A process that prints the largest memory [B] that a large map takes, given on its standard input
# after a small one: what is loaded and kept on first use is not of the map.
MEASURED = """
import json, pickle, sys, tracemalloc
from robodyn.sweeps.sweep import run

small, large, folder = pickle.load(sys.stdin.buffer)
peaks = {}
for suffix in (".zarr", ".nc"):
    run(small, folder / f"small{suffix}").data.close()
    tracemalloc.start()
    run(large, folder / f"large{suffix}").data.close()
    peaks[suffix] = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
print(json.dumps(peaks))
"""


def pickled(*things):
    import pickle

    return pickle.dumps(things)


@pytest.fixture
def computed(monkeypatch):
    """The chunks that are computed in this process, as sizes."""
    sizes = []

    def counted(plan, whole=SweepPlan.compute):
        sizes.append(plan.points.size)
        return whole(plan)

    monkeypatch.setattr(SweepPlan, "compute", counted)
    return sizes


@pytest.mark.parametrize("suffix", [".zarr", ".nc"])
def test_an_output_opened_by_plain_xarray_is_what_was_computed(plan, tmp_path, suffix):
    output = tmp_path / f"map{suffix}"
    for given in (plan(), plan(axes={"x": "-0.3:0.3", "z": "0.5:0.9"}, samples=100)):
        in_memory = run(given).data
        returned = run(given, output, overwrite=True).data
        engine = {"engine": "zarr"} if suffix == ".zarr" else {}
        with xarray.open_dataset(output, **engine) as opened:
            xarray.testing.assert_identical(
                opened.load(), in_memory.reset_coords().set_coords(list(opened.coords))
            )
            assert opened.reachable.dtype == bool
            assert 0.0 < opened.reachable.mean() < 1.0
            assert opened.effort.attrs["units"] == "N"
        xarray.testing.assert_identical(returned.load(), in_memory)
        returned.close()
        assert [item.name for item in tmp_path.iterdir()] == [output.name]


@pytest.mark.parametrize(
    ("suffix", "where"),
    [(".zarr", "within a chunk"), (".nc", "at the end")],
)
def test_a_killed_sweep_goes_on_where_it_was(plan, tmp_path, computed, suffix, where):
    given, output = plan(), tmp_path / f"map{suffix}"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED],
        input=pickled(given, output, where),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not output.exists()
    journal = tmp_path / f"{output.name}.unfinished" / "journal"
    done = {int(line) for line in journal.read_text().splitlines()[1:]}
    total = given.points.chunks
    assert len(done) >= 9
    assert (len(done) == total) == (where == "at the end")
    # what was being written when the process died may be torn
    for index in set(range(total)) - done:
        place = np.unravel_index(index, [-(-a // b) for a, b in _sides(given)])
        file = journal.parent / "data.zarr" / "effort" / ".".join(map(str, [*place, 0]))
        file.write_bytes(b"torn")
    with journal.open("a") as lines:
        lines.write("1")  # such as `12`: a line without its end

    outcome = run(given, output)
    assert (outcome.computed, outcome.kept) == (total - len(done), len(done))
    assert len(computed) == total - len(done)
    xarray.testing.assert_identical(outcome.data.load(), run(given).data)
    outcome.data.close()
    assert not journal.parent.exists()


def _sides(given):
    return zip(given.points.shape, given.points.chunk_shape, strict=True)


def test_a_complete_output_is_not_computed_again(plan, tmp_path, computed):
    run(plan(), tmp_path / "map.zarr")
    assert len(computed) == 24
    outcome = run(plan(), tmp_path / "map.zarr")
    assert (len(computed), outcome.computed, outcome.kept) == (24, 0, 24)
    run(plan(), tmp_path / "map.zarr", overwrite=True)
    assert len(computed) == 48


@pytest.fixture(params=["finished", "unfinished"])
def begun(plan, tmp_path, request):
    """An output of the plan, finished or not."""
    output = tmp_path / "map.zarr"

    def stop(fraction):
        if request.param == "unfinished" and fraction > 0.3:
            raise KeyboardInterrupt

    if request.param == "unfinished":
        with pytest.raises(KeyboardInterrupt):
            run(plan(), output, progress=stop)
        assert not output.exists()
    else:
        run(plan(), output, progress=stop)
    return output


def test_another_sweep_is_refused_and_says_what_is_other(begun, plan, symmetric, monkeypatch):
    heavier = replace(plan(), mechanism=symmetric.with_payload(1e-9))
    others = {
        "axes": plan(axes={"x": "-0.3:0.3:12", "z": "0.6:1.1:10", "roll": "-0.2:0.21:6"}),
        "axes ": plan(chunk=31),
        "axes  ": plan(axes={"x": "-0.3:0.3"}, samples=720),
        "quantities": plan(quantities=["effort"]),
        "quantities ": plan(characteristic_length=0.5),
        "model": heavier,
    }
    for part, other in others.items():
        with pytest.raises(ResumeRefused, match=rf"another sweep \(different {part.strip()}\)"):
            run(other, begun)
    monkeypatch.setattr("robodyn.sweeps.plan.__version__", "9.9.9")
    with pytest.raises(ResumeRefused, match=r"different version\)"):
        run(plan(), begun)
    new = run(plan(), begun, overwrite=True)
    assert (new.computed, new.kept) == (24, 0)


def test_files_that_are_no_sweep_are_neither_resumed_nor_overwritten(plan, tmp_path):
    (tmp_path / "notes.zarr").mkdir()
    (tmp_path / "notes.zarr" / "thesis.txt").write_text("years of work")
    (tmp_path / "other.nc").write_text("not NetCDF")
    (tmp_path / "map.zarr.unfinished").mkdir()
    (tmp_path / "map.zarr.unfinished" / "thesis.txt").write_text("years of work")
    xarray.Dataset({"a": 1}).to_netcdf(tmp_path / "foreign.nc")
    run(plan(), tmp_path / "done.zarr")
    shutil.copytree(tmp_path / "map.zarr.unfinished", tmp_path / "done.zarr.unfinished")
    for name in ("notes.zarr", "other.nc", "map.zarr", "foreign.nc", "done.zarr"):
        for overwrite in (False, True):
            with pytest.raises(ResumeRefused, match="is not a sweep of robodyn"):
                run(plan(), tmp_path / name, overwrite=overwrite)
    for folder in ("notes.zarr", "map.zarr.unfinished", "done.zarr.unfinished"):
        assert (tmp_path / folder / "thesis.txt").read_text() == "years of work"


def test_two_processes_do_not_write_to_one_output(plan, tmp_path):
    output = tmp_path / "map.zarr"
    tried = []

    def another(fraction):
        if 0.2 < fraction < 0.3:
            with pytest.raises(ResumeRefused, match="another process is writing there"):
                run(plan(), output)
            tried.append(fraction)

    run(plan(), output, progress=another)
    assert tried


def test_memory_holds_a_few_chunks_only(symmetric, tmp_path):
    small, large = (
        make_plan(symmetric, {"x": f"-1:1:{n}", "y": "-1:1:400"}, ["joint_positions"], chunk=1000)
        for n in (25, 125)
    )
    # a process of its own, for threads that other tests left behind allocate memory, too
    child = subprocess.run(
        [sys.executable, "-c", MEASURED],
        input=pickled(small, large, tmp_path),
        capture_output=True,
        timeout=120,
    )
    assert child.returncode == 0, child.stderr.decode()
    peaks = json.loads(child.stdout)
    assert peaks.keys() == {".zarr", ".nc"}
    assert max(peaks.values()) < 0.8 * 125 * 400 * 6 * 8, peaks


def test_a_huge_sweep_can_be_begun(symmetric, tmp_path):
    axes = {"x": "-0.1:0.1:100000", "y": "-0.1:0.1:100000"}

    def stop(fraction):
        raise KeyboardInterrupt

    for given in (
        make_plan(symmetric, axes, chunk=100000),
        make_plan(symmetric, {"x": "0:1"}, samples=10**10, method="random", chunk=10**6),
    ):
        assert given.points.size == 10**10
        tracemalloc.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                run(given, tmp_path / "map.zarr", progress=stop, overwrite=True)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 50e6


ARGUMENTS = ("x=-0.2:0.2:30", "y=-0.2:0.2:50", "-q", "effort", "--chunk", "10")


def test_control_c_stops_the_command_which_says_how_to_go_on(tmp_path):
    output = tmp_path / "map.zarr"
    command = ["map", "stewart_symmetric", *ARGUMENTS, "--output", str(output), "--json"]
    code = "from robodyn.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # as in a terminal, also where the tests run in the background of a shell
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    journal = tmp_path / "map.zarr.unfinished" / "journal"
    deadline = time.monotonic() + 120.0
    while process.poll() is None and time.monotonic() < deadline:
        if journal.exists() and journal.read_bytes().count(b"\n") >= 10:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert out == ""
    assert "\n" not in error.strip()
    assert error.startswith("stopped: ")
    assert error.endswith(
        f"% of the map is saved in {journal.parent}; run the same command to resume\n"
    )
    kept = journal.read_bytes().count(b"\n") - 1
    assert 9 <= kept < 150
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["chunks"] == {"total": 150, "computed": 150 - kept, "kept": kept}
    assert result.stderr == ""  # not a terminal: no bar


def test_the_command_sums_up_in_words_and_for_machines(tmp_path):
    shutil.rmtree(tmp_path / "map.nc", ignore_errors=True)
    given = ["map", "puma560", "joint2=-1:1:5", "joint3=-1:3:5", "-q", "effort", "-q"]
    given += ["manipulability", "--output", str(tmp_path / "map.nc")]
    words = CliRunner().invoke(app, given).stdout.splitlines()
    assert words[0] == "puma560: 25 states (joint2 5 x joint3 5) in 1 chunk"
    assert words[1].split() == ["reachable", "80.0%"]
    assert words[2].endswith(" N m")
    assert words[-1] == f"written to {tmp_path / 'map.nc'}"
    found = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert found["reachable"] == 0.8
    assert found["chunks"] == {"total": 1, "computed": 0, "kept": 1}
    with xarray.open_dataset(tmp_path / "map.nc") as data:
        assert found["quantities"]["effort"]["min"] == float(data.effort.min())
