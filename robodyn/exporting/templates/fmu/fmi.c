/* FMI @FMI@.0 of @MECHANISM@. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "@NAME@.h"

#define UNUSED(x) (void)(x)
#define EXPORTED __attribute__((visibility("default")))
/* Return values of all calls; both versions of FMI use the same numbers. */
enum { FINE = 0, DISCARD = 2, ERROR = 3 };

/* Value references as in modelDescription.xml, and start values of the variables; variables before
   SETTABLE may be set. */
enum { NQ = @UPPER@_NQ, NV = @UPPER@_NV, N = @UPPER@_N };
enum { @REFERENCES@ };
static const double STARTS[COUNT] = {@STARTS@};

#if @FMI@ == 2
typedef int Boolean;
typedef void (*Logger)(void *, const char *, int, const char *, const char *, ...);
#define SAY(m, text) (m)->logger((m)->environment, (m)->name, ERROR, "logStatusError", "%s", text)
#else
typedef bool Boolean;
typedef void (*Logger)(void *, int, const char *, const char *);
#define SAY(m, text) (m)->logger((m)->environment, ERROR, "logStatusError", text)
#endif

@MODEL@
typedef struct {
  double values[COUNT];
  int exchanges, runs, stale; /* whether for model exchange; initialized; outputs outdated */
  void *environment;
  Logger logger;
  char name[64];
} Instance;

static int report(Instance *m, int status) {
  if (!status) return FINE;
  if (m->logger) SAY(m, @NAME@_status_text(status));
  return ERROR;
}

static int refresh(Instance *m) {
  int status = m->stale ? compute(m->values, m->exchanges && m->runs) : 0;
  if (!status) m->stale = 0;
  return report(m, status);
}

static int reset(Instance *m) {
  memcpy(m->values, STARTS, sizeof STARTS);
  m->runs = 0, m->stale = 1;
  return FINE;
}

static Instance *instance(const char *name, const char *token, Logger logger, void *environment,
                          int exchanges) {
  Instance *m = token && strcmp(token, "@GUID@") == 0 ? calloc(1, sizeof *m) : NULL;
  if (!m) return NULL;
  m->logger = logger, m->environment = environment, m->exchanges = exchanges;
  strncpy(m->name, name ? name : "", sizeof m->name - 1);
  reset(m);
  return m;
}

static int run(Instance *m) {
  int status = refresh(m);
  m->runs = 1;
  return status;
}

static int get(Instance *m, const unsigned *which, size_t n, double *values) {
  size_t i;
  int status = n ? refresh(m) : FINE;
  for (i = 0; i < n && !status; i++) {
    if (which[i] >= COUNT) return ERROR;
    values[i] = m->values[which[i]];
  }
  return status;
}

static int set(Instance *m, const unsigned *which, size_t n, const double *values) {
  size_t i;
  for (i = 0; i < n; i++) {
    if (which[i] >= SETTABLE) return ERROR;
    m->values[which[i]] = values[i];
  }
  m->stale = 1;
  return FINE;
}

static int step(Instance *m, double time, double size) {
  int status = report(m, advance(m->values, size));
  m->stale = 1;
  m->values[TIME] = time + size;
  return status ? status : refresh(m);
}

static int set_time(Instance *m, double time) {
  m->values[TIME] = time;
  return FINE;
}

static int set_states(Instance *m, const double *x, size_t n) {
  size_t k;
  if (n != STATES) return ERROR;
  for (k = 0; k < n; k++) m->values[state((unsigned)k)] = x[k];
  m->stale = 1;
  return FINE;
}

/* States, their derivatives, their nominal values, or the event indicators. */
enum { ALL_STATES, ALL_SLOPES, ALL_NOMINALS, ALL_INDICATORS };
static int get_all(Instance *m, int what, double *x, size_t n) {
  size_t k;
  int status = what == ALL_NOMINALS ? FINE : refresh(m);
  if (n != (size_t)(what == ALL_INDICATORS ? INDICATORS : STATES)) return ERROR;
  for (k = 0; k < n && !status; k++) {
    unsigned i = (unsigned)k;
    x[k] = what == ALL_NOMINALS ? 1.0
           : m->values[what == ALL_STATES ? state(i) : what == ALL_SLOPES ? slope(i) : INDICATOR + i];
  }
  return status;
}

static int directional(Instance *m, const unsigned *unknown, size_t n, const unsigned *known,
                       size_t count, const double *seed, double *found) {
  double seeds[COUNT] = {0.0}, slopes[COUNT];
  size_t i;
  int status = refresh(m);
  for (i = 0; i < count; i++) {
    if (known[i] >= COUNT) return ERROR;
    seeds[known[i]] = seed[i];
  }
  if (!status) status = report(m, tangent(m->values, seeds, slopes));
  for (i = 0; i < n && !status; i++) {
    if (unknown[i] >= COUNT) return ERROR;
    found[i] = slopes[unknown[i]];
  }
  return status;
}

static int keep(const Instance *m, void **kept) {
  if (!*kept) *kept = malloc(sizeof *m);
  if (!*kept) return ERROR;
  memcpy(*kept, m, sizeof *m);
  return FINE;
}

static int bring_back(Instance *m, const Instance *kept) {
  memcpy(m->values, kept->values, sizeof m->values);
  m->runs = kept->runs, m->stale = kept->stale;
  return FINE;
}

static int let_go(void **kept) {
  free(*kept);
  *kept = NULL;
  return FINE;
}

/* Functions whose names differ only in the FMI version. */
EXPORTED const char *@PREFIX@GetVersion(void) { return "@FMI@.0"; }
EXPORTED void @PREFIX@FreeInstance(void *c) { free(c); }
EXPORTED int @PREFIX@SetDebugLogging(void *c, Boolean on, size_t n, const char *const *categories) {
  UNUSED(c), UNUSED(on), UNUSED(n), UNUSED(categories);
  return FINE;
}
EXPORTED int @PREFIX@ExitInitializationMode(void *c) { return run(c); }
EXPORTED int @PREFIX@Terminate(void *c) { return UNUSED(c), FINE; }
EXPORTED int @PREFIX@Reset(void *c) { return reset(c); }
EXPORTED int @PREFIX@Get@STATE@(void *c, void **kept) { return keep(c, kept); }
EXPORTED int @PREFIX@Set@STATE@(void *c, void *kept) { return bring_back(c, kept); }
EXPORTED int @PREFIX@Free@STATE@(void *c, void **kept) { return UNUSED(c), let_go(kept); }
EXPORTED int @PREFIX@EnterEventMode(void *c) { return UNUSED(c), FINE; }
EXPORTED int @PREFIX@EnterContinuousTimeMode(void *c) { return UNUSED(c), FINE; }
EXPORTED int @PREFIX@CompletedIntegratorStep(void *c, Boolean no_return, Boolean *enter,
                                      Boolean *terminate) {
  UNUSED(c), UNUSED(no_return);
  *enter = *terminate = 0;
  return FINE;
}
EXPORTED int @PREFIX@SetTime(void *c, double time) { return set_time(c, time); }
EXPORTED int @PREFIX@SetContinuousStates(void *c, const double *x, size_t n) {
  return set_states(c, x, n);
}
EXPORTED int @PREFIX@GetContinuousStates(void *c, double *x, size_t n) {
  return get_all(c, ALL_STATES, x, n);
}
EXPORTED int @PREFIX@Get@SLOPES@(void *c, double *x, size_t n) {
  return get_all(c, ALL_SLOPES, x, n);
}
EXPORTED int @PREFIX@GetNominalsOfContinuousStates(void *c, double *x, size_t n) {
  return get_all(c, ALL_NOMINALS, x, n);
}
EXPORTED int @PREFIX@GetEventIndicators(void *c, double *x, size_t n) {
  return get_all(c, ALL_INDICATORS, x, n);
}

@OWN@