# SPDX-License-Identifier: Apache-2.0

"""Loading of a mechanism from a bundled name, a file or URDF text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from robodyn.arrays import ArrayLike, Unpack
from robodyn.checks import as_exact, check_choice
from robodyn.errors import ModelError, warn
from robodyn.formats.documents import Fields, format_value
from robodyn.loading.load_types import (
    Base,
    LoadOptions,
    LoopName,
    ReadingOptions,
    SerialName,
    Source,
    StewartName,
)
from robodyn.loading.registry import kind_of_urdf, kinds, yaml_kinds
from robodyn.mechanism.functions import with_gravity
from robodyn.mechanism.kind import Kind, ReadOptions, import_and_call
from robodyn.mechanism.mechanism import Mechanism
from robodyn.mechanism.option_names import Spelling, in_python
from robodyn.model.builder import Drives, ModelBuilder
from robodyn.parsing.description import warn_of_zero_limits
from robodyn.parsing.source import YamlDocument, name_of_source, read_source
from robodyn.solvers.serial.kind import SERIAL
from robodyn.solvers.tree.kind import CLOSED_LOOP

if TYPE_CHECKING:
    from robodyn.solvers.serial.arm import SerialArm
    from robodyn.solvers.stewart.platform import StewartPlatform
    from robodyn.solvers.tree.loop import ClosedLoop

# Imported when they are called: closed loops have kernels of their own.
_as_closed_loop = import_and_call("robodyn.loading.as_closed_loop:from_tree")
_underactuated_tree = import_and_call("robodyn.loading.as_closed_loop:from_underactuated_tree")
# Errors from computations with numbers that are valid one by one, but not together.
_NUMERICAL = (np.linalg.LinAlgError, ArithmeticError, RecursionError, MemoryError)
# Options for a process with one robot: a command, a node, a launch file.
_defaults = ReadOptions()


def use_options(*, spelling: Spelling = in_python, **options: Unpack[LoadOptions]) -> None:
    """Set the default options for every later `load` in this process.

    Args:
        spelling: function that formats an option for messages, for example as a command-line
            option.
        options: as for `load`; an empty string counts as not given.
    """
    global _defaults
    _defaults = _override(ReadOptions(spelling=spelling), dict(options))


def _override(defaults: ReadOptions, given: dict[str, Any]) -> ReadOptions:
    """Return the options `given`, completed by `defaults` for missing or empty ones."""
    given["driven"] = _names_in(given.get("driven"))
    if (gravity := given.get("gravity")) is not None:
        given["gravity"] = tuple(as_exact("gravity", gravity, (3,), "m/s^2").tolist())
    return replace(defaults, **{name: value for name, value in given.items() if value})


@overload
def load(source: StewartName, **options: Unpack[ReadingOptions]) -> StewartPlatform: ...
@overload
def load(source: SerialName, **options: Unpack[ReadingOptions]) -> SerialArm: ...
@overload
def load(source: LoopName, **options: Unpack[ReadingOptions]) -> ClosedLoop: ...
@overload
def load(
    source: Source, *, kind: Literal["stewart"], **options: Unpack[ReadingOptions]
) -> StewartPlatform: ...
@overload
def load(
    source: Source, *, kind: Literal["serial"], **options: Unpack[ReadingOptions]
) -> SerialArm: ...
@overload
def load(
    source: Source,
    *,
    kind: Literal["closed_loop"],
    driven: str | Sequence[str] | None = None,
    base: Base | None = None,
    **options: Unpack[ReadingOptions],
) -> ClosedLoop: ...
@overload
def load(
    source: Source,
    *,
    driven: str | Sequence[str] | None = None,
    base: Base,
    **options: Unpack[ReadingOptions],
) -> ClosedLoop: ...
@overload
def load(
    source: Source,
    *,
    driven: str | Sequence[str] | None = None,
    kind: str | None = None,
    base: Base | None = None,
    **options: Unpack[ReadingOptions],
) -> Mechanism: ...
def load(
    source: Source,
    *,
    strict: bool = False,
    base_link: str | None = None,
    tip_link: str | None = None,
    hold_branches: bool = False,
    driven: str | Sequence[str] | None = None,
    kind: str | None = None,
    base: Base | None = None,
    gravity: ArrayLike | None = None,
    xacro_args: Mapping[str, str] | None = None,
) -> Mechanism:
    """Load a mechanism from a bundled name, a file, URDF text or a dictionary.

    A YAML file states its kind in the field `type`. A URDF with a floating body on six prismatic
    legs is read as a Stewart platform, any other URDF with loop closures as a closed loop, and a
    URDF without closures as a serial arm; registered kinds take precedence, see
    `robodyn.loading.registry`. If a description lists actuators (`<ros2_control>`,
    `<transmission>`, MJCF's `<actuator>`), all other joints are passive; a platform, chain or tree
    with passive joints becomes a `ClosedLoop`.

    Args:
        source: name of a bundled model (`models()`), path to a .urdf, .xacro, .sdf, .world, .yaml,
            .yml or, for MJCF, .xml file; or URDF, SDF or MJCF text, which starts with `<`; or the
            content of a YAML model file as a dictionary, in which arrays stand for lists and paths
            are relative to the working folder.
        strict: reject inertia tensors that no rigid body can have, instead of warning.
        base_link, tip_link: ends of the chain in the URDF of an arm, by default the root and the
            leaf with the most movable joints before it, unless that is a gripper's finger.
        hold_branches: lock movable joints outside that chain at 0, instead of rejecting them.
        driven: names of the driven joints, instead of those of the description; a list, or a text
            with commas between the names. All other joints are passive.
        kind: kind of mechanism to read a URDF as, instead of the recognized one; `closed_loop` is
            also possible for arms and platforms from YAML, and supports whole trees of joints:
            hands, quadrupeds, arms with grippers.
        base: `moving` lets the base of a tree float freely, and `fixed` keeps it at home; it
            overrides the description, and the tree is read as `closed_loop`.
        gravity: (3,) [m/s^2] base frame, instead of the description's value; `[0, 0, 0]` for drives
            that compensate gravity themselves.
        xacro_args: arguments for a .xacro file, by name. Its `$(find package)` searches the folders
            of ROBODYN_PACKAGE_PATH, a sourced ROS 2 and the file's own checkout.

    Returns:
        The mechanism, an instance of its kind's class, such as `StewartPlatform` or `SerialArm`.

    Raises:
        ModelNotFound: the source is neither a bundled name nor a file; the error lists the bundled
            names.
        ModelError: the description is invalid; the error names the file, the field and its value.
        UnphysicalInertia: with `strict=True`.
        MissingExtra: the package xacro is missing for a .xacro file, or mujoco for MJCF.
        LeftOutWarning (issued as a warning): links, actuators or other parts are left out; the
            warning names them.
    """
    given: dict[str, Any] = {
        "base_link": base_link,
        "tip_link": tip_link,
        "hold_branches": hold_branches,
    }
    given |= {"strict": strict, "driven": driven, "kind": kind, "base": base, "gravity": gravity}
    for name in ("base_link", "tip_link", "kind", "base"):
        if not isinstance(given[name], (str, type(None))):
            raise ModelError(
                f"{name} is {format_value(given[name])}, expected a string or None",
                value=given[name],
            )
    for name in ("strict", "hold_branches"):
        if not isinstance(given[name], (bool, int, np.bool_)):
            raise ModelError(
                f"{name} is {format_value(given[name])}, expected True or False", value=given[name]
            )
    options = _override(_defaults, given)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the model rejects the results
            made = _create(read_source(source, xacro_args), options)
    except _NUMERICAL as error:
        raise ModelError(
            f"{name_of_source(source)}: its values do not describe a valid mechanism "
            f"({type(error).__name__}: {error})",
            value=source,
        ) from error
    if options.base is not None:
        made = made._made(made.model.with_base(options.base))
    return made if options.gravity is None else with_gravity(made, options.gravity)


def _create(read: YamlDocument | ModelBuilder, options: ReadOptions) -> Mechanism:
    """Create the mechanism from a YAML document or a builder.

    The caller applies the option `base` afterward.
    """
    requested = options.kind or ("closed_loop" if options.base else None)
    chosen = None if requested is None else _kind(requested)
    if options.base and requested != "closed_loop":
        raise ModelError(
            f"base is {options.base!r}, but kind is {requested!r}; base applies only to a tree of "
            f"joints: use {options.spelling('kind', 'closed_loop')}",
            value=requested,
        )
    if isinstance(read, YamlDocument):
        return _from_yaml(read, replace(options, folder=read.folder), chosen)
    return _from_builder(read, options, chosen)


def _names_in(driven: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the names of joints in a list or comma-separated string; None if empty."""
    given = driven.split(",") if isinstance(driven, str) else () if driven is None else driven
    listed = isinstance(given, Collection) and not isinstance(given, (bytes, Mapping))
    if not listed or not all(isinstance(name, str) for name in given):
        raise ModelError(f"driven is {driven!r}, expected names of joints", value=driven)
    return tuple(name.strip() for name in given if name.strip()) or None


def _kind(name: str) -> Kind:
    known = kinds()
    check_choice("kind", name, sorted(known), ModelError)
    return known[name]


def _from_yaml(read: YamlDocument, options: ReadOptions, chosen: Kind | None) -> Mechanism:
    document, fields = read.fields, Fields(read.fields, read.source)
    of_others = (kind for kind in kinds().values() if kind.recognizes_yaml is not None)
    kind = next((k for k in of_others if k.recognizes_yaml and k.recognizes_yaml(document)), None)
    if kind is None:
        kind = _kind(fields.text("type", choices=yaml_kinds()))
    assert kind.from_yaml is not None  # it is among the choices
    made = kind.from_yaml(document, read.source, options)
    if chosen is None or chosen == kind:
        made = made if options.driven is None else _driven_by(made, options.driven, options)
    else:
        converted = _as_closed_loop(made, options.driven) if chosen is CLOSED_LOOP else None
        if converted is None:
            raise fields.refuse("type", kind.name, f"{chosen.name}, the requested kind")
        made = converted
    with_springs = kind.adapter("springs")
    return made if with_springs is None else _add_springs(made, with_springs, fields, chosen)


def _add_springs(
    made: Mechanism, with_springs: Callable[..., Any], fields: Fields, chosen: Kind | None
) -> Mechanism:
    """Return the mechanism with the springs that a YAML file describes.

    If the mechanism's kind does not support such springs, the result is a `ClosedLoop`.
    """
    model = with_springs(fields, made.model)
    if model is made.model:
        return made
    try:
        return made._made(model)
    except ModelError:
        loop = None if chosen else _as_closed_loop(made, made.joint_names)
        if loop is None:
            raise
    return loop._made(with_springs(fields, loop.model))


def _from_builder(builder: ModelBuilder, options: ReadOptions, chosen: Kind | None) -> Mechanism:
    made = _recognize(builder, options, chosen)
    warn_of_zero_limits(builder, made.joint_names)
    return made


def _recognize(builder: ModelBuilder, options: ReadOptions, chosen: Kind | None) -> Mechanism:
    named = builder.kind
    kind = chosen or (_kind(named) if named else kind_of_urdf(builder))
    if kind.from_urdf is None:
        raise ModelError(
            f"{builder.source}: a mechanism of the kind {kind.name!r} cannot be read from a URDF",
            value=kind.name,
        )
    if options.driven is not None:
        _check_driven(builder, options.driven)
        builder.drives = Drives.of(options.driven)
    is_chain = kind is SERIAL and not (chosen or named)
    tree: Mechanism | None = _underactuated_tree(builder, options) if is_chain else None
    if tree is not None:
        return tree
    made = kind.from_urdf(builder, options)
    actuated = builder.actuated
    if not actuated:
        return made
    if (options.base_link or options.tip_link) and not set(actuated) & set(made.joint_names):
        warn(
            f"{builder.source}: actuators are listed only for {', '.join(map(repr, actuated))}; "
            "all joints of the requested chain are treated as driven"
        )
        return made
    mechanism = _driven_by(made, actuated, options)
    if chosen is not None and mechanism.kind != made.kind:
        passive = [name for name in made.joint_names if name not in actuated]
        raise ModelError(
            f"{builder.source}: no actuator drives {', '.join(map(repr, passive))}, but in a "
            f"mechanism of the kind {chosen.name!r} all joints are driven; choose another kind, "
            f"or name the driven joints: {options.spelling('driven', ','.join(made.joint_names))}",
            value=passive,
        )
    return mechanism


def _check_driven(builder: ModelBuilder, driven: Sequence[str]) -> None:
    known = [
        joint.name for joint in builder.joints.values() if joint.kind not in ("fixed", "floating")
    ]
    for name in driven:
        if name not in known:
            raise ModelError(
                f"{builder.source}: driven: {name!r} is not a joint that can be driven; expected "
                f"names from {', '.join(map(repr, known))}",
                value=name,
            )


def _driven_by(mechanism: Mechanism, driven: Collection[str], options: ReadOptions) -> Mechanism:
    """Return the mechanism with only the given joints driven.

    It is returned unchanged if all of its driven joints are given. Otherwise, the result is a
    `ClosedLoop`, in which its other joints are passive.
    """
    own = mechanism.joint_names
    if set(own) <= set(driven):
        return mechanism
    kept = tuple(name for name in own if name in driven)
    passive = _as_closed_loop(mechanism, kept) if kept else None
    if passive is None:
        raise ModelError(
            f"{mechanism.model.source or mechanism.name}: driven joints are "
            f"{', '.join(map(repr, driven))}, expected {'all' if kept else 'some'} of "
            f"{', '.join(map(repr, own))}; name the "
            f"driven joints: {options.spelling('driven', ','.join(own))}",
            value=tuple(driven),
        )
    return passive
