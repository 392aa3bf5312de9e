/* Computed torque of @MECHANISM@: efforts of its joints for their measured and their target
   motion. Each configuration is the initial guess for the next one. */
enum { STATES = 0, INDICATORS = 0, INDICATOR = 0 };

static unsigned state(unsigned k) { return k; }
static unsigned slope(unsigned k) { return k; }

static int compute(double *v, int integrated) {
  double velocity[NV], rate[NV], change[NV];
  int status = @NAME@_configuration(v + POSITION, v + CONFIGURATION);
  UNUSED(integrated);
  if (!status) status = @NAME@_velocity(v + CONFIGURATION, v + RATE, velocity);
  if (!status) status = @NAME@_configuration(v + TARGET_POSITION, v + TARGET);
  if (!status) status = @NAME@_velocity(v + TARGET, v + TARGET_RATE, rate);
  if (!status) {
    status = @NAME@_acceleration(v + TARGET, v + TARGET_RATE, v + TARGET_ACCELERATION, change);
  }
  if (!status) {
    status = @NAME@_computed_torque(v + CONFIGURATION, velocity, v + TARGET, rate, change, v + KP,
                                    v + KV, v + WRENCH, NULL, v + EFFORT);
  }
  return status == @UPPER@_LIMITED ? @UPPER@_OK : status;
}

static int advance(double *v, double size) {
  UNUSED(v);
  return size > 0.0 ? @UPPER@_OK : @UPPER@_INVALID;
}

static int tangent(const double *v, const double *s, double *t) {
  UNUSED(v), UNUSED(s), UNUSED(t);
  return @UPPER@_INVALID; /* modelDescription.xml offers no directional derivatives */
}
