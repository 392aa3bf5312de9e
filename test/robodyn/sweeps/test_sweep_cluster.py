# SPDX-License-Identifier: Apache-2.0

"""A sweep on a Dask cluster of separate processes on this machine, some of which are killed."""

import os
import signal
import subprocess
import sys
import time
from operator import methodcaller

import distributed
import numpy as np
import pytest
import xarray
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.errors import ClusterError
from robodyn.sweeps import run

pytestmark = pytest.mark.slow

LOCAL = ("--host", "127.0.0.1")


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder):
        self._folder, self._file = folder, folder / "scheduler.json"
        self._processes = []
        self._start("dask_scheduler", *LOCAL, "--port", "0", "--no-dashboard", "--no-show")

    def _start(self, program, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.{program}", *arguments]
        command += ["--scheduler-file", str(self._file)]
        with (self._folder / f"{program}-{len(self._processes)}.log").open("w") as log:
            self._processes.append(
                subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder)
            )

    def add_workers(self, count):
        for _ in range(count):
            # no nanny, which would start a killed worker again
            self._start("dask_worker", *LOCAL, "--no-nanny", "--nthreads", "1", "--no-dashboard")

    def client(self, workers):
        until = time.monotonic() + 60.0
        while not self._file.exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        client = distributed.Client(scheduler_file=str(self._file), set_as_default=False)
        client.wait_for_workers(workers, timeout=60)
        return client

    def stop(self):
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    # one, until a test needs more: each imports everything, and waits for the others to do so
    cluster.add_workers(1)
    yield cluster
    cluster.stop()


# one of each kind, and coordinates to sweep
KINDS = {"delta": "arm1_motor", "puma560": "joint2", "stewart_symmetric": "x"}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_computed_by_workers(cluster, name):
    """As the documentation has it; and single calls of it, whose results serve here."""
    mechanism = rd.load(name)
    axis, here = KINDS[name], mechanism.home[0 if name != "puma560" else 1]
    axes = {axis: np.linspace(here - 0.05, here + 0.05, 6), "payload": [0.0, 0.4]}
    asked = ("condition_number", "effort")
    rest = np.zeros(mechanism.coordinates.velocity_size)
    state = mechanism.home, rest, rest + 0.3
    with cluster.client(1) as client:
        found = rd.sweep(mechanism, axes, asked, scheduler=client)
        effort = client.submit(methodcaller("inverse_dynamics", *state), mechanism).result()
        back = client.submit(methodcaller("forward_dynamics", *state[:2], effort), mechanism)
        change = back.result()
    xarray.testing.assert_identical(found, rd.sweep(mechanism, axes, asked))
    assert np.isfinite(found.effort).all()
    np.testing.assert_array_equal(effort, mechanism.inverse_dynamics(*state))
    np.testing.assert_array_equal(change, mechanism.forward_dynamics(*state[:2], effort))


def test_a_killed_worker_changes_nothing(cluster, plan, tmp_path):
    # each task takes long enough to be caught at
    cluster.add_workers(2)
    given = plan(
        axes={"x": "-0.3:0.3:30", "z": "0.6:1.1:50", "roll": "-0.2:0.2:20"},
        quantities=["smallest_singular_value", "effort_extremes", "weakest_direction"],
        accelerations=[1.0] * 6,
        wrenches=[10.0] * 6,
        chunk=1000,
    )
    threaded = run(given).data
    with cluster.client(3) as client:
        processes = client.run(os.getpid)
        assert len(set(processes.values()) | {os.getpid()}) == 4
        killed = {}

        def kill(fraction):
            """SIGKILL the worker that has most to do, once a third is done."""
            if fraction > 0.33 and not killed:
                at_work = client.processing()
                victim = max(at_work, key=lambda address: len(at_work[address]))
                if at_work[victim]:
                    os.kill(processes[victim], signal.SIGKILL)
                    killed[victim] = len(at_work[victim])

        address = client.scheduler.address
        outcome = run(given, tmp_path / "map.zarr", address, progress=kill)
        assert len(killed) == 1
        assert outcome.computed == given.points.chunks
        until = time.monotonic() + 30.0
        while len(client.nthreads()) != 2 and time.monotonic() < until:
            time.sleep(0.05)
        assert set(client.nthreads()) == set(processes) - set(killed)
    xarray.testing.assert_identical(outcome.data.load(), threaded)

    # the command, and a client of the caller's own, on the two that are left
    arguments = ["x=0:0.1:5", "--chunk", "2", "--output", str(tmp_path / "map.nc")]
    given = ["map", "stewart_symmetric", *arguments, "--scheduler", address]
    result = CliRunner().invoke(app, given)
    assert (result.exit_code, result.stderr) == (0, "")
    with cluster.client(1) as client, xarray.open_dataset(tmp_path / "map.nc") as data:
        mine = rd.sweep("stewart_symmetric", {"x": "0:0.1:5"}, chunk=2, scheduler=client)
        xarray.testing.assert_identical(data.load(), mine)
        assert client.status == "running"


def test_a_worker_with_another_version_is_refused(cluster, plan, monkeypatch):
    with cluster.client(1) as client:
        monkeypatch.setattr("robodyn.sweeps.plan.__version__", "9.9.9")
        given = plan()
        with pytest.raises(
            ClusterError, match=r"a worker has robodyn .*, but the sweep was begun with 9\.9\.9"
        ):
            run(given, scheduler=client)


def test_a_lost_scheduler_is_reported_in_one_line_and_the_sweep_resumes(
    cluster, plan, tmp_path, monkeypatch
):
    given, output = plan(), tmp_path / "map.zarr"
    with cluster.client(1) as client:
        address = client.scheduler.address
    # the last test of this cluster
    with pytest.raises(ClusterError, match=f"the cluster at {address} failed") as refused:
        run(given, output, address, progress=lambda fraction: fraction > 0.2 and cluster.stop())
    assert "\n" not in str(refused.value)
    monkeypatch.setattr("robodyn.sweeps.schedulers.TIMEOUT", 1.0)
    with pytest.raises(ClusterError, match=f"no Dask scheduler .* {address}"):
        run(given, output, address)
    outcome = run(given, output)  # on threads: where it is computed is no part of a sweep
    assert outcome.kept >= 5
    xarray.testing.assert_identical(outcome.data.load(), run(given).data)
