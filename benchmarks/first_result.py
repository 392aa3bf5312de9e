# SPDX-License-Identifier: Apache-2.0

"""Processor time of a first result with an empty kernel cache.

    python -m benchmarks.first_result [MODEL ...] [--runs 3]

For each model a new process imports the library, loads the model and computes the inverse dynamics
at home, at rest. Its kernels are compiled for that and forgotten. A run before the first, which is
not counted, compiles Python's bytecode. The median of the runs, in seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from statistics import median

MODELS = ("puma560", "stewart_dasgupta", "delta")
WORK = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import robodyn as rd
times = [time.process_time()]
m = rd.load(sys.argv[1])
times.append(time.process_time())
rest = np.zeros(m.coordinates.velocity_size)
m.inverse_dynamics(m.home, rest, rest)
times.append(time.process_time())
print(*times)
"""


def first_result(model: str) -> list[float]:
    """Return the processor time (3,) [s] up to the import, the loaded model and the efforts."""
    with tempfile.TemporaryDirectory() as folder:
        given = {key: text for key, text in os.environ.items() if key != "NUMBA_CACHE_DIR"}
        given |= {"XDG_CACHE_HOME": folder}
        given.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, "-c", WORK, model],
            env=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
        )  # fmt: skip
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    print("| | import | load | inverse dynamics | all |\n|---|---|---|---|---|")
    first_result(given.models[0])
    for model in given.models:
        runs = [first_result(model) for _ in range(given.runs)]
        imported, loaded, done = (median(column) for column in zip(*runs, strict=True))
        parts = imported, loaded - imported, done - loaded, done
        print(f"| {model} | " + " | ".join(f"{part:.2f} s" for part in parts) + " |", flush=True)


if __name__ == "__main__":
    main()
