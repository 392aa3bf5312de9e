# SPDX-License-Identifier: Apache-2.0

"""Declaration of node parameters from a table, and loading of the mechanism that they specify.

`parameters.yaml` has the tables, in the form of generate_parameter_library.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import ParameterException
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.parameter import Parameter

import robodyn as rd
from robodyn.loading.robot_description import frictionless, robot_description
from robodyn.mechanism.mechanism import Mechanism
from robodyn.mechanism.option_names import as_parameter
from robodyn.numerics.cache_folders import cache_folders
from robodyn.numerics.compilation_notes import notes as compilation_notes
from robodyn.warmup import warm_up
from robodyn_ros.parameter_files import read_mechanism, tables

try:
    import fcntl
except ImportError:  # not a Unix: every process logs
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Spec:
    """Specification of a parameter: default value, description and permitted values."""

    default: Any
    text: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    read_only: bool = True

    @classmethod
    def of(cls, entry: dict[str, Any]) -> Spec:
        """Create a specification from an entry of `parameters.yaml`.

        If the entry has no default value, the specification has its type instead.
        """
        rules = entry.get("validation", {})
        unset = "default_value" not in entry
        low, high = rules.get("bounds<>") or (*rules.get("gt_eq<>", (-math.inf,)), math.inf)
        return cls(
            Parameter.Type[entry["type"].upper()] if unset else entry["default_value"],
            entry["description"],
            low,
            high,
            tuple(*(rules.get("one_of<>") or rules.get("subset_of<>", ()))),
            entry.get("read_only", False),
        )

    def descriptor(self) -> ParameterDescriptor:
        """Return the parameter's descriptor, which `ros2 param describe` shows."""
        descriptor = ParameterDescriptor(description=self.text, read_only=self.read_only)
        if self.choices:
            several = isinstance(self.default, list)
            descriptor.additional_constraints = f"{'some' if several else 'one'} of " + ", ".join(
                self.choices
            )
        if self.low > -math.inf and isinstance(self.default, int):
            descriptor.integer_range = [
                IntegerRange(from_value=int(self.low), to_value=int(min(self.high, 2**31)))
            ]
        elif self.low > -math.inf:
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=self.low, to_value=min(self.high, 1e300))
            ]
        return descriptor


def table(*groups: str) -> dict[str, Spec]:
    """Return the parameters in the given groups of `parameters.yaml`, by name."""
    return {name: Spec.of(entry) for group in groups for name, entry in tables()[group].items()}


def declare(node: Node, specs: dict[str, Spec]) -> dict[str, Any]:
    """Declare the parameters of a node, and return their values by name.

    Raises:
        InvalidInput: a value has another type, is out of range, not finite or not among the
            choices; the message names the parameter.
    """
    values = {}
    for name, spec in specs.items():
        try:
            value = node.declare_parameter(name, spec.default, spec.descriptor()).value
        except (ParameterException, TypeError, ValueError) as error:
            raise rd.InvalidInput(f"parameter {name}: {error}", value=name) from error
        values[name] = check(name, spec, value)
    return values


def current(node: Node, specs: dict[str, Spec]) -> dict[str, Any]:
    """Return the current values of a node's declared parameters, by name.

    Raises:
        InvalidInput: a value is not allowed; the message names the parameter.
    """
    return {
        name: check(name, spec, node.get_parameter_or(name).value) for name, spec in specs.items()
    }


def on_change(
    node: Node,
    specs: dict[str, Spec],
    values: dict[str, Any],
    apply: Callable[[dict[str, Any]], None] = lambda _: None,
) -> None:
    """Allow parameters that are not read-only to change while the node runs.

    Args:
        node: node that has declared the parameters.
        specs: specifications of the parameters, by name.
        values: all current values, kept up to date.
        apply: called with all requested values before they take effect; a RobodynError rejects the
            change, with its message as the reason.
    """
    live = {name for name, spec in specs.items() if not spec.read_only}

    def change(parameters: list[Parameter]) -> None:
        ours = {p.name: p.value for p in parameters if p.name in live}
        if not ours:
            return
        for name, value in ours.items():
            check(name, specs[name], value)
        apply(values | ours)
        values.update(ours)
        text = ", ".join(f"{name} = {value!r}" for name, value in ours.items())
        node.get_logger().info(f"changed: {text}")

    on_set(node, change)


def on_set(node: Node, change: Callable[[list[Parameter]], None]) -> None:
    """Register a function that is called whenever parameters of a node are set.

    If it raises a RobodynError, the new values are rejected, with its message as the reason.
    """

    def validate(parameters: list[Parameter]) -> SetParametersResult:
        try:
            change(parameters)
        except rd.RobodynError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(validate)


def check(name: str, spec: Spec, value: Any) -> Any:
    """Check a parameter's value against its specification, and return the value.

    Raises:
        InvalidInput: the value is not allowed; the message names the parameter.
    """
    for each in value if isinstance(value, list) else [value]:
        if spec.choices and each not in spec.choices:
            raise rd.InvalidInput(
                f"parameter {name} is {each!r}, expected {', '.join(spec.choices)}", value=value
            )
    numbers = value if isinstance(value, (list, tuple)) or hasattr(value, "typecode") else [value]
    for number in numbers:
        if isinstance(number, float) and not math.isfinite(number):
            raise rd.InvalidInput(
                f"parameter {name} is {number}, expected a finite number ({spec.text})",
                value=value,
            )
    if numbers is value and spec.low > -math.inf:
        # ROS checks ranges of scalars only
        for number in numbers:
            if not spec.low <= number <= spec.high:
                raise rd.InvalidInput(
                    f"parameter {name} contains {number}, expected {spec.low:g} to {spec.high:g} "
                    f"({spec.text})",
                    value=value,
                )
    return value


def load_mechanism(
    values: dict[str, Any],
    log: RcutilsLogger | None = None,
    warm_up: Callable[[Mechanism], None] = warm_up,
) -> Mechanism:
    """Load the mechanism that the parameters `model` or `robot_description` specify.

    Args:
        values: values of the node's parameters, by name.
        log: logger for warnings about the mechanism, such as unphysical inertias. Only one node of
            a graph should pass it.
        warm_up: function that loads the compiled functions that the node calls.

    Raises:
        ModelError: neither parameter is given, or the description is invalid.
    """
    source = values["robot_description"] or values["model"]
    if not source:
        raise rd.ModelError(
            "no mechanism: set the parameter `model` (bundled models: "
            f"{', '.join(rd.models())}) or `robot_description`"
        )
    # processes that compile into one folder wait for each other
    folders = cache_folders()
    with elect_logger(folders[-1].path / "voice" if folders else None) as speaks:
        note = get_logger("robodyn").info
        compilation_notes.report_to(note if speaks else lambda _: None)
        mechanism, remarks = read_mechanism(source, values, as_parameter)
        if log is not None:
            for remark in remarks:
                log.warning(remark)
        if not values["friction"]:
            mechanism = mechanism.without_friction()
        warm_up(mechanism)
    return mechanism


@contextmanager
def elect_logger(file: Path | None) -> Iterator[bool]:
    """Elect one of several processes to write log messages, by a lock file.

    Args:
        file: lock file that the processes share; None if there is none.

    Yields:
        Whether this process was elected.
    """
    try:
        lock = os.open(file or os.devnull, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:  # no shared file: messages may be logged twice
        yield True
        return
    try:
        speaks = True
        if fcntl is not None and file is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                speaks = False
        yield speaks
    finally:
        os.close(lock)


def load_description(values: dict[str, Any], log: RcutilsLogger) -> tuple[Mechanism | None, str]:
    """Load the mechanism of `model` or `robot_description`, and create its URDF.

    The URDF is without friction if the parameter `friction` is false.

    Returns:
        The mechanism, None if neither parameter is given; and the URDF text, empty if there is
        none, which is logged as a warning.
    """
    source = values["robot_description"] or values["model"]
    if not source:
        return None, ""
    mechanism: Mechanism | None = None
    try:
        mechanism, _ = read_mechanism(source, values, as_parameter)
        text = robot_description(source, mechanism)
    except rd.RobodynError as error:
        log.warning(f"no robot_description: {error}")
        return mechanism, ""
    return mechanism, text if values["friction"] else frictionless(text)


def with_payload(
    node: Node,
    mechanism: Mechanism,
    values: dict[str, Any],
    changed: Callable[[Mechanism], None],
) -> Mechanism:
    """Return the mechanism with the payload that a node's parameters describe.

    The parameters may change later.

    Args:
        node: node that has declared the parameters.
        mechanism: mechanism without the payload.
        values: current values of the parameters, kept up to date.
        changed: called with the loaded mechanism whenever the payload changes.
    """
    on_change(node, table("payload"), values, lambda new: changed(payload_model(mechanism, new)))
    return payload_model(mechanism, values)


def payload_model(mechanism: Mechanism, values: dict[str, Any]) -> Mechanism:
    """Return the mechanism with the payload that parameter values describe.

    Raises:
        InvalidInput: a parameter has the wrong number of values, or no physical body has these
            values.
    """
    for name, spec in table("payload").items():
        if (given := np.size(values[name])) != (size := np.size(spec.default)):
            raise rd.InvalidInput(f"{name} has {given} values, expected {size}", value=values[name])
    if not values["payload_mass"]:
        return mechanism
    xx, xy, xz, yy, yz, zz = values["payload_inertia"]
    inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    return mechanism.with_payload(values["payload_mass"], values["payload_com"], inertia)


def compensated_model(mechanism: Mechanism, values: dict[str, Any]) -> Mechanism:
    """Return a mechanism without the gravity or friction that is not compensated.

    The parameter `compensate` lists the terms that a controller compensates, `gravity` and
    `friction`. If it is not empty, the parameter `gravity` replaces the gravity of the mechanism.

    Raises:
        InvalidInput: `gravity` does not have three components.
    """
    terms, gravity = values["compensate"], values["gravity"]
    if "gravity" not in terms:
        gravity = (0.0, 0.0, 0.0)
    if gravity is not None and len(gravity):
        mechanism = rd.with_gravity(mechanism, np.array(gravity))
    return mechanism if "friction" in terms else mechanism.without_friction()
