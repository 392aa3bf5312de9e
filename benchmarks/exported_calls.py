# SPDX-License-Identifier: Apache-2.0

"""How long calls of an exported library take: median, 99.9 of 100, and the worst of a million.

Usage: `python -m benchmarks.exported_calls [MODEL ...]`. A C program calls each function a million
times, every time at another state, and three times over: what interrupts the program does not
interrupt the same call three times, so the shortest of three is what the call itself takes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import robodyn as rd

MAIN = """
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "{name}.h"
enum {{ NQ = {upper}_NQ, NV = {upper}_NV, N = {upper}_N, CALLS = 1000000 }};
static double took[3][CALLS];
static double q[NQ], v[NV], a[NV], u[N], x[N], big[NV * (NV + N) * 6 + 99];
static double *parts[3] = {{big, big + NV * NV, big + 2 * NV * NV}};
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
  int pass, i, status = 0;
  for (pass = 0; pass < 3; pass++) {{
    srand(1);
    for (i = 0; i < NQ; i++) q[i] = {name}_home[i];
    for (k = 0; k < calls; k++) {{
      for (i = 0; i < NV; i++) v[i] = rand() / (double)RAND_MAX - 0.5;
      for (i = 0; i < NV; i++) a[i] = rand() / (double)RAND_MAX - 0.5;
      {name}_joint_positions({name}_home, x);
      for (i = 0; i < N; i++) x[i] += 0.05 * (rand() / (double)RAND_MAX - 0.5);
      {name}_configuration(x, q); /* from the last one, as in a loop */
      {name}_joint_positions({name}_home, x); /* the next one's way: some centimetres */
      for (i = 0; i < N; i++) u[i] = 10.0 * (rand() / (double)RAND_MAX - 0.5);
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
static int inverse(void) {{ return {name}_inverse_dynamics(q, v, a, 0, 0, big); }}
static int forward(void) {{ return {name}_forward_dynamics(q, v, u, 0, 0, big); }}
static int kinematics(void) {{ return {name}_configuration(x, q); }}
static int torque(void) {{
  static double kp[NV], kv[NV];
  int i, status;
  for (i = 0; i < NV; i++) kp[i] = 400.0, kv[i] = 40.0;
  status = {name}_computed_torque(q, v, {name}_home, v, a, kp, kv, 0, 0, big);
  return status == {upper}_LIMITED ? 0 : status;
}}
static int step(void) {{ return {name}_step(q, v, u, 0, 0, 1e-3, 1); }}
static int slopes(void) {{
  return {name}_inverse_dynamics_derivatives(q, v, a, 0, 0, u, parts[0], parts[1], parts[2]);
}}
int main(void) {{
  measure("clock", clocks, CALLS);
  measure("inverse_dynamics", inverse, CALLS);
  measure("forward_dynamics", forward, CALLS);
  measure("configuration", kinematics, CALLS);
  measure("computed_torque", torque, CALLS);
  measure("step", step, CALLS);
  measure("inverse_dynamics_derivatives", slopes, CALLS / 10);
  return 0;
}}
"""


def table(model: str) -> str:
    """Rows of Markdown: nanoseconds of each function, the clock's own included."""
    with tempfile.TemporaryDirectory() as scratch:
        done = rd.export(rd.load(model), Path(scratch) / "library")
        source, program = done.folder / "calls.c", done.folder / "calls"
        source.write_text(MAIN.format(name=done.name, upper=done.name.upper()))
        library = [f"-I{done.folder}", str(done.folder / f"lib{done.name}.a"), "-lm"]
        subprocess.run(["cc", "-O2", str(source), *library, "-o", str(program)], check=True)
        rows = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    lines = []
    for row in rows.splitlines():
        name, *numbers, status = row.split()
        if status != "0":
            raise SystemExit(f"{model}: {name} has no result somewhere, statuses {status}")
        lines.append(f"| {model} | `{name}` | {' | '.join(numbers)} |\n")
    return "".join(lines)


if __name__ == "__main__":
    sys.stdout.write("| model | function | median [ns] | 99.9 % | worst | worst as seen |\n")
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for chosen in sys.argv[1:] or ("stewart_symmetric", "delta", "puma560"):
        sys.stdout.write(table(chosen))
