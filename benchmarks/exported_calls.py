# SPDX-License-Identifier: Apache-2.0

"""Time of calls of an exported library: median, 99.9th percentile and maximum of a million.

Usage: `python -m benchmarks.exported_calls [MODEL ...]`. A C program calls each function a million
times, every time at another one of some thousand states, and three times over: what interrupts the
program does not interrupt the same call three times, so the shortest of three is what the call
itself takes. States where a function has no result are left out. Below it, called in a row without
the clock between, but with the copying of a state, the inverse dynamics and their kernel alone in
an object of its own, and the same from Python, unchecked: the least mean of many rounds.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import timeit
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import robodyn as rd
from robodyn.exporting import kind_functions_of
from robodyn.exporting.functions import FUNCTIONS
from robodyn.exporting.machine_code import Target, llvm_of, object_of

sys.path.insert(0, str(Path(__file__).parents[1] / "test" / "robodyn" / "exporting"))
from states import random_states

if TYPE_CHECKING:
    from robodyn.mechanism.mechanism import Mechanism

STATES = 4096

MAIN = """
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "{name}.h"
enum {{ NQ = {upper}_NQ, NV = {upper}_NV, N = {upper}_N, CALLS = 1000000 }};
enum {{ STATES = {states} }};
static struct state {{ double q[NQ], v[NV], a[NV], u[N], x[N]; }} states[STATES], s;
static long kept;
static double took[3][CALLS], big[NV * (NV + N) * 6 + 99];
static double *parts[3] = {{big, big + NV * NV, big + 2 * NV * NV}};
int bare_inverse_dynamics(const double *, const double *, const double *, const double *,
                          const double *, double *);
static long now(void) {{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000L * t.tv_sec + t.tv_nsec;
}}
static int ascending(const void *a, const void *b) {{
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}}
static void measure(const char *what, int (*call)(void), long calls) {{
  long k;
  int pass, status = 0;
  for (pass = 0; pass < 3; pass++) {{
    for (k = 0; k < calls; k++) {{
      s = states[k % kept];
      long start = now();
      status |= call();
      took[pass][k] = (double)(now() - start);
    }}
  }}
  double seen = 0.0;
  for (k = 0; k < calls; k++) {{
    for (pass = 0; pass < 3; pass++) seen = fmax(seen, took[pass][k]);
    took[0][k] = fmin(took[0][k], fmin(took[1][k], took[2][k]));
  }}
  qsort(took[0], (size_t)calls, sizeof(double), ascending);
  printf("%s %.0f %.0f %.0f %.0f %d\\n", what, took[0][calls / 2], took[0][calls - calls / 1000],
         took[0][calls - 1], seen, status);
}}
static int clocks(void) {{ return 0; }}
static int inverse(void) {{ return {name}_inverse_dynamics(s.q, s.v, s.a, 0, 0, big); }}
static int bare(void) {{ return bare_inverse_dynamics(s.q, s.v, s.a, 0, 0, big); }}
static int forward(void) {{ return {name}_forward_dynamics(s.q, s.v, s.u, 0, 0, big); }}
static int kinematics(void) {{ return {name}_configuration(s.x, s.q); }}
static int torque(void) {{
  static double kp[NV], kv[NV];
  int i, status;
  for (i = 0; i < NV; i++) kp[i] = 400.0, kv[i] = 40.0;
  status = {name}_computed_torque(s.q, s.v, {name}_home, s.v, s.a, kp, kv, 0, 0, big);
  return status == {upper}_LIMITED ? 0 : status;
}}
static int step(void) {{ return {name}_step(s.q, s.v, s.u, 0, 0, 1e-3, 1); }}
static int slopes(void) {{
  return {name}_inverse_dynamics_derivatives(s.q, s.v, s.a, 0, 0, s.u, parts[0], parts[1],
                                             parts[2]);
}}
static const struct {{
  const char *name;
  int (*call)(void);
  long calls;
}} measured[] = {{{{"clock", clocks, CALLS}},
                {{"inverse_dynamics", inverse, CALLS}},
                {{"forward_dynamics", forward, CALLS}},
                {{"configuration", kinematics, CALLS}},
                {{"computed_torque", torque, CALLS}},
                {{"step", step, CALLS}},
                {{"inverse_dynamics_derivatives", slopes, CALLS / 50}}}};
enum {{ MEASURED = sizeof measured / sizeof *measured }};
static void per_call(const char *what, int (*call)(void)) {{
  double best = INFINITY;
  int pass, k;
  for (pass = 0; pass < 300; pass++) {{
    long start = now();
    for (k = 0; k < kept; k++) {{
      memcpy(&s, &states[k], offsetof(struct state, u));
      call();
    }}
    best = fmin(best, (double)(now() - start) / (double)kept);
  }}
  printf("%s %.1f 0\\n", what, best);
}}
int main(void) {{
  long k, i, read = (long)fread(states, sizeof s, STATES, stdin);
  for (k = 0; k < read; k++) {{ /* only states where every function has a result */
    int status = 0;
    for (i = 0; i < MEASURED; i++) {{
      s = states[k];
      status |= measured[i].call();
    }}
    if (status == 0) states[kept++] = states[k];
  }}
  if (kept < read / 2) return 1;
  for (i = 0; i < MEASURED; i++) measure(measured[i].name, measured[i].call, measured[i].calls);
  per_call("copying_arguments", clocks);
  per_call("consecutive_inverse_dynamics", inverse);
  per_call("consecutive_kernel_calls", bare);
  return 0;
}}
"""


def table(model: str) -> str:
    """Rows of Markdown: nanoseconds of each function, the clock's own included."""
    m = rd.load(model)
    with tempfile.TemporaryDirectory() as scratch:
        done = rd.export(m, Path(scratch) / "library")
        source, program = done.folder / "calls.c", done.folder / "calls"
        source.write_text(MAIN.format(name=done.name, upper=done.name.upper(), states=STATES))
        library = [f"-I{done.folder}", str(done.folder / f"lib{done.name}.a"), "-lm"]
        kernel = done.folder / "bare.o"
        kernel.write_bytes(object_of(llvm_of("bare", m, {FUNCTIONS[0]: _bare(m)}), Target()))
        command = ["cc", "-O2", str(source), str(kernel), *library, "-o", str(program)]
        subprocess.run(command, check=True)
        given = random_states(m, STATES)
        given = np.hstack([*given[:4], np.tile(m.joint_positions(m.home), (STATES, 1))])
        answer = subprocess.run([program], input=given.tobytes(), capture_output=True, check=True)
    lines = []
    for row in answer.stdout.decode().splitlines():
        name, *numbers, status = row.split()
        if status != "0":
            raise SystemExit(f"{model}: {name} has no result somewhere, statuses {status}")
        numbers += [""] * (4 - len(numbers))
        lines.append(f"| {model} | `{name}` | {' | '.join(numbers)} |\n")
    rates = np.full((2, m.coordinates.velocity_size), 0.1)
    given = m.home, *rates, np.empty(len(m.joint_names))
    names = {"call": m.solver.unchecked.inverse_dynamics, "given": given}
    passed = min(timeit.repeat("call(*given)", globals=names, number=10_000, repeat=20))
    return f"{''.join(lines)}| {model} | `unchecked` | {1e5 * passed:.0f} | | | |\n"


def _bare(m: Mechanism) -> Any:
    """The kernel of the inverse dynamics with nothing around it."""
    inverse = kind_functions_of(m).inverse

    def kernel(*given: Any) -> int:
        return 0 if inverse(*given) else 1

    return kernel


if __name__ == "__main__":
    sys.stdout.write("| model | function | median [ns] | 99.9 % | maximum | with interruptions |\n")
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for chosen in sys.argv[1:] or ("stewart_symmetric", "delta", "puma560"):
        sys.stdout.write(table(chosen))
