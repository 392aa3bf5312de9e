# SPDX-License-Identifier: Apache-2.0

"""Writes docs/performance.md: tables and two plots."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import robodyn as rd
from benchmarks import toolbox
from benchmarks.timing import Timing
from benchmarks.work import LARGE
from robodyn.numerics.broadcasting import COPIED

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Curves = dict[str, list[tuple[int, Timing]]]

PAGE = """# Performance

`python -m benchmarks` generated this page on {machine}. Every library evaluates the same states in
the same process, after the benchmark has checked the library's results against those of robodyn.
The libraries take turns in every round, so a temporary load on the computer affects all of them.
The tables list the median, the quartiles and the fastest round of the time for one state, in
microseconds, measured from Python. The ratio is the median divided by the median in the first row
of the table. Times are processor times of the thread, or wall-clock times for calls that use
several threads.

## A whole Stewart platform, one call

Inverse dynamics:

{platform}

Forward dynamics. MuJoCo's constraints are soft, so its accelerations agree with those of robodyn
only to within 2 %:

{forward}

Other functions:

{rest}

In inner loops, you can use unchecked functions: `fast = m.solver.unchecked`, then
`fast.inverse_dynamics(pose, twist, accel, out)` with contiguous float64 arrays whose lengths and
values are known to be valid. An unchecked function writes the result to `out`, and returns false if
there is no result. A checked call tests shapes, finiteness and the quaternion inside the same
compiled function.

## A serial arm of six joints, one call

{arm}

![Cost against the number of joints](images/performance_joints.png)
{toolbox}
## Mechanisms with closed loops

The mechanisms are those in `test/reference/closed_loops`, without friction. Pinocchio uses the
fastest settings that are accurate to 1e-9; if an equation is redundant, Pinocchio finds no solution
with its regularization parameter mu = 0. The tables list the times of single calls, and of batches
on one thread:

{loops}

## Links

This section covers poses, Jacobians and accelerations of links, momentum, center of mass, energy
(kinetic and potential) and the centroidal momentum matrix, each for a single state, on one thread.
Pinocchio is also called from Python, with the function that computes only the quantity in question,
and its values agree within 1e-12. The ratio to Pinocchio's time is largest for the Jacobian of a
humanoid's link:

{links}
## Large trees, and regressors

This section covers forward dynamics and its derivatives for trees without closures, derivatives for
an arm, and regressors of closed loops. Pinocchio computes the regressor of the open tree only, in a
third of the time that robodyn needs for the closed loop. The derivatives for an arm take 1.1 to 1.2
times as long in robodyn as in Pinocchio. Batches run on one thread:

{trees}
## Many plants

This section compares `rd.BatchPlant` with `mujoco.rollout`, which uses Euler's method by default.
The table lists the processor time in microseconds that a step of 1 ms takes per mechanism, in a
batch of a thousand mechanisms (rows) on one thread. `rk4` is the Runge-Kutta method of order 4,
robodyn's default; `semi_implicit` is of order 1, like MuJoCo's steps ([errors of
both](learning.md#semi-implicit-steps)). In robodyn, each mechanism has a payload of its own, and
its loops are closed exactly; in MuJoCo, the loops are soft constraints. The mechanisms start at
rest, with efforts within 5 % of the efforts that hold the mechanism, so the legs of a platform with
dry friction stick. If a mechanism sticks, `rk4` evaluates its dynamics only once or twice per call
to `step`. In the row "most legs slide", the efforts are within 30 % of the holding efforts, and 87
% of the platforms have both sticking and sliding legs. The last column is the processor time to
create a batch of 10,000 rows with different payloads (`rd.PayloadVariants`) and to step the batch
once.

{plants}
## Batches

The table lists the time of the platform's inverse dynamics in microseconds per state: the median
and, in parentheses, the fastest round:

{batches}

![Cost against the size of the batch](images/performance_batches.png)

The next table lists all vectorized functions, with {large} states per call:

{many}

Runs on all threads are timed by the wall clock. The gain in the last column is the ratio of the
fastest rounds; it is lower on a busy machine (the load average was {load:.1f} during this run).
Large batches run on all available processors, here {threads}; `rd.set_threads(n)` changes this.
Input arrays of any stride are read in place. Arrays broadcast over several axes that cannot be
viewed as one batch are copied {copied} states at a time, so a call needs little more memory than
its results.

## Share of the processor's peak

One evaluation of the platform's inverse dynamics takes {operations} operations, counted by running
the compiled function (kernel) with a number type that counts operations. In a large batch, the
function performs {rate:.1f} operations per nanosecond on one thread. A loop of independent
multiplications and additions in the same proportion, with SIMD vectors and without fused
operations, reaches {peak:.1f} operations per nanosecond; the kernel reaches {share:.0%} of this
rate. The kernel reads and writes {moved} bytes per state, which is {bandwidth:.1f} bytes per
nanosecond; copying an array reaches {peak_bandwidth:.1f} bytes per nanosecond. Memory is therefore
not the bottleneck. The speed is limited by divisions, square roots and chains of dependent
additions. Of the arithmetic instructions of the compiled function, {wide} operate on eight values,
{narrow} on two or four, and {single} on one.

## Simulations

The integrator is the Runge-Kutta method of order 4 with steps of 1 ms. The table lists times in
seconds, the best of several runs:

{simulation}

With the controllers of `robodyn.control`, a single compiled function contains the control law, the
end stops, the effort limits and the integration. A controller of your own is called from Python and
gives the same results, bit for bit (at end stops, to within rounding). The planned motion is
sampled in advance, so any trajectory can be used. `rd.simulate_many` runs simulations on all
threads. The open tree in MuJoCo has no closures and no control.

## Without Python

The table lists the times, in nanoseconds, of calls from C to an [exported
library](in_your_controller.md): median, 99.9th percentile and maximum of a million calls, at a few
thousand states at which every function has a result. Each call is repeated three times and the
shortest time counts, which excludes interruptions of the process; the last column includes
interruptions. The last rows list the mean time per call in a series of calls that is timed as a
whole: copying the arguments, the inverse dynamics of the library, its compiled function (kernel)
alone, and an unchecked call from Python:

| model | function | median | 99.9 % | maximum | with interruptions |
|---|---|---|---|---|---|
{exported}
## How it works

The equations are written once, as functions of scalar numbers. `robodyn/numerics/simd/lanes.py`
provides a second number type, a vector of eight float64 values (lanes). For one state, the lanes of
a vector hold the six legs; for a batch, they hold eight states. LLVM compiles these vector types to
AVX-512, AVX2 or NEON, so the speed does not depend on automatic vectorization. `fastmath` is not
used, so that NaN is detected, and the forces of a state are the same, bit for bit, whether the
state is computed alone or in a batch. To keep this bitwise agreement, the library has its own sine
and cosine.

A call from Python goes straight to the compiled function, whose arguments are read in place from
NumPy's arrays (`robodyn/numerics/array_arguments.py`), bypassing Numba's dispatch. A checked call
takes longer than an unchecked one because it allocates the result and checks the arguments.
"""
TOOLBOX = """
The Robotics Toolbox for Python is among the peers where it is installed:
`pip install -r requirements/bench.txt`.
"""


def processor() -> str:
    """Name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "an unnamed processor"


def table(timings: list[Timing]) -> str:
    """A Markdown table, ratios to the first line."""
    lines = ["| | median | quartiles | fastest | ratio |", "|---|---|---|---|---|"]
    lines += [
        f"| {t.name} | {t.median:.2f} | {t.low:.2f} to {t.high:.2f} | {t.best:.2f} | "
        f"{t.median / timings[0].median:.2f} |"
        for t in timings
    ]
    return "\n".join(lines)


def curve_table(curves: Curves) -> str:
    """A Markdown table of medians, and the fastest rounds, against the size."""
    sizes = sorted({size for curve in curves.values() for size, _ in curve})
    lines = ["| states | " + " | ".join(curves) + " |", "|---" * (len(curves) + 1) + "|"]
    for size in sizes:
        row = [dict(curve).get(size) for curve in curves.values()]
        cells = [f"{t.median:.3f} ({t.best:.3f})" if t else "" for t in row]
        lines.append(f"| {size} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def thread_table(rows: list[tuple[str, Timing, Timing]]) -> str:
    """A Markdown table of medians, and the fastest rounds, on one thread and on all."""
    lines = ["| | one thread | all threads | gain of the fastest |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {one.median:.3f} ({one.best:.3f}) | {every.median:.3f} ({every.best:.3f}) | "
        f"{one.best / every.best:.2f} |"
        for name, one, every in rows
    ]
    return "\n".join(lines)


def plot(path: Path, curves: Curves, label: str) -> None:
    """Microseconds a state against a size, both logarithmic."""
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    for name, curve in curves.items():
        sizes = np.array([size for size, _ in curve])
        axes.plot(sizes, [t.median for _, t in curve], "o-", label=name)
        axes.fill_between(sizes, [t.low for _, t in curve], [t.high for _, t in curve], alpha=0.2)
    axes.set(xscale="log", yscale="log", xlabel=label, ylabel="microseconds a state")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def write(
    docs: Path,
    *,
    single: dict[str, list[Timing]],
    arm: list[list[Timing]],
    loops: list[tuple[str, list[Timing]]],
    batches: Curves,
    joints: Curves,
    many: list[tuple[str, Timing, Timing]],
    others: dict[str, Any],
) -> str:
    """Write page and plots into a folder; returns the page.

    Args:
        docs: the folder.
        single: of single calls of a platform, by their place in the page.
        arm, loops: of arms and closed loops.
        batches, joints: against the size of the batch and the number of joints.
        many: of every vectorized function, on one thread and on all.
        others: further text of the page, by its place.
    """
    images = docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    plot(images / "performance_batches.png", batches, "states in a batch")
    plot(images / "performance_joints.png", joints, "joints")
    page = PAGE.format(
        machine=processor(),
        arm="\n\n".join(map(table, arm)),
        loops="\n\n".join(f"{what}:\n\n{table(timings)}" for what, timings in loops),
        toolbox="" if toolbox.puma() else TOOLBOX,
        batches=curve_table(batches),
        many=thread_table(many),
        large=LARGE,
        threads=rd.get_threads(),
        load=os.getloadavg()[1],
        copied=COPIED,
        **{place: table(timings) for place, timings in single.items()},
        **others,
    )
    (docs / "performance.md").write_text(page)
    return page
