# SPDX-License-Identifier: Apache-2.0

"""The supervised controller of an exported library as a process, built with the sanitizers."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
from partial_export import write_controller

import robodyn as rd
from robodyn.algorithms import gravity_vector

SOURCE = Path(__file__).with_name("controller.c")
CHECKED = ["-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
           "-fno-sanitize-recover=all"]  # fmt: skip
COMPUTED_TORQUE, FEED_FORWARD, GRAVITY_COMPENSATION = range(3)
OK, INVALID, LIMITED = 0, 1, 4
BEYOND_ENDS, TOO_FAST, TOO_STRONG, JUMPS = range(7, 11)


class Answer(NamedTuple):
    """Of one update: its status, references refused and why, the target's rates, efforts."""

    status: int
    refused: int
    reason: int
    rates: np.ndarray
    efforts: np.ndarray


def program(folder, name):
    """Compile the controller around an export."""
    made = folder / "controller"
    defined = [f"-DNAME={name}", f"-DUPPER={name.upper()}", f'-DHEADER="{name}_controller.h"']
    compiler = shutil.which("cc") or "gcc"
    files = [str(SOURCE), str(folder / f"lib{name}.a"), "-lm", "-o", str(made)]
    subprocess.run([compiler, *CHECKED, *defined, f"-I{folder}", *files], check=True)
    return made


_made: list[Path] = []


def fivebar_folder(factory):
    """Return the folder with the controller of a five-bar, made once in a process.

    Args:
        factory: the fixture `tmp_path_factory`.
    """
    if not _made:
        folder = factory.mktemp("fivebar")
        write_controller(rd.load("fivebar"), "fivebar", folder)
        program(folder, "fivebar")
        _made.append(folder)
    return _made[0]


class Controller:
    """A running controller."""

    def __init__(self, program, mechanism, control=COMPUTED_TORQUE, gravity=None, leaves=()):
        self.n = len(mechanism.joint_names)
        left = [str(int(term in leaves)) for term in ("friction", "coriolis")]
        numbers = gravity_vector(mechanism) if gravity is None else gravity
        self._process = subprocess.Popen(
            [str(program), str(control), *(repr(float(x)) for x in numbers), *left],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def update(self, positions, rates, reference=None, period=1e-3, wrench=0.0, base=None):
        """One period: efforts for a state and a reference (3, n)."""
        n = self.n
        given = np.zeros((3, n)) if reference is None else reference
        base = [np.nan] * 9 if base is None else base  # which is no base
        record = [
            *np.broadcast_to(positions, n), *np.broadcast_to(rates, n), *np.ravel(given),
            float(reference is not None), period, *np.broadcast_to(wrench, 6), *base,
        ]  # fmt: skip
        self._process.stdin.write(np.array(record, dtype=np.float64).tobytes())
        self._process.stdin.flush()
        size = 3 + 2 * n
        answer = self._process.stdout.read(8 * size)
        assert len(answer) == 8 * size, f"the controller ended: {self._process.wait()}"
        found = np.frombuffer(answer)
        return Answer(*found[:3].astype(int), found[3 : 3 + n], found[3 + n :])

    start = update

    def close(self):
        """End it; the sanitizers find leaks, too."""
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait(timeout=20) == 0

    def __enter__(self):
        return self

    def __exit__(self, *of):
        self.close()


class Library:
    """An exported library, called from Python."""

    def __init__(self, file, name):
        self._library, self._name = ctypes.CDLL(str(file)), name

    def call(self, name, *arguments):
        """Call a function with arrays, None, numbers and whole numbers: its status."""

        def passed(value):
            if value is None or isinstance(value, np.ndarray):
                return ctypes.c_void_p(None if value is None else value.ctypes.data)
            return value if isinstance(value, int) else ctypes.c_double(value)

        return getattr(self._library, f"{self._name}_{name}")(*map(passed, arguments))
