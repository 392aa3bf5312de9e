/* @MECHANISM@ for CasADi's external functions: dynamics in displacements from home, with Jacobians.
   Load one by casadi.external("@NAME@_casadi_forward_dynamics", "lib@NAME@.so"). Matrices are
   stored by columns. */
#include "@NAME@.h"

#include <math.h>
#include <string.h>

#ifndef casadi_int
#define casadi_int long long int
#endif

enum { NQ = @UPPER@_NQ, NV = @UPPER@_NV, N = @UPPER@_N, LARGEST = NV > N ? NV : N };

/* Indices of the first elements of rotation vectors in a displacement; ends with -1. */
static const int rotations[] = {@ROTATIONS@-1};

/* Convert derivatives with respect to a rotation, `rows` rows of NV columns, to derivatives with
   respect to the rotation vector x (3): by := by J(x). */
static void turn(const double *x, int first, int rows, double *by)
{
  const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], angle = sqrt(square);
  const int is_small = square < 1e-4;
  const double a = is_small ? 0.5 - square / 24.0 + square * square / 720.0 : (1.0 - cos(angle)) / square;
  const double b = is_small ? 1.0 / 6.0 - square / 120.0 + square * square / 5040.0
                            : (angle - sin(angle)) / (square * angle);
  for (int i = 0; i < rows; ++i) {
    double *row = by + i * NV + first;
    const double r[3] = {row[0], row[1], row[2]};
    /* J = E + a [x] + b [x]^2, and r [x] = -(x × r) */
    const double c[3] = {x[2] * r[1] - x[1] * r[2], x[0] * r[2] - x[2] * r[0], x[1] * r[0] - x[0] * r[1]};
    const double d[3] = {x[2] * c[1] - x[1] * c[2], x[0] * c[2] - x[2] * c[0], x[1] * c[0] - x[0] * c[1]};
    for (int k = 0; k < 3; ++k) row[k] = r[k] + a * c[k] + b * d[k];
  }
}

static void to_columns(const double *by_rows, int rows, int columns, double *out)
{
  if (out == NULL) return;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) out[j * rows + i] = by_rows[i * columns + j];
}

/* Configuration at a displacement from home; arguments that are NULL are zero. */
static int start(const double **arg, int load, double *x, double *v, double *last, double *q)
{
  memset(x, 0, NV * sizeof(double));
  memset(v, 0, NV * sizeof(double));
  memset(last, 0, load * sizeof(double));
  if (arg[0]) memcpy(x, arg[0], NV * sizeof(double));
  if (arg[1]) memcpy(v, arg[1], NV * sizeof(double));
  if (arg[2]) memcpy(last, arg[2], load * sizeof(double));
  return @NAME@_advance(@NAME@_home, x, q);
}

static const casadi_int *column(casadi_int rows)
{
  static const casadi_int of_velocity[] = {NV, 1, 1}, of_efforts[] = {N, 1, 1};
  return rows == NV ? of_velocity : of_efforts;
}

static int work(casadi_int arg, casadi_int res, casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw,
                casadi_int *sz_w)
{
  if (sz_arg) *sz_arg = arg;
  if (sz_res) *sz_res = res;
  if (sz_iw) *sz_iw = 0;
  if (sz_w) *sz_w = 0;
  return 0;
}

#define FUNCTION(question, LOAD, RESULT, load_name, result_name)                                            \
  int @NAME@_casadi_##question(const double **arg, double **res, casadi_int *iw, double *w, int mem)         \
  {                                                                                                        \
    double x[NV], v[NV], load[LARGEST], q[NQ], result[LARGEST];                                            \
    (void)iw, (void)w, (void)mem;                                                                          \
    if (start(arg, LOAD, x, v, load, q) || @NAME@_##question(q, v, load, NULL, NULL, result)) return 1;    \
    if (res[0]) memcpy(res[0], result, RESULT * sizeof(double));                                           \
    return 0;                                                                                              \
  }                                                                                                        \
  int jac_@NAME@_casadi_##question(const double **arg, double **res, casadi_int *iw, double *w, int mem)     \
  {                                                                                                        \
    double x[NV], v[NV], load[LARGEST], q[NQ], result[LARGEST];                                            \
    double by_x[RESULT * NV], by_v[RESULT * NV], by_load[RESULT * LOAD];                                   \
    (void)iw, (void)w, (void)mem;                                                                          \
    if (start(arg, LOAD, x, v, load, q) ||                                                                 \
        @NAME@_##question##_derivatives(q, v, load, NULL, NULL, result, by_x, by_v, by_load))              \
      return 1;                                                                                            \
    for (int k = 0; rotations[k] >= 0; ++k) turn(x + rotations[k], rotations[k], RESULT, by_x);            \
    to_columns(by_x, RESULT, NV, res[0]);                                                                  \
    to_columns(by_v, RESULT, NV, res[1]);                                                                  \
    to_columns(by_load, RESULT, LOAD, res[2]);                                                             \
    return 0;                                                                                              \
  }                                                                                                        \
  casadi_int @NAME@_casadi_##question##_n_in(void) { return 3; }                                           \
  casadi_int @NAME@_casadi_##question##_n_out(void) { return 1; }                                          \
  casadi_int jac_@NAME@_casadi_##question##_n_in(void) { return 4; }                                       \
  casadi_int jac_@NAME@_casadi_##question##_n_out(void) { return 3; }                                      \
  const char *@NAME@_casadi_##question##_name_in(casadi_int i)                                             \
  {                                                                                                        \
    static const char *const names[] = {"x", "v", load_name};                                              \
    return i >= 0 && i < 3 ? names[i] : 0;                                                                 \
  }                                                                                                        \
  const char *@NAME@_casadi_##question##_name_out(casadi_int i) { return i == 0 ? result_name : 0; }       \
  const char *jac_@NAME@_casadi_##question##_name_in(casadi_int i)                                         \
  {                                                                                                        \
    return i == 3 ? "out_" result_name : @NAME@_casadi_##question##_name_in(i);                            \
  }                                                                                                        \
  const char *jac_@NAME@_casadi_##question##_name_out(casadi_int i)                                        \
  {                                                                                                        \
    static const char *const names[] = {"jac_" result_name "_x", "jac_" result_name "_v",                  \
                                        "jac_" result_name "_" load_name};                                 \
    return i >= 0 && i < 3 ? names[i] : 0;                                                                 \
  }                                                                                                        \
  const casadi_int *@NAME@_casadi_##question##_sparsity_in(casadi_int i) { return column(i < 2 ? NV : LOAD); } \
  const casadi_int *@NAME@_casadi_##question##_sparsity_out(casadi_int i) { (void)i; return column(RESULT); }  \
  const casadi_int *jac_@NAME@_casadi_##question##_sparsity_in(casadi_int i)                               \
  {                                                                                                        \
    return column(i < 2 ? NV : i == 2 ? LOAD : RESULT);                                                    \
  }                                                                                                        \
  const casadi_int *jac_@NAME@_casadi_##question##_sparsity_out(casadi_int i)                              \
  {                                                                                                        \
    static const casadi_int by_state[] = {RESULT, NV, 1}, by_load[] = {RESULT, LOAD, 1};                   \
    return i < 2 ? by_state : by_load;                                                                     \
  }                                                                                                        \
  int @NAME@_casadi_##question##_work(casadi_int *a, casadi_int *r, casadi_int *iw, casadi_int *w)         \
  {                                                                                                        \
    return work(3, 1, a, r, iw, w);                                                                        \
  }                                                                                                        \
  int jac_@NAME@_casadi_##question##_work(casadi_int *a, casadi_int *r, casadi_int *iw, casadi_int *w)     \
  {                                                                                                        \
    return work(4, 3, a, r, iw, w);                                                                        \
  }

FUNCTION(forward_dynamics, N, NV, "efforts", "acceleration")
FUNCTION(inverse_dynamics, NV, N, "acceleration", "efforts")
