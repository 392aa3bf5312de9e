"""`robodyn compile`: make the kernels' machine code now instead of on first use."""

from __future__ import annotations

import sys
import time
import warnings

import typer

import robodyn as rd
from robodyn.errors import UnphysicalInertiaWarning
from robodyn.kernels.compiler import is_cached


def compile_kernels() -> None:
    """Compile the numeric kernels into the user's cache; later runs start at once."""
    started = time.monotonic()
    if not is_cached():
        typer.echo("compiling the kernels, once: some 20 s", err=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # not what is asked here
        mechanism = rd.load("stewart_dasgupta")
    path = rd.paper_path("I")
    rd.simulate(mechanism, rd.ComputedTorque(mechanism), path, duration=0.02)
    motion = path.sample([0.0, 0.0012])
    mechanism.mass_matrix(motion.configuration)
    mechanism.bias(motion.configuration, motion.velocity)
    mechanism.condition_number(motion.configuration)
    typer.echo(f"kernels ready ({time.monotonic() - started:.1f} s)", file=sys.stderr)
