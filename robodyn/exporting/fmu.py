# SPDX-License-Identifier: Apache-2.0

"""FMUs of FMI 2.0 or 3.0: the mechanism as a plant, and its computed torque controller."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from robodyn.algorithms.elasticity import motors_at_home
from robodyn.errors import InvalidInput
from robodyn.exporting.escaping import fmi_name, in_comment, xml_text
from robodyn.exporting.linking import compiler, run
from robodyn.exporting.machine_code import Target
from robodyn.exporting.texts import fill_template
from robodyn.formats.output_file import atomic_write
from robodyn.formats.xml_elements import element
from robodyn.mechanism.mechanism import Mechanism
from robodyn.version import __version__

# Folders of binaries in an FMU, by version and the first part of a triple.
_PLATFORMS = {
    "2.0": {"": "linux64", "x86_64": "linux64"},
    "3.0": {"": "x86_64-linux", "x86_64": "x86_64-linux", "aarch64": "aarch64-linux"},
}
# Names that differ between the versions, in C and in descriptions.
_SPELLINGS = {
    "2.0": {
        "FMI": "2",
        "PREFIX": "fmi2",
        "STATE": "FMUstate",
        "SLOPES": "Derivatives",
        "DIRECTIONAL": "providesDirectionalDerivative",
        "TOKEN": "guid",
    },
    "3.0": {
        "FMI": "3",
        "PREFIX": "fmi3",
        "STATE": "FMUState",
        "SLOPES": "ContinuousStateDerivatives",
        "DIRECTIONAL": "providesDirectionalDerivatives",
        "TOKEN": "instantiationToken",
    },
}
_POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
_WRENCH = ("force_x", "force_y", "force_z", "moment_x", "moment_y", "moment_z")


class Variable(NamedTuple):
    """Variable of an FMU; its index in the list of variables is its value reference.

    Attributes:
        name: structured name, such as `effort.joint1`; variables with the same part before the dot
            form an array in C.
        causality: causality as defined by FMI, such as `input`.
        unit: one of `_UNITS`, or empty.
        start: start value; None for variables that cannot be set; these are last in the list.
        state: name of the variable of which this is the time derivative; empty if there is none.
        is_event: whether this is an event indicator: a change of its sign is an event.
    """

    name: str
    causality: str
    unit: str = ""
    start: float | None = None
    state: str = ""
    is_event: bool = False


def refuse_target(target: Target, fmi: str) -> None:
    """Reject FMI versions and target machines for which no FMU can be written.

    Raises:
        InvalidInput: the version or the target is not supported; the error names the supported
            ones.
    """
    if fmi not in _PLATFORMS:
        raise InvalidInput(f"fmi is {fmi!r}, expected 2.0 or 3.0", value=fmi)
    known = _PLATFORMS[fmi]
    if target.triple.split("-")[0] not in known:
        raise InvalidInput(
            f"FMI {fmi} defines no binaries for {target.triple}: an FMU is for "
            f"{' or '.join(filter(None, known))} only",
            value=target.triple,
        )


def write_fmus(
    name: str, mechanism: Mechanism, target: Target, header: str, static: Path, fmi: str
) -> Iterator[str]:
    """Write the plant NAME.fmu and NAME_controller.fmu beside a static library.

    Args:
        name: prefix of the library's functions.
        mechanism: exported mechanism.
        target: target machine.
        header: content of the library's C header.
        static: path of the static library.
        fmi: version of FMI, 2.0 or 3.0.

    Yields:
        Names of the files.

    Raises:
        MissingExtra, ExportFailed: a compiler is missing or fails.
    """
    models = {
        name: ("plant", tuple(plant_variables(mechanism))),
        f"{name}_controller": ("controller", tuple(controller_variables(mechanism))),
    }
    for called, (role, variables) in models.items():
        description = model_description(called, mechanism, variables, fmi)
        seal = hashlib.sha256(static.read_bytes() + ElementTree.tostring(description))
        values = {
            "NAME": name,
            "UPPER": name.upper(),
            "MECHANISM": in_comment(mechanism.name),
            "GUID": seal.hexdigest()[:32],
            **_SPELLINGS[fmi],
            **_motor_values(mechanism),
            **_references(variables),
        }
        description.set(values["TOKEN"], values["GUID"])
        values["MODEL"] = fill_template(f"fmu/{role}.c", values)
        values["OWN"] = fill_template(f"fmu/fmi{fmi[0]}.c", values)
        with tempfile.TemporaryDirectory() as scratch:
            source, binary = Path(scratch) / "fmu.c", Path(scratch) / f"{called}.so"
            source.write_text(fill_template("fmu/fmi.c", values), encoding="utf-8")
            source.with_name(f"{name}.h").write_text(header, encoding="utf-8")
            flags = ["-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,--exclude-libs,ALL"]
            files = [str(source), str(static), "-lm", "-o", str(binary)]
            run([*compiler(target), *flags, *files])
            folder = _PLATFORMS[fmi][target.triple.split("-")[0]]
            made = static.with_name(f"{called}.fmu")
            with (
                atomic_write(made) as draft,
                zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive,
            ):
                ElementTree.indent(description)
                text = ElementTree.tostring(description, encoding="unicode", xml_declaration=True)
                archive.writestr("modelDescription.xml", text)
                archive.write(binary, f"binaries/{folder}/{called}.so")
        yield made.name


def _references(variables: tuple[Variable, ...]) -> dict[str, str]:
    """Map template keys to C code for the value references and start values."""
    starts = [variable.start for variable in variables]
    settable = sum(start is not None for start in starts)
    first: dict[str, int] = {}
    for k, variable in enumerate(variables):
        first.setdefault(variable.name.split(".")[0].upper(), k)
    for group in ("MOTOR_POSITION", "MOTOR_RATE", "MOTOR_ACCELERATION"):
        first.setdefault(group, len(variables))  # rigid drives have no such variables
    first |= {"SETTABLE": settable, "COUNT": len(variables)}
    return {
        "REFERENCES": ", ".join(f"{group} = {k}" for group, k in first.items()),
        "STARTS": ", ".join(repr(float(start)) for start in starts[:settable] if start is not None),
    }


def _motor_values(mechanism: Mechanism) -> dict[str, str]:
    """Map template keys to C code for the motors of elastic drives."""
    drives = mechanism.drives.elasticity
    rows = np.zeros((1, 3)) if drives is None else drives
    return {
        "MOTORS": "0" if drives is None else "N",
        "DRIVES": ", ".join("{" + ", ".join(map(repr, row)) + "}" for row in rows.tolist()),
        "DYNAMICS": "forward_dynamics" if drives is None else "link_dynamics",
        "STEPPED": "" if drives is None else " v + MOTOR_POSITION, v + MOTOR_RATE,",
    }


def plant_variables(mechanism: Mechanism) -> Iterator[Variable]:
    """Yield the variables of the plant's FMU, in the order that fmu/plant.c requires.

    They are inputs (efforts, wrench), states, parameters, outputs, and event indicators.
    """
    joints, (configuration, velocities) = _joints(mechanism), _coordinates(mechanism)
    for joint, unit in joints:
        yield Variable(f"effort.{joint}", "input", _EFFORTS[unit], 0.0)
    yield from _wrench()
    for name, start in configuration:
        yield Variable(f"configuration.{name}", "local", "", start)
    for name, unit in velocities:
        yield Variable(f"velocity.{name}", "local", f"{unit}/s", 0.0)
    if mechanism.drives.elasticity is not None:
        for (joint, unit), start in zip(joints, motors_at_home(mechanism), strict=True):
            yield Variable(f"motor_position.{joint}", "local", unit, float(start))
        for joint, unit in joints:
            state = f"motor_position.{joint}"
            yield Variable(f"motor_rate.{joint}", "local", f"{unit}/s", 0.0, state)
    yield Variable("integration_step", "parameter", "s", 1e-3)
    for joint, unit in joints:
        yield Variable(f"position.{joint}", "output", unit)
    for joint, unit in joints:
        yield Variable(f"rate.{joint}", "output", f"{unit}/s", state=f"position.{joint}")
    for k, axis in enumerate(_POSE):
        yield Variable(f"body.{axis}", "output", "m" if k < 3 else "")
    for name, unit in velocities:
        yield Variable(f"acceleration.{name}", "local", f"{unit}/s2", state=f"velocity.{name}")
    if mechanism.drives.elasticity is not None:
        for joint, unit in joints:
            state = f"motor_rate.{joint}"
            yield Variable(f"motor_acceleration.{joint}", "local", f"{unit}/s2", state=state)
    for joint, unit in joints:
        yield Variable(f"above_lower_end.{joint}", "local", unit, is_event=True)
        yield Variable(f"below_upper_end.{joint}", "local", unit, is_event=True)
    yield Variable("time", "independent", "s")


def controller_variables(mechanism: Mechanism) -> Iterator[Variable]:
    """Yield the variables of the controller's FMU, in the order of fmu/controller.c.

    They are inputs (measured and target motion of the joints, wrench), gains, guesses of the
    configurations, and efforts as outputs.
    """
    joints, (configuration, velocities) = _joints(mechanism), _coordinates(mechanism)
    starts = mechanism.joint_positions(mechanism.home)
    for target in ("", "target_"):
        for (joint, unit), start in zip(joints, starts, strict=True):
            yield Variable(f"{target}position.{joint}", "input", unit, start)
        for joint, unit in joints:
            yield Variable(f"{target}rate.{joint}", "input", f"{unit}/s", 0.0)
    for joint, unit in joints:
        yield Variable(f"target_acceleration.{joint}", "input", f"{unit}/s2", 0.0)
    yield from _wrench()
    for gain, unit, value in (("kp", "1/s2", 100.0), ("kv", "1/s", 20.0)):
        for name, _ in velocities:
            yield Variable(f"{gain}.{name}", "parameter", unit, value)
    for part in ("configuration", "target"):
        for name, start in configuration:
            yield Variable(f"{part}.{name}", "local", "", start)
    for joint, unit in joints:
        yield Variable(f"effort.{joint}", "output", _EFFORTS[unit])
    yield Variable("time", "independent", "s")


def _wrench() -> Iterator[Variable]:
    for k, axis in enumerate(_WRENCH):
        yield Variable(f"wrench.{axis}", "input", "N" if k < 3 else "N.m", 0.0)


def _joints(mechanism: Mechanism) -> list[tuple[str, str]]:
    """Return the FMI variable name and the unit of each driven joint."""
    return list(zip(map(fmi_name, mechanism.joint_names), mechanism.drives.units, strict=True))


def _coordinates(
    mechanism: Mechanism,
) -> tuple[list[tuple[str, float]], list[tuple[str, str]]]:
    """Return the FMI variable names of the components of configuration and velocity.

    Each component of the configuration is paired with its value at home, each component of the
    generalized velocity with the unit of the corresponding position.
    """
    coordinates = mechanism.coordinates
    return (
        list(
            zip(
                map(fmi_name, coordinates.configuration_names), mechanism.home.tolist(), strict=True
            )
        ),
        list(zip(map(fmi_name, coordinates.velocity_names), coordinates.units, strict=True)),
    )


_EFFORTS = {"m": "N", "rad": "N.m"}
_UNITS = {
    "N": {"kg": "1", "m": "1", "s": "-2"},
    "N.m": {"kg": "1", "m": "2", "s": "-2"},
    "m": {"m": "1"},
    "rad": {"rad": "1"},
    "m/s": {"m": "1", "s": "-1"},
    "rad/s": {"rad": "1", "s": "-1"},
    "m/s2": {"m": "1", "s": "-2"},
    "rad/s2": {"rad": "1", "s": "-2"},
    "1/s": {"s": "-1"},
    "1/s2": {"s": "-2"},
    "s": {"s": "1"},
}


def _how(variable: Variable) -> dict[str, str]:
    """Return the XML attributes of a variable that FMI 2 and 3 have in common."""
    own = {
        "parameter": {"variability": "tunable"},
        "independent": {"variability": "continuous"},
        "local": {"initial": "calculated" if variable.start is None else "exact"},
        "output": {"initial": "calculated"},
    }
    causality = variable.causality
    return {"name": variable.name, "causality": causality, **own.get(causality, {})}


def model_description(
    name: str, mechanism: Mechanism, variables: tuple[Variable, ...], fmi: str
) -> ElementTree.Element:
    """Create the root element of an FMU's modelDescription.xml.

    Args:
        name: model identifier.
        mechanism: exported mechanism.
        variables: variables of the FMU.
        fmi: version of FMI, 2.0 or 3.0.

    Returns:
        The element, to which the caller adds the instantiation token.
    """
    called = xml_text(f"{mechanism.name} {name}".strip())
    root = ElementTree.Element(
        "fmiModelDescription", fmiVersion=fmi, modelName=called,
        generationTool=f"robodyn {__version__}", variableNamingConvention="structured",
    )  # fmt: skip
    able = {f"canGetAndSet{_SPELLINGS[fmi]['STATE']}": "true", "modelIdentifier": name}
    able[_SPELLINGS[fmi]["DIRECTIONAL"]] = str(any(v.state for v in variables)).lower()
    if not mechanism.solver.friction.is_dry:  # solvers cannot integrate joints that stick
        element(root, "ModelExchange", **able)
    element(root, "CoSimulation", canHandleVariableCommunicationStepSize="true", **able)
    units = element(root, "UnitDefinitions")
    for unit, base in _UNITS.items():
        element(element(units, "Unit", name=unit), "BaseUnit", **base)
    element(
        root, "DefaultExperiment", startTime="0", stopTime="1", tolerance="1e-6", stepSize="0.001"
    )
    listed, at = element(root, "ModelVariables"), {v.name: k for k, v in enumerate(variables)}
    first = 1 if fmi == "2.0" else 0  # version 2 counts variables from 1
    for k, variable in enumerate(variables):
        how, real = _how(variable), {}
        if variable.start is not None:
            real["start"] = repr(float(variable.start))
        if variable.state:
            real["derivative"] = str(at[variable.state] + first)
        if variable.unit:
            real["unit"] = variable.unit
        if fmi == "2.0":
            one = element(listed, "ScalarVariable", valueReference=str(k), **how)
            element(one, "Real", **real)
        else:
            element(listed, "Float64", valueReference=str(k), **how, **real)
    outputs = [k for k, v in enumerate(variables) if v.causality == "output"]
    slopes = [k for k, v in enumerate(variables) if v.state]
    events = [k for k, v in enumerate(variables) if v.is_event]
    unknown = {k for k in slopes if variables[k].start is None}
    structure, initial = element(root, "ModelStructure"), sorted({*outputs, *unknown})
    if fmi == "2.0":
        root.set("numberOfEventIndicators", str(len(events)))
        groups = {"Outputs": outputs, "Derivatives": slopes, "InitialUnknowns": initial}
        for group, found in groups.items():
            if found:
                part = element(structure, group)
                for k in found:
                    element(part, "Unknown", index=str(k + 1))
        return root
    for kind, found in {
        "Output": outputs,
        "ContinuousStateDerivative": slopes,
        "InitialUnknown": initial,
        "EventIndicator": events,
    }.items():
        for k in found:
            element(structure, kind, valueReference=str(k))
    return root
