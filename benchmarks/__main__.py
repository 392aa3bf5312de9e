# SPDX-License-Identifier: Apache-2.0

"""Run every comparison and write docs/performance.md with its plots."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import batch_plant, exported_calls, links, loops, report, simulation, trees, work

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    own = Path(__file__).parents[1] / "docs"
    parser.add_argument("docs", nargs="?", type=Path, default=own, help="folder that it writes to")
    docs = parser.parse_args().docs
    (docs / "images").mkdir(parents=True, exist_ok=True)
    batches = work.batches()
    sys.stdout.write(
        report.write(
            docs,
            single={
                "platform": work.one_platform(),
                "forward": work.forward_platform(),
                "rest": work.rest_of_platform(),
            },
            arm=work.one_arm(),
            loops=loops.tables(),
            batches=batches,
            joints=work.joints(),
            many=work.many(),
            others=work.roof(batches["one thread"][-1][1])
            | {
                "simulation": simulation.table([*simulation.path_one(), *simulation.many()]),
                "links": links.table(),
                "trees": trees.table(),
                "plants": batch_plant.table(),
                "exported": exported_calls.table("stewart_symmetric"),
            },
        )
    )
