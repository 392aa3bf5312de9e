/* Random lives of a mechanism under its exported controller, both from the exported library: drives
   at full rate, sines and random walks, some of them spoiled, that lead out of the workspace, to
   the ends and into singularities. One line a life: its number, the largest rate as a share of the
   velocity limits, the farthest position beyond the ends, whether efforts left their limits, the
   mechanism changed its side of singularities or left its equations, the share of references that
   were followed, and how far a joint was from the way to rest while this was followed. Compiled with -DNAME=... -DUPPER=... -DHEADER=... */
#include <stdio.h>
#include <stdlib.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define OF(name) JOIN(NAME, name)
#define CONSTANT(name) JOIN(UPPER, name)
#include HEADER

enum { N = CONSTANT(_N), NV = CONSTANT(_NV), NQ = CONSTANT(_NQ), UPDATES = 2000 };
enum { DRIVE, SINES, WALK, SPOILED_WALK, KINDS };
#define PERIOD 1e-3

static unsigned long long state;

static double uniform(double low, double high) { /* xorshift64* */
  state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
  return low + (high - low) * (double)((state * 2685821657736338717ULL) >> 11) / 0x1p53;
}

/* Lead a mechanism away from home, as far as it stays on one side and can be held with ease. */
static void lead_away(double *q, double share) {
  double home[N], way[N], side, there_side, still[NV] = {0.0}, efforts[N];
  OF(_joint_positions)(q, home);
  OF(_side)(q, &side);
  for (int i = 0; i < N; i++) {
    way[i] = share * uniform(-1.0, 1.0) *
             (OF(_position_limits)[i][1] - OF(_position_limits)[i][0]);
  }
  for (int k = 1; k <= 40; k++) {
    double joints[N], there[NQ];
    memcpy(there, q, sizeof there);
    for (int i = 0; i < N; i++) {
      joints[i] = home[i] + way[i] * k / 40.0;
      if (joints[i] < OF(_position_limits)[i][0] + 0.01) return;
      if (joints[i] > OF(_position_limits)[i][1] - 0.01) return;
    }
    if (OF(_configuration)(joints, there) || OF(_side)(there, &there_side)) return;
    if (there_side * side <= 0.0) return;
    if (OF(_inverse_dynamics)(there, still, still, NULL, NULL, efforts)) return;
    for (int i = 0; i < N; i++) {
      if (fabs(efforts[i]) > 0.7 * OF(_effort_limits)[i]) return;
    }
    memcpy(q, there, sizeof there);
  }
}

static void live(unsigned long long seed) {
  static const double hostile[] = {NAN, INFINITY, 1e6, -1e6, 1e308, 0.0, 0.05, -0.05, 1.0};
  OF(_settings) settings = {.control = CONSTANT(_COMPUTED_TORQUE), .tolerance = 0.02};
  OF(_controller) c;
  double q[NQ], v[NV] = {0.0}, positions[N], rates[N] = {0.0}, start[N], efforts[N];
  double speed = 0.0, beyond = 0.0, apart = 0.0, side, side_now;
  int strong = 0, crossed = 0, fell = 0;
  unsigned long refused = 0;
  state = seed * 0x9E3779B97F4A7C15ULL + 88172645463325252ULL;
  for (int k = 0; k < 20; k++) uniform(0.0, 1.0);
  for (int j = 0; j < NV; j++) settings.kp[j] = 900.0, settings.kv[j] = 60.0;
  memcpy(q, OF(_home), sizeof q);
  if (uniform(0.0, 1.0) > 0.3) lead_away(q, uniform(0.0, NQ == 7 && N == 6 ? 0.08 : 0.25));
  OF(_joint_positions)(q, start);
  OF(_side)(q, &side);
  if (OF(_start)(&c, start, rates)) return;

  const int kind = (int)uniform(0.0, KINDS), plans_anew = uniform(0.0, 1.0) < 0.5;
  const double size = pow(10.0, uniform(-2.3, 0.0)), ramp = uniform(0.03, 0.4);
  const double pace = uniform(1.0, 20.0), hostility = pow(10.0, uniform(-3.0, -0.5));
  double most[N], way[N], frequency[N], goal[N] = {0.0}, reference[3 * N] = {0.0};
  for (int i = 0; i < N; i++) {
    most[i] = size * OF(_velocity_limits)[i];
    way[i] = uniform(0.0, 1.0) < 0.2 ? 0.0 : uniform(-most[i], most[i]);
    frequency[i] = uniform(0.5, 12.0);
    reference[i] = start[i];
  }
  for (int k = 0; k < UPDATES && !fell; k++) {
    const double t = k * PERIOD;
    double given[3 * N];
    for (int i = 0; i < N; i++) {
      double *x = &reference[i], *r = &reference[N + i], *a = &reference[2 * N + i];
      if (kind == DRIVE) {
        *x = start[i] + way[i] * (t < ramp ? t * t / ramp : 2.0 * t - ramp) / 2.0;
        *r = way[i] * fmin(t / ramp, 1.0);
        *a = t < ramp ? way[i] / ramp : 0.0;
      } else if (kind == SINES) {
        *x = start[i] + way[i] / frequency[i] * (1.0 - cos(frequency[i] * t));
        *r = way[i] * sin(frequency[i] * t);
        *a = way[i] * frequency[i] * cos(frequency[i] * t);
      } else {
        if (uniform(0.0, 1.0) < 0.004) goal[i] = uniform(-most[i], most[i]);
        *a = fmax(fmin((goal[i] - *r) / PERIOD, pace * most[i]), -pace * most[i]);
        *x += PERIOD * (*r + 0.5 * PERIOD * *a);
        *r += PERIOD * *a;
      }
    }
    memcpy(given, reference, sizeof given);
    const int spoils = kind == SPOILED_WALK && uniform(0.0, 1.0) < hostility;
    if (spoils) {
      const int at = (int)uniform(0.0, 3 * N);
      const double number = hostile[(int)uniform(0.0, sizeof hostile / sizeof *hostile)];
      given[at] = uniform(0.0, 1.0) < 0.5 ? number : given[at] + number;
    }
    OF(_joint_positions)(q, positions);
    OF(_joint_velocities)(q, v, rates);
    OF(_update)(&c, positions, rates, spoils && uniform(0.0, 1.0) < 0.3 ? NULL : given, PERIOD,
                NULL, NULL, &settings, efforts);
    if (!c.is_moving) {
      refused++;
      if (plans_anew && kind >= WALK) { /* from where the controller is */
        memcpy(reference, c.positions, sizeof c.positions);
        memcpy(reference + N, c.rates, sizeof c.rates);
      }
    }
    for (int i = 0; i < N && !c.is_moving; i++) {
      apart = fmax(apart, fabs(c.positions[i] - positions[i]));
    }
    for (int i = 0; i < N; i++) strong |= !(fabs(efforts[i]) <= OF(_effort_limits)[i]);
    fell = OF(_step)(q, v, efforts, NULL, NULL, 2.5e-4, 4);
    OF(_joint_positions)(q, positions);
    OF(_joint_velocities)(q, v, rates);
    for (int i = 0; i < N; i++) {
      speed = fmax(speed, fabs(rates[i]) / OF(_velocity_limits)[i]);
      beyond = fmax(beyond, OF(_position_limits)[i][0] - positions[i]);
      beyond = fmax(beyond, positions[i] - OF(_position_limits)[i][1]);
    }
    crossed |= OF(_side)(q, &side_now) || side_now * side <= 0.0;
  }
  printf("%llu %.9g %.9g %d %d %d %.4f %.9g\n", seed, speed, beyond, strong, crossed, fell,
         1.0 - (double)refused / UPDATES, apart);
}

int main(int argc, char **argv) {
  const unsigned long long first = strtoull(argv[1], NULL, 10);
  (void)argc;
  for (int k = 0; k < atoi(argv[2]); k++) live(first + (unsigned long long)k);
  return 0;
}
