/* Functions of FMI 3.0 only. */
EXPORTED void *fmi3InstantiateModelExchange(const char *name, const char *token,
                                            const char *resources, bool visible, bool logging,
                                            void *environment, Logger logger) {
  UNUSED(resources), UNUSED(visible), UNUSED(logging);
  return instance(name, token, logger, environment, 1);
}
EXPORTED void *fmi3InstantiateCoSimulation(const char *name, const char *token,
                                           const char *resources, bool visible, bool logging,
                                           bool event_mode, bool early_return,
                                           const unsigned *intermediate, size_t n,
                                           void *environment, Logger logger, void *update) {
  UNUSED(resources), UNUSED(visible), UNUSED(logging), UNUSED(event_mode), UNUSED(early_return);
  UNUSED(intermediate), UNUSED(n), UNUSED(update);
  return instance(name, token, logger, environment, 0);
}
EXPORTED void *fmi3InstantiateScheduledExecution(const char *name, const char *token,
                                                 const char *resources, bool visible, bool logging,
                                                 void *environment, Logger logger, void *update,
                                                 void *lock, void *unlock) {
  UNUSED(name), UNUSED(token), UNUSED(resources), UNUSED(visible), UNUSED(logging);
  UNUSED(environment), UNUSED(logger), UNUSED(update), UNUSED(lock), UNUSED(unlock);
  return NULL;
}
EXPORTED int fmi3EnterInitializationMode(void *c, bool has_tolerance, double tolerance,
                                         double begin, bool has_stop, double stop) {
  UNUSED(has_tolerance), UNUSED(tolerance), UNUSED(has_stop), UNUSED(stop);
  return set_time(c, begin);
}
EXPORTED int fmi3GetFloat64(void *c, const unsigned *which, size_t n, double *values, size_t size) {
  return n == size ? get(c, which, n, values) : ERROR;
}
EXPORTED int fmi3SetFloat64(void *c, const unsigned *which, size_t n, const double *values,
                            size_t size) {
  return n == size ? set(c, which, n, values) : ERROR;
}
EXPORTED int fmi3GetDirectionalDerivative(void *c, const unsigned *unknown, size_t n,
                                          const unsigned *known, size_t count, const double *seed,
                                          size_t seeds, double *found, size_t results) {
  return seeds == count && results == n ? directional(c, unknown, n, known, count, seed, found)
                                        : ERROR;
}

/* co-simulation */
EXPORTED int fmi3EnterStepMode(void *c) { return UNUSED(c), FINE; }
EXPORTED int fmi3DoStep(void *c, double time, double size, bool no_return, bool *event,
                        bool *terminate, bool *early, double *last) {
  int status = step(c, time, size);
  UNUSED(no_return);
  *event = *early = false;
  *terminate = status != FINE;
  *last = status ? time : time + size;
  return status;
}

/* model exchange */
EXPORTED int fmi3EvaluateDiscreteStates(void *c) { return UNUSED(c), FINE; }
EXPORTED int fmi3UpdateDiscreteStates(void *c, bool *again, bool *terminate, bool *nominals,
                                      bool *states, bool *has_next, double *next) {
  UNUSED(c), UNUSED(next);
  *again = *terminate = *nominals = *states = *has_next = false;
  return FINE;
}
EXPORTED int fmi3GetNumberOfContinuousStates(void *c, size_t *n) {
  UNUSED(c);
  *n = STATES;
  return FINE;
}
EXPORTED int fmi3GetNumberOfEventIndicators(void *c, size_t *n) {
  UNUSED(c);
  *n = INDICATORS;
  return FINE;
}

/* Not supported: other types, clocks, dependencies at run time, serialized states. */
#define NO_VALUES(type)                                                                   \
  EXPORTED int fmi3Get##type(void *c, const unsigned *which, size_t n, void *x, size_t m) { \
    UNUSED(c), UNUSED(which), UNUSED(x), UNUSED(m);                                       \
    return n == 0 ? FINE : ERROR;                                                         \
  }                                                                                       \
  EXPORTED int fmi3Set##type(void *c, const unsigned *which, size_t n, const void *x, size_t m) { \
    UNUSED(c), UNUSED(which), UNUSED(x), UNUSED(m);                                       \
    return n == 0 ? FINE : ERROR;                                                         \
  }
NO_VALUES(Float32)
NO_VALUES(Int8)
NO_VALUES(UInt8)
NO_VALUES(Int16)
NO_VALUES(UInt16)
NO_VALUES(Int32)
NO_VALUES(UInt32)
NO_VALUES(Int64)
NO_VALUES(UInt64)
NO_VALUES(Boolean)
NO_VALUES(String)
#define NONE(name, ...)                                                                   \
  EXPORTED int fmi3##name(void *c, __VA_ARGS__) {                                         \
    UNUSED(c);                                                                            \
    return ERROR;                                                                         \
  }
typedef const unsigned *Which;
NONE(GetBinary, Which w, size_t n, size_t *sizes, const void **x, size_t m)
NONE(SetBinary, Which w, size_t n, const size_t *sizes, const void **x, size_t m)
NONE(GetClock, Which w, size_t n, bool *x)
NONE(SetClock, Which w, size_t n, const bool *x)
NONE(GetIntervalDecimal, Which w, size_t n, double *x, int *qualifiers)
NONE(GetIntervalFraction, Which w, size_t n, void *counters, void *resolutions, int *qualifiers)
NONE(GetShiftDecimal, Which w, size_t n, double *x)
NONE(GetShiftFraction, Which w, size_t n, void *counters, void *resolutions)
NONE(SetIntervalDecimal, Which w, size_t n, const double *x)
NONE(SetIntervalFraction, Which w, size_t n, const void *counters, const void *resolutions)
NONE(SetShiftDecimal, Which w, size_t n, const double *x)
NONE(SetShiftFraction, Which w, size_t n, const void *counters, const void *resolutions)
NONE(ActivateModelPartition, unsigned clock, double time)
NONE(GetOutputDerivatives, Which w, size_t n, const int *orders, double *x, size_t m)
NONE(GetNumberOfVariableDependencies, unsigned which, size_t *n)
NONE(GetVariableDependencies, unsigned which, size_t *a, unsigned *b, size_t *d, int *kinds, size_t n)
NONE(GetAdjointDerivative, Which u, size_t n, Which k, size_t m, const double *seed, size_t s, double *x, size_t r)
NONE(SerializedFMUStateSize, void *kept, size_t *size)
NONE(SerializeFMUState, void *kept, unsigned char *bytes, size_t size)
NONE(DeserializeFMUState, const unsigned char *bytes, size_t size, void **kept)
EXPORTED int fmi3EnterConfigurationMode(void *c) { return UNUSED(c), ERROR; }
EXPORTED int fmi3ExitConfigurationMode(void *c) { return UNUSED(c), ERROR; }
