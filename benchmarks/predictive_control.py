# SPDX-License-Identifier: Apache-2.0

"""Nonlinear model-predictive control at 1 kHz in C: acados on an exported library.

Usage: `python -m benchmarks.predictive_control [MODEL ...]`, with acados's Python interface
installed, which no package of robodyn needs (`pip install comma-deps-acados` has it with its
libraries). A mechanism goes home from 0.2 rad, or a twentieth of its size, within bounds of its
efforts. Each millisecond is one real-time iteration (Gauss-Newton, HPIPM) over 10 intervals of
20 ms, whose dynamics and Jacobians are those of the exported library, evaluated once an interval:
the acceleration at its start is constant over it. Runge-Kutta of order 2 takes nearly twice the
time, for closed loops that cost the same to 1e-5 (delta) and 1e-4 (platform).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import casadi
import numpy as np

import robodyn as rd
import robodyn.casadi

INTERVALS, INTERVAL, PERIODS = 10, 0.02, 3000


def lay_out(package: Path, root: Path) -> Path:
    """Link a wheel's files as acados's generator expects them below ACADOS_SOURCE_DIR."""
    (root / "interfaces").mkdir(parents=True)
    (root / "interfaces/acados_template").symlink_to(package)
    for part in ("lib", "include", "bin"):
        (root / part).symlink_to(package / "install" / part)
    os.environ["ACADOS_SOURCE_DIR"] = str(root)
    return root


def solver_sources(acados: Path, mechanism: rd.Mechanism, folder: Path) -> list[Path]:
    """Write acados's C of the problem into a folder; return its sources."""
    from acados.acados_template import AcadosModel, AcadosOcp, AcadosOcpSolver

    nv, n = mechanism.coordinates.velocity_size, len(mechanism.joint_names)
    rest = np.zeros(nv)
    holding = mechanism.inverse_dynamics(mechanism.home, rest, rest)
    f = casadi.external("robot_casadi_forward_dynamics", str(folder / "librobot.so"))
    x, v, u = (casadi.MX.sym(name, size) for name, size in (("x", nv), ("v", nv), ("u", n)))
    a = f(x, v, u)
    rate = robodyn.casadi.displacement_rate(mechanism)(x, v + 0.5 * INTERVAL * a)
    ocp, model = AcadosOcp(acados_path=str(acados)), AcadosModel()
    model.name, model.x, model.u = "robot", casadi.vertcat(x, v), u
    model.f_expl_expr = casadi.vertcat(rate, a)
    ocp.model = model
    ocp.dims.N, ocp.solver_options.tf = INTERVALS, INTERVALS * INTERVAL
    scale = 1.0 / np.maximum(np.abs(holding).max(), 1.0)
    weights = [1e3] * nv + [10.0] * nv
    ocp.cost.cost_type = ocp.cost.cost_type_e = "LINEAR_LS"
    ocp.cost.W = np.diag([*weights, *[1e-2 * scale**2] * n])
    ocp.cost.W_e = np.diag(weights)
    ocp.cost.Vx, ocp.cost.Vu = np.eye(2 * nv + n, 2 * nv), np.eye(2 * nv + n, n, -2 * nv)
    ocp.cost.Vx_e = np.eye(2 * nv)
    ocp.cost.yref, ocp.cost.yref_e = np.append(np.zeros(2 * nv), holding), np.zeros(2 * nv)
    limit = np.minimum(mechanism.effort_limits, 4.0 * np.abs(holding).max() + 1.0)
    ocp.constraints.lbu, ocp.constraints.ubu = -limit, limit
    ocp.constraints.idxbu, ocp.constraints.x0 = np.arange(n), np.zeros(2 * nv)
    ocp.solver_options.integrator_type = "ERK"
    ocp.solver_options.sim_method_num_stages = 1
    ocp.solver_options.nlp_solver_type = "SQP_RTI"
    ocp.solver_options.qp_solver = "PARTIAL_CONDENSING_HPIPM"
    ocp.solver_options.qp_solver_cond_N = 5
    ocp.code_export_directory = str(folder / "generated")
    AcadosOcpSolver.generate(ocp, json_file=str(folder / "robot.json"))
    written = sorted(Path(ocp.code_export_directory).rglob("*.c"))
    return [file for file in written if not file.name.startswith(("main_", "acados_sim_solver"))]


def run(package: Path, name: str) -> str:
    """Export, generate, compile and run; a line with processor times [us]."""
    mechanism = rd.load(name).without_dry_friction()
    away = 0.05 * mechanism.size if name.startswith("stewart") else 0.2
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rd.export(mechanism, folder, name="robot", casadi=True)
        acados = lay_out(package, folder / "acados")
        sources = solver_sources(acados, mechanism, folder)
        libraries = [acados / "lib" / f"lib{each}.so" for each in ("acados", "hpipm", "blasfeo")]
        include = [folder, folder / "generated", acados / "include"]
        include += [acados / "include" / each / "include" for each in ("blasfeo", "hpipm")]
        sources.append(Path(__file__).with_suffix(".c"))
        command = [
            "cc",
            "-O2",
            f"-DAWAY={away}",
            f"-DPERIODS={PERIODS}",
            "-o",
            str(folder / "loop"),
        ]
        command += [f"-I{each}" for each in include]
        command += map(str, [*sources, folder / "librobot.so", *libraries])
        command += ["-lm", f"-Wl,-rpath-link,{acados / 'lib'}"]
        subprocess.run(command, check=True)
        paths = os.environ | {"LD_LIBRARY_PATH": f"{acados / 'lib'}:{folder}"}
        loop = [str(folder / "loop")]
        done = subprocess.run(loop, capture_output=True, text=True, check=True, env=paths)
    *times, end = map(float, done.stdout.split())
    ordered = np.sort(times)
    return (
        f"{name}: median {np.median(ordered):.0f} us, 99 % {np.quantile(ordered, 0.99):.0f} us, "
        f"most {ordered[-1]:.0f} us of {len(times)} periods; {end:.1e} from home at the end\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.predictive_control")
    parser.add_argument("models", nargs="*", default=["delta", "stewart_symmetric"])
    try:
        import acados
    except ImportError:
        sys.exit("acados is not installed: pip install comma-deps-acados")
    for model in parser.parse_args().models:
        sys.stdout.write(run(Path(acados.__file__).parent, model))
        sys.stdout.flush()
