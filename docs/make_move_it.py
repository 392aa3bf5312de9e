# SPDX-License-Identifier: Apache-2.0

"""The page "Move it": three mechanisms as WebAssembly, drawn and computed in one file of HTML.

`make docs` calls it; `python docs/make_move_it.py FILE` writes the page alone.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.errors import MissingExtra
from robodyn.exporting.functions import functions_of
from robodyn.exporting.machine_code import llvm_of
from robodyn.exporting.wasm import wasm_linker, write_wasm

HERE = Path(__file__).resolve().parent
MECHANISMS = {"stewart_symmetric": "platform", "delta": "delta", "puma560": "arm"}
STARTS = {"puma560": [0.3, 0.9, -2.1, 0.0, 0.6, 0.0]}  # at home its wrist is singular
NEEDED = (
    "inverse_dynamics",
    "joint_positions",
    "configuration",
    "body_pose",
    "twist_jacobian",
    "condition_number",
)


def write_move_it(file: Path) -> None:
    """Write the page, or without a linker one that states this."""
    template = (HERE / "move_it_page.html").read_text(encoding="utf-8")
    try:
        wasm_linker()
    except MissingExtra as missing:
        file.write_text(f"<p>This page was built without its mechanisms: {missing}</p>\n")
        return
    parts = [_mechanism(name, label) for name, label in MECHANISMS.items()]
    file.write_text(template.replace("@MECHANISMS@", "\n".join(parts)), encoding="utf-8")


def _mechanism(name: str, label: str) -> str:
    """A block of JavaScript that adds a mechanism to those of the page."""
    m = rd.load(name)
    functions = {f: code for f, code in functions_of(m).items() if f.name in NEEDED}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        list(write_wasm(name, m, llvm_of(name, m, functions), functions, folder))
        code = base64.b64encode((folder / f"{name}.wasm").read_bytes()).decode()
        wrapper = re.sub(r"^export ", "", (folder / f"{name}.mjs").read_text(), flags=re.MULTILINE)
    reported = {"label": label, "start": STARTS.get(name, m.home.tolist())}
    reported |= _legs(m) if isinstance(m, rd.StewartPlatform) else _tree(m)
    return f"{{\n{wrapper}\nadd(load, {json.dumps(reported)}, {json.dumps(code)});\n}}"


def _legs(m: Any) -> dict[str, Any]:
    """A platform: two polygons and the legs between them."""
    ends = m.structure.joint_centers
    around = [_around(points) for points in ends]
    lines = [
        [[link, *ends[link][i].tolist()] for i in (*around[link], around[link][0])]
        for link in (0, 1)
    ]
    lines += [[[0, *base.tolist()], [1, *tip.tolist()]] for base, tip in zip(*ends, strict=True)]
    joint = {"parent": 0, "kind": "floating", "at": _flat(np.eye(4)), "from": _flat(np.eye(4))}
    return {"joints": [joint | {"index": 0}], "lines": lines, "size": m.size, "isPose": True}


def _around(points: np.ndarray) -> list[int]:
    off = points - points.mean(axis=0)
    return np.argsort(np.arctan2(off[:, 1], off[:, 0])).tolist()


def _tree(m: Any) -> dict[str, Any]:
    """Links from the joint that carries each to the joints and closures on it."""
    model, names = m.model, list(m.coordinates.configuration_names)
    links, joints = [model.joints[0].parent], []
    while len(joints) < len(model.joints):
        for joint in model.joints:
            if joint.parent in links and joint.child not in links:
                joints.append(joint)
                links.append(joint.child)
    points: dict[str, list[Any]] = {j.child: [j.child_at.translation] for j in joints}
    for part in (*joints, *model.closures):
        if getattr(part, "kind", "") != "floating":
            points.setdefault(part.parent, []).append(part.at.translation)
    for closure in model.closures:
        points[closure.child].append(closure.child_at.translation)
    reported = []
    for joint in joints:
        index = next((i for i, n in enumerate(names) if n.split(".")[0] == joint.name), -1)
        reported.append(
            {
                "parent": links.index(joint.parent),
                "kind": joint.kind,
                "at": _flat(joint.at.matrix),
                "from": _flat(np.linalg.inv(joint.child_at.matrix)),
                "axis": joint.axis.tolist(),
                "index": index,
            }
        )
    lines = []
    for link, placed in points.items():
        closed = [*placed, placed[0]] if len(placed) > 2 else placed
        lines.append([[links.index(link), *point.tolist()] for point in closed])
    return {"joints": reported, "lines": lines, "size": m.size, "isPose": False}


def _flat(matrix: np.ndarray) -> list[float]:
    return matrix.ravel().tolist()


if __name__ == "__main__":
    write_move_it(Path(sys.argv[1]))
