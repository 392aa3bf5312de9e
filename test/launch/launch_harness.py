# SPDX-License-Identifier: Apache-2.0

"""One `ros2 launch` as users type it, and what it leaves behind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ros_harness import PATIENCE, Process, free_domain

# One flight of six seconds takes about as long; a loaded machine may need much longer.
FLIGHT = 300.0
NODES = (
    "condition_monitor",
    "forward_simulator",
    "inverse_dynamics",
    "run_summary",
    "trajectory_planner",
)


def ros2() -> str:
    """The `ros2` command of this environment."""
    beside = Path(sys.executable).with_name("ros2")
    return str(beside) if beside.exists() else "ros2"


class History(NamedTuple):
    """`history.csv`: every array has a row an instant."""

    time: np.ndarray
    pose: np.ndarray
    twist: np.ndarray
    planned: np.ndarray
    effort: np.ndarray
    condition_number: np.ndarray


class Launch:
    """One `ros2 launch` with its own domain and output folder."""

    def __init__(
        self,
        folder: Path,
        arguments: dict[str, object],
        file: str = "stewart_sim.launch.py",
        domain: int | None = None,
    ) -> None:
        self.output_folder = folder / "run"
        # a node on a busy machine may need time to end, but must not get a second signal
        given = {"output": self.output_folder, "sigterm_timeout": PATIENCE} | arguments
        words = [f"{name}:={value}" for name, value in given.items()]
        self.domain = domain or free_domain()
        self.process = Process(
            [ros2(), "launch", "robodyn", file, *words],
            self.domain,
            cwd=folder,
        )

    def wait(self) -> int:
        """Return the exit code, once every process has ended at the first signal, if any."""
        code = self.process.wait(FLIGHT)
        assert "escalating" not in self.output, self.output
        return code

    @property
    def output(self) -> str:
        return self.process.output

    @property
    def lines(self) -> list[str]:
        return self.process.lines

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads((self.output_folder / "summary.json").read_text())

    @property
    def history_bytes(self) -> bytes:
        return (self.output_folder / "history.csv").read_bytes()

    @property
    def history(self) -> History:
        header, *rows = self.history_bytes.decode().splitlines()
        names = header.split(",")
        table = np.array([[float(word or "nan") for word in row.split(",")] for row in rows])

        def columns(*expected: str) -> np.ndarray:
            return table[:, [names.index(name) for name in expected]]

        pose = ("x", "y", "z", "qx", "qy", "qz", "qw")
        efforts = [name for name in names if name.startswith("effort_")]
        return History(
            columns("time")[:, 0],
            columns(*pose),
            columns("vx", "vy", "vz", "wx", "wy", "wz"),
            columns(*(f"planned_{name}" for name in pose)),
            columns(*efforts),
            columns("condition_number")[:, 0],
        )

    def pid_of(self, node: str) -> int:
        """Process id of a node, once it runs."""
        line = self.process.wait_for_line(f"[{node}-", "process started with pid")
        return int(line.rsplit("[", 1)[1].rstrip("]"))

    def close(self) -> None:
        self.process.close()
