# SPDX-License-Identifier: Apache-2.0

"""Every function of exported libraries against Python, at many random states.

Usage: `python -m benchmarks.exported_bits [--states 100000] [MODEL ...]`; models are names or
files, all bundled ones by default. Prints the largest difference of each function, in parts of the
largest number of its result; 0 are equal bits. It is `test/robodyn/exporting/test_bits.py` at full
length.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import robodyn as rd

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))
sys.path.insert(0, str(Path(__file__).parents[1] / "test" / "robodyn" / "exporting"))
from program import Program
from states import random_states
from test_bits import compare

BLOCK = 1000  # states that are in memory together

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exported_bits")
    parser.add_argument("--states", type=int, default=100_000)
    parser.add_argument("models", nargs="*", default=rd.models())
    given = parser.parse_args()
    for source in given.models:
        m = rd.load(source)
        with tempfile.TemporaryDirectory() as scratch:
            program = Program(m, rd.export(m, Path(scratch) / "library"))
            worst: dict[str, float] = {}
            for seed in range(-(-given.states // BLOCK)):
                found = compare(m, program, random_states(m, BLOCK, seed))
                worst = {name: max(off, worst.get(name, 0.0)) for name, off in found.items()}
        off = ", ".join(f"{name} {x:.1e}" for name, x in worst.items() if x > 0.0)
        sys.stdout.write(f"{m.name}: {len(worst)} functions, {off or 'all bits equal'}\n")
        sys.stdout.flush()
