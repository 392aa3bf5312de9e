/* Runs a control loop at 1 kHz for 2 s with a simulated mechanism (Linux):
     cc -O2 loop.c -I. -L. -l@NAME@ -lm -Wl,-rpath,'$ORIGIN' -o loop && ./loop
   For a real machine, replace the lines marked "Measure" and "Command". */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "@NAME@_controller.h"

int main(void) {
  const double period = 1e-3, rate = 3.14159265, amplitude = 0.02; /* [s], [rad/s], [rad or m] */
  double configuration[@UPPER@_NQ], velocity[@UPPER@_NV] = {0.0}; /* of the simulation */
  double home[@UPPER@_N], positions[@UPPER@_N], rates[@UPPER@_N];
  double reference[3 * @UPPER@_N] = {0.0}; /* positions, rates, accelerations */
  double efforts[@UPPER@_N], error = 0.0, longest = 0.0;@MOTORS@
  @NAME@_settings settings = {.control = @UPPER@_COMPUTED_TORQUE, .tolerance = 0.05};
  @NAME@_controller controller;
  struct timespec next, start, end;

  for (int i = 0; i < @UPPER@_NV; i++) {
    settings.kp[i] = 400.0; /* 1/s^2 */
    settings.kv[i] = 40.0;  /* 1/s */
  }
  memcpy(configuration, @NAME@_home, sizeof configuration);
  int status = @NAME@_joint_positions(configuration, home);
  memset(rates, 0, sizeof rates);
  if (status == @UPPER@_OK) status = @NAME@_start(&controller, home, rates);
  memcpy(reference, home, sizeof home);
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (int k = 0; k < 2000 && status == @UPPER@_OK; k++) {
    /* Measure: for a real machine, read positions and rates from the drives. */
    status = @NAME@_joint_positions(configuration, positions);
    if (status == @UPPER@_OK) status = @NAME@_joint_velocities(configuration, velocity, rates);
    if (status != @UPPER@_OK) break;@MOTOR_READINGS@

    /* Reference: the first joint moves away from home and back within 2 s. */
    const double angle = rate * period * k;
    reference[0] = home[0] + amplitude * (1.0 - cos(angle));
    reference[@UPPER@_N] = amplitude * rate * sin(angle);
    reference[2 * @UPPER@_N] = amplitude * rate * rate * cos(angle);
    error = fmax(error, fabs(reference[0] - positions[0]));

    clock_gettime(CLOCK_MONOTONIC, &start);
    status = @NAME@_update(&controller, positions, rates, reference, period, NULL, NULL, &settings,
                           efforts);
    clock_gettime(CLOCK_MONOTONIC, &end);
    longest = fmax(longest, (double)(end.tv_sec - start.tv_sec) * 1e6 +
                              (double)(end.tv_nsec - start.tv_nsec) * 1e-3);
    if (status != @UPPER@_OK && status != @UPPER@_LIMITED) break;

    /* Command: for a real machine, send the efforts to the drives. */
    status = @NAME@_step(configuration, velocity,@MOTOR_ARGUMENTS@ efforts, NULL, NULL, period, 1);

    next.tv_nsec += 1000000;
    if (next.tv_nsec >= 1000000000) {
      next.tv_nsec -= 1000000000;
      next.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
  }
  if (status != @UPPER@_OK) {
    fprintf(stderr, "%s\n", @NAME@_status_text(status));
    return 1;
  }
  unsigned long rejected = 0;
  for (int i = 0; i < @UPPER@_STATUSES; i++) rejected += controller.refused[i];
  printf("largest error of %s: %.2g\n", @NAME@_joint_names[0], error);
  printf("longest update: %.0f us, rejected references: %lu\n", longest, rejected);
  return 0;
}
