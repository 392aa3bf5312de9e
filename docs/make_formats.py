# SPDX-License-Identifier: Apache-2.0

"""Write docs/formats.md: public MJCF, SDF and parallel robots read, compared and written back.

    python docs/make_formats.py FOLDER

FOLDER holds checkouts of the repositories named below, each under its own name. Their files stay
there; the page holds what was found.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import robodyn as rd
from robodyn.formats.xml_text import root_tag
from robodyn.formats.yaml_text import read_text
from robodyn.parsing.mjcf.compiled import CompiledModel

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "test" / "robodyn" / "formats"))

from test_mjcf_saving import motion_in_mujoco  # noqa: E402

from robodyn.solvers.tree.closing.kinematics import tangent  # noqa: E402

STATES, SEED = 3, 26
# Title, repository and pattern of its files.
GROUPS = (
    ("MuJoCo Menagerie", "google-deepmind/mujoco_menagerie", "*/*.xml"),
    ("robosuite, robots", "ARISE-Initiative/robosuite",
     "robosuite/models/assets/robots/*/robot.xml"),
    ("robosuite, grippers", "ARISE-Initiative/robosuite",
     "robosuite/models/assets/grippers/*[!r]_*.xml"),
    ("Gymnasium-Robotics", "Farama-Foundation/Gymnasium-Robotics",
     "gymnasium_robotics/envs/mujoco/assets/*.xml"),
    ("Gymnasium-Robotics, Adroit hand", "Farama-Foundation/Gymnasium-Robotics",
     "gymnasium_robotics/envs/assets/adroit_hand/*.xml"),
    ("Gymnasium-Robotics, Shadow hand", "Farama-Foundation/Gymnasium-Robotics",
     "gymnasium_robotics/envs/assets/hand/[mr][ae]*[hk].xml"),
    ("dm_control suite", "google-deepmind/dm_control", "dm_control/suite/*.xml"),
    ("Gepetto's parallel robots", "Gepetto/example-parallel-robots", "robots/*/robot.yaml"),
)  # fmt: skip
SDF = "gazebosim/gz-sim"
HEAD = """\
# Public files of other formats

This page lists public MJCF and SDF files, and shows how accurately robodyn reads them. The page
also covers Gepetto's parallel robots. Each file is read as a tree of joints with loop closures
(`kind="closed_loop"`), and the inverse dynamics are compared with those of MuJoCo. The mechanism is
then written to a file of every format and read again. To load a file, use its path in a checkout of
its repository ([MJCF](model_files.md#mjcf) requires the package `mujoco`):

```bash
git clone https://github.com/google-deepmind/mujoco_menagerie
robodyn check mujoco_menagerie/agilex_piper/piper.xml --kind closed_loop
```

`python docs/make_formats.py FOLDER` generates the tables from checkouts of the repositories in
`FOLDER`. robodyn does not contain any of these files. [Public robots](robots.md) covers URDF and
xacro.

The columns of the tables:

- **freedoms, driven, closures**: number of degrees of freedom, number of driven joints, and types
  of the loop closures.
- **MuJoCo**: largest difference from the inverse dynamics of MuJoCo at {states} random states near
  home, relative to the largest effort. Friction, springs and the forces of a surrounding fluid are
  excluded. MuJoCo compiles the original file or, for a parallel robot, the MJCF file that robodyn
  writes. MuJoCo's efforts are projected onto the motions that couplings and closures permit.
- **URDF, SDF, MJCF**: relative difference of the inverse dynamics after `rd.save` writes the
  mechanism in this format and `rd.load` reads it again.
- **simulated**: largest change of the total energy in 0.05 s of free motion without friction and
  efforts, relative to the largest kinetic energy. Floating bases move freely in the simulation.

If a file cannot be read or a comparison is not possible, the table contains the error message after
`refused` or `no`.

The tables use a copy of MuJoCo Menagerie from July 2026 without files of 4 MiB or more. Models that
refer to such a file cannot be loaded.

libsdformat 12 reads without errors the SDF files that robodyn writes for the bundled closed loops
and platforms. For eleven of libsdformat's own test files, the link poses of libsdformat and robodyn
agree within 2e-15. libsdformat rejects the bundled arm `puma560` because its published inertias are
not physically possible."""
# Parts and variants of the same robots, which are left out.
VARIANTS = ("scene", "mjx", "keyframe")


def effort(mechanism: Any, state: tuple[Any, ...]) -> Any:
    """Efforts as if the independent joints were driven."""
    return mechanism.free_efforts(*state)


def states(mechanism: Any) -> list[tuple[Any, ...]]:
    """Configurations near home, velocities and accelerations."""
    rng, count = np.random.default_rng(SEED), mechanism.mobility
    out = []
    for _ in range(STATES):
        step = rng.uniform(-0.01, 0.01, count) * min(1.0, 2.0 * mechanism.size)
        out.append((mechanism.advance(mechanism.home, step), *rng.uniform(-1.0, 1.0, (2, count))))
    return out


def written(mechanism: Any, ending: str) -> str:
    """Return the error of the inverse dynamics of the written file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"m{ending}"
        try:
            rd.save(mechanism, file)
        except rd.RobodynError as error:
            return f"no: {shortened(error)}"
        again = rd.load(file, kind="closed_loop")
    worst = 0.0
    for state in states(mechanism):
        expected = effort(mechanism, state)
        off = np.abs(effort(again, state) - expected).max() / np.abs(expected).max()
        worst = max(worst, float(off))
    return f"{worst:.1e}"


def of_mujoco(mechanism: Any, file: Path) -> str:
    """Return the difference between MuJoCo's inverse dynamics and ours."""
    plain = type(mechanism)(mechanism.model.without_friction())._springless
    with tempfile.TemporaryDirectory() as folder:
        if file.suffix != ".xml":
            plain = type(mechanism)(plain.model.without_actuators())
            file = Path(folder) / "m.xml"
            try:
                rd.save(plain, file)
            except rd.RobodynError:
                return "–"
            plain = rd.load(file, kind="closed_loop")
        model = CompiledModel(file).model
    for name in ("jnt_stiffness", "dof_damping", "dof_frictionloss", "body_gravcomp",
                 "tendon_stiffness", "tendon_damping", "tendon_frictionloss"):  # fmt: skip
        getattr(model, name)[:] = 0.0
    for joint in range(model.njnt):  # what is left out
        if model.jnt_type[joint] <= int(mujoco.mjtJoint.mjJNT_BALL):
            first = model.jnt_dofadr[joint]
            model.dof_armature[first : first + (6 if model.jnt_type[joint] == 0 else 3)] = 0.0
    model.opt.viscosity = model.opt.density = 0.0
    model.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    worst = 0.0
    for q, v, a in states(plain):
        data, spread = motion_in_mujoco(model, plain, q, v, a)
        mujoco.mj_inverse(model, data)
        expected = (spread @ tangent(plain, q)).T @ data.qfrc_inverse
        off = np.abs(effort(plain, (q, v, a)) - expected).max() / np.abs(expected).max()
        worst = max(worst, float(off))
    return f"{worst:.1e}"


def simulated(mechanism: Any) -> str:
    """Return the energy error of a simulation without friction."""
    free = type(mechanism)(mechanism.model.without_friction().without_actuators())
    start = states(free)[0]
    idle = rd.ConstantEffort(np.zeros(len(free.joint_names)))
    try:
        run = rd.simulate(free, idle, duration=0.05, dt=2e-4, initial=start[:2], end_stops=None)
    except rd.RobodynError as error:
        return f"no: {shortened(error)}"
    kinetic, potential = free.energy(run.configuration, run.velocity)
    return f"{np.ptp(kinetic + potential) / kinetic.max():.1e}"


def shortened(error: Exception) -> str:
    """Return the text of an error, without the place of the file."""
    text = str(error).partition(": ")[2] or str(error)
    return text.replace("|", "/")[:200]


def row(file: Path, name: str) -> str:
    """A line of the table."""
    try:
        m = rd.load(file, kind="closed_loop")
    except rd.RobodynError as error:
        return f"| {name} | refused: {shortened(error)} | | | | | | | |"
    closures = ", ".join(sorted({closure.kind for closure in m.model.closures})) or "–"
    try:
        found = [of_mujoco(m, file), *(written(m, ending) for ending in (".urdf", ".sdf", ".xml"))]
        found.append(simulated(m))
    except rd.RobodynError as error:
        found = [f"no: {shortened(error)}", "", "", "", ""]
    cells = [name, str(m.mobility), str(len(m.joint_names)), closures, *found]
    return f"| {' | '.join(cells)} |"


def worlds(folder: Path) -> str:
    """Return a line with the numbers of Gazebo's own files that are read and rejected."""
    several, passive, other = "several", "passive", "other"
    count = dict.fromkeys(("read", several, passive, other), 0)
    for file in sorted(folder.glob("**/*.sdf")):
        if "<joint " not in file.read_text(errors="replace"):
            continue
        try:
            rd.load(file, kind="closed_loop")
            count["read"] += 1
        except rd.RobodynError as error:
            text = str(error)
            which = passive if "no joint is driven" in text else other
            count[several if "models with joints" in text else which] += 1
    return (
        f"robodyn reads {count['read']} of the files with joints in "
        f"[{SDF}](https://github.com/{SDF}). Of the other files, {count[several]} contain several "
        f"models, {count[passive]} contain no driven joint, and {count[other]} are rejected for "
        "other reasons."
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore")
    lines = [HEAD.format(states=STATES)]
    old = (HERE / "formats.md").read_text().split("\n## ")[1:]
    kept = {section.splitlines()[0]: section.rstrip() for section in old}
    for title, repository, pattern in GROUPS:
        root = folder / repository.split("/")[1]
        if not root.is_dir():  # as it was
            lines.append(f"\n## {kept[title]}")
            continue
        lines += [f"\n## {title}\n", f"From [{repository}](https://github.com/{repository}).\n"]
        lines.append(
            "| file | freedoms | driven | closures | MuJoCo | URDF | SDF | MJCF | simulated |"
        )
        lines.append("|---|---|---|---|---|---|---|---|---|")
        for file in sorted(root.glob(pattern)):
            part = file.suffix == ".xml" and root_tag(read_text(file)) != "mujoco"
            if part or any(word in file.stem for word in VARIANTS):
                continue
            name = file.parent.name if file.stem == "robot" else file.stem
            if pattern == "*/*.xml":  # several have the same names
                name = f"{file.parent.name}/{file.stem}"
            lines.append(row(file, name))
            print(lines[-1], flush=True)
    gazebo = folder / SDF.split("/")[1]
    if gazebo.is_dir():
        kept["Gazebo"] = f"Gazebo\n\n{worlds(gazebo)}"
    lines.append(f"\n## {kept['Gazebo']}\n")
    (HERE / "formats.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
