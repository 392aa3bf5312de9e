# SPDX-License-Identifier: Apache-2.0

"""Report page of a ride, and of the objective motion cueing test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.formats.csv_text import read_columns
from robodyn.motion_base.cueing.frequency_response import CHANNELS, FrequencyResponse
from robodyn.motion_base.cueing.ride import Ride
from robodyn.report import chart
from robodyn.report.page import Page, cards

AXES = (("x, forward", "y, to the left", "z, up"), ("roll", "pitch", "yaw"))
LIMITS = ("modulus_low", "modulus_high", "phase_low", "phase_high")
# Frequencies (k,) [rad/s] and the four values of LIMITS (k, 4), by the channel's name.
Criteria = dict[str, tuple["FloatArray", "FloatArray"]]


def cueing_page(
    found: Ride,
    facts: Mapping[str, Any],
    summary: list[tuple[str, str]],
    response: FrequencyResponse | None = None,
    criteria: Criteria | None = None,
) -> Page:
    """Create the report page of a ride on a motion platform.

    Args:
        found: result of the ride.
        facts: numerical results of the ride, embedded in the page for programs.
        summary: name and value of each key result, shown at the top of the page.
        response: result of the objective motion cueing test, if any.
        criteria: limits of modulus and phase by channel, see `read_criteria`.
    """
    page = Page(
        f"{found.mechanism.name}, a ride",
        f"{found.time[-1]:.4g} s: motion of the vehicle and motion felt on the platform",
        dict(facts),
    )
    page.add("summary", "Summary", cards(summary))
    pairs = (
        ("force", "Specific force at the head", "m/s^2", found.vehicle_force, found.felt_force),
        ("rate", "Angular velocity of the head", "rad/s", found.vehicle_rate, found.felt_rate),
    )
    for (key, title, unit, vehicle, felt), names in zip(pairs, AXES, strict=True):
        curves = {"in the vehicle": vehicle, "felt, on the platform": felt}
        colors = chart.INK, chart.COLORS[1]
        panels = chart.panels_of(names, found.time, curves, [f"[{unit}]"] * 3, colors)
        page.add_chart(chart.Chart(key, title, panels))
    m = found.mechanism
    low, high = m.position_limits.T
    used = 100.0 * (2.0 * (found.joint_positions - low) / (high - low) - 1.0)
    joints = chart.curves_of(found.time, m.joint_names, used)
    ends = (chart.Mark(-100.0, "shortest"), chart.Mark(100.0, "longest"))
    panel = chart.Panel(
        "distance from the middle, relative to half the range",
        joints,
        y_label="position [%]",
        marks=ends,
    )
    page.add_chart(chart.Chart("joints", "Joints", (panel,), columns=1))
    if response is not None:
        page.add_chart(modulus_chart(response, criteria or {}))
        page.add_chart(phase_chart(response, criteria or {}))
    return page


def modulus_chart(response: FrequencyResponse, criteria: Criteria) -> chart.Chart:
    """Create a chart of modulus versus frequency for each channel of the cueing test.

    The response is that of the motion at the head on the platform to the motion of the vehicle.

    Args:
        response: response of the cueing algorithm.
        criteria: limits of the moduli, drawn as dashed lines, see `read_criteria`.
    """
    panels = []
    for channel in CHANNELS:
        values = np.maximum(response.modulus(channel), 1e-4)
        across = {-3: " [s/m]", 3: " [m/s]"}
        unit = across.get(3 * ((channel.felt < 3) - (channel.vehicle < 3)), "")
        panels.append(_panel(channel.name, response, values, f"modulus{unit}", criteria, 0, "log"))
    return chart.Chart(
        "modulus", "Objective motion cueing test: modulus", tuple(panels),
        "Motion felt at the head relative to that of the vehicle, at the twelve frequencies of "
        "ICAO Doc 9625, one axis at a time." + (
            " Dashed lines are the limits of the given criteria." if criteria else ""
        ),
    )  # fmt: skip


def phase_chart(response: FrequencyResponse, criteria: Criteria) -> chart.Chart:
    """Create a chart of phase versus frequency for each channel of the cueing test.

    The response is that of the motion at the head on the platform to the motion of the vehicle.

    Args:
        response: response of the cueing algorithm.
        criteria: limits of the phases, drawn as dashed lines, see `read_criteria`.
    """
    panels = []
    for each in CHANNELS:
        # without jumps; at the highest frequency a platform follows best
        phase = np.unwrap(response.phase(each)[::-1], period=360.0)[::-1]
        panels.append(_panel(each.name, response, phase, "phase [deg]", criteria, 2))
    return chart.Chart("phase", "Objective motion cueing test: phase", tuple(panels))


def _panel(
    name: str,
    response: FrequencyResponse,
    values: FloatArray,
    label: str,
    criteria: Criteria,
    first: int,
    scale: str = "linear",
) -> chart.Panel:
    curves = [chart.ChartLine(response.frequencies, values, "response", chart.COLORS[0])]
    if name in criteria:
        at, limits = criteria[name]
        curves += [
            chart.ChartLine(at, limits[:, first + k], "criterion", chart.GRAY, chart.DASHED)
            for k in (0, 1)
        ]
    marks = () if first or "[" in label else (chart.Mark(1.0),)
    return chart.Panel(
        name, tuple(curves), "frequency [rad/s]", label, marks, scale=scale, x_scale="log"
    )


def read_criteria(file: Path) -> Criteria:
    """Read the criteria of an objective motion cueing test from a CSV file.

    Columns: `channel`, its number in `CHANNELS` from 1 on; `frequency` [rad/s]; `modulus_low`,
    `modulus_high`; `phase_low`, `phase_high` [deg].

    Returns:
        Frequencies (k,) and limits (k, 4) in the order of the columns, by the name of the channel.

    Raises:
        InvalidInput: there is no such file or channel, or a column is missing.
    """
    names, table, line, *_ = read_columns(file)
    required = ("channel", "frequency", *LIMITS)
    missing = [name for name in required if name not in names]
    if missing:
        raise InvalidInput(
            f"{file}, line {line}: missing column {missing[0]!r}; expected {required}"
        )
    values = table[:, [names.index(name) for name in required]]
    numbers = values[:, 0]
    if not np.isin(numbers, np.arange(1, len(CHANNELS) + 1)).all():
        raise InvalidInput(f"{file}: channels are {numbers}, expected 1 to {len(CHANNELS)}")
    return {
        channel.name: (values[numbers == k, 1], values[numbers == k, 2:])
        for k, channel in enumerate(CHANNELS, start=1)
        if (numbers == k).any()
    }
