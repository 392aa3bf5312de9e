/* FMI 2.0 co-simulation of @MECHANISM@: the functions of @NAME@.h as an FMU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "@NAME@.h"

enum { NQ = @UPPER@_NQ, NV = @UPPER@_NV, N = @UPPER@_N };
/* Value references, as modelDescription.xml has them. */
enum {
  EFFORT = 0,
  WRENCH = EFFORT + N,
  CONFIGURATION = WRENCH + 6,
  VELOCITY = CONFIGURATION + NQ,
  POSITION = VELOCITY + NV,
  RATE = POSITION + N,
  POSE = RATE + N,
  STEP = POSE + 7,
  COUNT
};

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef void (*Logger)(void *, const char *, fmi2Status, const char *, const char *, ...);
typedef struct {
  Logger logger;
  void *(*allocate)(size_t, size_t);
  void (*release)(void *);
  void *finished;
  void *environment;
} Callbacks;
typedef struct {
  double values[COUNT];
  const Callbacks *callbacks;
  char name[64];
} Instance;

#define EXPORTED __attribute__((visibility("default")))
#define UNUSED(x) (void)(x)

static fmi2Status outputs(Instance *m, int status) {
  double *v = m->values;
  if (!status) status = @NAME@_joint_positions(v + CONFIGURATION, v + POSITION);
  if (!status) status = @NAME@_joint_velocities(v + CONFIGURATION, v + VELOCITY, v + RATE);
  if (!status) status = @NAME@_body_pose(v + CONFIGURATION, v + POSE);
  if (!status) return fmi2OK;
  if (m->callbacks && m->callbacks->logger) {
    m->callbacks->logger(m->callbacks->environment, m->name, fmi2Error, "logStatusError", "%s",
                         @NAME@_status_text(status));
  }
  return fmi2Error;
}

EXPORTED fmi2Status fmi2Reset(void *c) {
  Instance *m = c;
  memset(m->values, 0, sizeof m->values);
  memcpy(m->values + CONFIGURATION, @NAME@_home, sizeof @NAME@_home);
  m->values[STEP] = 1e-3;
  return outputs(m, 0);
}

EXPORTED const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORTED const char *fmi2GetVersion(void) { return "2.0"; }

EXPORTED void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *folder,
                               const Callbacks *callbacks, int visible, int logging) {
  Instance *m;
  UNUSED(folder), UNUSED(visible), UNUSED(logging);
  if (kind != 1 || strcmp(guid, "@GUID@")) return NULL;
  m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->callbacks = callbacks;
  strncpy(m->name, name, sizeof m->name - 1);
  fmi2Reset(m);
  return m;
}

EXPORTED void fmi2FreeInstance(void *c) { free(c); }

EXPORTED fmi2Status fmi2SetDebugLogging(void *c, int on, size_t n, const char *const *categories) {
  UNUSED(c), UNUSED(on), UNUSED(n), UNUSED(categories);
  return fmi2OK;
}

EXPORTED fmi2Status fmi2SetupExperiment(void *c, int has_tolerance, double tolerance, double start,
                                        int has_stop, double stop) {
  UNUSED(c), UNUSED(has_tolerance), UNUSED(tolerance), UNUSED(start), UNUSED(has_stop), UNUSED(stop);
  return fmi2OK;
}

EXPORTED fmi2Status fmi2EnterInitializationMode(void *c) {
  UNUSED(c);
  return fmi2OK;
}

EXPORTED fmi2Status fmi2ExitInitializationMode(void *c) { return outputs(c, 0); }

EXPORTED fmi2Status fmi2Terminate(void *c) {
  UNUSED(c);
  return fmi2OK;
}

EXPORTED fmi2Status fmi2GetReal(void *c, const unsigned *which, size_t n, double *values) {
  const Instance *m = c;
  size_t i;
  for (i = 0; i < n; i++) {
    if (which[i] >= COUNT) return fmi2Error;
    values[i] = m->values[which[i]];
  }
  return fmi2OK;
}

EXPORTED fmi2Status fmi2SetReal(void *c, const unsigned *which, size_t n, const double *values) {
  Instance *m = c;
  size_t i;
  for (i = 0; i < n; i++) {
    if (which[i] >= POSITION && which[i] != STEP) return fmi2Error;
    m->values[which[i]] = values[i];
  }
  return fmi2OK;
}

EXPORTED fmi2Status fmi2DoStep(void *c, double time, double size, int no_return) {
  Instance *m = c;
  double *v = m->values;
  int steps;
  UNUSED(time), UNUSED(no_return);
  if (!(size > 0.0 && v[STEP] > 0.0 && size / v[STEP] < 1e9)) return fmi2Error;
  steps = (int)ceil(size / v[STEP] * (1.0 - 1e-12));
  return outputs(m, @NAME@_step(v + CONFIGURATION, v + VELOCITY, v + EFFORT, v + WRENCH, NULL,
                                size / steps, steps));
}

EXPORTED fmi2Status fmi2CancelStep(void *c) {
  UNUSED(c);
  return fmi2Error;
}

EXPORTED fmi2Status fmi2GetFMUstate(void *c, void **state) {
  if (!*state) *state = malloc(sizeof(Instance));
  if (!*state) return fmi2Error;
  memcpy(*state, c, sizeof(Instance));
  return fmi2OK;
}

EXPORTED fmi2Status fmi2SetFMUstate(void *c, void *state) {
  memcpy(((Instance *)c)->values, ((Instance *)state)->values, sizeof((Instance *)c)->values);
  return fmi2OK;
}

EXPORTED fmi2Status fmi2FreeFMUstate(void *c, void **state) {
  UNUSED(c);
  free(*state);
  *state = NULL;
  return fmi2OK;
}

/* What there is none of: integers, booleans, texts, derivatives of inputs and outputs. */
#define NONE(name, ...)                                            \
  EXPORTED fmi2Status name(void *c, const void *which, size_t n, __VA_ARGS__) { \
    UNUSED(c), UNUSED(which), UNUSED(values);                      \
    return n == 0 ? fmi2OK : fmi2Error;                            \
  }
#define NO_STATUS(name)                                            \
  EXPORTED fmi2Status name(void *c, int kind, void *value) {       \
    UNUSED(c), UNUSED(kind), UNUSED(value);                        \
    return fmi2Discard;                                            \
  }
NONE(fmi2GetInteger, void *values)
NONE(fmi2SetInteger, const void *values)
NONE(fmi2GetBoolean, void *values)
NONE(fmi2SetBoolean, const void *values)
NONE(fmi2GetString, void *values)
NONE(fmi2SetString, const void *values)
NO_STATUS(fmi2GetStatus)
NO_STATUS(fmi2GetRealStatus)
NO_STATUS(fmi2GetIntegerStatus)
NO_STATUS(fmi2GetBooleanStatus)
NO_STATUS(fmi2GetStringStatus)

EXPORTED fmi2Status fmi2SetRealInputDerivatives(void *c, const unsigned *which, size_t n,
                                                const int *order, const double *values) {
  UNUSED(c), UNUSED(which), UNUSED(order), UNUSED(values);
  return n == 0 ? fmi2OK : fmi2Error;
}

EXPORTED fmi2Status fmi2GetRealOutputDerivatives(void *c, const unsigned *which, size_t n,
                                                 const int *order, double *values) {
  UNUSED(c), UNUSED(which), UNUSED(order), UNUSED(values);
  return n == 0 ? fmi2OK : fmi2Error;
}

EXPORTED fmi2Status fmi2GetDirectionalDerivative(void *c, const unsigned *unknown, size_t n,
                                                 const unsigned *known, size_t m,
                                                 const double *seed, double *values) {
  UNUSED(c), UNUSED(unknown), UNUSED(known), UNUSED(m), UNUSED(seed), UNUSED(values);
  return n == 0 ? fmi2OK : fmi2Error;
}

EXPORTED fmi2Status fmi2SerializedFMUstateSize(void *c, void *state, size_t *size) {
  UNUSED(c), UNUSED(state), UNUSED(size);
  return fmi2Error;
}

EXPORTED fmi2Status fmi2SerializeFMUstate(void *c, void *state, char *bytes, size_t size) {
  UNUSED(c), UNUSED(state), UNUSED(bytes), UNUSED(size);
  return fmi2Error;
}

EXPORTED fmi2Status fmi2DeSerializeFMUstate(void *c, const char *bytes, size_t size, void **state) {
  UNUSED(c), UNUSED(bytes), UNUSED(size), UNUSED(state);
  return fmi2Error;
}
