# SPDX-License-Identifier: Apache-2.0

"""The documentation site: `make docs` builds it into docs/_build, rosdoc2 calls it as well."""

from __future__ import annotations

import importlib.util
import re
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent


def find_checkout() -> Path:
    """The folder with the examples: rosdoc2 builds from a copy of docs/ in its own build folder.

    That is below the folder in which it was started; newer versions name the sources in sys.path.
    """
    for folder in (*HERE.parents, *map(Path, sys.path)):
        if (folder / "examples" / "README.rst").is_file() and (folder / "package.xml").is_file():
            return folder
    raise FileNotFoundError("no examples found: start rosdoc2 in the folder of package.xml")


ROOT = find_checkout()
sys.path[:0] = [str(ROOT), str(HERE)]

import matplotlib  # noqa: E402
from make_move_it import write_move_it  # noqa: E402
from model_pages import write_model_pages  # noqa: E402
from reference_pages import write_reference  # noqa: E402
from tutorial_pictures import write_tutorial_pictures  # noqa: E402

from robodyn.version import __version__  # noqa: E402

matplotlib.use("agg")
write_model_pages(HERE / "models")
write_reference(HERE / "reference.md")
write_move_it(HERE / "_static" / "move_it.html")
write_tutorial_pictures(HERE / "tutorial_pictures")

project = "robodyn"
author = "robodyn developers"
copyright = "2026, robodyn developers"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "equations",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "*.py",
    # files that rosdoc2 adds to these pages: its own index, and files of the checkout
    "index.rst",
    "README.md",
    "CONTRIBUTING.md",
    "QUALITY_DECLARATION.md",
    "CHANGELOG.rst",
    "__*",
    "jupyter_execute",
    "gallery/*.ipynb",
    "standards.rst",
    "standard_docs",
    "sphinx_output",
]
rosdoc2_settings = {"allow_other_extensions": True}
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", ".rst": "restructuredtext"}
nitpicky = False
default_role = "code"  # docstrings write `name` for code
suppress_warnings = ["ref.python"]  # attributes of one name in several classes: any may be linked

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

nb_execution_mode = "force"
nb_execution_timeout = 600
nb_execution_raise_on_error = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_mock_imports = [name for name in ("torch",) if not importlib.util.find_spec(name)]
napoleon_use_ivar = True
napoleon_use_rtype = False

html_math_renderer = "svg"
html_theme = "furo"
html_title = f"robodyn {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": "",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": True,
    "remove_config_comments": True,
    "show_memory": False,
    "abort_on_example_error": True,
    "plot_gallery": True,
    "min_reported_time": 1e9,
    "write_computation_times": False,  # the page loads its scripts from a server
}

# The papers' own tensors belong to no rigid body; examples need not repeat this.
warnings.filterwarnings("ignore", message=".*no rigid body has the principal moments")

FENCE = re.compile(r"^(\s*)```(\w*)\s*$")


def fences_to_blocks(app, what, name, obj, options, lines):  # noqa: D103
    blocks, inside = [], None
    for line in lines:
        fence = FENCE.match(line)
        if fence and inside is None:
            inside = fence.group(1)
            blocks += [f"{inside}.. code-block:: {fence.group(2) or 'text'}", ""]
        elif fence:
            inside = None
            blocks.append("")
        else:
            blocks.append(line if inside is None else f"    {line}")
    lines[:] = blocks


def setup(app):  # noqa: D103
    app.connect("autodoc-process-docstring", fences_to_blocks)
