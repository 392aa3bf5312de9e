# SPDX-License-Identifier: Apache-2.0

"""Creation of commands from functions: signatures and docstrings define options and help.

Parameters of a function before `/` are positional arguments, the others options; the section Args
of its docstring contains their help. Options that are passed on to a function of the library are
declared there: the default value `options_of(function, "name")` makes options of parameters of that
function, and the command receives them as a dict.

Importing all functions for their signatures takes a second or two. `python docs/make_options.py`
therefore writes the declarations of all commands to options.json, and the command imports only what
it runs.

typer receives its older form, `name: str = typer.Option(default, help=...)`, which every release
from 0.4 on accepts: Ubuntu 22.04 has 0.4, Ubuntu 24.04 has 0.9.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Optional

import typer
import typer.core
from rich.console import Console
from rich.markup import escape

from robodyn.cli.session import numbers, one_line_errors
from robodyn.version import __version__

# Least width of tables that are written to a file or another program.
PIPED_WIDTH = 100
_OPTIONS = inspect.signature(typer.Typer).parameters
# Whether help is parsed as markup, in which the unit [m] would be a style.
_MARKUP = "rich_markup_mode" in _OPTIONS and bool(getattr(typer.core, "HAS_RICH", True))
# Types on the command line by name.
_TYPES: dict[str, Any] = {
    "str": str, "int": int, "float": float, "bool": bool, "Path": Path, "list[str]": list[str],
}  # fmt: skip
# Type on the command line of a parameter with this annotation (its first alternative).
_TYPE_OF = {name: name for name in _TYPES} | {"ArrayLike": "float", "Any": "str", "Base": "str"}
_SECTION = re.compile(r"^(?:Args|Attributes):\n(.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^    (\w[\w, ]*): (.*(?:\n     .*)*)", re.MULTILINE)
# Start of a sentence to capitalize, if it is an ordinary word and not a name from a program.
_WORD = re.compile(r"[a-z]+[ ,]")
# Parts of descriptions to omit: a leading shape, and the arrays that are accepted besides numbers.
_ARRAYS = re.compile(
    r"^\([^()]*\) |(?: |; )(?:a|one) number(?:,| or) \([^()]*\)(?: or \([^()]*\))?,?"
)
# Parameters that mean the same in every command.
_SHARED = {
    "model": "Bundled name, or path to a .urdf, .xacro, .sdf, .xml or .yaml file.",
    "path": "I, II, III or P1 of the papers, puma for an arm, or a waypoint file (.yaml).",
    "strict": "Exit with code 1 if a limit of the mechanism is violated.",
    "max_condition": "Largest condition number that counts as within limits; by default 1000 for a "
    "platform, no limit for an arm.",
    "html": "Also write a report to this file: one self-contained page.",
    "json": "Machine-readable output.",
    "port": "Port on localhost; 0 picks a free one.",
    "host": "Further name at which browsers reach the page, through a proxy or a forwarded port. "
    "May be given several times. Names other than localhost are refused.",
    "browser": "Open the page in the default browser.",
}


class CommandResult(NamedTuple):
    """Result of a command that has the option `--json`.

    Attributes:
        found: the result as data for JSON.
        text: the result for the terminal: a string, or an object that rich prints.
        failed: whether the exit code is 1.
        then: function to call after the output, if any.
    """

    found: Any
    text: Any
    failed: bool = False
    then: Callable[[], None] | None = None


class OptionGroup(NamedTuple):
    """Group of options that are parameters of another function; see `options_of`."""

    function: str | Callable[..., Any]
    names: dict[str, str]
    vectors: tuple[str, ...]


@dataclass(frozen=True)
class Parameter:
    """Positional argument or option of a command.

    `kind` is the name of its type, `flags` its spellings on the command line.
    """

    name: str
    kind: str
    help: str
    default: Any = None
    required: bool = False
    positional: bool = False
    flags: tuple[str, ...] = ()

    def declared(self) -> inspect.Parameter:
        """Convert the parameter to a signature entry that all typer releases accept."""
        kind, default, flags = _TYPES[self.kind], self.default, self.flags
        if kind is bool and not default:
            # without its opposite `--no-...`
            default, flags = False, (f"--{self.name.replace('_', '-')}",)
        elif self.required:
            default = ...
        elif default is None:
            kind = Optional[kind]  # noqa: UP045, old releases of typer know no other spelling
        make = typer.Argument if self.positional else typer.Option
        given = make(default, *flags, help=escape(self.help) if _MARKUP else self.help)
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=kind
        )


class Options(NamedTuple):
    """Group of options that are determined when the command runs; see `option_defaults`."""

    declared: Callable[[], list[Parameter]]


def option_defaults(declared: Callable[[], list[Parameter]]) -> Any:
    """Return a parameter's default that stands for options determined at run time.

    Args:
        declared: function that returns these options.

    Returns:
        The default value. The command receives the values of the options as a dict.
    """
    return Options(declared)


def options_of(
    function: str | Callable[..., Any], names: str = "", vectors: str = "", **renamed: str
) -> Any:
    """Return a parameter's default that stands for the options of another function.

    The parameter receives a dict of the options' values, to pass on to that function.

    Args:
        function: function that the command will call, or its name in robodyn. A class stands for
            its constructor.
        names: parameters that become options, separated by spaces.
        vectors: parameters that consist of several numbers, which a user writes in quotes.
        renamed: parameters by the name of their option, if the names differ.
    """
    own = {name: name for name in [*names.split(), *vectors.split()]}
    return OptionGroup(function, own | renamed, tuple(vectors.split()))


@contextmanager
def reading(
    *,
    options: dict[str, Any] = options_of(
        "load", "base_link tip_link hold_branches driven kind base", vectors="gravity"
    ),
    xacro_arg: list[str] | None = None,
    package_path: list[str] | None = None,
) -> Iterator[None]:
    """Set how model files are read within this context.

    Args:
        base_link: link of a URDF at which the chain begins; by default the root.
        tip_link: link of a URDF at which the chain ends; by default the one behind most joints.
        gravity: three numbers in quotes that replace the model's gravity [m/s^2], base frame;
            "0 0 0" for drives that compensate gravity themselves.
        xacro_arg: an argument of a .xacro file, name:=value; may be repeated.
        package_path: a folder with ROS packages to which a robot refers, such as a workspace's
            src; may be repeated. Searched before the folders of ROBODYN_PACKAGE_PATH.
    """
    # imported here: help does not need the library
    from robodyn.formats.ros_packages import PATH_VARIABLE
    from robodyn.formats.xacro_text import arguments_of, use_arguments
    from robodyn.loading.load import use_options
    from robodyn.mechanism.option_names import on_command_line

    use_options(**options, spelling=on_command_line)
    use_arguments(arguments_of(xacro_arg or ()))
    if package_path:
        known = os.environ.get(PATH_VARIABLE)
        os.environ[PATH_VARIABLE] = os.pathsep.join([*package_path, *([known] if known else [])])
    try:
        yield
    finally:
        use_options()


def application(name: str, about: str) -> typer.Typer:
    """Create a typer application with the option `--version` and shell completion.

    Errors of its commands are raised, not formatted.
    """
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


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"robodyn {__version__}")
        raise typer.Exit()


@dataclass(frozen=True)
class Declaration:
    """Declaration of a command: help text and parameters."""

    help: str
    parameters: list[Parameter]


def declaration(function: Callable[..., CommandResult | None], **short: str) -> Declaration:
    """Create the declaration of a command from a function's signature and docstring.

    A command with a parameter `model` also gets the options for model files.

    Args:
        function: function that implements the command.
        short: short spellings of its options, such as `output="-o"`.

    Returns:
        Help text and parameters.

    Raises:
        TypeError: a parameter has no description, or a type that a command line does not support.
    """
    parameters = list(_parameters(function))
    if inspect.signature(function).return_annotation == "CommandResult":
        parameters.append(Parameter("json", "bool", _SHARED["json"]))
    for i, each in enumerate(parameters):
        if each.name in short:
            flags = (f"--{each.name.replace('_', '-')}", short[each.name])
            parameters[i] = replace(each, flags=flags)
    if any(each.name == "model" for each in parameters):
        parameters += _parameters(reading)
    return Declaration(re.split(r"\n\nArgs:", _doc(function))[0], parameters)


def add_command(
    app: typer.Typer,
    name: str,
    declared: Declaration,
    load: Callable[[], Callable[..., CommandResult | None]],
) -> None:
    """Add a command to an application; its function is loaded when the command runs.

    Errors of the library become one line on standard error and exit code 1.

    Args:
        app: application to extend.
        name: name of the command.
        declared: help text and parameters.
        load: function that returns the command's function.
    """
    first = [each.name for each in declared.parameters if each.positional]

    def command(**given: Any) -> None:
        function = load()
        reads = reading(**_arguments(reading, given)) if "model" in given else nullcontext()
        with one_line_errors(), reads:
            own = _arguments(function, given)
            result = function(*[own.pop(each) for each in first], **own)
        if result is not None:
            _print(result, given["json"])

    parameters = [each.declared() for each in declared.parameters]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    app.command(name, help=declared.help)(command)


def _print(result: CommandResult, as_json: bool) -> None:
    """Print the result of a command, call its function `then`, and set the exit code."""
    if as_json:
        from robodyn.analysis.as_json import as_json as json_text

        typer.echo(json_text(result.found))
    elif isinstance(result.text, str):
        typer.echo(result.text)
    else:
        console = Console()
        if not console.is_terminal:
            console.width = max(console.width, PIPED_WIDTH)
        console.print(result.text)
    if result.then is not None:
        result.then()
    if result.failed:
        raise typer.Exit(1)


def _parameters(function: Callable[..., Any]) -> Iterator[Parameter]:
    """Yield the parameters of a command, with each option of its option groups."""
    helps = _descriptions(_doc(function))
    for name, each in inspect.signature(function).parameters.items():
        group = each.default
        if isinstance(group, Options):
            yield from group.declared()
        elif isinstance(group, OptionGroup):
            source = _source(group.function)
            theirs, known = inspect.signature(source).parameters, _descriptions(_doc(source))
            for option, parameter in group.names.items():
                found = theirs[parameter]
                if option in group.vectors:
                    found = found.replace(annotation="str", default="")
                text = helps.get(option) or known.get(parameter)
                yield _parameter(str(group.function), found, option, text)
        else:
            yield _parameter(function.__name__, each, name, helps.get(name))


def _source(function: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return a function or class, or import it if given by its path within robodyn."""
    if not isinstance(function, str):
        return function
    module, _, name = f"robodyn.{function}".rpartition(".")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def _doc(function: Callable[..., Any]) -> str:
    return inspect.getdoc(function) or ""


def _arguments(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Convert options to a function's arguments; groups of options become dicts."""
    found = {}
    for name, each in inspect.signature(function).parameters.items():
        group = each.default
        if isinstance(group, OptionGroup):
            found[name] = {parameter: given[option] for option, parameter in group.names.items()}
            for vector in group.vectors:
                found[name][vector] = numbers(vector, given[vector])
        elif isinstance(group, Options):
            found[name] = {option.name: given[option.name] for option in group.declared()}
        else:
            found[name] = given[name]
    return found


def _parameter(where: str, given: inspect.Parameter, name: str, text: str | None) -> Parameter:
    help_text = text or _SHARED.get(name)
    # a Literal or an alias of one has a text as its default
    texts = "str" if isinstance(given.default, str) else None
    kind = _TYPE_OF.get(str(given.annotation).split(" | ")[0], texts)
    if kind is None or help_text is None:
        raise TypeError(
            f"{where}: parameter {given.name!r} of type {given.annotation} is not described in an "
            "Args section, or has a type that the command line does not support"
        )
    required = given.default is inspect.Parameter.empty
    default = None if required else given.default
    positional = given.kind is inspect.Parameter.POSITIONAL_ONLY
    return Parameter(name, kind, help_text, default, required, positional)


def _descriptions(doc: str) -> dict[str, str]:
    """Return the descriptions of parameters in a docstring, each as one line."""
    section = _SECTION.search(doc)
    found = {}
    for names, lines in _ENTRY.findall(section[1] if section else ""):
        text = _ARRAYS.sub("", " ".join(lines.split()))
        for name in names.split(", "):
            found[name] = text[:1].upper() + text[1:] if _WORD.match(text) else text
    return found
