# SPDX-License-Identifier: Apache-2.0

"""Mechanisms with closed loops from a YAML file beside a URDF.

```yaml
type: closed_loop
urdf: delta.urdf                     # relative to this file
tip_link: tool0
actuated_joints: [arm1_motor, arm2_motor, arm3_motor]
independent_joints: [arm1_motor]     # optional
home: {arm1_motor: 0.35}             # optional: positions near which the loops close
closures:                            # optional, besides those of the URDF
  - name: rod1a_tip
    type: spherical
    parent: {link: rod1a, xyz: [0.7, 0, 0]}
    child: {link: platform_link, xyz: [0.05, 0.045, 0]}
actuators:                           # optional: actuators of the joints
  arm1_motor: {rotor_inertia: 1.0e-5, gear_ratio: 50, torque_limit: 0.8}
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from robodyn.actuators import Actuator
from robodyn.actuators.description import actuator_from_fields
from robodyn.errors import ModelError, OutputError
from robodyn.formats import write_text
from robodyn.formats.documents import Fields
from robodyn.mechanism.kind import ReadOptions
from robodyn.model.builder import ModelBuilder
from robodyn.model.closure import CLOSURE_KINDS, Closure
from robodyn.model.comparison import differences
from robodyn.model.model import Model
from robodyn.parsing import model_file
from robodyn.parsing.description import check_links, read_description, warn_of_zero_limits
from robodyn.solvers.tree.default_tip import with_default_tip
from robodyn.solvers.tree.description.from_legs import legs_builder
from robodyn.solvers.tree.description.gepetto import is_gepetto, read_gepetto
from robodyn.writing.urdf import tree_urdf

_TOP = (
    "type", "name", "gravity", "urdf", "tip_link", "actuated_joints", "independent_joints",
    "weights", "home", "closures", "actuators", "platform", "legs", "leg_defaults", "symmetry",
    "base_cone", "body_cone",
)  # fmt: skip
_CLOSURE = ("name", "type", "parent", "child", "damping", "stiffness")
_END = ("link", "xyz", "rpy", "axis")


def closed_loop_model_from_yaml(
    document: Mapping[str, Any], source: str, options: ReadOptions
) -> Model:
    """Create a model from a YAML document and the URDF that it names.

    Args:
        document: mapping from `read_yaml`, with `type: closed_loop` or in Gepetto's format.
        source: file name, for messages.
        options: tip link and driven joints instead of the document's, the folder of the URDF's
            relative path, and whether unphysical inertias are rejected.

    Returns:
        The model.

    Raises:
        ModelError: a field is missing, unknown or wrong, or a closure differs from that in the
            URDF; the message names the file and the dotted field.
        MissingExtra: the URDF is a .xacro file, and the package xacro is not installed.
        UnphysicalInertia: with `strict=True`.
    """
    top, tip, driven = Fields(document, source), options.tip_link, options.driven
    folder = options.folder or Path()
    if is_gepetto(document):
        builder = read_gepetto(top, folder)
        model = builder.model(tip, driven=driven, spelling=options.spelling)
        model = model if tip or builder.tip_link else with_default_tip(model)
        return check_links(model, strict=options.strict)
    top.only(*_TOP, *model_file.SPRINGS)
    top.text("type", choices=("closed_loop",))
    builder = legs_builder(top) if "legs" in top else read_description(folder / top.text("urdf"))
    stated = top.children("closures") if "closures" in top else []
    builder.closures = _merge(top, builder.closures, [_closure(item) for item in stated])
    if driven is None and "actuated_joints" in top:
        driven = top.names("actuated_joints")
    _complete(top, builder)
    home = _home(top) if "home" in top else None
    model = builder.model(tip, driven=driven, home=home, spelling=options.spelling)
    warn_of_zero_limits(builder, model.driven)
    model = _driven(top, model) if "actuators" in top else model
    model = model if tip or builder.tip_link else with_default_tip(model)
    return check_links(model, strict=options.strict)


def _complete(top: Fields, builder: ModelBuilder) -> None:
    """Override the URDF's data in the builder with the fields of the YAML document.

    Closures are not changed.
    """
    builder.name = top.text("name", default=builder.name)
    if "tip_link" in top:
        builder.tip_link = top.text("tip_link")
    if "gravity" in top:
        builder.gravity, builder.base_link = top.array("gravity", (3,), "m/s^2"), ""
    if "independent_joints" in top:
        builder.independent = top.names("independent_joints")
    for cone in ("base_cone", "body_cone"):
        if cone in top:
            setattr(builder, cone, top.number(cone, "rad", above=0.0))
    if "weights" in top:
        given = top.get("weights", "a list of numbers")
        size = len(given) if isinstance(given, list) else 0
        builder.weights = tuple(top.array("weights", (size,)).tolist())


def _driven(top: Fields, model: Model) -> Model:
    """Return the model with the actuators that the YAML document states.

    An actuator that contradicts the URDF is an error.
    """
    blocks = top.child("actuators")
    blocks.only(*model.driven)
    joints = {joint.name: joint for joint in model.joints}
    actuators = {}
    for name in blocks.data:
        block, joint = blocks.child(name), joints[name]
        actuator = actuator_from_fields(block)
        if "coulomb" not in block and joint.friction.any():
            forward, backward = joint.friction.tolist()
            actuator = replace(
                actuator,
                coulomb=forward,
                coulomb_backward=None if forward == backward else backward,
            )
        stated = joint.actuator
        bare = replace(stated, coulomb=0.0, coulomb_backward=None, static=None)
        differs = joint.friction.any() and actuator.coulomb_pair != stated.coulomb_pair
        if differs or (bare != Actuator() and stated != actuator):
            raise ModelError(
                f"{top.source}: {block.path} differs from the actuator of joint {name!r} in "
                f"{top.text('urdf')} ({stated}); state it once, or with the same values",
                value=name,
            )
        actuators[name] = actuator
    with model_file.field_context(top, "actuators"):
        return model.driven_by(actuators)


def _home(top: Fields) -> dict[str, Any]:
    home = top.child("home")
    return {
        name: home.array(name, (7,), "m, -") if isinstance(value, list) else home.number(name)
        for name, value in home.data.items()
    }


def _closure(fields: Fields) -> Closure:
    fields.only(*_CLOSURE)
    name = fields.text("name")
    stated: dict[str, Any] = {}
    for side, prefix in (("parent", ""), ("child", "child_")):
        end = fields.child(side)
        end.only(*_END)
        stated[side], stated[f"{prefix}at"] = end.text("link"), model_file.placement_of(end)
        if "axis" in end:
            stated[f"{prefix}axis"] = end.array("axis", (3,))
    kind = fields.text("type", choices=tuple(CLOSURE_KINDS))
    damping = fields.number("damping", "N m s/rad", default=0.0, at_least=0.0)
    stiffness = fields.number("stiffness", "N m/rad", default=0.0, at_least=0.0)
    with model_file.field_context(fields):
        return Closure(name, kind, damping=damping, stiffness=stiffness, **stated)


def _merge(top: Fields, urdf: list[Closure], given: list[Closure]) -> list[Closure]:
    """Combine the closures of the URDF and the YAML file by their names.

    Closures with the same name must be equal.
    """
    known = {closure.name: closure for closure in urdf}
    for closure in given:
        other = known.get(closure.name)
        found = [] if other is None else differences(other, closure)
        if found:
            raise ModelError(
                f"{top.source}: closure {closure.name!r} differs from that of "
                f"{top.text('urdf')} (listed first): {'; '.join(found)}; state it once, or "
                "with the same value",
                value=closure.name,
            )
        known[closure.name] = closure
    return list(known.values())


def write_closed_loop(mechanism: Any, path: Path) -> list[Path]:
    """Write a mechanism to a YAML file `path`, with its URDF beside it.

    Returns:
        Paths of the files written.

    Raises:
        OutputError: a file cannot be written, the URDF cannot represent the mechanism, or a new
            YAML file would overwrite another URDF.
    """
    model, urdf = mechanism.model, path.with_suffix(".urdf")
    text = tree_urdf(model, mechanism.kind)
    if urdf.exists() and not path.exists() and urdf.read_text("utf-8", "replace") != text:
        raise OutputError(
            f"{path}: its URDF would overwrite the existing file {urdf}; choose another name",
            value=str(urdf),
        )
    document = {
        "type": mechanism.kind,
        "name": model.name,
        "urdf": urdf.name,
        "tip_link": model.tip_link,
        "actuated_joints": list(model.driven),
    }
    beside = write_text(urdf, text)
    return [model_file.write_yaml(path, document), beside]
