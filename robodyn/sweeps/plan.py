# SPDX-License-Identifier: Apache-2.0

"""Plan of a sweep: its checked arguments, from which workers compute chunks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.algorithms import comparison
from robodyn.arrays import ArrayLike, Unpack
from robodyn.checks import as_exact, as_integer, as_scalar, check_choice
from robodyn.errors import ClusterError, InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.sweeps.axes import GridAxis, Interval, read_axis
from robodyn.sweeps.evaluate import evaluate
from robodyn.sweeps.points import LARGEST_SOBOL, METHODS, Grid, Points, SampledPoints
from robodyn.sweeps.quantities import QUANTITIES
from robodyn.sweeps.settings import SweepOptions, SweepSettings
from robodyn.sweeps.states import resting_values, sweep_variables, variant
from robodyn.version import __version__

# Larger sweeps are most likely a mistake: 10^11 states take a day on 16 cores, and 800 GB.
LARGEST = 10**11
MOST_CHUNKS = 10**6
LARGEST_CHUNK = 10**6
DEFAULT = SweepSettings()
# Settings on which the quantities of a state depend.
_STATE_SETTINGS = ("characteristic_length", "accelerations", "wrenches", "beyond_limits")


@dataclass(frozen=True)
class SweepPlan:
    """Plan of a sweep, or of a chunk of it.

    Attributes:
        mechanism: mechanism to evaluate.
        points: states to evaluate.
        held: values of the constant variables, by name.
        quantities: names in `robodyn.sweeps.quantities.QUANTITIES`.
        settings: further parameters, already checked.
        version: version of the library that made the plan.
    """

    mechanism: Mechanism
    points: Points
    held: dict[str, float]
    quantities: tuple[str, ...]
    settings: SweepSettings
    version: str

    def part(self, index: int) -> SweepPlan:
        """Return the plan for the chunk with a given index."""
        return replace(self, points=self.points.part(index))

    def compute(self) -> dict[str, NDArray[Any]]:
        """Compute the quantities for all states of this plan.

        Returns:
            Results by name: arrays whose shape is that of `points`, followed by the further
            dimensions of the quantity.

        Raises:
            ClusterError: this process runs another version of the library.
        """
        if self.version != __version__:
            raise ClusterError(
                f"a worker has robodyn {__version__}, but the sweep was begun with {self.version}; "
                "install the same version on both",
                value=__version__,
            )
        varied = self.points.values()
        count = self.points.size
        values = {name: np.full(count, value) for name, value in self.held.items()} | varied
        results = evaluate(self.mechanism, values, self.quantities, self.settings)
        if isinstance(self.points, SampledPoints):
            results |= varied
        shape = self.points.shape
        return {name: array.reshape(*shape, *array.shape[1:]) for name, array in results.items()}

    def fingerprint(self) -> dict[str, str]:
        """Return hashes of all inputs that determine the results, by name of the input.

        An interrupted sweep is resumed only if its hashes equal those of the new plan.
        """
        return hashes(
            version=self.version,
            model=comparison.description(self.mechanism),
            axes=[type(self.points).__name__, self.points, self.held],
            quantities=[
                self.quantities,
                [getattr(self.settings, name) for name in _STATE_SETTINGS],
            ],
        )


def make_plan(
    mechanism: Mechanism,
    axes: Mapping[str, Any],
    quantities: Collection[str] = ("condition_number",),
    *,
    settings: SweepSettings = DEFAULT,
    **options: Unpack[SweepOptions],
) -> SweepPlan:
    """Check the arguments of `robodyn.sweep`, and return them as a `SweepPlan`.

    Raises:
        InvalidInput: an argument is invalid.
    """
    settings = replace(settings, **options)
    if not isinstance(mechanism, Mechanism):
        raise InvalidInput(
            f"mechanism is {mechanism!r:.100}, expected a mechanism or a source that "
            "`robodyn.load` reads",
            value=mechanism,
        )
    if not isinstance(axes, Mapping):
        raise InvalidInput(
            f"axes is {axes!r:.100}, expected a dictionary of names and ranges, such as "
            f"{{'x': '-0.1:0.1:21'}}",
            value=axes,
        )
    names = (quantities,) if isinstance(quantities, str) else tuple(quantities)
    for name in names:
        if name not in QUANTITIES:
            raise InvalidInput(
                f"no quantity {name!r:.100}; expected one of {', '.join(QUANTITIES)}", value=name
            )
    n = sum(each.role == "acceleration" for each in presentation.variables(mechanism).values())
    length = settings.characteristic_length
    settings = replace(
        settings,
        characteristic_length=as_scalar("characteristic_length", length, "m", above=0.0),
        accelerations=_half_widths("accelerations", settings.accelerations, n),
        wrenches=_half_widths("wrenches", settings.wrenches, 6),
        beyond_limits=bool(settings.beyond_limits),
    )
    size = as_integer("chunk", settings.chunk, at_least=1, at_most=LARGEST_CHUNK)
    known = sweep_variables(mechanism)
    samples = settings.samples
    count = None if samples is None else as_integer("samples", samples, at_least=1, at_most=LARGEST)
    read = {name: read_axis(name, axes[name], known, count is not None) for name in axes}
    held = resting_values(mechanism, known, read)
    held |= {name: value for name, value in read.items() if isinstance(value, float)}
    points = _points(read, count, settings.seed, settings.method, size)
    if points.size > LARGEST or points.chunks > MOST_CHUNKS:
        raise InvalidInput(
            f"the sweep has {points.size:g} states in {points.chunks:g} chunks, more than "
            f"{LARGEST:g} states or {MOST_CHUNKS:g} chunks; use coarser axes or a larger chunk",
            value=points.size,
        )
    model = [name for name in known if known[name].role == "model"]
    variant(mechanism, known, {name: held.get(name, 1.0) for name in model})
    return SweepPlan(mechanism, points, held, tuple(dict.fromkeys(names)), settings, __version__)


def _points(
    read: Mapping[str, Any], count: int | None, seed: int, method: str, size: int
) -> Points:
    if count is None:
        axes = tuple(value for value in read.values() if isinstance(value, GridAxis))
        if not axes:
            raise InvalidInput(
                "no axis to sweep along; give one, such as x=-0.1:0.1:21", value=None
            )
        return Grid(axes, size)
    intervals = tuple(value for value in read.values() if isinstance(value, Interval))
    if not intervals:
        raise InvalidInput("no range to sample; give one, such as x=-0.1:0.1", value=None)
    check_choice("method", method, METHODS)
    if method == "sobol" and count > LARGEST_SOBOL:
        raise InvalidInput(
            f"samples is {count}, expected at most {LARGEST_SOBOL} with a Sobol sequence; use "
            "method 'random' for more",
            value=count,
        )
    seed = as_integer("seed", seed, at_least=0, at_most=2**63 - 1)
    return SampledPoints(intervals, count, seed, method, size)


def _half_widths(name: str, value: ArrayLike | None, count: int) -> tuple[float, ...]:
    array = as_exact(name, np.zeros(count) if value is None else value, (count,))
    if (array < 0.0).any():
        raise InvalidInput(
            f"{name} contains {array.min():g}, expected half-widths of at least 0", value=value
        )
    return tuple(float(width) for width in array)


def hashes(**parts: Any) -> dict[str, str]:
    """Return a hash of each keyword argument; dataclasses and arrays are allowed."""
    texts = {name: json.dumps(part, sort_keys=True, default=_plain) for name, part in parts.items()}
    return {name: hashlib.sha256(t.encode()).hexdigest()[:16] for name, t in texts.items()}


def _plain(value: Any) -> Any:
    """Convert an array to a list, or a dataclass to a dictionary without its source."""
    if isinstance(value, np.ndarray):
        # large arrays are hashed by their bytes, which is faster
        return value.tolist() if value.size < 100 else hashlib.sha256(value.tobytes()).hexdigest()
    return {item.name: getattr(value, item.name) for item in fields(value) if item.name != "source"}
