/* Functions of FMI 2.0 only. */
typedef struct {
  Logger logger;
  void *(*allocate)(size_t, size_t);
  void (*release)(void *);
  void *finished;
  void *environment;
} Callbacks;
EXPORTED const char *fmi2GetTypesPlatform(void) { return "default"; }

EXPORTED void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *folder,
                               const Callbacks *callbacks, int visible, int logging) {
  UNUSED(folder), UNUSED(visible), UNUSED(logging);
  return instance(name, guid, callbacks ? callbacks->logger : NULL,
                  callbacks ? callbacks->environment : NULL, kind == 0);
}
EXPORTED int fmi2SetupExperiment(void *c, int has_tolerance, double tolerance, double begin,
                                 int has_stop, double stop) {
  UNUSED(has_tolerance), UNUSED(tolerance), UNUSED(has_stop), UNUSED(stop);
  return set_time(c, begin);
}
EXPORTED int fmi2EnterInitializationMode(void *c) { return UNUSED(c), FINE; }
EXPORTED int fmi2GetReal(void *c, const unsigned *which, size_t n, double *values) {
  return get(c, which, n, values);
}
EXPORTED int fmi2SetReal(void *c, const unsigned *which, size_t n, const double *values) {
  return set(c, which, n, values);
}
EXPORTED int fmi2GetDirectionalDerivative(void *c, const unsigned *unknown, size_t n,
                                          const unsigned *known, size_t count, const double *seed,
                                          double *found) {
  return directional(c, unknown, n, known, count, seed, found);
}

/* co-simulation */
EXPORTED int fmi2DoStep(void *c, double time, double size, int no_return) {
  UNUSED(no_return);
  return step(c, time, size);
}
EXPORTED int fmi2CancelStep(void *c) { return UNUSED(c), ERROR; }

/* model exchange */
typedef struct {
  int again, terminate, new_nominals, new_states, has_next;
  double next;
} Events;
EXPORTED int fmi2NewDiscreteStates(void *c, Events *events) {
  UNUSED(c);
  memset(events, 0, sizeof *events);
  return FINE;
}

/* Not supported: integers, booleans, strings, time derivatives, serialized states. */
#define NONE(name, ...)                                                      \
  EXPORTED int name(void *c, const void *which, size_t n, __VA_ARGS__) {     \
    UNUSED(c), UNUSED(which), UNUSED(values);                                \
    return n == 0 ? FINE : ERROR;                                            \
  }
#define NO_STATUS(name)                                                      \
  EXPORTED int name(void *c, int kind, void *value) {                        \
    UNUSED(c), UNUSED(kind), UNUSED(value);                                  \
    return DISCARD;                                                          \
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
#define NO_SLOPES(name, kind)                                                \
  EXPORTED int name(void *c, const unsigned *which, size_t n, const int *order, kind values) { \
    UNUSED(c), UNUSED(which), UNUSED(order), UNUSED(values);                 \
    return n == 0 ? FINE : ERROR;                                            \
  }
NO_SLOPES(fmi2SetRealInputDerivatives, const double *)
NO_SLOPES(fmi2GetRealOutputDerivatives, double *)
EXPORTED int fmi2SerializedFMUstateSize(void *c, void *kept, size_t *size) {
  UNUSED(c), UNUSED(kept), UNUSED(size);
  return ERROR;
}
EXPORTED int fmi2SerializeFMUstate(void *c, void *kept, char *bytes, size_t size) {
  UNUSED(c), UNUSED(kept), UNUSED(bytes), UNUSED(size);
  return ERROR;
}
EXPORTED int fmi2DeSerializeFMUstate(void *c, const char *bytes, size_t size, void **kept) {
  UNUSED(c), UNUSED(bytes), UNUSED(size), UNUSED(kept);
  return ERROR;
}
