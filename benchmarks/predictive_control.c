/* Closed loop of an exported mechanism and its acados solver: one real-time iteration a period.
   Prints microseconds of processor time of every iteration, then the distance from home at the end. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "acados_c/ocp_nlp_interface.h"
#include "acados_solver_robot.h"
#undef ROBOT_N /* acados's: intervals */
#include "robot.h"

static double microseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * now.tv_sec + 1e-3 * now.tv_nsec;
}

int main(void)
{
  double q[ROBOT_NQ], v[ROBOT_NV] = {0}, state[2 * ROBOT_NV], start[ROBOT_NV], u[ROBOT_N];
  robot_solver_capsule *solver = robot_acados_create_capsule();
  if (robot_acados_create(solver)) return 1;
  ocp_nlp_config *config = robot_acados_get_nlp_config(solver);
  ocp_nlp_dims *dims = robot_acados_get_nlp_dims(solver);
  ocp_nlp_in *in = robot_acados_get_nlp_in(solver);
  ocp_nlp_out *out = robot_acados_get_nlp_out(solver);
  for (int k = 0; k < ROBOT_NV; ++k) start[k] = AWAY * (k % 2 ? -1.0 : 1.0);
  if (robot_advance(robot_home, start, q)) return 2;
  for (int k = 0; k < PERIODS; ++k) {
    const double before = microseconds();
    if (robot_difference(robot_home, q, state)) return 3;
    memcpy(state + ROBOT_NV, v, sizeof v);
    ocp_nlp_constraints_model_set(config, dims, in, 0, "lbx", state);
    ocp_nlp_constraints_model_set(config, dims, in, 0, "ubx", state);
    const int status = robot_acados_solve(solver);
    if (status != 0 && status != 2) return 4;
    ocp_nlp_out_get(config, dims, out, 0, "u", u);
    printf("%.2f\n", microseconds() - before);
    if (robot_step(q, v, u, NULL, NULL, 1e-3, 1)) return 5;
  }
  double largest = 0.0;
  robot_difference(robot_home, q, state);
  for (int k = 0; k < ROBOT_NV; ++k) largest = fmax(largest, fabs(state[k]));
  printf("%.3e\n", largest);
  return 0;
}
