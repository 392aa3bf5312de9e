# SPDX-License-Identifier: Apache-2.0

"""A page for each bundled mechanism, written when the site is built: what `robodyn check` finds."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from rich.console import Console

import robodyn as rd
from robodyn.cli.check import findings
from robodyn.cli.check_text import check_text
from robodyn.loading.inspection import read
from robodyn.report.images import write_image
from robodyn.report.path_views import home_chart

if TYPE_CHECKING:
    from pathlib import Path

LEADS = {
    "delta": "A delta robot with full parallelograms, for picking and placing.",
    "fivebar": "A planar five-bar linkage with two motors at its base.",
    "hexapod_rotary": "A 6-RUS hexapod: six servo cranks move a platform through rods.",
    "motion_platform": "An electric six-axis motion base, with ball screws and servo motors.",
    "puma560": "The PUMA 560 with the parameters of Armstrong and of Corke.",
    "stanford_arm": "The Stanford arm: five revolute joints and a prismatic one.",
    "stewart_dasgupta": "The test manipulator of both Stewart papers.",
    "stewart_symmetric": "A 6-6 motion platform of a simulator's size.",
}


def write_model_pages(folder: Path) -> None:
    """Write `folder`/index.md and a page with a picture for each bundled mechanism."""
    folder.mkdir(exist_ok=True)
    names = rd.models()
    rows = "\n".join(f"- [{name}]({name}.md): {LEADS.get(name, '')}" for name in names)
    toc = "\n".join(["```{toctree}", ":hidden:", *names, "```"])
    lead = f'Each loads by its name: `rd.load("{names[0]}")`.'
    text = f"# Bundled mechanisms\n\n{lead}\n\n{rows}\n\n{toc}\n"
    _write(folder / "index.md", text)
    for name in names:
        _write(folder / f"{name}.md", _page(name, folder))


def _page(name: str, folder: Path) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism, reported = read(name, False)
    picture = folder / f"{name}.png"
    write_image(home_chart(mechanism), picture)
    found = findings(mechanism, reported, name) | {"source": name}
    texts = io.StringIO()
    Console(file=texts, width=110).print(check_text(found))
    text = "\n".join(line.rstrip() for line in texts.getvalue().splitlines())
    return (
        f"# {name}\n\n{LEADS.get(name, '')}\n\n![{name} at home]({name}.png)\n\n"
        f"```bash\nrobodyn view {name}\nrobodyn simulate {name}\n"
        f"ros2 launch robodyn mechanism_sim.launch.py model:={name}\n```\n\n"
        f"`robodyn check {name}` says of it:\n\n```text\n{text}\n```\n"
    )


def _write(file: Path, text: str) -> None:
    """Only when it differs, so that what depends on it is not built again."""
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
