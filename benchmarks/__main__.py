"""Run every comparison and write docs/performance.md with its plots."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import report, simulation, work

if __name__ == "__main__":
    docs = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs"
    batches = work.batches()
    sys.stdout.write(
        report.write(
            docs,
            platform=work.one_platform(),
            forward=work.forward_platform(),
            rest=work.rest_of_platform(),
            arm=work.one_arm(),
            batches=batches,
            many=work.many(),
            roof=work.roof(batches["one thread"][-1][1]),
            joints=work.joints(),
            simulation=simulation.table([*simulation.path_one(), *simulation.many()]),
        )
    )
