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

"""The page docs/performance.md: tables and two plots."""

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

Made by `python -m benchmarks` on {machine}. Every peer computes the same states in the same
process, its answers are checked against ours first, and all take turns in every round, so that a
busy moment meets all of them. Times are microseconds for one state as seen from Python: median,
quartiles and fastest of the rounds; the ratio, of medians, is to the first line of a table. They
are times of the thread on the processor, and on the wall where several threads work.

## A whole Stewart platform, one call

Inverse dynamics:

{platform}

Forward dynamics. MuJoCo's constraints are springs, so its accelerations agree within 2 % only:

{forward}

The rest:

{rest}

`unchecked` is for inner loops: `fast = m.unchecked`, then
`fast.inverse_dynamics(pose, twist, accel, out)` with contiguous float64 arrays whose lengths and
numbers are known to be right; it writes into `out` and says whether there is an answer. The checked
call looks at shapes, finiteness and the quaternion inside the same compiled function.

## A serial arm of six joints, one call

{arm}

![Cost against the number of joints](images/performance_joints.png)
{toolbox}
## Batches

Inverse dynamics of the platform; median, and in brackets the fastest round:

{batches}

![Cost against the size of the batch](images/performance_batches.png)

Every function that has a form in vectors, {large} states a call:

{many}

All threads are timed on the wall. Their gain is that of the fastest rounds, and less than it could
be where others work, too: the load average was {load:.1f} when this was made. Large batches run on
all processors at hand, here {threads}; `rd.set_threads(n)` says otherwise. Arrays of any stride are
read where they are. What spans several axes by broadcasting and cannot be looked at as one is
copied {copied} states at a time, so memory is bounded by the results.

## How near to what the processor can do

One inverse dynamics of the platform is {operations} operations, counted by running the kernel on
numbers that count. A large batch does {rate:.1f} of them in a nanosecond on one thread; as many
independent products and sums as there are, in vectors and without fused operations, are {peak:.1f}
in a nanosecond, so it runs at {share:.0%} of that. It moves {moved} bytes a state,
{bandwidth:.1f} in a nanosecond, where copying moves {peak_bandwidth:.1f}: memory is not what it
waits for, but divisions, roots and sums that need each other. Of the arithmetic instructions of the
compiled function {wide} are on eight numbers, {narrow} on two or four and {single} on one.

## Simulations

Runge-Kutta of order 4, a step of 1 ms, all time in seconds; best of several:

{simulation}

Control law, end stops, limits and integration are one compiled function, for the controllers of
`robodyn.control`; a controller of your own is called from Python, with the same results to the last
bit, at end stops to rounding. The planned motion is sampled before, so that any trajectory will do.
`rd.simulate_many` runs simulations on all threads. MuJoCo's open tree has neither closures nor
control.

## How

The equations are written once, as functions of numbers. `robodyn/numerics/simd/lanes.py` gives
them a second kind of number, a vector of eight float64: for one state the six legs are the lanes
of a vector, for a batch eight states are. LLVM gets vector types to begin with and makes AVX-512,
AVX2 or NEON of them; nothing hangs on automatic vectorisation, and no `fastmath` is used, so that
NaN is found and a state has the same forces, bit for bit, alone and in a batch. Sine and cosine are
arithmetic of ours for the same reason.

A call from Python goes straight to the compiled function, whose arguments are read where NumPy
keeps them (`robodyn/numerics/array_arguments.py`): some 20 ns for all of them, where Numba's own
way takes 50 for each. Most of what the checked call takes beyond `unchecked` is the new array.
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
    platform: list[Timing],
    forward: list[Timing],
    rest: list[Timing],
    arm: list[list[Timing]],
    batches: Curves,
    many: list[tuple[str, Timing, Timing]],
    roof: dict[str, Any],
    joints: Curves,
    simulation: str,
) -> str:
    """Write page and plots into a folder; returns the page."""
    images = docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    plot(images / "performance_batches.png", batches, "states in a batch")
    plot(images / "performance_joints.png", joints, "joints")
    page = PAGE.format(
        machine=processor(),
        platform=table(platform),
        forward=table(forward),
        rest=table(rest),
        arm="\n\n".join(map(table, arm)),
        toolbox="" if toolbox.puma() else TOOLBOX,
        batches=curve_table(batches),
        many=thread_table(many),
        large=LARGE,
        threads=rd.get_threads(),
        load=os.getloadavg()[1],
        copied=COPIED,
        **roof,
        simulation=simulation,
    )
    (docs / "performance.md").write_text(page)
    return page
