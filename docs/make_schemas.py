# SPDX-License-Identifier: Apache-2.0

"""Writes the descriptions of actuators in robodyn/schemas/, from the class `Actuator`.

Usage: `python docs/make_schemas.py` writes the files, `--check` fails if they are not up to date.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from generated import write_or_check

from robodyn.actuators.actuator import HANDS, UNITS, Actuator

SCHEMAS = Path(__file__).resolve().parents[1] / "robodyn" / "schemas"
OTHERS: dict[str, dict[str, Any]] = {
    "handed": {"enum": list(HANDS)},
    "gear_ratio": {"type": "number", "not": {"const": 0}},
    "efficiency": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    "torque_speed": {
        "type": "array",
        "minItems": 2,
        "items": {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "items": {"type": "number", "minimum": 0},
        },
    },
}


def properties() -> dict[str, Any]:
    """The fields of an actuator: what is allowed, and what it means."""
    # cleaned: from Python 3.13 on, the compiler removes the indentation
    text = inspect.cleandoc(Actuator.__doc__ or "")
    entries = re.findall(r"^ {4}(\w[\w, ]*): ((?:.|\n {8})*)", text, re.M)
    about = {name: entry for names, entry in entries for name in names.split(", ")}
    found = {}
    for name, bounds in ((each.name, each.metadata) for each in fields(Actuator)):
        rules = OTHERS.get(name, {"type": "number"})
        if "at_least" in bounds:
            rules = rules | {"minimum": 0}
        elif "above" in bounds:
            rules = rules | {"exclusiveMinimum": 0}
        text = " ".join(about[name].split()).rstrip(".").split("; None")[0]
        found[name] = rules | {"description": text}
    assert set(UNITS) | set(OTHERS) == set(found)
    return found


def main() -> int:
    """Write or check all of them."""
    result = 0
    for file in sorted(SCHEMAS.glob("*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        if "actuator" in document.get("$defs", {}):
            document["$defs"]["actuator"]["properties"] = properties()
            result |= write_or_check(file, json.dumps(document, indent=2) + "\n")
    return result


if __name__ == "__main__":
    sys.exit(main())
