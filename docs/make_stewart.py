# SPDX-License-Identifier: Apache-2.0

"""Generate docs/stewart.md's tables between its `<!-- table: name -->` and `<!-- end -->` marks.

python docs/make_stewart.py           write them
python docs/make_stewart.py --check   exit with 1 if the page is out of date
python docs/make_stewart.py --plots   draw docs/images/stewart_*.png as well (needs matplotlib)
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from generated import table, with_tables, write_or_check

import robodyn as rd
from robodyn.control.singularity import singular_times, threshold_crossings
from robodyn.solvers.stewart.all_poses import all_poses
from robodyn.solvers.stewart.formulations import Formulation

PAGE = Path(__file__).with_name("stewart.md")
IMAGES = Path(__file__).with_name("images")
PATHS = ("I", "II", "P1")
# From the papers as printed to the exact equations, one corrected error at a time.
FORMULATIONS: dict[str, str | Formulation] = {
    "`massless` (1998, eq. 41)": "massless",
    "`dasgupta1998`, as printed": "dasgupta1998",
    "... and the universal joint's moment along c": Formulation(spin="none", shift="1998"),
    "... and no term mu L^2 diag(0, 1, 1)": Formulation(spin="none"),
    "... and the joint's true W and A: the equations above": Formulation(),
    "`pedrammehr2012`, eq. 31-40 and 45-50 as printed": "pedrammehr2012",
    "... and no parallel-axis terms": Formulation(spin="2012"),
    "... and eq. 25 corrected: the equations above": Formulation(),
}


def main() -> int:
    """Write the tables, or check whether they are up to date."""
    warnings.simplefilter("ignore")
    if "--plots" in sys.argv[1:]:
        draw_plots()
    return write_or_check(PAGE, with_tables(PAGE, TABLES))


def manipulator() -> Any:
    """The test manipulator of both papers."""
    return rd.load("stewart_dasgupta")


def motion_along(name: str, samples: int = 601) -> tuple[np.ndarray, Any]:
    """Times and motion; the ends of every blend are sampled on both sides."""
    path = rd.paper_path(name)
    sides = [t + side for t in path.switching_times for side in (-1e-9, 1e-9)]
    times = np.union1d(np.linspace(0.0, path.duration, samples), sides)
    return times, path.sample(times)


def errors() -> str:
    """Largest error of each formulation on the papers' paths."""
    platform = manipulator()
    rows = []
    exact = {}
    for name in PATHS:
        _, motion = motion_along(name)
        exact[name] = platform.inverse_dynamics(*motion)
    for label, formulation in FORMULATIONS.items():
        row = [label]
        for name in PATHS:
            _, motion = motion_along(name)
            forces = platform.inverse_dynamics(*motion, formulation=formulation)
            error = np.abs(forces - exact[name]).max()
            peak = np.abs(exact[name]).max()
            exactly = formulation == Formulation()
            row.append("exact" if exactly else f"{error:.3g} ({100.0 * error / peak:.2g} %)")
        rows.append(row)
    peaks = [f"{np.abs(exact[name]).max():.0f}" for name in PATHS]
    head = [f"{name}, peak {peak} N" for name, peak in zip(PATHS, peaks, strict=True)]
    return table(["formulation", *head], rows)


def statements() -> str:
    """Results that the 1998 paper states, by its own equations and by the exact ones."""
    platform = manipulator()
    times, motion = motion_along("I", 6001)
    found = {}
    for formulation in ("exact", "massless", "dasgupta1998"):
        found[formulation] = platform.inverse_dynamics(*motion, formulation=formulation)
    condition = platform.condition_number(motion.configuration)
    coarse = platform.condition_number(
        rd.paper_path("III").sample(np.arange(61) * 0.1).configuration
    )
    forces = platform.inverse_dynamics(*rd.paper_path("III").sample(np.arange(61) * 0.1))
    crossing = ", ".join(
        f"F{leg + 1} at {times[np.flatnonzero(np.diff(np.sign(found['exact'][:, leg])))[0]]:.3f} s"
        for leg in (4, 5)
    )
    fractions = {
        name: ", ".join(
            f"{value:.3f}"
            for value in np.abs((found[name] - found["massless"]) / found[name])[:, :4].max(axis=0)
        )
        for name in ("exact", "dasgupta1998")
    }
    (singular,) = singular_times(platform, rd.paper_path("III"))
    above = threshold_crossings(platform, rd.paper_path("III"), 1000.0)
    spin = platform.leg_motion(*motion)
    axial = np.abs((spin.angular_velocity * spin.direction).sum(-1))
    size = np.linalg.norm(spin.angular_velocity, axis=-1)
    ratio = (axial / np.where(size > 0.0, size, np.inf)).max(axis=0)
    rows = [
        ["path I, forces that cross zero", crossing],
        ["path I, dynamic fraction of legs 1 to 4, as printed", fractions["dasgupta1998"]],
        ["path I, dynamic fraction of legs 1 to 4, exact", fractions["exact"]],
        ["path I, condition number", f"{condition.min():.1f} to {condition.max():.1f}"],
        [
            "path I, largest spin of a leg about its axis, taken as zero in eq. 6",
            f"{100.0 * ratio.max():.0f} % of the leg's angular velocity, leg {ratio.argmax() + 1}",
        ],
        ["path III, singular", f"at {singular:.9f} s"],
        [
            "path III, condition number above 1000",
            f"from {above[0].time:.3f} to {above[1].time:.3f} s",
        ],
        [
            "path III on the paper's grid of 0.1 s, peaks",
            f"condition number {coarse.max():.3g}, force {np.abs(forces).max():.2g} N",
        ],
    ]
    return table(["quantity", "value"], rows)


def modes() -> str:
    """Assembly modes of the test manipulator where the papers' paths begin."""
    platform = manipulator()
    rows = []
    for name in ("I", "III"):
        lengths = platform.joint_positions(rd.paper_path(name).sample(0.0).configuration)
        found = all_poses(platform, lengths)
        rows.append(
            [
                f"start of path {name}",
                str(len(found.poses)),
                f"{found.attempts}, seed {found.seed}",
                f"{found.unseen:.3g}",
            ]
        )
    return table(["leg lengths", "poses found", "random starts", "fraction found only once"], rows)


def stability() -> str:
    """Growth rates of small motions about rest along path I with the static forces held."""
    platform = manipulator()
    path = rd.paper_path("I")
    times = np.array([0.0, 1.5, 3.0, 4.5, 6.0])
    linear = platform.linearize(path.sample(times).configuration)
    rows = [["growth rate [1/s]", *(f"{rate:.1f}" for rate in linear.growth_rate)]]
    return table(["at rest at", *(f"{t:g} s" for t in times)], rows)


def draw_plots() -> None:
    """Plots of forces and errors of the printed formulations, and of condition numbers."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    IMAGES.mkdir(exist_ok=True)
    platform = manipulator()
    for name in ("I", "II"):
        times, motion = motion_along(name)
        exact = platform.inverse_dynamics(*motion)
        figure, axes = plt.subplots(2, 3, figsize=(10.0, 5.0), sharex=True, layout="constrained")
        for leg, ax in enumerate(axes.flat):
            for formulation, label in (("massless", "massless"), ("dasgupta1998", "1998")):
                forces = platform.inverse_dynamics(*motion, formulation=formulation)
                ax.plot(times, forces[:, leg], linewidth=1.0, label=label)
            forces = platform.inverse_dynamics(*motion, formulation="pedrammehr2012")
            ax.plot(times, forces[:, leg], linewidth=1.0, label="2012")
            ax.plot(times, exact[:, leg], "k", linewidth=1.0, label="exact")
            ax.set_title(f"leg {leg + 1}")
        axes[0, 0].legend()
        figure.supxlabel("time [s]")
        figure.supylabel(f"actuator force on path {name} [N]")
        figure.savefig(IMAGES / f"stewart_forces_{name}.png", dpi=90, metadata={"Software": None})
        plt.close(figure)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.5), layout="constrained")
    times, motion = motion_along("II")
    exact = platform.inverse_dynamics(*motion)
    for label, formulation in FORMULATIONS.items():
        if formulation in ("massless", Formulation()):
            continue
        error = np.abs(platform.inverse_dynamics(*motion, formulation=formulation) - exact)
        left.semilogy(times, error.max(axis=1), label=label.replace("`", ""))
    left.legend(fontsize="x-small", loc="lower center")
    left.set(xlabel="time [s]", ylabel="largest error of a force, path II [N]", ylim=(1e-5, None))
    for name in ("I", "III"):
        times, motion = motion_along(name)
        right.semilogy(times, platform.condition_number(motion.configuration), label=f"path {name}")
    right.legend()
    right.set(xlabel="time [s]", ylabel="condition number of H")
    figure.savefig(IMAGES / "stewart_errors.png", dpi=90, metadata={"Software": None})
    plt.close(figure)


TABLES: dict[str, Callable[[], str]] = {
    "errors": errors,
    "statements": statements,
    "modes": modes,
    "stability": stability,
}

if __name__ == "__main__":
    sys.exit(main())
