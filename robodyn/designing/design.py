# SPDX-License-Identifier: Apache-2.0

"""Search for the machine of a family that meets requirements and minimizes an objective."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np

from robodyn.algorithms import conditioning
from robodyn.arrays import FloatArray, short_repr
from robodyn.designing.catalog import CatalogActuator
from robodyn.designing.evaluate import evaluate
from robodyn.designing.evaluation import Evaluation, MotionEvaluation
from robodyn.designing.families import AnyFamily, Bounds, Family, FunctionFamily, family_of
from robodyn.designing.machine_motion import MachineMotion
from robodyn.designing.requirements import Requirements
from robodyn.designing.search import Descent, Examine, Point, sobol_points
from robodyn.errors import InvalidInput, KinematicsError, ModelError, ResumeRefused, writing
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.workspace.workspace import workspace
from robodyn.sweeps.plan import hashes
from robodyn.sweeps.schedulers import check_scheduler
from robodyn.threads import each
from robodyn.version import __version__

Objective = Literal[
    "peak_effort", "continuous_effort", "peak_power", "supply_peak", "stroke", "speed", "height",
    "footprint_radius", "condition_number", "price", "mass", "workspace", "stiffness",
]  # fmt: skip
# Objectives and their units; those of drives are maxima over all drives and motions.
OBJECTIVES = {
    "peak_effort": "N or N m", "continuous_effort": "N or N m", "peak_power": "W",
    "supply_peak": "W", "stroke": "m or rad", "speed": "m/s or rad/s", "height": "m",
    "footprint_radius": "m", "condition_number": "", "price": "", "mass": "kg",
    "workspace": "m^3", "stiffness": "N/m",
}  # fmt: skip
# Objectives that require actuators of a catalog, limits, and elastic drives.
OF_CATALOG, OF_LIMITS, OF_ELASTICITY = ("price", "mass"), ("workspace",), ("stiffness",)
# Objectives to maximize.
MAXIMIZED = ("workspace", "stiffness")
# Relative error, and number of cells along an axis, of a workspace.
WORKSPACE_ERROR, WORKSPACE_RESOLUTION = 0.03, 16
# Quantities of the Pareto front besides a single objective.
FRONT_QUANTITIES = ("peak_effort", "supply_peak", "stroke")
# Fraction of the evaluations for an even spread; mean number of steps of the descents from its best
# points, and smallest distance of these points in diagonals of the box.
SPREAD, STEPS, START_DISTANCE = 0.25, 12, 0.15
# Largest number of designs on a front; relative difference of values that count as equal there.
LARGEST_FRONT, EQUAL = 40, 1e-3
# Requirements whose violations are maxima of parts, see `_parts`.
IN_PARTS = ("shortest", "longest", "speed", "continuous_effort", "condition_number", "joint_angle",
            "singularity")  # fmt: skip
# Instants of a motion whose condition numbers are parts; largest number of poses that are.
SAMPLES = 12
# Violation of a point in the search for which no machine exists.
NOTHING = 100.0
# Lower bound of an objective, whose logarithm is minimized.
LEAST = 1e-12


@dataclass(frozen=True)
class DesignPoint:
    """Machine of a family that a search found, with its objectives.

    Attributes:
        parameters: parameters of the family by name [m, rad].
        values: objectives and other quantities by name.
        actuator: actuator of the catalog; None without one.
        machine: function that creates the machine.
    """

    parameters: dict[str, float]
    values: dict[str, float]
    actuator: CatalogActuator | None
    create: Callable[[], Mechanism] = field(repr=False, compare=False)

    @cached_property
    def mechanism(self) -> Mechanism:
        """Mechanism without the payload, with the actuator's limits or those it needs."""
        return self.create()


@dataclass(frozen=True, eq=False)
class Design:
    """Result of a design: a machine for given requirements.

    Attributes:
        family: name of the family.
        parameters: parameters of the family by name [m, rad].
        mechanism: mechanism without the payload, with the limits of the actuator or the needed
            ones.
        evaluation: evaluation of the mechanism; `satisfied` states whether it meets the
            requirements.
        actuator: actuator of the catalog; None without one.
        front: Pareto-optimal designs, each with its `values`.
        objectives: names of the minimized objectives.
        examined: number of evaluated machines.
        conflicts: descriptions of requirements that no machine met, or no machine met at the same
            time; empty if all are met.
    """

    family: str
    parameters: dict[str, float]
    mechanism: Mechanism
    evaluation: Evaluation
    actuator: CatalogActuator | None
    front: tuple[DesignPoint, ...]
    objectives: tuple[str, ...]
    examined: int
    conflicts: tuple[str, ...]

    __repr__ = short_repr

    def to_dict(self) -> dict[str, Any]:
        """Convert the design to dictionaries, lists, strings and numbers for JSON."""
        return {
            "family": self.family,
            "parameters": self.parameters,
            "actuator": self.actuator and self.actuator.name,
            "objectives": list(self.objectives),
            "examined": self.examined,
            "conflicts": list(self.conflicts),
            "front": [{"parameters": point.parameters, "values": point.values,
                       "actuator": point.actuator and point.actuator.name}
                      for point in self.front],
            "evaluation": self.evaluation.to_dict(),
        }  # fmt: skip


def design(
    family: str | Callable[..., Mechanism],
    requirements: Requirements,
    catalog: str | Path | Sequence[Mapping[str, Any]] | None = None,
    objective: Objective | Sequence[Objective] = "peak_effort",
    bounds: Bounds | None = None,
    seed: int = 0,
    *,
    evaluations: int = 1200,
    resume: str | Path | None = None,
    scheduler: Any = None,
    progress: Callable[[float], None] | None = None,
) -> Design:
    """Find the machine of a family that meets requirements and minimizes an objective.

    Args:
        family: `hexapod`, `servo-hexapod`, `linear-delta`, `3-rps` or `delta`, with threefold
            symmetry; or a function of named parameters that returns a mechanism.
        requirements: see `load_requirements`.
        catalog: actuators, see `load_catalog`; one of them is chosen for all drives. Without a
            catalog, drives are ideal and massless, with the needed limits.
        objective: one or several of `OBJECTIVES`. With several, the result is optimal for the first
            one, and `front` contains the compromises.
        bounds: (lower, upper) [m, rad] by parameter, instead of the family's; required for all
            parameters of a function.
        seed: seed of random numbers; the same seed leads to the same design.
        evaluations: approximate number of machines to evaluate for each weighting of the
            objectives: 1 for one objective, 5 for two, 13 for three.
        resume: file (.jsonl) that stores evaluated machines, so that an interrupted search can be
            resumed with the same arguments.
        scheduler: address of a Dask scheduler, or a `distributed.Client`, whose workers evaluate
            the machines; threads of this process by default.
        progress: called with the completed fraction.

    Returns:
        The design. If no machine met the requirements, it is the machine that violates them least,
        and `conflicts` lists the reasons.

    Raises:
        InvalidInput: an unknown family, objective or parameter, or invalid bounds.
        ResumeRefused: `resume` belongs to another search or was written by another version.

    Example:
        >>> import robodyn as rd
        >>> req = rd.load_requirements({"motions": [{"heave": 0.1, "frequency": 0.5}]})
        >>> rd.design("hexapod", req, evaluations=60).evaluation.satisfied
        True
    """
    check_scheduler(scheduler)
    names = (objective,) if isinstance(objective, str) else tuple(objective)
    kind = family_of(family, bounds)
    rows: tuple[CatalogActuator | None, ...]
    rows = (None,) if catalog is None else kind.suitable_actuators(catalog)
    excluded: tuple[str, ...] = OF_CATALOG if catalog is None else ()
    if catalog is None and isinstance(kind, Family):
        excluded += OF_LIMITS + OF_ELASTICITY
    for name in names:
        if name not in OBJECTIVES or name in excluded:
            known = [each for each in OBJECTIVES if each not in excluded]
            raise InvalidInput(
                f"objective is {name!r}, expected one of {', '.join(known)}"
                + (f"; {', '.join(excluded)} need a catalog" if excluded else ""),
                value=name,
            )
    goals = _goals(names)
    machines = _DesignSearch(kind, requirements, rows, names, resume, scheduler)
    machines.progress, machines.total = progress, evaluations * len(goals)
    try:
        for k, goal in enumerate(goals):
            _search(machines, goal, evaluations, seed + k)
    finally:
        machines.close()
    return machines.result()


def _goals(names: tuple[str, ...]) -> list[FloatArray]:
    """Return the weightings of the objectives for which designs are searched.

    Returns:
        Lists of weights (k,): for each objective alone, for each pair, and for all k together.
    """
    count = len(names)
    if count == 1:
        return [np.ones(1)]
    alone = list(np.eye(count))
    pairs = [
        fraction * np.eye(count)[i] + (1.0 - fraction) * np.eye(count)[j]
        for i, j in combinations(range(count), 2)
        for fraction in (0.5, 0.25, 0.75)
    ]
    return [*alone, *pairs, *([np.full(count, 1.0 / count)] if count > 2 else [])]


def _search(machines: _DesignSearch, goal: FloatArray, evaluations: int, seed: int) -> None:
    """Search for the best design for one weighting of the objectives.

    For each actuator, descents start at the best of points spread evenly over the unit box. They
    continue in rounds, each of which uses half of the remaining evaluations and ends the worse half
    of the descents.
    """
    d, end = int(machines.free.sum()), machines.examined + evaluations
    step = d + 2  # evaluations per step
    first = max(4, int(SPREAD * evaluations / len(machines.rows)))
    heats = []
    for row in range(len(machines.rows)):
        examine = machines.examiner(goal, row)
        points = sorted(examine(sobol_points(d, first, seed)), key=lambda point: point.rank)
        starts = _distant_points(points, max(2, evaluations // (STEPS * step)))
        heats += [Descent(examine, start, goal) for start in starts]
    while len(heats) > 1:
        heats.sort(key=lambda descent: descent.best.rank)
        budget = (end - machines.examined) // (2 * len(heats))
        for descent in heats if budget >= step else ():
            descent.advance(budget)
        heats.sort(key=lambda descent: descent.best.rank)
        del heats[(len(heats) + 1) // 2 :]
    heats[0].advance(end - machines.examined, tolerance=0.0)


def _distant_points(points: Sequence[Point], count: int) -> list[Point]:
    """Select points of a sorted list, each of them far from those selected before."""
    chosen: list[Point] = []
    for point in points:
        gaps = [np.linalg.norm(point.x - other.x) for other in chosen]
        far = START_DISTANCE * np.sqrt(len(point.x))
        if len(chosen) < count and min(gaps, default=np.inf) > far:
            chosen.append(point)
    return chosen


@dataclass(frozen=True)
class _Record:
    """Evaluation results of one machine.

    Attributes:
        values: objectives and other quantities by name; empty if there is no machine.
        violations: excess by requirement, positive if violated.
        parts: for each quantity, the values for drives and motions of which it is the maximum.
        bounds: smooth values of constraints, positive if violated; `violations` are their maxima.
        refused: reason why the machine cannot be evaluated; empty if it can be.
    """

    values: dict[str, float]
    violations: dict[str, float]
    parts: dict[str, list[float]]
    bounds: list[float]
    refused: str = ""


class _DesignSearch:
    """Cache of the machines that a search evaluates."""

    def __init__(
        self,
        family: AnyFamily,
        requirements: Requirements,
        rows: tuple[CatalogActuator | None, ...],
        names: tuple[str, ...],
        resume: str | Path | None,
        scheduler: Any,
    ) -> None:
        self.family, self.requirements, self.rows, self.names = family, requirements, rows, names
        self.box = box = family.bounds
        self.lower, self.upper = np.array(list(box.values()), dtype=np.float64).T
        # parameters with equal bounds are constants
        self.free = self.lower < self.upper
        if not self.free.any():
            raise InvalidInput(
                "all parameters are fixed by equal bounds; give at least one a range",
                value=dict(box),
            )
        self.found: dict[tuple[int, tuple[float, ...]], _Record] = {}
        self.progress: Callable[[float], None] | None = None
        self.total = 1
        self._resumed: dict[str, _Record] = {}
        self._file: TextIO | None = None
        self._client: Any = None
        self._stack = ExitStack()
        if resume is not None:
            self._open(Path(resume))
        if scheduler is not None:
            from robodyn.sweeps.schedulers import cluster

            self._client = self._stack.enter_context(cluster(scheduler))

    def _open(self, path: Path) -> None:
        """Read the machines of an interrupted search; open its file to append more.

        The first line of the file identifies the search.
        """
        search = hashes(
            version=[__version__, [each.name for each in fields(_Record)]],
            family=self.family.name,
            requirements=self.requirements,
            catalog=self.rows,
        )
        lines = []
        with writing(path):
            text = path.read_text(encoding="utf-8") if path.exists() else ""
        for line in text.splitlines():
            with suppress(ValueError):  # the search was killed while it wrote the line
                lines.append(json.loads(line))
        stated = lines.pop(0) if lines and isinstance(lines[0], dict) else {}
        other = [name for name in search if stated.get(name) != search[name]]
        if text and other:
            writer = f"a search with different {' and '.join(other)}"
            if "version" in other:
                writer = "another version of robodyn"
            raise ResumeRefused(
                f"{path}: was written by {writer}, so this search cannot be resumed from it; "
                "choose another file, or remove this one",
                value=other,
            )
        self._resumed = {key: _Record(*kept) for key, *kept in lines}
        with writing(path):
            self._file = self._stack.enter_context(path.open("a", buffering=1, encoding="utf-8"))
            self._file.write(f"{'' if text else json.dumps(search)}\n")

    def close(self) -> None:
        """Close the Dask cluster and the file of evaluated machines."""
        self._stack.close()

    @property
    def examined(self) -> int:
        """Number of evaluated machines."""
        return len(self.found)

    def parameters(self, x: Iterable[float]) -> dict[str, float]:
        """Convert a point of the unit box to the parameters of the machine family."""
        values = self.lower.copy()
        values[self.free] += np.array(list(x)) * (self.upper - self.lower)[self.free]
        return dict(zip(self.box, values.tolist(), strict=True))

    def examiner(self, goal: FloatArray, row: int) -> Examine:
        """Return a function that evaluates points for one actuator and one weighting."""

        def examine(points: Sequence[FloatArray]) -> list[Point]:
            records = self._records(points, row)
            names = sorted({name for record in records for name in record.violations})
            pairs = zip(points, records, strict=True)
            return [self._point(x, record, goal, names) for x, record in pairs]

        return examine

    def _point(
        self, x: FloatArray, record: _Record, goal: FloatArray, names: Sequence[str]
    ) -> Point:
        violations = np.array([record.violations.get(name, -1.0) for name in names])
        if not record.values:
            return Point(x, np.inf, np.append(violations[:-1], NOTHING), (), np.empty(0))
        # no scales are needed, since the value is a product of powers of the objectives
        parts = tuple(
            np.log(np.maximum(record.parts.get(name, [_cost(name, record.values)]), LEAST))
            for name in self.names
        )
        value = float(np.exp(goal @ [part.max() for part in parts]))
        ends = record.parts["end of reach"]
        return Point(x, value, violations, parts, np.array(ends + record.bounds), len(ends))

    def _records(self, points: Sequence[FloatArray], row: int) -> list[_Record]:
        keys = [(row, tuple(point.tolist())) for point in points]
        new = list(dict.fromkeys(key for key in keys if key not in self.found))
        # stored records depend on whether these were objectives
        more = [name for name in OF_LIMITS + OF_ELASTICITY if name in self.names]
        actuator = self.rows[row]
        name = "" if actuator is None else actuator.name
        texts = {key: json.dumps([name, self.parameters(key[1]), *more]) for key in new}
        unknown = [key for key in new if texts[key] not in self._resumed]
        work = partial(_examine, self.family, self.requirements, actuator, self.names)
        given = [self.parameters(key[1]) for key in unknown]
        if self._client is not None:
            results = self._client.gather(self._client.map(work, given, pure=False))
        else:
            results = [_Record({}, {}, {}, [])] * len(given)

            def at(k: int) -> None:
                results[k] = work(given[k])

            for _ in each(at, len(given)):
                pass
        for key, record in zip(unknown, results, strict=True):
            self._resumed[texts[key]] = record
            if self._file is not None:
                self._file.write(f"{json.dumps([texts[key], *vars(record).values()])}\n")
        self.found.update({key: self._resumed[texts[key]] for key in new})
        if self.progress is not None:
            self.progress(min(self.examined / self.total, 1.0))
        return [self.found[key] for key in keys]

    def result(self) -> Design:
        """Return the best evaluated design and the Pareto-optimal designs."""
        built = {key: record for key, record in self.found.items() if record.values}
        if not built:
            refusals = [each.refused for each in self.found.values() if each.refused]
            if refusals:
                raise InvalidInput(max(refusals, key=refusals.count), value=self.requirements)
            raise ModelError(
                "no parameters within the bounds yield a machine that can be built; widen the "
                "bounds",
                value=dict(self.box),
            )

        def rank(key: tuple[int, tuple[float, ...]]) -> tuple[float, ...]:
            record = built[key]
            excess = sum(max(each, 0.0) for each in record.violations.values())
            # among equally good designs, the one that is better in the other objectives
            costs = (_cost(name, record.values) for name in self.names)
            return (excess,) if excess > 0.0 else (0.0, *costs)

        best = min(built, key=rank)
        feasible = [key for key in built if rank(key)[0] == 0.0]
        chosen = self._design_point(best, built[best])
        given, values = (self.family, self.requirements, chosen), chosen.parameters.items()
        variants = {name: (value, partial(_variant, *given, name)) for name, value in values}
        m, actuator = chosen.mechanism, chosen.actuator
        return Design(
            family=self.family.name,
            parameters=chosen.parameters,
            mechanism=m,
            evaluation=_evaluation(m, self.requirements, actuator, variants=variants),
            actuator=actuator,
            front=self._front(feasible),
            objectives=self.names,
            examined=self.examined,
            conflicts=() if feasible else self._conflicts(list(built.values())),
        )

    def _design_point(self, key: tuple[int, tuple[float, ...]], record: _Record) -> DesignPoint:
        parameters, actuator = self.parameters(key[1]), self.rows[key[0]]
        create = partial(_machine, self.family, self.requirements, parameters, actuator)
        return DesignPoint(parameters, dict(record.values), actuator, create)

    def _front(self, keys: list[Any]) -> tuple[DesignPoint, ...]:
        """Select a limited number of Pareto-optimal designs, evenly distributed."""
        if not keys:
            return ()
        names = list(
            self.names if len(self.names) > 1 else dict.fromkeys((*self.names, *FRONT_QUANTITIES))
        )
        table = np.array([[_cost(name, self.found[key].values) for name in names] for key in keys])
        order = np.lexsort(table.T[::-1])
        kept: list[int] = []
        for k in order:
            if not any((table[j] <= (1.0 + EQUAL) * table[k]).all() for j in kept):
                kept.append(int(k))
        if len(kept) > LARGEST_FRONT:
            places = np.linspace(0, len(kept) - 1, LARGEST_FRONT).round().astype(int)
            kept = [kept[place] for place in places]
        return tuple(self._design_point(keys[k], self.found[keys[k]]) for k in kept)

    def _conflicts(self, records: list[_Record]) -> tuple[str, ...]:
        """Describe requirements, alone and in pairs, that no evaluated machine meets."""
        names = sorted({name for record in records for name in record.violations})
        met = np.array(
            [[record.violations.get(n, 0.0) <= 0.0 for n in names] for record in records]
        )
        ever = np.atleast_1d(met.any(axis=0))
        count = len(records)
        alone = [
            f"{name}: none of the {count} evaluated machines meets this requirement"
            for name, any_met in zip(names, ever, strict=True)
            if not any_met
        ]
        pairs = [
            f"{names[i]} and {names[j]} conflict: each is met by at least one of the {count} "
            "evaluated machines, but no machine meets both"
            for i, j in combinations(np.flatnonzero(ever), 2)
            if not (met[:, i] & met[:, j]).any()
        ]
        several = "no two requirements conflict, but no machine meets all of " + ", ".join(
            name for name, fraction in zip(names, met.mean(axis=0), strict=True) if fraction < 1.0
        )
        return (*alone, *pairs) or (several,)


def _cost(name: str, values: Mapping[str, float]) -> float:
    """Convert an objective's value to a positive value to be minimized."""
    value = values[name]
    return 1.0 / max(value, LEAST) if name in MAXIMIZED else value


def _machine(
    family: AnyFamily,
    requirements: Requirements,
    parameters: dict[str, float],
    actuator: CatalogActuator | None,
) -> Mechanism:
    """Create a machine whose drives have the limits of its actuator.

    Without an actuator, the limits are those that the required motions need. The machines of a
    `FunctionFamily` keep their limits.
    """
    machine = family.mechanism(parameters, requirements, actuator)
    if actuator is not None or isinstance(family, FunctionFamily):
        return machine
    need = evaluate(machine, requirements, variants={}).needed
    return family.mechanism(parameters, requirements, need=need)


def _variant(
    family: AnyFamily, requirements: Requirements, chosen: DesignPoint, name: str, value: float
) -> Mechanism:
    """Create the machine of a design, with the value of one parameter replaced."""
    parameters = chosen.parameters | {name: value}
    return family.mechanism(parameters, requirements, chosen.actuator)


def _evaluation(
    m: Mechanism, requirements: Requirements, actuator: CatalogActuator | None, **more: Any
) -> Evaluation:
    continuous = np.inf if actuator is None else actuator.continuous_effort
    return evaluate(m, requirements, continuous_effort=continuous, **more)


def _examine(
    family: AnyFamily,
    requirements: Requirements,
    actuator: CatalogActuator | None,
    names: Sequence[str],
    parameters: dict[str, float],
) -> _Record:
    """Evaluate one machine; return an empty record for invalid parameters."""
    try:
        m = family.mechanism(parameters, requirements, actuator)
    except (ModelError, KinematicsError, InvalidInput):
        return _Record({}, {}, {}, [])
    try:
        e = _evaluation(m, requirements, actuator, variants={})
        region = None
        if "workspace" in names:
            limit = requirements.limits.condition_number
            region = workspace(
                m, error=WORKSPACE_ERROR, resolution=WORKSPACE_RESOLUTION, condition_limit=limit
            )
    except KinematicsError:
        return _Record({}, {}, {}, [])
    except InvalidInput as error:
        return _Record({}, {}, {}, [], str(error))
    if "stiffness" in names and e.stiffness is None:
        message = "the objective is stiffness, but the drives are rigid; state `stiffness`"
        return _Record({}, {}, {}, [], f"{message} [N/m or N m/rad] of the actuators")
    violations = {each.requirement: float(each.excess) for each in e.verdicts}
    if family.telescopic:
        # a leg is at most twice as long extended as retracted
        shortest, longest = float(e.needed.shortest.min()), float(e.needed.longest.max())
        violations["telescoping"] = (longest - 2.0 * shortest) / longest
    spaces = [row.space for row in e.motions]
    n = len(m.joint_names)
    values = e.quantities | {
        "height": max(each.highest for each in spaces),
        "footprint_radius": max(each.footprint_radius for each in spaces),
    }
    if region is not None:
        values["workspace"] = region.volume
    if actuator is not None:
        values |= {"price": n * actuator.price, "mass": n * actuator.mass}
    kept = {name: float(values[name]) for name in OBJECTIVES if name in values}
    if not np.isfinite(list(kept.values())).all():
        return _Record({}, {}, {}, [])
    clean = {name: float(np.nan_to_num(each, nan=NOTHING, posinf=NOTHING))
             for name, each in violations.items()}  # fmt: skip
    parts, bounds = _parts(e, actuator)
    # a violation of the reach is a step without a slope
    bounds += [each + (name == "reach" and each > 0.0)
               for name, each in clean.items() if name not in IN_PARTS]  # fmt: skip
    return _Record(kept, clean, parts, bounds)


def _parts(
    e: Evaluation, actuator: CatalogActuator | None
) -> tuple[dict[str, list[float]], list[float]]:
    """Return the smooth values whose maxima are the results of an evaluation.

    Returns:
        For each result by name, the values for all drives and motions; and the values whose
        maxima are the violations.
    """
    m, required = e.mechanism, e.requirements
    margins, limits, rows = required.margins, required.limits, e.motions
    speed = [margins.speed * row.speed for row in rows]
    places = [place for each in zip(rows, e.found, strict=True) for place in _drive_ends(*each)]
    rms = margins.force * required.rating.factor
    parts = {
        "peak_effort": [margins.force * row.peak_effort for row in rows],
        "continuous_effort": [rms * row.rms_effort for row in rows],
        "peak_power": [row.peak_power for row in rows],
        "supply_peak": [np.array([row.supply_peak]) for row in rows],
        "speed": speed,
        "condition_number": [_conditions(m, *each) for each in zip(rows, e.found, strict=True)],
        "end of reach": [_ends_of_reach(m, each) for each in e.found],
        # from each of the lowest positions to each of the highest ones
        "stroke": [high - low + 2.0 * margins.stroke for low in places for high in places],
    }
    conditions = np.concatenate(parts["condition_number"])
    angles = [angle for row in rows for angle in row.joint_angles.values()]
    held = [
        np.concatenate(speed) / m.velocity_limits[0] - 1.0,
        conditions / limits.condition_number - 1.0,
        np.array(angles) / limits.joint_angle - 1.0,
    ]
    if actuator is not None:
        lower, upper = m.position_limits.T
        ends = np.stack([row.positions for row in rows])
        held += [
            ((lower - ends[..., 0] + margins.stroke) / actuator.stroke).ravel(),
            ((ends[..., 1] - upper + margins.stroke) / actuator.stroke).ravel(),
            np.concatenate(parts["continuous_effort"]) / actuator.continuous_effort - 1.0,
        ]
    # poses that are not reached require nothing of the actuator
    flat = {name: np.nan_to_num(np.concatenate(values), posinf=np.inf).tolist()
            for name, values in parts.items()}  # fmt: skip
    bounds = np.nan_to_num(np.concatenate(held), nan=NOTHING, posinf=NOTHING, neginf=-NOTHING)
    return flat, bounds.tolist()


def _conditions(m: Mechanism, row: MotionEvaluation, each: MachineMotion) -> FloatArray:
    """Return the maximum, then samples, of the condition number along a motion."""
    there = each.rows.configuration[:: max(1, len(each.rows.configuration) // SAMPLES)]
    values = np.full(len(there) + 1, row.condition_number)
    known = np.append(False, ~np.isnan(there[:, 0]))
    values[known] = m.condition_number(there[known[1:]])
    return values


def _ends_of_reach(m: Mechanism, each: MachineMotion) -> FloatArray:
    """Return negative values that are zero at workspace boundaries and singularities.

    At a workspace boundary, two links of a leg are in line, and its drive cannot move the body.

    Returns:
        For each drive (n,), the smallest squared twist of the body per unit of drive velocity;
        then, if known, the smallest Jacobian determinant. All are relative to home, and negated.
    """
    known = np.vstack([m.home, each.all.configuration[~np.isnan(each.all.configuration[:, 0])]])
    values, side = (m.jacobian(known) ** 2).sum(axis=-2), conditioning.side(m, known)
    if side is not None:
        values = np.column_stack([values, side])
    return np.asarray(-(values / values[0]).min(axis=0))


def _drive_ends(row: MotionEvaluation, each: MachineMotion) -> FloatArray:
    """Return the lowest and highest positions of the drives in a motion.

    Returns:
        Positions (2, n); for a few poses at rest, the positions (k, n) in each of the k poses.
    """
    rest = each.rows.position
    return rest if each.motion is None and len(rest) <= SAMPLES else row.positions.T
