# SPDX-License-Identifier: Apache-2.0

"""`robodyn compile`: compile the kernels now instead of on first use."""

from __future__ import annotations

import multiprocessing
import sys
import time
from contextlib import suppress
from typing import Any

import numpy as np
import typer

import robodyn as rd
from robodyn.algorithms.estimation import state_estimator
from robodyn.cli.session import load_model

HOME_OFFSET = 1e-2  # [m or rad] from home


def compile_kernels(models: list[str] | None = None, /) -> None:
    """Compile the numerical functions (kernels) into the user's cache, so later runs start at once.

    For a container image, set NUMBA_CACHE_DIR to a folder of the image when building and when
    running. At run time the folder may be read-only.

    Args:
        models: Compile only for the kinds of these mechanisms: bundled names, or paths to files.
    """
    from robodyn.numerics.cache_folders import cache_folders, refused_folders
    from robodyn.numerics.compilation_notes import refusal
    from robodyn.numerics.kernel_cache import is_cached

    started = time.monotonic()
    used = models or [kind.example for kind in rd.kinds().values() if kind.example]
    for folder in refused_folders():
        typer.echo(refusal(folder), err=True)
    if not is_cached():
        typer.echo(
            "compiling the kernels of all kinds of mechanisms: takes about a minute", err=True
        )
    # Numba compiles one function at a time, so each kind of mechanism has its own process
    workers = min(rd.get_threads(), len(used))
    with multiprocessing.get_context("spawn").Pool(workers, _suppress_messages) as pool:
        work = pool.map_async(compile_functions_of, used, chunksize=1)
        while not work.ready():
            work.wait(0.5)
            _show(started)
        work.get()
    folders = cache_folders()
    filled = [folder for folder in folders if any(folder.path.rglob("*.nbc"))]
    kept = f" in {filled[0].path}" if filled else ", but there is no writable folder to cache them"
    typer.echo(f"kernels ready{kept} ({time.monotonic() - started:.1f} s)", err=True)


def _suppress_messages() -> None:
    """Suppress compilation messages in a worker process; its parent shows progress."""
    from robodyn.numerics.compilation_notes import notes

    notes.report_to(lambda line: None)


def _show(started: float) -> None:
    from robodyn.numerics.cache_folders import cache_folders

    if sys.stderr.isatty():
        done = sum(1 for folder in cache_folders() for _ in folder.path.rglob("*.nbc"))
        text = f"\r\033[K{done} kernels, {time.monotonic() - started:.0f} s\r"
        typer.echo(text, err=True, nl=False)


def compile_functions_of(model: str) -> None:
    """Call all compiled functions of a mechanism's kind, which compiles them."""
    from robodyn.algorithms.estimation import Encoders
    from robodyn.warmup import warm_up, warm_up_watching

    mechanism = load_model(model)
    warm_up(mechanism)
    warm_up_watching(mechanism)
    _step_by_each_loop(mechanism)
    batch = rd.load_path("demo", mechanism).sample([0.0, 0.001])
    effort = mechanism.inverse_dynamics(*batch)
    mechanism.forward_dynamics(batch.configuration, batch.velocity, effort)
    mechanism.mass_matrix(batch.configuration)
    mechanism.bias(batch.configuration, batch.velocity)
    mechanism.condition_number(batch.configuration)
    # an unsuitable home is reported where it is used
    with suppress(rd.RobodynError):
        aside = mechanism.advance(mechanism.home, np.full(batch.velocity.shape[-1], HOME_OFFSET))
        rd.time_optimal(mechanism, [mechanism.home, aside], points=20)
    with suppress(rd.RobodynError):
        state_estimator(mechanism, None, Encoders()).warm_up()


def _step_by_each_loop(mechanism: rd.Mechanism) -> None:
    """Simulate one step with each compiled simulation loop that a mechanism may need."""
    from robodyn.dynamics.joint_friction import JointFriction, friction_rows

    rest = np.zeros(len(mechanism.joint_names))
    for decay in (0.0, 1e9):
        model: Any = mechanism.without_friction()
        # friction that selects the same compiled functions as a model with dry friction
        model.solver.friction = JointFriction(friction_rows(model), np.array([decay]))
        rd.Plant(model, dt=1e-6).hold(rest, 1)
