# SPDX-License-Identifier: Apache-2.0

"""Text files of an exported library: the C header, and files made from templates."""

from __future__ import annotations

import re
import textwrap
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robodyn.errors import InvalidInput
from robodyn.exporting.escaping import in_comment
from robodyn.exporting.functions import library_functions
from robodyn.exporting.kind_functions import STATUSES
from robodyn.exporting.signatures import Argument, Function, sizes_of
from robodyn.mechanism.mechanism import Mechanism
from robodyn.version import __version__

TEMPLATES = Path(__file__).with_name("templates")
# Reserved words in C and C++.
_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl
    const constexpr continue decltype default delete do double dynamic_cast else enum explicit
    export extern false float for friend goto if inline int long main mutable namespace new
    noexcept not not_eq nullptr operator or or_eq private protected public register restrict
    return short signed sizeof static static_assert struct switch template this throw true try
    typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
"""


def c_name(mechanism: Mechanism, name: str = "") -> str:
    """Return `name` or, if it is empty, the mechanism's name as a C identifier.

    Blanks, hyphens and dots become underscores. If any other character is replaced, digits of a
    checksum follow, so that different names stay different.

    Raises:
        InvalidInput: the name is not valid in C, or no character of the mechanism's name is.
    """
    found = name or re.sub(r"\W+", "_", mechanism.name, flags=re.ASCII).strip("_").lower()
    if not name and found and not re.fullmatch(r"[\w .-]*", mechanism.name, flags=re.ASCII):
        found += f"_{zlib.crc32(mechanism.name.encode()):08x}"
    if (
        not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", found)
        or found in _KEYWORDS.split()
        or "__" in found
    ):
        raise InvalidInput(
            f"{found!r} cannot be the name of a C library: expected a letter, then letters, digits "
            "and single underscores, and no C keyword; give another name with --name",
            value=found,
        )
    return found


def header(name: str, mechanism: Mechanism) -> str:
    """Return the content of an exported library's C header, whose prefix is `name`."""
    upper = name.upper()
    meanings = "size of a configuration", "size of a velocity", "number of driven joints"
    sizes = zip(sizes_of(mechanism).items(), meanings, strict=True)
    driven = [
        f"{in_comment(joint)} [{unit}; effort {effort}]"
        for joint, unit, effort in zip(
            mechanism.joint_names,
            mechanism.drives.units,
            mechanism.drives.effort_units,
            strict=True,
        )
    ]
    statuses = [
        f"  {upper}_{key} = {k}, /* {text} */" for k, (key, text) in enumerate(STATUSES.items())
    ]
    return fill_template(
        "library/header.h",
        {
            "NAME": name,
            "UPPER": upper,
            "VERSION": __version__,
            "MECHANISM": in_comment(mechanism.name),
            "COORDINATES": coordinates_text(mechanism),
            "MOTORS": motor_data(name, mechanism),
            "JOINTS": _comment("Driven joints, in this order: " + ", ".join(driven) + "."),
            "SIZES": "\n".join(
                f"#define {upper}_{key} {n} /* {text} */" for (key, n), text in sizes
            ),
            "STATUSES": "\n".join(statuses),
            "FUNCTIONS": "\n\n".join(_declare(name, each) for each in library_functions(mechanism)),
        },
    )


def motor_data(name: str, mechanism: Mechanism) -> str:
    """Return the C declaration of the motors' home positions; empty for rigid drives."""
    if mechanism.drives.elasticity is None:
        return ""
    return (
        f"\nextern const double {name}_home_motors[{name.upper()}_N];     "
        "/* motor positions that hold the mechanism at home */"
    )


def motor_texts(name: str, mechanism: Mechanism) -> dict[str, str]:
    """Return the code for elastic drives in the C and C++ examples, by template key."""
    if mechanism.drives.elasticity is None:
        return dict.fromkeys(("MOTORS", "MOTOR_ARGUMENTS", "MOTOR_READINGS"), "")
    size = f"{name.upper()}_N"
    return {
        "MOTORS": f"\n  double motors[{size}], motor_rates[{size}] = {{0.0}};"
        f"\n  for (int i = 0; i < {size}; i++) motors[i] = {name}_home_motors[i];",
        "MOTOR_ARGUMENTS": " motors, motor_rates,",
        "MOTOR_READINGS": "\n    /* Encoders are on the motors, not on the driven joints. */"
        "\n    memcpy(positions, motors, sizeof positions);"
        "\n    memcpy(rates, motor_rates, sizeof rates);",
    }


def casadi_source(name: str, mechanism: Mechanism) -> str:
    """Return the C source of an exported library's functions for `casadi.external`."""
    values = {
        "NAME": name,
        "UPPER": name.upper(),
        "MECHANISM": in_comment(mechanism.name),
        "ROTATIONS": "".join(f"{turn.start}, " for turn in mechanism.coordinates.rotations),
    }
    return fill_template("library/casadi.c", values)


def coordinates_text(mechanism: Mechanism) -> str:
    """List the components of configuration, velocity and efforts for a C comment."""
    coordinates = mechanism.coordinates
    named = zip(map(in_comment, coordinates.velocity_names), coordinates.units, strict=True)
    units = ", ".join(f"{name} [{unit}]" for name, unit in named)
    numbers = ", ".join(map(in_comment, coordinates.configuration_names))
    lines = (
        f"configuration (NQ): {numbers}; [m] and [rad], quaternions as x y z w; vectors in the "
        "base frame.",
        f"velocity (NV): rates of {units}; acceleration (NV): their time derivatives.",
        "efforts (N) of the driven joints: [N m], or [N] for prismatic joints.",
    )
    return "\n".join(f"   {part}" for line in lines for part in textwrap.wrap(line, 92))


def _declare(name: str, function: Function) -> str:
    """Format the C declaration of a function, with a comment on its arguments."""
    lines = [function.about]
    lines += [_meaning(argument) for argument in function.arguments]
    arguments = ", ".join(_argument(a) for a in function.arguments)
    return f"{_comment(*lines)}\nint {name}_{function.name}({arguments});"


def _meaning(argument: Argument) -> str:
    """Describe the shape, unit and frame of an argument in a sentence."""
    size = f" ({argument.size})" if argument.size else ""
    null = "; may be NULL" if argument.use == "maybe" else ""
    return f"{argument.name}{size}: {argument.meaning or 'as above'}{null}."


def _argument(argument: Argument) -> str:
    if argument.use in ("double", "int"):
        return f"{argument.use} {argument.name}"
    const = "" if argument.use in ("out", "inout") else "const "
    return f"{const}double *{argument.name}"


def _comment(*lines: str) -> str:
    wrapped = [part for line in lines for part in textwrap.wrap(line, 92)]
    return "/* " + "\n   ".join(wrapped) + " */"


def fill_template(template: str, values: Mapping[str, Any]) -> str:
    """Fill in a template file of this package, and return the text.

    Args:
        template: path of the template in the package's folder of templates.
        values: replacement of each `@KEY@`, by key.
    """
    text = TEMPLATES.joinpath(template).read_text(encoding="utf-8")
    return re.sub(r"@([A-Z_0-9]+)@", lambda found: str(values[found[1]]), text)
