# SPDX-License-Identifier: Apache-2.0

"""Time of compiling the kernels, entry by entry: `python -m benchmarks.compiling [MODEL ...]`.

Each kind's example is used as `robodyn compile` uses it, with an empty cache, in one process. An
entry's seconds are those of the processor, without and with the parts that were compiled for it;
parts that an earlier entry needed, too, are there already. Of all this, what LLVM spends on passes
and on machine code, and the rest is Numba's own: types, and lowering to LLVM's language.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numba.core import codegen, event

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 40  # rows of the table of parts


@dataclass
class Cost:
    """Processor time [s] of compiling one function for one set of types.

    Attributes:
        name: of the function, with its module.
        is_entry: whether Python calls it.
        own, whole: without and with what was compiled for it.
        passes, code: parts of `own` that LLVM's passes and its machine code took.
        size: of the machine code [bytes].
    """

    name: str
    is_entry: bool
    own: float = 0.0
    whole: float = 0.0
    passes: float = 0.0
    code: float = 0.0
    size: int = 0


@dataclass(eq=False)
class Watch(event.Listener):  # type: ignore[misc]  # Numba is untyped
    """Times functions as Numba compiles them, nested ones apart."""

    costs: list[Cost] = field(default_factory=list)
    open: list[tuple[Cost, float, float]] = field(default_factory=list)

    def on_start(self, event: Any) -> None:
        """Begin with a function."""
        dispatcher = event.data["dispatcher"]
        name = f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__name__}"
        is_entry = type(dispatcher._cache).__name__ == "KernelCache"
        self.open.append((Cost(name, is_entry), time.thread_time(), 0.0))

    def on_end(self, event: Any) -> None:
        """End with it."""
        cost, begun, nested = self.open.pop()
        cost.whole = time.thread_time() - begun
        cost.own = cost.whole - nested
        self.costs.append(cost)
        if self.open:
            outer, start, others = self.open[-1]
            self.open[-1] = outer, start, others + cost.whole

    @contextmanager
    def spending(self, what: str) -> Iterator[None]:
        """Book what is done meanwhile as `passes` or `code` of the innermost function."""
        begun = time.thread_time()
        yield
        if self.open:
            cost = self.open[-1][0]
            setattr(cost, what, getattr(cost, what) + time.thread_time() - begun)

    def follow(self, name: str, what: str) -> None:
        """Book calls of a method of Numba's library of code."""
        library = codegen.JITCodeLibrary
        method, watch = getattr(library, name), self

        def timed(self: Any, *arguments: Any) -> Any:
            with watch.spending(what):
                found = method(self, *arguments)
            if what == "code" and watch.open and getattr(self, "_compiled_object", None):
                watch.open[-1][0].size = len(self._compiled_object)
            return found

        setattr(library, name, timed)


def tables(costs: list[Cost]) -> Iterator[str]:
    """Lines of Markdown: the entries, the dearest parts, and all together."""
    yield "| entry | own | with parts | passes | machine code | kB |"
    yield "|---|---|---|---|---|---|"
    entries = [cost for cost in costs if cost.is_entry]
    for cost in sorted(entries, key=lambda cost: -cost.whole):
        yield (
            f"| {cost.name} | {cost.own:.2f} | {cost.whole:.2f} | {cost.passes:.2f} "
            f"| {cost.code:.2f} | {cost.size / 1e3:.0f} |"
        )
    parts: dict[str, list[Cost]] = defaultdict(list)
    for cost in costs:
        if not cost.is_entry:
            parts[cost.name].append(cost)
    yield ""
    yield "| part | sets of types | own | passes | machine code |"
    yield "|---|---|---|---|---|"
    for name, found in sorted(parts.items(), key=lambda item: -sum(c.own for c in item[1]))[:MOST]:
        own, passes, code = (sum(getattr(c, k) for c in found) for k in ("own", "passes", "code"))
        yield f"| {name} | {len(found)} | {own:.2f} | {passes:.2f} | {code:.2f} |"
    yield ""
    for label, chosen in (
        ("entries", entries),
        ("parts", [cost for cost in costs if not cost.is_entry]),
    ):
        own, passes, code = (sum(getattr(c, k) for c in chosen) for k in ("own", "passes", "code"))
        yield (
            f"{len(chosen)} {label}: {own:.1f} s, of which passes {passes:.1f} s, "
            f"machine code {code:.1f} s, Numba {own - passes - code:.1f} s"
        )


def main(models: list[str]) -> None:
    """Print what compiling costs for some models, by default an example of every kind."""
    watch = Watch()
    for name in ("_optimize_functions", "_optimize_final_module"):
        watch.follow(name, "passes")
    watch.follow("_finalize_specific", "code")
    event.register("numba:compile", watch)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        from robodyn.cli.compile import compile_functions_of
        from robodyn.loading.registry import kinds
        from robodyn.numerics.compilation_notes import notes

        notes.report_to(lambda line: None)
        begun = time.process_time()
        for model in models or [kind.example for kind in kinds().values() if kind.example]:
            start = time.process_time()
            compile_functions_of(model)
            sys.stdout.write(f"{model}: {time.process_time() - start:.1f} s\n")
            sys.stdout.flush()
    for line in tables(watch.costs):
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"in all {time.process_time() - begun:.1f} s of processor time\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help="by default an example of every kind")
    main(parser.parse_args().models)
