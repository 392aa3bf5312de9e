# SPDX-License-Identifier: Apache-2.0

"""How long calls of an exported library take: median, 99.9 of 100, and the worst of a million.

Usage: `python -m benchmarks.exported_calls [MODEL ...]`. A C program calls each function a million
times, every time at another one of some thousand states, and three times over: what interrupts the
program does not interrupt the same call three times, so the shortest of three is what the call
itself takes. Beside it the kernel of the inverse dynamics alone in an object of its own, and the
same from Python, unchecked (the median only).
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
from robodyn.exporting.functions import FUNCTIONS
from robodyn.exporting.machine_code import Target, llvm_of, object_of
from robodyn.mechanisms.registry import kinds

if TYPE_CHECKING:
    from robodyn.mechanisms.mechanism import Mechanism

MAIN = """
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "{name}.h"
enum {{ NQ = {upper}_NQ, NV = {upper}_NV, N = {upper}_N, CALLS = 1000000 }};
enum {{ STATES = 4096 }};
static struct state {{ double q[NQ], v[NV], a[NV], u[N], x[N]; }} states[STATES], s;
static double took[3][CALLS], big[NV * (NV + N) * 6 + 99];
static double *parts[3] = {{big, big + NV * NV, big + 2 * NV * NV}};
int bare_inverse_dynamics(const double *, const double *, const double *, const double *,
                          const double *, double *);
static double within(double most) {{ return most * (2.0 * rand() / (double)RAND_MAX - 1.0); }}
static long now(void) {{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000L * t.tv_sec + t.tv_nsec;
}}
static void prepare(void) {{
  int i, k;
  for (i = 0; i < NQ; i++) s.q[i] = {name}_home[i];
  for (k = 0; k < STATES; k++) {{
    for (i = 0; i < NV; i++) s.v[i] = within(0.5), s.a[i] = within(0.5);
    for (i = 0; i < N; i++) s.u[i] = within(5.0);
    {name}_joint_positions({name}_home, s.x);
    for (i = 0; i < N; i++) s.x[i] += within(0.025);
    {name}_configuration(s.x, s.q);
    {name}_joint_positions({name}_home, s.x); /* the way of forward kinematics: centimetres */
    states[k] = s;
  }}
}}
static int ascending(const void *a, const void *b) {{
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}}
static void measure(const char *what, int (*call)(void), long calls) {{
  long k;
  int pass, status = 0;
  for (pass = 0; pass < 3; pass++) {{
    for (k = 0; k < calls; k++) {{
      s = states[k % STATES];
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
int main(void) {{
  prepare();
  measure("clock", clocks, CALLS);
  measure("inverse_dynamics", inverse, CALLS);
  measure("kernel", bare, CALLS);
  measure("forward_dynamics", forward, CALLS);
  measure("configuration", kinematics, CALLS);
  measure("computed_torque", torque, CALLS);
  measure("step", step, CALLS);
  measure("inverse_dynamics_derivatives", slopes, CALLS / 50);
  return 0;
}}
"""


def table(model: str) -> str:
    """Rows of Markdown: nanoseconds of each function, the clock's own included."""
    m = rd.load(model)
    with tempfile.TemporaryDirectory() as scratch:
        done = rd.export(m, Path(scratch) / "library")
        source, program = done.folder / "calls.c", done.folder / "calls"
        source.write_text(MAIN.format(name=done.name, upper=done.name.upper()))
        library = [f"-I{done.folder}", str(done.folder / f"lib{done.name}.a"), "-lm"]
        kernel = done.folder / "bare.o"
        kernel.write_bytes(object_of(llvm_of("bare", m, {FUNCTIONS[0]: _bare(m)}), Target()))
        command = ["cc", "-O2", str(source), str(kernel), *library, "-o", str(program)]
        subprocess.run(command, check=True)
        rows = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    lines = []
    for row in rows.splitlines():
        name, *numbers, status = row.split()
        if status != "0":
            raise SystemExit(f"{model}: {name} has no result somewhere, statuses {status}")
        lines.append(f"| {model} | `{name}` | {' | '.join(numbers)} |\n")
    given = m.home, *np.full((2, m.coordinates.velocity_size), 0.1)
    names = {"call": m.unchecked.inverse_dynamics, "given": given}
    passed = min(timeit.repeat("call(*given)", globals=names, number=10_000, repeat=20))
    return f"{''.join(lines)}| {model} | `unchecked` | {1e5 * passed:.0f} | | | |\n"


def _bare(m: Mechanism) -> Any:
    """The kernel of the inverse dynamics with nothing around it."""
    inverse = kinds()[m.kind].adapter("export")(m).inverse

    def kernel(q: Any, v: Any, a: Any, wrench: Any, base: Any, out: Any) -> int:
        return 0 if inverse(q, v, a, wrench, base, out) else 1

    return kernel


if __name__ == "__main__":
    sys.stdout.write("| model | function | median [ns] | 99.9 % | worst | worst as seen |\n")
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for chosen in sys.argv[1:] or ("stewart_symmetric", "delta", "puma560"):
        sys.stdout.write(table(chosen))
