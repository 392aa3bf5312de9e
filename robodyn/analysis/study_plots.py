"""A study as figures, in the style of Dasgupta and Mruthyunjaya (1998), section 7."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robodyn.analysis.study import Study

# Total solid, massless dashed, dynamic dotted, as in the paper; an arm has more parts.
STYLES = ("--", ":", "-.", (0, (1, 3)), (0, (5, 1)))
# Beyond this a dynamic fraction only says that the total force passes through zero.
LARGEST_FRACTION = 1.0


def plot(study: Study) -> dict[str, Figure]:
    """See `Study.plot`."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra(
            "figures need matplotlib: pip install matplotlib", value="matplotlib"
        ) from error
    figures = {name: Figure(figsize=(9.0, 6.0), layout="constrained")
               for name in ("forces", "condition_number", "joints")}  # fmt: skip
    _forces(study, figures["forces"])
    _condition_number(study, figures["condition_number"].subplots())
    _joints(study, figures["joints"])
    if "massless" in study.parts:
        figures["dynamic_fraction"] = Figure(figsize=(9.0, 6.0), layout="constrained")
        _dynamic_fraction(study, figures["dynamic_fraction"].subplots())
    return figures


def _forces(study: Study, figure: Figure) -> None:
    figure.suptitle(f"{study.mechanism.name}: forces, {study.formulation}")
    for i, axes in enumerate(_grid(figure, len(study.mechanism.joint_names))):
        axes.plot(study.time, study.forces[:, i], "k-", label="total")
        for (name, values), style in zip(study.parts.items(), STYLES, strict=False):
            axes.plot(study.time, values[:, i], color="k", linestyle=style, label=name)
        axes.set_title(study.mechanism.joint_names[i], fontsize="small")
        axes.set_ylabel("N" if study.mechanism.kind == "stewart" else "N m or N")
        if i == 0:
            axes.legend(fontsize="x-small")


def _condition_number(study: Study, axes: Axes) -> None:
    axes.plot(study.time, study.condition_number, "k-", label="SI units")
    axes.plot(
        study.time,
        study.scaled_condition_number,
        "k--",
        label=f"lengths over {study.characteristic_length:g} m",
    )
    if study.condition_number.max() > 50.0 * study.condition_number.min():
        axes.set_yscale("log")
    for t in study.singular_times:
        axes.axvline(t, color="0.6")
    axes.set_title(f"{study.mechanism.name}: condition number")
    axes.set_xlabel("time [s]")
    axes.legend()


def _dynamic_fraction(study: Study, axes: Axes) -> None:
    fraction = np.abs(study.dynamic_fraction)
    fraction[~(fraction <= LARGEST_FRACTION)] = np.nan
    for i, name in enumerate(study.mechanism.joint_names):
        axes.plot(study.time, fraction[:, i], label=name)
    axes.set_title(f"{study.mechanism.name}: dynamic fraction of the forces")
    axes.set_xlabel("time [s]")
    axes.legend(fontsize="small")


def _joints(study: Study, figure: Figure) -> None:
    platform = study.mechanism.kind == "stewart"
    position, rate = figure.subplots(2, 1, sharex=True)
    position.plot(study.time, study.joint_positions, label=study.mechanism.joint_names)
    rate.plot(study.time, study.joint_velocities)
    position.set_ylabel("leg length [m]" if platform else "joint [rad or m]")
    rate.set_ylabel("leg rate [m/s]" if platform else "joint rate [rad/s or m/s]")
    rate.set_xlabel("time [s]")
    position.legend(fontsize="x-small", ncols=3)


def _grid(figure: Figure, count: int) -> list[Axes]:
    columns = min(3, count)
    rows = -(-count // columns)
    axes = np.atleast_1d(figure.subplots(rows, columns, sharex=True)).reshape(-1)
    for unused in axes[count:]:
        unused.set_visible(False)
    for last in axes[max(count - columns, 0) : count]:
        last.set_xlabel("time [s]")
    return list(axes[:count])
