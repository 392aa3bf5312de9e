/* @MECHANISM@ as a plant. In model exchange, its states are the positions of the driven joints and
   the velocity, so that loops stay closed and quaternions have unit length. With elastic drives,
   positions and rates of the motors are further states. */
enum { M = @MOTORS@, STATES = M + N + NV + M, INDICATORS = 2 * N, INDICATOR = ABOVE_LOWER_END };

/* Stiffness, damping and inertia of elastic drives, as in the library. */
static const double DRIVES[][3] = {@DRIVES@};

static unsigned at(unsigned k, unsigned motor, unsigned joint, unsigned speed, unsigned motor_speed) {
  return k < M ? motor + k : k < M + N ? joint + k - M : k < M + N + NV ? speed + k - M - N
         : motor_speed + k - M - N - NV;
}
static unsigned state(unsigned k) { return at(k, MOTOR_POSITION, POSITION, VELOCITY, MOTOR_RATE); }
static unsigned slope(unsigned k) {
  return at(k, MOTOR_RATE, RATE, ACCELERATION, MOTOR_ACCELERATION);
}

/* Effort of an actuator, within its limits. */
static double actuator(const double *v, int i) {
  double most = @NAME@_effort_limits[i], effort = v[EFFORT + i];
  return effort > most ? most : effort < -most ? -most : effort;
}

/* Effort of an elastic drive on its joint; it is linear, so changes of v give the change of it. */
static double spring(const double *v, int i) {
  return DRIVES[i][0] * (v[MOTOR_POSITION + i] - v[POSITION + i]) +
         DRIVES[i][1] * (v[MOTOR_RATE + i] - v[RATE + i]);
}

/* Efforts on the joints, including those of the end stops. */
static int loads(const double *v, double *efforts) {
  int i, status = @NAME@_end_stop_efforts(v + CONFIGURATION, v + VELOCITY, v[INTEGRATION_STEP],
                                         efforts);
  for (i = 0; i < N; i++) efforts[i] += M ? spring(v, i) : actuator(v, i);
  return status;
}

/* Compute all outputs from the configuration, or from the positions if a tool integrates these. */
static int compute(double *v, int integrated) {
  double efforts[N];
  int i, status = integrated ? @NAME@_configuration(v + POSITION, v + CONFIGURATION)
                             : @NAME@_joint_positions(v + CONFIGURATION, v + POSITION);
  if (!status) status = @NAME@_joint_velocities(v + CONFIGURATION, v + VELOCITY, v + RATE);
  if (!status) status = @NAME@_body_pose(v + CONFIGURATION, v + BODY);
  if (!status) status = loads(v, efforts);
  if (!status) {
    status = @NAME@_@DYNAMICS@(v + CONFIGURATION, v + VELOCITY, efforts, v + WRENCH, NULL,
                                     v + ACCELERATION);
  }
  for (i = 0; i < M; i++) {
    v[MOTOR_ACCELERATION + i] = (actuator(v, i) - spring(v, i)) / DRIVES[i][2];
  }
  for (i = 0; i < N; i++) {
    const double *ends = @NAME@_position_limits[i];
    double below = v[POSITION + i] - ends[0], above = ends[1] - v[POSITION + i];
    v[INDICATOR + 2 * i] = below < 1e9 ? below : 1e9;
    v[INDICATOR + 2 * i + 1] = above < 1e9 ? above : 1e9;
  }
  return status;
}

static int advance(double *v, double size) {
  int steps;
  if (!(size > 0.0 && v[INTEGRATION_STEP] > 0.0 && size / v[INTEGRATION_STEP] < 1e9)) return @UPPER@_INVALID;
  steps = (int)ceil(size / v[INTEGRATION_STEP] * (1.0 - 1e-12));
  return @NAME@_step(v + CONFIGURATION, v + VELOCITY,@STEPPED@ v + EFFORT, v + WRENCH, NULL,
                     size / steps, steps);
}

/* Directional derivatives t of all variables for a change s of states and inputs: of accelerations
   by the library's derivatives, of the kinematics by central differences along the motion. */
static int tangent(const double *v, const double *s, double *t) {
  double shift[NV], efforts[N], changes[N], a[NV], b[NV], load[6];
  double by_q[NV * NV], by_v[NV * NV], by_e[NV * N], largest = 1.0, h;
  int i, j, k, status;
  memcpy(t, s, COUNT * sizeof *t);
  for (i = 0; i < N; i++) largest = fmax(largest, fabs(s[POSITION + i]));
  h = 1e-5 / largest;
  status = @NAME@_velocity(v + CONFIGURATION, s + POSITION, shift);
  if (!status) status = @NAME@_joint_velocities(v + CONFIGURATION, s + VELOCITY, t + RATE);
  for (k = 0; k < 7; k++) t[BODY + k] = 0.0;
  for (i = 0; i < N; i++) changes[i] = 0.0;
  for (k = 1; k > -2 && !status; k -= 2) {
    double there[N], rates[N], faster[NV], moved[NQ], pose[7], stops[N];
    memcpy(moved, v + CONFIGURATION, sizeof moved);
    for (i = 0; i < N; i++) there[i] = v[POSITION + i] + k * h * s[POSITION + i];
    for (i = 0; i < NV; i++) faster[i] = v[VELOCITY + i] + k * h * s[VELOCITY + i];
    status = @NAME@_configuration(there, moved);
    if (!status) status = @NAME@_joint_velocities(moved, v + VELOCITY, rates);
    if (!status) status = @NAME@_body_pose(moved, pose);
    for (i = 0; i < N && !status; i++) t[RATE + i] += k * rates[i] / (2.0 * h);
    for (i = 0; i < 7 && !status; i++) t[BODY + i] += k * pose[i] / (2.0 * h);
    if (!status) status = @NAME@_end_stop_efforts(moved, faster, v[INTEGRATION_STEP], stops);
    for (i = 0; i < N && !status; i++) changes[i] += k * stops[i] / (2.0 * h);
  }
  if (!status) status = loads(v, efforts);
  if (!status) {
    status = @NAME@_@DYNAMICS@_derivatives(v + CONFIGURATION, v + VELOCITY, efforts,
                                                 v + WRENCH, NULL, a, by_q, by_v, by_e);
  }
  for (i = 0; i < N; i++) {
    double pushed = fabs(v[EFFORT + i]) <= @NAME@_effort_limits[i] ? s[EFFORT + i] : 0.0;
    changes[i] += M ? spring(t, i) : pushed;
    if (M) t[MOTOR_ACCELERATION + i] = (pushed - spring(t, i)) / DRIVES[i][2];
    t[INDICATOR + 2 * i] = s[POSITION + i];
    t[INDICATOR + 2 * i + 1] = -s[POSITION + i];
  }
  /* the acceleration is linear in a wrench */
  for (k = 0; k < 6; k++) load[k] = v[WRENCH + k] + s[WRENCH + k];
  if (!status) {
    status = @NAME@_@DYNAMICS@(v + CONFIGURATION, v + VELOCITY, efforts, load, NULL, b);
  }
  for (i = 0; i < NV && !status; i++) {
    double total = b[i] - a[i];
    for (j = 0; j < NV; j++) {
      total += by_q[NV * i + j] * shift[j] + by_v[NV * i + j] * s[VELOCITY + j];
    }
    for (j = 0; j < N; j++) total += by_e[N * i + j] * changes[j];
    t[ACCELERATION + i] = total;
  }
  return status;
}
