# SPDX-License-Identifier: Apache-2.0

"""The options of the commands, and the modules that their help imports."""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[2]

HELP = """
import sys
from typer.testing import CliRunner
from robodyn.cli import COMMANDS, app
shown = [CliRunner().invoke(app, [name, "--help"]) for name in COMMANDS]
shown.append(CliRunner().invoke(app, ["plan", "puma560", "--no-such-option"]))
print([result.exit_code for result in shown], {"numba", "numpy", "scipy"} & set(sys.modules))
"""


def test_the_options_are_those_of_the_signatures():
    script = TOP / "docs" / "make_options.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"run `python docs/make_options.py`: {done.stdout}{done.stderr}"


def test_help_and_usage_errors_import_no_library():
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    assert done.stdout == f"{[0] * 24 + [2]} set()\n"


def test_the_stub_names_what_the_package_imports():
    call = """
import ast, robodyn
stub = ast.parse(open(robodyn.__file__ + "i").read()).body
print({name.asname: line.module for line in stub for name in line.names if name.asname}
      == robodyn._MODULES | {"__version__": "robodyn.version"})
"""
    done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
