# SPDX-License-Identifier: Apache-2.0

"""10,000 random sequences for a machine: goals, streams, requests, silence, disobedience, garbage.

`python -m benchmarks.machine_sequences [COUNT] [MODEL ...]`: the tests' own, more of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import robodyn as rd

sys.path.insert(0, str(Path(__file__).parents[1] / "test/robodyn/motion_base/machine"))
MODELS = ("stewart_symmetric", "delta", "puma560")

if __name__ == "__main__":
    from test_machine import random_sequences

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    models = sys.argv[2:] or MODELS
    for name in models:
        states = random_sequences(rd.load(name), np.random.default_rng(0), -(-count // len(models)))
        sys.stdout.write(f"{name}: no limit broken, no jump; states {', '.join(sorted(states))}\n")
