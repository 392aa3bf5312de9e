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
    tops = [TOP / top for top in ("robodyn", "robodyn_ros", "test", "launch")]
    paths = [*tops, *(path for top in tops for path in top.rglob("*"))]
    python = [path for path in paths if path.suffix == ".py"]
    known = {path.stem for path in [*python, *(TOP / "robodyn").iterdir()]}
    known.update(*(re.findall(r"def (\w+)", path.read_text()) for path in python))
    page = re.sub(r"```.*?```", "", (TOP / "docs/architecture.md").read_text(), flags=re.S)
    files = re.findall(r"`(?:\.\./)?([a-z_0-9./]+(?:\.py|\.yaml|/))`", page)
    for file in files:
        assert any(f"{path}/".endswith(f"/{file.rstrip('/')}/") for path in paths), file
    words = set(re.findall(r"`([a-z_0-9]+)`", page))
    assert words <= known
    assert len(files) > 150
    assert len(words) > 100
