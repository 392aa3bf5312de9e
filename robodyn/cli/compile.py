"""`robodyn compile`: make the kernels' machine code now instead of on first use."""

from __future__ import annotations

import time
import warnings

import typer

import robodyn as rd
from robodyn.errors import UnphysicalInertiaWarning
from robodyn.kernels.compiler import is_cached
from robodyn.stewart.platform import StewartPlatform
from robodyn.warmup import warm_up


def compile_kernels() -> None:
    """Compile the numeric kernels into the user's cache; later runs start at once."""
    started = time.monotonic()
    if not is_cached():
        typer.echo("compiling the kernels, once: some 30 s", err=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # not what is asked here
        platform, arm = rd.load("stewart_dasgupta"), rd.load("puma560")
    for mechanism, path in ((platform, rd.paper_path("I")), (arm, rd.load_path("puma"))):
        warm_up(mechanism)
        batch = path.sample([0.0, 0.001])
        effort = mechanism.inverse_dynamics(*batch)
        mechanism.forward_dynamics(batch.configuration, batch.velocity, effort)
        mechanism.mass_matrix(batch.configuration)
        mechanism.bias(batch.configuration, batch.velocity)
        mechanism.condition_number(batch.configuration)
        if isinstance(mechanism, StewartPlatform):
            mechanism.leg_joint_states(mechanism.home)
    typer.echo(f"kernels ready ({time.monotonic() - started:.1f} s)", err=True)
