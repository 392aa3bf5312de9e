"""The page docs/performance.md: tables and two plots."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numba
import numpy as np

from benchmarks.timing import Timing

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Curves = dict[str, list[tuple[int, Timing]]]

PAGE = """# Performance

Made by `python -m benchmarks` on {machine}. Every peer computes the same states in the same
process, its answers are checked against ours first, and all take turns in every round, so that a
busy moment meets all of them. Times are microseconds for one state as seen from Python: median,
quartiles and fastest of the rounds; the ratio is to the first line of a table.

## Inverse dynamics of a whole Stewart platform, one call

{platform}

`unchecked` is for inner loops: `fast = m.unchecked`, then
`fast.inverse_dynamics(pose, twist, accel, out)` with contiguous float64 arrays that are known to be
right; it writes into `out` and says whether there is an answer. The checked call looks at shapes,
finiteness and the quaternion inside the same compiled function.

{rest}

## A serial arm of six joints, one call

{arm}

![Cost against the number of joints](images/performance_joints.png)

## Batches

Median, and in brackets the fastest round:

{batches}

![Cost against the size of the batch](images/performance_batches.png)

Large batches run on all processors at hand; `rd.set_threads(n)` says otherwise. Arrays of any
stride are read where they are, so a flat batch needs no memory beyond its results.

## How

The equations are written once, as functions of numbers. `robodyn/kernels/lanes.py` gives them a
second kind of number, a vector of eight float64: for one state the six legs are the lanes of a
vector, for a batch eight states are. LLVM gets vector types to begin with and makes AVX-512, AVX2
or NEON of them; nothing hangs on automatic vectorisation, and no `fastmath` is used, so that NaN is
found and a state has the same forces, bit for bit, alone and in a batch.

About half of a single call is Numba's way from Python into compiled code, some 50 ns for every
argument, and 0.1 to 0.2 for the new array; this is why the checked call of an arm, whose kernel
takes 0.35, is behind Pinocchio's and only the unchecked one level with it. Serial arms in a batch
run one state after another: their sines and cosines have no vector form here.
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
    rest: list[Timing],
    arm: list[Timing],
    batches: Curves,
    joints: Curves,
) -> str:
    """Write page and plots into a folder; returns the page."""
    images = docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    plot(images / "performance_batches.png", batches, "states in a batch")
    plot(images / "performance_joints.png", joints, "joints")
    page = PAGE.format(
        machine=f"{processor()}, Numba {numba.__version__}, NumPy {np.__version__}",
        platform=table(platform),
        rest=table(rest),
        arm=table(arm),
        batches=curve_table(batches),
    )
    (docs / "performance.md").write_text(page)
    return page
