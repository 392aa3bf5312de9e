# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Run every comparison and write docs/performance.md with its plots."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import loops, report, simulation, work

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
            platform=work.one_platform(),
            forward=work.forward_platform(),
            rest=work.rest_of_platform(),
            arm=work.one_arm(),
            loops=loops.tables(),
            batches=batches,
            many=work.many(),
            roof=work.roof(batches["one thread"][-1][1]),
            joints=work.joints(),
            simulation=simulation.table([*simulation.path_one(), *simulation.many()]),
        )
    )
