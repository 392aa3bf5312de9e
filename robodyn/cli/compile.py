# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""`robodyn compile`: make the kernels' machine code now instead of on first use."""

from __future__ import annotations

import multiprocessing
import sys
import time
import warnings

import typer

import robodyn as rd
from robodyn.errors import UnphysicalInertiaWarning
from robodyn.mechanisms.registry import kind_of, kinds
from robodyn.numerics.cache_folders import cache_folders
from robodyn.numerics.compilation_notes import is_cached, notes
from robodyn.threads import get_threads
from robodyn.warmup import warm_up, warm_up_watching


def compile_kernels() -> None:
    """Compile the numeric kernels into the user's cache; later runs start at once.

    For an image of a container: set NUMBA_CACHE_DIR to a folder of the image, then and when it
    runs; it may be read-only then.
    """
    started = time.monotonic()
    models = [kind.example for kind in kinds().values() if kind.example]
    if is_cached():
        for model in models:
            use(model)
    else:
        typer.echo("compiling the kernels, once: some 20 s", err=True)
        # Numba compiles one function at a time, so each kind of mechanism has its own process
        workers = min(get_threads(), len(models))
        with multiprocessing.get_context("spawn").Pool(workers, _in_silence) as pool:
            work = pool.map_async(use, models, chunksize=1)
            while not work.ready():
                work.wait(0.5)
                _show(started)
            work.get()
    folders = cache_folders()
    used = [folder for folder in folders if any(folder.path.rglob("*.nbc"))]
    kept = f" in {used[0].path}" if used else ", but no folder can be written to keep them"
    typer.echo(f"kernels ready{kept} ({time.monotonic() - started:.1f} s)", err=True)


def _in_silence() -> None:
    """Of a worker: one line for all of them is enough."""
    notes.tell_to(lambda line: None)


def _show(started: float) -> None:
    if sys.stderr.isatty():
        done = sum(1 for folder in cache_folders() for _ in folder.path.rglob("*.nbc"))
        text = f"\r\033[K{done} kernels, {time.monotonic() - started:.0f} s\r"
        typer.echo(text, err=True, nl=False)


def use(model: str) -> None:
    """Call what is compiled for a model's kind of mechanism, single states and batches."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # not what is asked here
        mechanism = rd.load(model)
    warm_up(mechanism)
    warm_up_watching(mechanism)
    batch = rd.load_path("demo", mechanism).sample([0.0, 0.001])
    effort = mechanism.inverse_dynamics(*batch)
    mechanism.forward_dynamics(batch.configuration, batch.velocity, effort)
    mechanism.mass_matrix(batch.configuration)
    mechanism.bias(batch.configuration, batch.velocity)
    mechanism.condition_number(batch.configuration)
    others = kind_of(mechanism).adapter("compile")
    if others is not None:
        others(mechanism)
