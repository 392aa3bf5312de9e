# SPDX-License-Identifier: Apache-2.0

"""An FMU of FMI 2.0 for co-simulation: the mechanism as plant, moved by the library's steps."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from robodyn.errors import InvalidInput
from robodyn.exporting.linking import compiler, run
from robodyn.exporting.texts import filled
from robodyn.formats.urdf_shapes import element
from robodyn.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robodyn.exporting.machine_code import Target
    from robodyn.mechanisms.mechanism import Mechanism

# Folders of binaries in an FMU, by the first word of a triple.
_PLATFORMS = {"": "linux64", "x86_64": "linux64"}
_POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
_WRENCH = ("force_x", "force_y", "force_z", "moment_x", "moment_y", "moment_z")


def refuse_target(target: Target) -> None:
    """Say for which targets there is an FMU.

    Raises:
        InvalidInput: not for this one.
    """
    if target.triple.split("-")[0] not in _PLATFORMS:
        raise InvalidInput(
            f"FMI 2.0 has no place for binaries of {target.triple}: an FMU is for x86_64 here",
            value=target.triple,
        )


def write_fmu(name: str, mechanism: Mechanism, target: Target, header: str, static: Path) -> Path:
    """Write NAME.fmu beside a static library.

    Raises:
        MissingExtra, ExportFailed: a compiler is missing or fails.
    """
    guid = hashlib.sha256(static.read_bytes()).hexdigest()[:32]
    values = {"NAME": name, "UPPER": name.upper(), "MECHANISM": mechanism.name, "GUID": guid}
    made = static.with_name(f"{name}.fmu")
    with tempfile.TemporaryDirectory() as scratch:
        source, binary = Path(scratch) / "fmi2.c", Path(scratch) / f"{name}.so"
        source.write_text(filled("fmi2.c", values), encoding="utf-8")
        source.with_name(f"{name}.h").write_text(header, encoding="utf-8")
        flags = ["-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,--exclude-libs,ALL"]
        files = [str(source), str(static), "-lm", "-o", str(binary)]
        run([*compiler(target), *flags, *files])
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("modelDescription.xml", _description(name, mechanism, guid))
            archive.write(binary, f"binaries/linux64/{name}.so")
            archive.write(source, "sources/fmi2.c")
            archive.write(source.with_name(f"{name}.h"), f"sources/{name}.h")
    return made


def _variables(mechanism: Mechanism) -> Iterator[tuple[str, str, str, float | None]]:
    """Name, causality, unit and start value of each variable, in the order of `fmi2.c`."""
    told, home = mechanism.coordinates, mechanism.home.tolist()
    joints = list(zip(mechanism.joint_names, mechanism.joint_units, strict=True))
    for joint, unit in joints:
        yield f"effort.{joint}", "input", "N" if unit == "m" else "N.m", 0.0
    for k, axis in enumerate(_WRENCH):
        yield f"wrench.{axis}", "input", "N" if k < 3 else "N.m", 0.0
    for name, start in zip(told.configuration_names, home, strict=True):
        yield f"configuration.{name}", "local", "", start
    for name, unit in zip(told.velocity_names, told.units, strict=True):
        yield f"velocity.{name}", "local", f"{unit}/s", 0.0
    for joint, unit in joints:
        yield f"position.{joint}", "output", unit, None
    for joint, unit in joints:
        yield f"rate.{joint}", "output", f"{unit}/s", None
    for k, axis in enumerate(_POSE):
        yield f"body.{axis}", "output", "m" if k < 3 else "", None
    yield "integration_step", "parameter", "s", 1e-3


_UNITS = {
    "N": {"kg": "1", "m": "1", "s": "-2"},
    "N.m": {"kg": "1", "m": "2", "s": "-2"},
    "m": {"m": "1"},
    "rad": {"rad": "1"},
    "m/s": {"m": "1", "s": "-1"},
    "rad/s": {"rad": "1", "s": "-1"},
    "s": {"s": "1"},
}


def _description(name: str, mechanism: Mechanism, guid: str) -> str:
    root = ElementTree.Element(
        "fmiModelDescription", fmiVersion="2.0", modelName=mechanism.name, guid=guid,
        generationTool=f"robodyn {__version__}", variableNamingConvention="structured",
    )  # fmt: skip
    element(
        root, "CoSimulation", modelIdentifier=name, canHandleVariableCommunicationStepSize="true",
        canGetAndSetFMUstate="true", canNotUseMemoryManagementFunctions="true",
    )  # fmt: skip
    units = element(root, "UnitDefinitions")
    for unit, base in _UNITS.items():
        element(element(units, "Unit", name=unit), "BaseUnit", **base)
    element(root, "DefaultExperiment", startTime="0", stopTime="1", stepSize="0.001")
    listed, outputs = element(root, "ModelVariables"), []
    for k, (variable, causality, unit, start) in enumerate(_variables(mechanism)):
        how = {"causality": causality}
        if causality == "parameter":
            how["variability"] = "tunable"
        if causality == "local":
            how["initial"] = "exact"
        if causality == "output":
            how["initial"] = "calculated"
            outputs.append(k + 1)
        one = element(listed, "ScalarVariable", name=variable, valueReference=str(k), **how)
        real = {} if start is None else {"start": repr(float(start))}
        element(one, "Real", **real, **({"unit": unit} if unit else {}))
    structure = element(root, "ModelStructure")
    for what in ("Outputs", "InitialUnknowns"):
        found = element(structure, what)
        for index in outputs:
            element(found, "Unknown", index=str(index))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)
