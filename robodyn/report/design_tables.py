# SPDX-License-Identifier: Apache-2.0

"""Tables on the evaluation of a machine, for report pages and the terminal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robodyn.designing.accuracy import pose_accuracy
from robodyn.designing.design import OBJECTIVES, Design
from robodyn.designing.evaluate import evaluate, extreme_configurations
from robodyn.designing.evaluation import Evaluation
from robodyn.report.tables import Table

# Fraction of the largest effort above which the rotors' share is reported.
NOTABLE = 0.2
# Columns of each design on a front, besides its objectives.
KEY_VALUES = ("peak_effort", "supply_peak", "stroke", "speed", "price")


def verdict_lines(e: Evaluation) -> list[str]:
    """Return one sentence for each requirement of an evaluation: whether it is met.

    Requirements that are not met come first. Notes on rotor inertia follow at the end.
    """
    met = [f"yes: {each.text}" for each in e.verdicts if each.satisfied]
    return [f"NO: {text}" for text in e.violations] + met + rotor_sentences(e)


def rotor_sentences(e: Evaluation) -> list[str]:
    """Return a note if a rotor's reflected inertia greatly increases the peak effort.

    Returns:
        A list with the note, or an empty list.
    """
    m = e.mechanism
    masses = [actuator.reflected_inertia for actuator in m.actuators]
    worst = int(np.argmax(masses))
    if not masses[worst]:
        return []
    # the mechanism includes the payload already
    free = evaluate(m.without_actuators(), replace(e.requirements, payload=None))
    factor = float(e.needed.peak_effort.max() / free.needed.peak_effort.max())
    if not factor > 1.0 + NOTABLE:
        return []
    slides = m.drives.units[worst] == "m"
    what, unit = ("a screw", "kg") if slides else ("a gear", "kg m^2")
    return [
        f"note: behind {what}, the rotor of {m.joint_names[worst]} acts like {masses[worst]:.4g} "
        f"{unit} at the joint; with ideal drives the largest effort would be {1.0 / factor:.2f} "
        "times as large. A longer lead or a lower gear ratio reduces this inertia quadratically"
    ]


def demand_tables(e: Evaluation) -> list[Table]:
    """Create tables of the strokes, speeds, efforts and powers of the drives.

    One lists the requirements of each drive, another the largest values in each motion. If known,
    demands on the motors, supply currents and the accuracy of the body follow.
    """
    m, need = e.mechanism, e.needed
    unit, rate, effort = ("/".join(sorted(set(each))) for each in (
        m.drives.units, [f"{u}/s" for u in m.drives.units], m.drives.effort_units))  # fmt: skip
    head = ["drive", f"from [{unit}]", f"to [{unit}]", f"stroke [{unit}]", f"speed [{rate}]",
            f"peak [{effort}]", f"continuous [{effort}]", "peak [W]", "mean [W]"]  # fmt: skip
    columns = (need.shortest, need.longest, need.stroke, need.speed, need.peak_effort,
               need.continuous_effort, need.peak_power, need.mean_power)  # fmt: skip
    rows: list[list[str | float]] = [
        [name, *(float(column[j]) for column in columns)] for j, name in enumerate(m.joint_names)
    ]
    tables = [Table(head, rows, "Requirements of each drive, with margins except for powers")]
    head = ["motion", f"stroke [{unit}]", f"speed [{rate}]", f"peak [{effort}]", f"RMS [{effort}]",
            "peak [W]", "supply peak [W]", "mean [W]", "fed back [J]", "angle [rad]",
            "condition"]  # fmt: skip
    rows = []
    for row in e.motions:
        angle = max(row.joint_angles.values(), default=np.nan)
        stroke = row.positions[:, 1] - row.positions[:, 0]
        rows.append([
            row.name, *(float(v.max()) for v in (stroke, row.speed, row.peak_effort,
                                                 row.rms_effort, row.peak_power)),
            row.supply_peak, row.supply_mean, row.braking, angle, row.condition_number,
        ])  # fmt: skip
    tables.append(Table(head, rows, "Largest value over all drives in each motion, without "
                        "margins; supply and fed-back power: sum over all drives"))  # fmt: skip
    head = ["drive", "peak torque [N m]", "RMS [N m]", "speed [rad/s]", "RMS current [A]"]
    at_motors = [
        np.fmax.reduce([getattr(row, name) for row in e.motions])
        for name in ("peak_torque", "rms_torque", "motor_speed", "rms_current")
    ]
    if np.isfinite(at_motors[0]).any():
        columns = np.transpose(at_motors).tolist()
        rows = [[name, *values] for name, values in zip(m.joint_names, columns, strict=True)]
        tables.append(Table(head, rows, "At the motors, behind screws and gears, without margins"))
    voltage = e.requirements.supply_voltage
    if voltage is not None:
        rows = [["supply", need.supply_peak / voltage, need.supply_mean / voltage]]
        tables.append(Table(["", "peak [A]", "mean [A]"], rows, f"Currents at {voltage:g} V"))
    if e.requirements.accuracy is not None and e.pose_accuracy is not None:
        rows, at = [], extreme_configurations(m, e.found)
        for name, other in (("drives", "geometry"), ("joint centers", "position")):
            alone = pose_accuracy(m, replace(e.requirements.accuracy, **{other: 0.0}), at)
            rows.append([name, *alone.tolist()])
        rows.append(["both", *e.pose_accuracy.tolist()])
        head = ["standard deviations due to", "x [m]", "y [m]", "z [m]", "about x [rad]",
                "about y [rad]", "about z [rad]"]  # fmt: skip
        tables.append(Table(head, rows, "Tolerances: accuracy at the least accurate pose"))
    return tables


def sensitivity_table(e: Evaluation) -> Table:
    """Create a table of the changes [%] of requirements if a dimension grows by 1 %.

    Each row is a dimension, each column a requirement such as stroke, speed or peak effort.
    """
    names = ("stroke", "speed", "peak_effort", "continuous_effort", "peak_power",
             "condition_number", "joint_angle", "position_error")  # fmt: skip
    shown = [name for name in names if name in e.quantities]
    rows = []
    for dimension, slopes in e.sensitivities.items():
        value = e.variants[dimension][0]
        changes = (value * slopes.get(name, np.nan) / e.quantities[name] for name in shown)
        rows.append([f"{dimension} = {value:.4g}", *(f"{each:+.2f} %" for each in changes)])
    head = ["dimension", *(name.replace("_", " ") for name in shown)]
    title = "Sensitivity of the requirements: change if a dimension grows by one percent"
    return Table(head, rows, title)


def front_table(d: Design) -> Table:
    """Create a table of the Pareto-optimal designs.

    Each row contains the objectives, the dimensions and, if one was selected, the actuator of a
    design.
    """
    names = [name for name in OBJECTIVES if name in d.front[0].values]
    shown = list(dict.fromkeys((*d.objectives, *(n for n in names if n in KEY_VALUES))))
    turns = d.mechanism.drives.units[0] == "rad"
    # of two units, use that of the family's drives
    units = {name: OBJECTIVES[name].split(" or ")[-1 if turns else 0] for name in shown}
    titles = [name.replace("_", " ") + f" [{units[name]}]" * bool(units[name]) for name in shown]
    rows: list[list[str | float]] = []
    for k, point in enumerate(d.front, start=1):
        rows.append([str(k), *(point.values[name] for name in shown), *point.parameters.values()])
        rows[-1] += [point.actuator.name] if point.actuator is not None else []
    head = ["design", *titles, *d.parameters, *(["actuator"] if d.actuator is not None else [])]
    return Table(head, rows, "Designs that no other design dominates")
