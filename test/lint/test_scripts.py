# SPDX-License-Identifier: Apache-2.0

"""Scripts beside the packages import names that exist."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [
    file
    for folder in ("benchmarks", "docs", "examples", "scripts")
    for file in sorted((ROOT / folder).glob("*.py"))
]


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_scripts_import_names_that_the_packages_have(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "robodyn":
            module = import_module(node.module)
            for name in node.names:
                if not hasattr(module, name.name):
                    import_module(f"{node.module}.{name.name}")
