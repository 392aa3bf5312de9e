# SPDX-License-Identifier: Apache-2.0

"""`robodyn new WHAT [FILE]`: a commented file of a model, or of requirements, to start from."""

from __future__ import annotations

import json as json_text
from pathlib import Path

import typer
import yaml

import robodyn as rd
from robodyn.checks import as_scalar
from robodyn.cli.commands import Parameter, option_defaults
from robodyn.cli.session import check_writable
from robodyn.formats import atomic_write
from robodyn.loading import templates
from robodyn.parsing.template import Template

# Template that is no model: requirements.
REQUIREMENTS = "requirements"


def _dimensions() -> list[Parameter]:
    """Return the dimensions of all templates as options of the command."""
    texts: dict[str, list[str]] = {}
    for what, (_, template) in templates().items():
        for d in template.dimensions:
            text = f"{what}: {d.text} [{d.unit}], {d.default:g}"
            texts.setdefault(d.name, []).append(text)
    return [Parameter(name, "float", "; ".join(each) + ".") for name, each in texts.items()]


def new(
    what: str,
    file: str = "",
    /,
    *,
    name: str = "",
    force: bool = False,
    chosen: dict[str, float | None] = option_defaults(_dimensions),
) -> None:
    """Write a commented template of a model file or of requirements.

    The file loads as it is, and states the meaning, frame and unit of each number.

    Args:
        what: What to describe: hexapod, servo-hexapod, delta, tripod, five-bar, arm;
            heave-pitch-roll, four-corners, pitch-roll-seat, traction-loss, seat-mover;
            requirements of a machine; any other word lists all templates.
        file: File to write; by default NAME.yaml.
        name: Name of the model; by default that of the file.
        force: Overwrite an existing file.
    """
    offers = templates()
    if what == REQUIREMENTS:
        _write_requirements(Path(file or f"{name or REQUIREMENTS}.yaml"), chosen, force)
        return
    if what not in offers:
        known = ", ".join((*offers, REQUIREMENTS))
        raise rd.InvalidInput(f"no template {what!r}; known templates are {known}", value=what)
    kind, template = offers[what]
    given = {key: value for key, value in chosen.items() if value is not None}
    target = Path(file or f"{name or f'my_{what}'}.yaml")
    called = name or target.stem
    files = {target: _text(template, target, called, given)}
    for suffix in template.beside:
        text = template.write(called, target.name, suffix, **given)
        files[target.with_suffix(suffix)] = text
    _write(files, force)
    typer.echo(
        f"{target}: a model of {what} {name or target.stem}. Replace its numbers with yours, then "
        "run\n"
        f"  robodyn check {target}\n  robodyn view {target}\n"
        f"For completion in your editor, make the output of `robodyn schema {kind} --line` the "
        "first line."
    )


def _write_requirements(target: Path, chosen: dict[str, float | None], force: bool) -> None:
    given = {key: value for key, value in chosen.items() if value is not None}
    _write({target: _text(Template(REQUIREMENTS), target, REQUIREMENTS, given)}, force)
    typer.echo(
        f"{target}: requirements of a machine. Replace its numbers with yours, then run\n"
        f"  robodyn evaluate MODEL {target}\n"
        f"For completion in your editor, make the output of `robodyn schema {REQUIREMENTS} --line` "
        "the first line."
    )


def _text(template: Template, target: Path, name: str, given: dict[str, float]) -> str:
    known = {dimension.name: dimension for dimension in template.dimensions}
    for key, value in given.items():
        flag = f"--{key.replace('_', '-')}"
        if key not in known:
            raise rd.InvalidInput(
                f"{flag}: a file for {template.what} has no such dimension; "
                + (f"its dimensions are {', '.join(known)}" if known else "edit the file instead"),
                value=value,
            )
        as_scalar(flag, value, known[key].unit)
    return template.write(_scalar(name), target.name, **given)


def _scalar(name: str) -> str:
    """Format a name as a YAML string, in quotes if YAML would read another type."""
    try:
        plain = yaml.safe_load(f"name: {name}\n") == {"name": name}
    except yaml.YAMLError:
        plain = False
    return name if plain else json_text.dumps(name)


def _write(files: dict[Path, str], force: bool) -> None:
    """Write all files, or none if one exists and must not be overwritten."""
    target = next(iter(files))
    if not target.suffix:
        raise rd.InvalidInput(
            f"{target} has no file extension; give a model file the extension .yaml, such as "
            f"{target}.yaml",
            value=str(target),
        )
    if len(files) > 1 and target.suffix not in (".yaml", ".yml"):
        raise rd.InvalidInput(
            f"{target}: other files are written beside it, so its name must end in .yaml, such as "
            f"{target.with_suffix('.yaml')}",
            value=str(target),
        )
    for path in files:
        check_writable(path, force)
    for path, text in files.items():
        with atomic_write(path) as draft:
            draft.write_text(text, encoding="utf-8")
