/* The supervised controller of an exported library, read by test programs: records of numbers on
   stdin (positions, rates, reference, has one, period, wrench, base), on stdout status, statuses
   refused, target's rates and efforts. Arguments: the kind of control, and perhaps a gravity (3) and
   whether friction and Coriolis efforts are left out. Compiled with -DNAME=... -DUPPER=..., by the sanitizers. */
#include <stdio.h>
#include <stdlib.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define OF(name) JOIN(NAME, name)
#define CONSTANT(name) JOIN(UPPER, name)
#include HEADER

enum { N = CONSTANT(_N), NV = CONSTANT(_NV), RECORD = 5 * N + 2 + 6 + 9 };

int main(int argc, char **argv) {
  OF(_controller) c;
  OF(_settings) settings = {.control = (OF(_control))atoi(argv[1]), .tolerance = 0.02};
  double in[RECORD], out[3 + 2 * N];
  int started = CONSTANT(_INVALID);
  if (argc > 6) {
    settings.has_gravity = 1;
    for (int k = 0; k < 3; k++) settings.gravity[k] = atof(argv[2 + k]);
    settings.leaves_friction = atoi(argv[5]);
    settings.leaves_coriolis = atoi(argv[6]);
  }
  for (int j = 0; j < NV; j++) settings.kp[j] = 900.0, settings.kv[j] = 60.0;
  while (fread(in, sizeof *in, RECORD, stdin) == (size_t)RECORD) {
    const double *reference = in + 2 * N, *rest = in + 5 * N;
    if (started) {
      started = OF(_start)(&c, in, in + N);
      out[0] = out[1] = -1.0 - started;
      for (int k = 2; k < 3 + 2 * N; k++) out[k] = 0.0;
    } else {
      out[0] = OF(_update)(&c, in, in + N, rest[0] != 0.0 ? reference : NULL, rest[1], rest + 2,
                           rest + 8, &settings, out + 3 + N);
      out[1] = out[2] = 0.0;
      for (int k = 0; k < CONSTANT(_STATUSES); k++) {
        if (c.refused[k]) out[1] += c.refused[k], out[2] = k, c.refused[k] = 0;
      }
      for (int i = 0; i < N; i++) out[3 + i] = c.rates[i];
    }
    fwrite(out, sizeof *out, 3 + 2 * N, stdout);
    fflush(stdout);
  }
  return 0;
}
