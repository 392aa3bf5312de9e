# SPDX-License-Identifier: Apache-2.0

"""Modules that are named in strings, which the import linter does not see, point down, too."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TOP = Path(__file__).parents[2]
REFERENCE = re.compile(r"robodyn(?:\.\w+)+(?::\w+)?")


def ranks():
    """Height of each layer of the package, by name."""
    # tomllib came with Python 3.11
    listed = re.search(r"^layers = \[\n(.*?)^\]", (TOP / "pyproject.toml").read_text(), re.M | re.S)
    layers = reversed(listed[1].splitlines())
    return {name: height for height, line in enumerate(layers) for name in re.findall(r"\w+", line)}


def references(file):
    """Modules of the package that a file names in strings."""
    for node in ast.walk(ast.parse(file.read_text())):
        text = getattr(node, "value", None)
        if isinstance(text, str) and REFERENCE.fullmatch(text):
            yield text


def test_no_module_names_one_of_a_higher_layer_in_a_string():
    height = ranks()
    found = []
    for file in sorted((TOP / "robodyn").rglob("*.py")):
        layer = file.relative_to(TOP / "robodyn").with_suffix("").parts[0]
        if layer not in height:  # the package itself has names of all layers
            continue
        for reference in references(file):
            named = reference.split(":")[0].split(".")[1]
            found.append(reference)
            assert height.get(named, -1) <= height[layer], f"{file} names {reference}"
    assert len(found) > 10


def test_every_file_that_the_page_of_the_architecture_names_exists():
    files = [str(path.relative_to(TOP)) for path in TOP.glob("*/**/*") if ".venv" not in path.parts]
    modules = {Path(file).stem for file in files if file.endswith(".py")}
    named = set(re.findall(r"`([^`]+)`", (TOP / "docs/architecture.md").read_text()))
    checked = [name for name in named if re.fullmatch(r"[a-z_0-9./]+(\.py|\.yaml|/)|[a-z_]+", name)]
    for name in checked:
        if name.endswith((".py", ".yaml", "/")):
            end = name.rstrip("/").removeprefix("../")
            assert any(f"/{file}".endswith(f"/{end}") for file in files), name
        else:
            assert name in modules or f"robodyn/{name}" in files, name
    assert len(checked) > 200
