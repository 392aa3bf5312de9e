# SPDX-License-Identifier: Apache-2.0

"""`read_recording`: a bag or a CSV file as a recording of a mechanism's driven joints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, IntArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput
from robodyn.formats.regular_files import refuse_special_files
from robodyn.identification.csv_table import table_of_csv
from robodyn.identification.joint_tables import (
    FIELDS,
    Columns,
    JointTable,
    sources_of,
    tables_of_bag,
)
from robodyn.identification.plausibility import (
    PositionUnit,
    convert_to_model_units,
    refuse_standstill,
    unwrap_angles,
)
from robodyn.identification.recording import Recording
from robodyn.identification.signals import (
    Series,
    at_instants,
    common_instants,
    longest_run,
    select_stamps,
    series_of,
    widest_step,
)
from robodyn.mechanism.mechanism import Mechanism

# Shortest useful recording [samples, s].
FEWEST, SHORTEST = 20, 0.5
# Sampling period [s] above which times must be in another unit.
SLOWEST = 0.5
# Largest plausible reading.
LARGEST = 1e12
# File extensions of tables; others are bags.
TEXTS = (".csv", ".txt", ".tsv", ".dat", ".log")


def read_recording(
    source: str | Path,
    m: Mechanism,
    *,
    topic: str = "",
    effort_topic: str = "",
    joints: Mapping[str, str] | None = None,
    effort_gain: float | ArrayLike | Mapping[str, float] = 1.0,
    position_unit: PositionUnit = "",
    start: float = 0.0,
    stop: float = np.inf,
) -> Recording:
    """Read a recording of a mechanism: positions and efforts of its driven joints.

    Positions and velocities are those of joint states for the mechanism's URDF; for a platform
    described in YAML they are leg lengths and their rates. Efforts are those at the driven joints.

    Args:
        source: a rosbag2 folder, a .mcap or .db3 file, or a .csv file with the columns `time` [s],
            `<joint>.position`, `<joint>.effort` or `<joint>.current`, and optionally
            `<joint>.velocity`.
        m: mechanism of any kind.
        topic: topic of the joint states in a bag; by default the one that has all joints.
        effort_topic: separate topic of the efforts: joint states, or a Float64MultiArray with the
            driven joints in the mechanism's order.
        joints: names in the recording, by joints that have another name in the model.
        effort_gain: effort divided by the recorded value [N or N m per its unit], such as the
            torque of a joint per ampere of its motor: one number, one for each driven joint (n,),
            or a mapping by joint.
        position_unit: `deg` and `mm` if revolute joints are in degrees or prismatic ones in
            millimeters, and velocities likewise; SI units by default.
        start, stop: part to read [s], from the recording's first sample.

    Returns:
        Positions, efforts and, if recorded, velocities at common instants.

    Raises:
        InvalidInput: the file does not exist, or the recording lacks the joints or efforts, is too
            short, contains no motion, or has the wrong units; the message names a remedy.
        MissingExtra: rosbags is not installed.
    """
    gains = _gains(effort_gain, m)
    path = Path(source).expanduser()
    refuse_special_files(path)
    notes: list[str] = []
    if path.suffix.lower() in TEXTS:
        tables, topic, effort_topic = [table_of_csv(path, position_unit)], "", ""
    else:
        tables = tables_of_bag(path, topic, effort_topic, m.joint_names, notes)
    columns = sources_of(str(path), m, tables, joints or {}, notes, topic, effort_topic)
    series = _cut_interval(_series(columns, notes), start, stop, str(path))
    times, values = _align(series, m, str(path), notes)
    for name, readings in values.items():
        if np.abs(readings).max() > LARGEST:
            worst = float(np.abs(readings).max())
            raise InvalidInput(
                f"{path}: the largest {name} is {worst:.3g}, expected at most {LARGEST:g}",
                value=worst,
            )
    if tables[0].has_currents and (gains == 1.0).all():
        notes.append(
            "efforts are motor currents but are read as N m or N: give the effort per ampere "
            "as effort_gain (--effort-gain)"
        )
    effort = values["effort"] * gains
    position, velocity = convert_to_model_units(
        m, values["position"], values.get("velocity"), position_unit, str(path), notes
    )
    position = unwrap_angles(m, position, notes)
    refuse_standstill(m, position, str(path), notes)
    if velocity is not None and not velocity.any():
        notes.append("velocities are all zero although the joints move, so they are not used")
        velocity = None
    return Recording.from_arrays(
        m, times, position, effort, velocity, source=str(path), notes=tuple(notes)
    )


def _series(columns: Columns, notes: list[str]) -> dict[tuple[str, int], Series]:
    """Create time series of all quantities and driven joints on a common clock.

    Returns:
        Time series by name of the quantity and index of the joint.
    """
    usable = {table: select_stamps(table) for table, _ in columns.values()}
    # stamps of two clocks cannot be compared
    mixed = len({stamps is table.received for table, (stamps, _) in usable.items()}) > 1
    chosen: dict[JointTable, tuple[IntArray, slice]] = {}
    for table, (stamps, text) in usable.items():
        if mixed:
            stamps, text = table.received, ""
        notes += [text] if text else []
        rows, resets = longest_run(stamps)
        if resets:
            notes.append(
                f"{table.name}: the clock was set back {resets} times: only the longest part "
                f"without a reset is used, {rows.stop - rows.start} of {len(stamps)} messages"
            )
        if table.not_finite:
            notes.append(
                f"{table.name}: {table.not_finite} values are not finite: short runs are "
                "interpolated, longer ones are treated as gaps"
            )
        chosen[table] = stamps[rows], rows
    if mixed:
        notes.append(
            "positions and efforts are stamped by different clocks: the times of receipt are used"
        )
    origin = min(int(stamps.min()) for stamps, _ in chosen.values())
    found: dict[tuple[str, int], Series] = {}
    late, repeated = 0, 0
    for (name, joint), (table, column) in columns.items():
        stamps, rows = chosen[table]
        times = np.asarray((stamps - origin) * 1e-9, dtype=np.float64)
        series, unordered, twice = series_of(times, table.values[name][rows, column])
        late, repeated = max(late, unordered), max(repeated, twice)
        found[name, joint] = series
    if late:
        notes.append(f"{late} samples arrived out of order and were sorted by stamp")
    if repeated:
        notes.append(f"{repeated} samples repeat a stamp; only the first of each stamp was kept")
    return found


def _cut_interval(
    series: dict[tuple[str, int], Series], start: float, stop: float, source: str
) -> dict[tuple[str, int], Series]:
    """Cut time series to times `start` to `stop` [s] after the first common sample."""
    zero = max(each.times[0] if len(each.times) else 0.0 for each in series.values())
    length = max(each.times[-1] if len(each.times) else 0.0 for each in series.values()) - zero
    cut = {}
    for key, (times, values) in series.items():
        keep = (times - zero >= start) & (times - zero <= stop)
        cut[key] = Series(times[keep] - zero, values[keep])
    if any(len(each.times) < 2 for each in cut.values()):
        part = f" between {start:g} and {stop:g} s" if start > 0.0 or np.isfinite(stop) else ""
        raise InvalidInput(
            f"{source}: at least one joint has fewer than two samples{part}; the recording is "
            f"{length:.3g} s long: record a few seconds of motion",
            value=(start, stop),
        )
    return cut


def _align(
    series: dict[tuple[str, int], Series], m: Mechanism, source: str, notes: list[str]
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Interpolate time series at common instants.

    Returns:
        Instants (N,) [s], and the values (N, n) of each quantity at these instants.
    """
    times, alike = common_instants(list(series.values()))
    if not alike and len(times) > 1:
        notes.append(_rate_remark(series, times))
    names = [name for name in FIELDS if (name, 0) in series]
    values = {name: np.empty((len(times), len(m.joint_names))) for name in names}
    missing = np.zeros(len(times), dtype=bool)
    for (name, joint), each in series.items():
        values[name][:, joint], gaps = at_instants(each, times, name != "effort")
        missing |= gaps
    if missing.any():
        notes.append(
            f"{np.count_nonzero(missing)} samples are left out, because at least one joint has a "
            "gap in its readings there"
        )
    times = times[~missing]
    if len(times) < FEWEST or times[-1] - times[0] < SHORTEST:
        length = times[-1] - times[0] if len(times) else 0.0
        raise InvalidInput(
            f"{source}: too short, {len(times)} samples in {length:.3g} s; at least {FEWEST} in "
            f"{SHORTEST:g} s are required; record a few seconds of motion of all joints",
            value=len(times),
        )
    steps = np.diff(times)
    if np.median(steps) > SLOWEST:
        raise InvalidInput(
            f"{source}: samples are {np.median(steps):.3g} s apart, too far to identify dynamics; "
            "record at 20 Hz or more. Times are read in seconds: divide those in milliseconds "
            "by 1000, or name their column time_ms (time_us, time_ns)",
            value=float(np.median(steps)),
        )
    wide = steps[steps > widest_step(float(np.median(steps)))]
    if wide.size:
        which = "1 gap" if wide.size == 1 else f"{wide.size} gaps, the longest"
        notes.append(f"{which} of {wide.max():.3g} s: read as {wide.size + 1} segments")
    return times, {name: array[~missing] for name, array in values.items()}


def _rate_remark(series: dict[tuple[str, int], Series], times: FloatArray) -> str:
    """Describe the sampling rates of time series in a remark for the user."""
    period = float(np.median(np.diff(times)))
    rates = []
    for name in FIELDS:
        own = [1.0 / each.period for (field, _), each in series.items() if field == name]
        if own:
            slow, fast = min(own), max(own)
            rates.append(f"{name} {slow:.4g}" + ("" if fast < 1.01 * slow else f" to {fast:.4g}"))
    return (
        f"positions, velocities and efforts were sampled at different instants ({', '.join(rates)} "
        f"Hz): resampled at the lowest rate, {1.0 / period:.4g} Hz, by averaging faster signals "
        "and interpolating the others"
    )


def _gains(gain: float | ArrayLike | Mapping[str, float], m: Mechanism) -> FloatArray:
    if isinstance(gain, Mapping):
        unknown = [name for name in gain if name not in m.joint_names]
        if unknown:
            raise InvalidInput(
                f"effort_gain names {', '.join(unknown)}; the driven joints are "
                f"{', '.join(m.joint_names)}",
                value=gain,
            )
        gain = [gain.get(name, 1.0) for name in m.joint_names]
    gains = as_array("effort_gain", gain, ())
    if gains.shape not in ((), (len(m.joint_names),)) or not gains.all():
        raise InvalidInput(
            f"effort_gain is {gain!r}, expected one number or {len(m.joint_names)}, one for each "
            "driven joint, none of them zero",
            value=gain,
        )
    return np.broadcast_to(gains, (len(m.joint_names),))
