# SPDX-License-Identifier: Apache-2.0

"""A C program around an exported library: inputs of many calls in, results and statuses out."""

import subprocess

import numpy as np

from robodyn.exporting import library_functions

MAIN = """
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "{name}.h"

static long allocations;
#ifdef __GLIBC__
extern void *__libc_malloc(size_t size);
void *malloc(size_t size) {{
  __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  return __libc_malloc(size);
}}
#endif

{functions}

typedef void (*Call)(const double *, double *);
static const Call calls[] = {{{names}}};
static const int wide[][2] = {{{widths}}};
static const double *in;
static long rows;
static int which;

static void *run(void *out) {{
  for (long i = 0; i < rows; i++)
    calls[which](in + i * wide[which][0], (double *)out + i * wide[which][1]);
  return NULL;
}}

int main(int argc, char **argv) {{
  which = atoi(argv[1]);
  rows = atol(argv[2]);
  size_t n = (size_t)(rows * wide[which][0]), m = (size_t)(rows * wide[which][1]);
  double *given = calloc(n + 1, 8), *out = calloc(m, 8), *again = calloc(m, 8);
  if (fread(given, 8, n, stdin) != n) return 1;
  in = given;
  long before = allocations;
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  run(out);
  clock_gettime(CLOCK_MONOTONIC, &b);
  if (allocations != before) return 2;
  if (argc > 3) {{ /* two threads at once */
    double *third = calloc(m, 8);
    pthread_t one, two;
    pthread_create(&one, NULL, run, again);
    pthread_create(&two, NULL, run, third);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    if (memcmp(out, again, 8 * m) || memcmp(out, third, 8 * m)) return 3;
  }}
  fwrite(out, 8, m, stdout);
  double passed = 1e9 * (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec);
  fprintf(stderr, "%.1f", passed / (double)rows);
  return 0;
}}
"""


class Program:
    """The functions of an exported library, called for many rows of inputs.

    Each input is (rows, size), absent where it may be NULL and is None. The library may have `only`
    some of its functions.
    """

    def __init__(self, mechanism, exported, compiler="cc", runner=(), flags=(), only=()):
        self.sizes = {
            "NQ": len(mechanism.home),
            "NV": mechanism.coordinates.velocity_size,
            "N": len(mechanism.joint_names),
        }
        self.functions = [f for f in library_functions(mechanism) if not only or f.name in only]
        self.folder, self.runner, self.nanoseconds = exported.folder, runner, 0.0
        texts = [self._text(exported.name, k, f) for k, f in enumerate(self.functions)]
        source = self.folder / "check.c"
        source.write_text(
            MAIN.format(
                name=exported.name,
                functions="\n".join(texts),
                names=", ".join(f"call_{k}" for k in range(len(self.functions))),
                widths=", ".join(f"{{{self._in(f)}, {self._out(f)}}}" for f in self.functions),
            )
        )
        command = [*compiler.split(), "-O1", "-Wall", "-Wextra", "-Werror", *flags, str(source)]
        command += [f"-I{self.folder}", str(self.folder / f"lib{exported.name}.a")]
        subprocess.run([*command, "-lm", "-lpthread", "-o", str(self.folder / "check")], check=True)

    def _size(self, argument):
        return eval(argument.size, {}, self.sizes) if argument.size else 1

    def _in(self, function):
        # a flag for what may be NULL
        return sum(
            (a.use != "out") * self._size(a) + (a.use == "maybe") for a in function.arguments
        )

    def _out(self, function):
        return 1 + sum(self._size(a) for a in function.arguments if a.use in ("out", "inout"))

    def _text(self, name, k, function):
        lines, given, at, to = [], [], 0, 1
        for argument in function.arguments:
            size = self._size(argument)
            if argument.use == "in":
                given.append(f"in + {at}")
            elif argument.use == "maybe":
                given.append(f"in[{at}] != 0 ? in + {at + 1} : NULL")
                at += 1
            elif argument.use == "double":
                given.append(f"in[{at}]")
            elif argument.use == "int":
                given.append(f"(int)in[{at}]")
            else:
                given.append(f"out + {to}")
                if argument.use == "inout":
                    lines.append(f"memcpy(out + {to}, in + {at}, {8 * size});")
                to += size
            at += size if argument.use != "out" else 0
        call = f"out[0] = {name}_{function.name}({', '.join(given)});"
        return f"static void call_{k}(const double *in, double *out) {{ {' '.join(lines)} {call} }}"

    def __call__(self, name, *inputs, threads=False):
        """Statuses (rows,), and each result (rows, size)."""
        k = [f.name for f in self.functions].index(name)
        expected = [a for a in self.functions[k].arguments if a.use != "out"]
        rows = len(inputs[0])
        columns = []
        for argument, value in zip(expected, inputs, strict=True):
            size = self._size(argument)
            if argument.use == "maybe":
                columns.append(np.full((rows, 1), value is not None))
            part = np.zeros(size) if value is None else np.reshape(value, (-1, size))
            columns.append(np.broadcast_to(part, (rows, size)))
        data = np.ascontiguousarray(np.hstack(columns), dtype=np.float64)
        command = [*self.runner, str(self.folder / "check"), str(k), str(rows)] + ["2"] * threads
        done = subprocess.run(command, input=data.tobytes(), capture_output=True, check=True)
        self.nanoseconds = float(done.stderr)
        found = np.frombuffer(done.stdout).reshape(rows, -1)
        sizes = [self._size(a) for a in self.functions[k].arguments if a.use in ("out", "inout")]
        return found[:, 0].astype(int), *np.split(found[:, 1:], np.cumsum(sizes)[:-1], axis=1)
