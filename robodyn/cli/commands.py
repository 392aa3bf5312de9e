# SPDX-License-Identifier: Apache-2.0

"""Commands declared once, for every typer from 0.4 on.

Commands say what their parameters mean in annotations, `Annotated[str, option(help=...)]`. typer
supports a form of its own like this since 0.9, and with annotations that are strings (PEP 563) only
since releases that no long-term distribution ships: Ubuntu 22.04 has 0.4, Ubuntu 24.04 has 0.9. All
of them support the older form, `name: str = typer.Option(default, help=...)`, so that is what typer
gets.
"""

from __future__ import annotations

import functools
import inspect
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Optional, get_args, get_origin, get_type_hints

import typer
import typer.core
from rich.markup import escape

from robodyn.cli.session import one_line_errors
from robodyn.formats.ros_packages import PATH_VARIABLE
from robodyn.formats.xacro_text import arguments_of, use_arguments
from robodyn.mechanisms.load import use_options
from robodyn.mechanisms.option_names import on_command_line
from robodyn.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

_OPTIONS = inspect.signature(typer.Typer).parameters
# Whether help is parsed as markup, in which the unit [m] would be a style.
_MARKUP = "rich_markup_mode" in _OPTIONS and bool(getattr(typer.core, "HAS_RICH", True))


@dataclass(frozen=True)
class Declaration:
    """Declaration of a command's parameter, without its type and default."""

    make: Callable[..., Any]
    flags: tuple[str, ...]
    help: str

    def with_default(self, default: Any) -> Any:
        """As a typer object; a parameter without a default is required."""
        default = ... if default is inspect.Parameter.empty else default
        return self.make(default, *self.flags, help=escape(self.help) if _MARKUP else self.help)


def option(*flags: str, help: str) -> Declaration:
    """An option, by default named after its parameter."""
    return Declaration(typer.Option, flags, help)


def argument(*, help: str) -> Declaration:
    """A positional argument."""
    return Declaration(typer.Argument, (), help)


def application(name: str, about: str) -> typer.Typer:
    """A typer application that leaves errors to us, with `--version` and completion."""
    options: dict[str, Any] = {"name": name, "help": about, "no_args_is_help": True}
    if "pretty_exceptions_enable" in _OPTIONS:  # since 0.6
        options["pretty_exceptions_enable"] = False
    if _MARKUP:
        options["rich_markup_mode"] = "rich"
    app = typer.Typer(**options)

    @app.callback()
    def common(
        version: bool = typer.Option(
            False, "--version", is_eager=True, callback=_show_version, help="Show the version."
        ),
    ) -> None:
        pass

    common.__doc__ = about
    return app


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"robodyn {__version__}")
        raise typer.Exit()


def add_command(
    app: typer.Typer, name: str, function: Callable[..., None], *, model: bool = False
) -> None:
    """Add a command whose parameters are declared in annotations.

    With `model` it loads one, and has options for how a URDF or .xacro file is read.
    """
    app.command(name)(in_older_form(_with_reading(function) if model else function))


def _with_reading(function: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(function)
    def command(
        *,
        base_link: str,
        tip_link: str,
        hold_branches: bool,
        driven: Optional[str],  # noqa: UP045
        xacro_arg: list[str],
        package_path: list[str],
        **given: Any,
    ) -> None:
        use_options(
            base_link=base_link,
            tip_link=tip_link,
            hold_branches=hold_branches,
            driven=driven,
            spelling=on_command_line,
        )
        with one_line_errors():
            use_arguments(arguments_of(xacro_arg or ()))
        if package_path:
            known = os.environ.get(PATH_VARIABLE)
            os.environ[PATH_VARIABLE] = os.pathsep.join(
                [*package_path, *([known] if known else [])]
            )
        try:
            function(**given)
        finally:
            use_options()

    signature = inspect.signature(function)
    more = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=annotation
        )
        for name, annotation in _READING.items()
    ]
    command.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), *more]
    )
    command.__annotations__ = get_type_hints(function, include_extras=True) | _READING
    del command.__wrapped__
    return command


_DEFAULTS = {"hold_branches": False}
_READING: dict[str, Any] = {
    "base_link": Annotated[
        Optional[str],  # noqa: UP045
        option(
            "--base-link",
            help="Of a URDF: the link on which the chain stands, by default the root.",
        ),
    ],
    "tip_link": Annotated[
        Optional[str],  # noqa: UP045
        option(
            "--tip-link",
            help="Of a URDF: the link at which the chain ends, by default behind most joints.",
        ),
    ],
    "hold_branches": Annotated[
        bool,
        option(
            "--hold-branches", help="Of a URDF: joints beside the chain, as a gripper's, are held."
        ),
    ],
    "driven": Annotated[
        Optional[str],  # noqa: UP045
        option(
            "--driven",
            help="The driven joints, with commas between them, whatever the file says of "
            "actuators; all others are passive.",
        ),
    ],
    "xacro_arg": Annotated[
        Optional[list[str]],  # noqa: UP045
        option("--xacro-arg", help="An argument of a .xacro file, name:=value; may be repeated."),
    ],
    "package_path": Annotated[
        Optional[list[str]],  # noqa: UP045
        option(
            "--package-path",
            help="A folder with ROS packages that a robot refers to, such as a workspace's src; "
            f"may be repeated. Searched before those of {PATH_VARIABLE}.",
        ),
    ],
}


def in_older_form(function: Callable[..., None]) -> Callable[..., None]:
    """The same function with declarations as default values, and annotations that are types.

    Raises:
        TypeError: a parameter has no declaration.
    """
    hints = get_type_hints(function, include_extras=True)
    types: dict[str, Any] = {}
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        types[parameter.name], declared = _declaration(function, parameter, hint)
        parameters.append(parameter.replace(annotation=types[parameter.name], default=declared))

    @functools.wraps(function)
    def command(**given: Any) -> None:
        function(**given)

    del command.__wrapped__  # old releases look through it
    command.__annotations__ = types
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _declaration(function: Callable[..., None], parameter: inspect.Parameter, hint: Any) -> Any:
    """The type of a parameter, and typer's declaration of it with its default value."""
    # Python 3.10 wraps a parameter whose default is None into an Optional
    for annotated in (hint, *get_args(hint)):
        kind, *remarks = get_args(annotated) if get_origin(annotated) is Annotated else (None,)
        for declared in remarks:
            if isinstance(declared, Declaration):
                return kind, declared.with_default(parameter.default)
    raise TypeError(
        f"{function.__name__}: parameter {parameter.name!r} is declared by neither option() nor "
        "argument() of robodyn.cli.commands"
    )
