/* A supervised controller of @MECHANISM@: computes efforts from references, at a fixed rate.

   Call @NAME@_start once, then @NAME@_update in every period; loop.c is an example.

   All efforts are finite and within the actuators' limits, for any input. The controller rejects
   and counts references that are not finite, beyond the position limits, too fast, too strong, far
   from the previous one or inconsistent with it, and references after which the mechanism could not
   stop. Without a valid reference it brakes the mechanism to rest and holds it there. If the state
   cannot be measured, it brakes and holds with the model alone; an update fails only if that lasts
   longer than @UPPER@_GIVE_UP_TIME, or @UPPER@_BLIND_TIME without rates.

   No allocation, no lock, no global state. Joints have the order and signs of @NAME@.h. */
#ifndef @UPPER@_CONTROLLER_H
#define @UPPER@_CONTROLLER_H

#include <math.h>
#include <string.h>

#include "@NAME@.h"

/* longest time [s] of braking and holding without a usable state */
#define @UPPER@_GIVE_UP_TIME 1.0
/* the same [s] without measured rates: the efforts of the model alone let the mechanism drift */
#define @UPPER@_BLIND_TIME 0.25
/* longest time [s] for which a reference may be repeated; time [s] after which an inconsistency is
   forgotten */
#define @UPPER@_HOLD_TIME 0.1
#define @UPPER@_MEMORY 0.25
/* largest delay [s] of measured rates */
#define @UPPER@_RATE_LAG 0.03
/* largest inconsistency of accelerations and rates, as a fraction of the velocity limits */
#define @UPPER@_RATE_SHARE 0.1
/* largest speed while references are followed, as a multiple of the velocity limits */
#define @UPPER@_SPEED_MARGIN 1.25
/* time [s] for which a direction stays blocked, because the mechanism could not stop in it */
#define @UPPER@_BARRED_TIME 0.5
/* largest efforts of a reference, as a multiple of the actuators' limits */
#define @UPPER@_EFFORT_MARGIN 3.0
/* largest rates of a reference, as a multiple of the velocity limits: splines overshoot a little */
#define @UPPER@_RATE_MARGIN 1.01
/* largest fractions of the actuators' efforts for holding, and for braking without a load; the
   feedback uses the rest */
#define @UPPER@_HOLDING_SHARE 0.9
#define @UPPER@_BRAKING_SHARE 0.6
/* shortest and longest time [s] of braking to rest */
#define @UPPER@_SHORTEST_STOP 0.02
#define @UPPER@_LONGEST_STOP 0.64
/* largest distance [rad or m] between the configurations at which a stop is checked; smallest and
   largest number of these configurations */
#define @UPPER@_PLACE_DISTANCE 0.01
#define @UPPER@_LEAST_PLACES 4
#define @UPPER@_MOST_PLACES 64
/* lag, as a fraction of the tolerance, above which a stop begins at the measured state */
#define @UPPER@_LAG_SHARE 0.05
/* largest overshoot beyond a position limit during a stop, as a fraction of the tolerance */
#define @UPPER@_END_SHARE 0.02
/* number of steps from home to the measured positions at the start */
#define @UPPER@_START_STEPS 32
/* tolerance [rad or m] of the position limits, for rounding errors */
#define @UPPER@_END_MARGIN 1e-6
/* number of statuses that are counted separately */
#define @UPPER@_STATUSES (@UPPER@_JUMPS + 1)

typedef enum {
  @UPPER@_COMPUTED_TORQUE,      /* feedback and feedforward */
  @UPPER@_FEED_FORWARD,         /* efforts of the reference motion, without feedback */
  @UPPER@_GRAVITY_COMPENSATION  /* efforts that balance gravity at the measured positions */
} @NAME@_control;

typedef struct {
  @NAME@_control control;
  double kp[@UPPER@_NV], kv[@UPPER@_NV]; /* gains [1/s^2], [1/s] */
  double tolerance; /* [rad or m] largest jump from one reference to the next, beyond its own motion */
  /* Efforts that the drives compensate themselves. The motion of a moving base (`base` of
     @NAME@_command) includes gravity. */
  int has_gravity;   /* whether `gravity` replaces the model's */
  double gravity[3]; /* [m/s^2] base frame; zeros if the drives compensate gravity themselves */
  int leaves_friction, leaves_coriolis; /* whether the drives compensate these themselves */
} @NAME@_settings;

/* A stop: a straight motion to rest at a constant deceleration. */
typedef struct {
  double configuration[@UPPER@_NQ], velocity[@UPPER@_NV];
  double time; /* [s] until rest */
} @NAME@_stop;

typedef struct {
  @NAME@_stop stop;     /* from the state after this period; the actuators can follow it */
  @NAME@_stop braking;  /* followed by the target if there is no valid reference */
  double positions[@UPPER@_N], rates[@UPPER@_N];           /* of the target's joints */
  double configuration[@UPPER@_NQ], velocity[@UPPER@_NV];  /* last measured */
  double target[@UPPER@_NQ], target_velocity[@UPPER@_NV], target_acceleration[@UPPER@_NV];
  double measured[@UPPER@_N], measured_rates[@UPPER@_N];
  double efforts[@UPPER@_N];  /* last commanded */
  double holding[@UPPER@_N];  /* efforts that hold the mechanism against gravity */
  double held;                /* largest fraction of an actuator's effort that gravity requires */
  double given[@UPPER@_N], given_rates[@UPPER@_N]; /* last reference, valid or not */
  double drift[@UPPER@_N], rate_drift[@UPPER@_N];  /* of references: integral minus change */
  double measured_drift[@UPPER@_N];                /* of measured rates: the same difference */
  int pauses; /* number of updates since the last reference, at most 2 */
  double lost_time, idle_time;            /* [s] without a state; with an unchanged reference */
  double blind_time;                      /* [s] without usable rates either */
  double barred[@UPPER@_N], barred_time;  /* rates of the blocked direction; [s] left */
  double side;    /* side of singularities at the start; see @NAME@_side */
  int is_moving;  /* whether references are followed */
  int is_cut;      /* whether the last efforts were limited */
  int is_measured; /* whether configuration and velocity are usable for feedback */
  int is_lost;     /* whether the state was not measured; it may be extrapolated by the rates */
  int status;     /* last status that is not OK, for diagnostics */
  unsigned long refused[@UPPER@_STATUSES]; /* number of rejected references, by status */
  unsigned long cut, lost;                 /* updates with limited efforts; without a usable state */
} @NAME@_controller;

/* Return the difference of two positions of a joint; by the shorter way if it is continuous. */
static inline double @NAME@_joint_difference(int joint, double start, double goal) {
  static const int wraps[@UPPER@_N] = {@WRAPS@};
  return wraps[joint] ? remainder(goal - start, 6.283185307179586) : goal - start;
}

static inline int @NAME@_all_finite(const double *numbers, int count) {
  for (int i = 0; i < count; i++) {
    if (!isfinite(numbers[i])) return 0;
  }
  return 1;
}

/* Find the smallest and the largest effort of an actuator. */
static inline void @NAME@_effort_ends(int joint, double *least, double *largest) {
  const double most = @NAME@_effort_limits[joint];
  *least = fmax(-most, @NAME@_effort_range[joint][0]);
  *largest = fmin(most, @NAME@_effort_range[joint][1]);
}

/* Limit efforts to those of the actuators; replace NaN by `otherwise`. Return 1 if any changed. */
static inline int @NAME@_limit_efforts(double *efforts, const double *otherwise) {
  int cut = 0;
  for (int i = 0; i < @UPPER@_N; i++) {
    double least, largest, found = isfinite(efforts[i]) ? efforts[i] : otherwise ? otherwise[i] : 0.0;
    @NAME@_effort_ends(i, &least, &largest);
    if (!isfinite(found)) found = 0.0;
    found = fmin(fmax(found, least), largest);
    cut |= found != efforts[i];
    efforts[i] = found;
  }
  return cut;
}

/* Return whether efforts are within the limits of the actuators. */
static inline int @NAME@_are_within_limits(const double *efforts) {
  for (int i = 0; i < @UPPER@_N; i++) {
    double least, largest;
    @NAME@_effort_ends(i, &least, &largest);
    if (!(efforts[i] >= least && efforts[i] <= largest)) return 0;
  }
  return 1;
}

/* Return the motion of a base at rest under the gravity of the settings, written to `own`. */
static inline const double *@NAME@_resting_base(const @NAME@_settings *settings, double *own) {
  if (!settings->has_gravity || !@NAME@_all_finite(settings->gravity, 3)) return NULL;
  for (int k = 0; k < 9; k++) own[k] = k < 3 ? -settings->gravity[k] : 0.0;
  return own;
}

/* Compute the Coriolis and centrifugal efforts that the drives compensate; zero by default. */
static inline int @NAME@_left_coriolis(const @NAME@_settings *settings, const double *configuration,
                                       const double *velocity, double *efforts) {
  double still[@UPPER@_NV] = {0.0}, resting[@UPPER@_N];
  memset(efforts, 0, sizeof resting);
  if (!settings->leaves_coriolis) return @UPPER@_OK;
  int status = @NAME@_frictionless_dynamics(configuration, velocity, still, NULL, NULL, efforts);
  if (status == @UPPER@_OK) {
    status = @NAME@_frictionless_dynamics(configuration, still, still, NULL, NULL, resting);
  }
  for (int i = 0; i < @UPPER@_N && status == @UPPER@_OK; i++) efforts[i] -= resting[i];
  return status;
}

/* Compute the efforts of a motion, without those that the drives compensate themselves. */
static inline int @NAME@_needed(const @NAME@_settings *settings, const double *configuration,
                                const double *velocity, const double *acceleration,
                                const double *wrench, const double *base, double *efforts) {
  double left[@UPPER@_N];
  int status =
    settings->leaves_friction
      ? @NAME@_frictionless_dynamics(configuration, velocity, acceleration, wrench, base, efforts)
      : @NAME@_inverse_dynamics(configuration, velocity, acceleration, wrench, base, efforts);
  if (status == @UPPER@_OK) {
    status = @NAME@_left_coriolis(settings, configuration, velocity, left);
  }
  for (int i = 0; i < @UPPER@_N && status == @UPPER@_OK; i++) efforts[i] -= left[i];
  return status;
}

/* Return the largest ratio of an effort to its limit. */
static inline double @NAME@_largest_share(const double *efforts) {
  double share = 0.0;
  for (int i = 0; i < @UPPER@_N; i++) {
    share = fmax(share, fabs(efforts[i]) / @NAME@_effort_limits[i]);
  }
  return share;
}

/* Check that a motion needs at most a multiple of the actuators' efforts. */
static inline int @NAME@_can_be_driven(const double *configuration, const double *velocity,
                                       const double *acceleration, const double *base,
                                       double margin) {
  double needed[@UPPER@_N];
  int status = @NAME@_inverse_dynamics(configuration, velocity, acceleration, NULL, base, needed);
  if (status == @UPPER@_INVALID && base) {
    status = @NAME@_inverse_dynamics(configuration, velocity, acceleration, NULL, NULL, needed);
  }
  if (status != @UPPER@_OK) return status;
  for (int i = 0; i < @UPPER@_N; i++) {
    const double most = @NAME@_effort_limits[i];
    if (isfinite(most) && !(fabs(needed[i]) <= margin * most)) return @UPPER@_TOO_STRONG;
  }
  return @UPPER@_OK;
}

static inline double @NAME@_usable_period(double period) {
  return period > 1e-6 && period < 0.1 ? period : period >= 0.1 && isfinite(period) ? 0.1 : 1e-3;
}

/* Start at rest at the measured positions of the joints, in the assembly mode that is continuous
   with home. If the status is not OK, there is no such configuration: do not use the controller. */
static inline int @NAME@_start(@NAME@_controller *c, const double *positions,
                               const double *rates) {
  double still[@UPPER@_NV] = {0.0}, home[@UPPER@_N], joints[@UPPER@_N];
  memset(c, 0, sizeof *c);
  memcpy(c->configuration, @NAME@_home, sizeof c->configuration);
  if (!@NAME@_all_finite(positions, @UPPER@_N) || !@NAME@_all_finite(rates, @UPPER@_N)) {
    return @UPPER@_INVALID;
  }
  int status = @NAME@_joint_positions(c->configuration, home);
  for (int k = 1; k < @UPPER@_START_STEPS && status == @UPPER@_OK; k++) {
    for (int i = 0; i < @UPPER@_N; i++) {
      joints[i] = home[i] + @NAME@_joint_difference(i, home[i], positions[i]) * k /
                              @UPPER@_START_STEPS;
    }
    status = @NAME@_configuration(joints, c->configuration);
  }
  if (status == @UPPER@_OK) status = @NAME@_configuration(positions, c->configuration);
  if (status == @UPPER@_OK) status = @NAME@_velocity(c->configuration, rates, c->velocity);
  if (status == @UPPER@_OK) status = @NAME@_side(c->configuration, &c->side);
  if (status == @UPPER@_OK) {
    status = @NAME@_inverse_dynamics(c->configuration, still, still, NULL, NULL, c->holding);
  }
  if (status != @UPPER@_OK) return status;
  @NAME@_limit_efforts(c->holding, NULL);
  c->held = @NAME@_largest_share(c->holding);
  memcpy(c->efforts, c->holding, sizeof c->efforts);
  memcpy(c->positions, positions, sizeof c->positions);
  memcpy(c->measured, positions, sizeof c->measured);
  memcpy(c->target, c->configuration, sizeof c->target);
  memcpy(c->stop.configuration, c->configuration, sizeof c->configuration);
  c->braking = c->stop;
  c->is_measured = 1;
  return @UPPER@_OK;
}

/* Return the difference between an integral and its expected value after another period. */
static inline double @NAME@_drift(double drift, double change, double period) {
  return drift + change - drift * period / @UPPER@_MEMORY;
}

/* Store a measured state. It is rejected if it is not finite, out of reach, farther from the last
   one than ten times the velocity limits allow, or if the change of positions contradicts the
   rates; positions are then integrated from the rates, if these are usable. */
static inline int @NAME@_measure(@NAME@_controller *c, const double *positions,
                                 const double *rates, double period,
                                 const @NAME@_settings *settings) {
  double configuration[@UPPER@_NQ], velocity[@UPPER@_NV], still[@UPPER@_NV] = {0.0};
  double holding[@UPPER@_N];
  period = @NAME@_usable_period(period);
  int status = @UPPER@_OK;
  double reckoned[@UPPER@_N], drift[@UPPER@_N];
  int has_rates = 1;
  for (int i = 0; i < @UPPER@_N; i++) {
    const double most = 10.0 * @NAME@_velocity_limits[i];
    has_rates = has_rates && isfinite(rates[i]);
    if (isfinite(most) && most > 0.0) has_rates = has_rates && fabs(rates[i]) <= most;
  }
  for (int i = 0; i < @UPPER@_N; i++) {
    const double most = 10.0 * @NAME@_velocity_limits[i];
    const double change = fabs(@NAME@_joint_difference(i, c->measured[i], positions[i]));
    const double unknown = period + (has_rates ? 0.0 : c->lost_time);
    const int is_limited = isfinite(most) && most > 0.0;
    if (!isfinite(positions[i])) {
      status = @UPPER@_INVALID;
    } else if (is_limited && status == @UPPER@_OK &&
               !(change <= settings->tolerance + most * unknown)) {
      status = @UPPER@_JUMPS;
    }
    reckoned[i] = c->measured[i] + period * rates[i];
    /* detect positions that do not change while the joint moves */
    if (has_rates && isfinite(positions[i]) && rates[i] != 0.0) {
      const double moved = @NAME@_joint_difference(i, c->measured[i], positions[i]);
      const double most_drift = 0.25 * settings->tolerance + @UPPER@_RATE_LAG * fabs(rates[i]);
      drift[i] = @NAME@_drift(c->measured_drift[i], period * rates[i] - moved, period);
      if (status == @UPPER@_OK && fabs(drift[i]) > most_drift) status = @UPPER@_JUMPS;
    } else {
      drift[i] = @NAME@_drift(c->measured_drift[i], 0.0, period);
    }
  }
  if (status == @UPPER@_OK && !has_rates) status = @UPPER@_INVALID;
  c->is_lost = status != @UPPER@_OK;
  if (!c->is_lost) memcpy(c->measured_drift, drift, sizeof drift);
  if (c->is_lost && has_rates) {
    c->status = status;
    status = @UPPER@_OK;
    positions = reckoned;
  }
  memcpy(configuration, c->configuration, sizeof configuration);
  if (status == @UPPER@_OK) status = @NAME@_configuration(positions, configuration);
  if (status == @UPPER@_OK) status = @NAME@_velocity(configuration, rates, velocity);
  if (status == @UPPER@_OK) {
    status = @NAME@_inverse_dynamics(configuration, still, still, NULL, NULL, holding);
  }
  c->is_measured = status == @UPPER@_OK;
  c->blind_time = c->is_measured ? 0.0 : c->blind_time + period;
  if (!c->is_measured) {
    c->status = status;
    c->is_lost = 1;
    return status;
  }
  memcpy(c->configuration, configuration, sizeof configuration);
  memcpy(c->velocity, velocity, sizeof velocity);
  memcpy(c->measured, positions, sizeof c->measured);
  memcpy(c->measured_rates, rates, sizeof c->measured_rates);
  @NAME@_limit_efforts(holding, NULL);
  c->held = @NAME@_largest_share(holding);
  double own[9];
  const double *base = @NAME@_resting_base(settings, own);
  if (base) {
    @NAME@_needed(settings, configuration, still, still, NULL, base, holding);
    @NAME@_limit_efforts(holding, NULL);
  }
  memcpy(c->holding, holding, sizeof holding);
  return @UPPER@_OK;
}

/* Check a reference and return a status of @NAME@.h. If the model has no velocity
   limit, the rates must be consistent with the change of positions. */
static inline int @NAME@_check_joints(const @NAME@_controller *c, const double *positions,
                                      const double *rates, double period, double tolerance) {
  const double elapsed = c->is_moving ? period + c->idle_time : period;
  int has_changed = 0;
  for (int i = 0; i < @UPPER@_N && c->is_measured; i++) {
    const double most = @UPPER@_SPEED_MARGIN * @NAME@_velocity_limits[i];
    if (most > 0.0 && fabs(c->measured_rates[i]) > most) return @UPPER@_TOO_FAST;
  }
  for (int i = 0; i < @UPPER@_N; i++) {
    if (!isfinite(positions[i]) || !isfinite(rates[i])) return @UPPER@_INVALID;
    has_changed |= positions[i] != c->positions[i];
  }
  for (int i = 0; i < @UPPER@_N; i++) {
    const double most = @NAME@_velocity_limits[i];
    const double change = @NAME@_joint_difference(i, c->positions[i], positions[i]);
    const double lower = @NAME@_position_limits[i][0], upper = @NAME@_position_limits[i][1];
    const int is_limited = isfinite(most) && most > 0.0;
    if (is_limited) {
      if (fabs(rates[i]) > @UPPER@_RATE_MARGIN * most) return @UPPER@_TOO_FAST;
    } else if (fabs(rates[i]) * period > 2.0 * (tolerance + fabs(change))) {
      return @UPPER@_TOO_FAST;
    }
    if (positions[i] < lower - @UPPER@_END_MARGIN || positions[i] > upper + @UPPER@_END_MARGIN) {
      return @UPPER@_BEYOND_ENDS;
    }
    const double pace = is_limited ? @UPPER@_RATE_MARGIN * most : 1.5 * fabs(c->rates[i]);
    const double reach = tolerance + (c->is_moving && has_changed ? elapsed * pace : 0.0);
    if (!(fabs(change) <= reach)) return @UPPER@_JUMPS;
  }
  return @UPPER@_OK;
}

/* Return the fraction of the actuators' efforts that braking may use beside the load. */
static inline double @NAME@_braking_share(const @NAME@_controller *c) {
  return fmin(fmax(@UPPER@_BRAKING_SHARE, 0.5 + 0.5 * c->held), @UPPER@_HOLDING_SHARE);
}

/* Return the longest braking time [s] that keeps joints with these rates within a margin of their
   ends. */
static inline double @NAME@_time_to_ends(const double *positions, const double *rates,
                                         double beyond) {
  double time = INFINITY;
  for (int i = 0; i < @UPPER@_N; i++) {
    const double end = @NAME@_position_limits[i][rates[i] > 0.0], speed = fabs(rates[i]);
    const double left = fabs(end - positions[i]);
    if (speed > 0.0) time = fmin(time, 2.0 * (left + beyond) / speed);
  }
  return time;
}

/* Advance a configuration by a velocity for a time [s]; fails if it is beyond a singularity. */
static inline int @NAME@_move_on(const @NAME@_controller *c, const double *configuration,
                                 const double *velocity, double time, double *there) {
  double way[@UPPER@_NV], side = 0.0;
  for (int j = 0; j < @UPPER@_NV; j++) way[j] = time * velocity[j];
  int status = @NAME@_advance(configuration, way, there);
  if (status == @UPPER@_OK) status = @NAME@_side(there, &side);
  return status == @UPPER@_OK && !(side * c->side > 0.0) ? @UPPER@_SINGULAR : status;
}

/* Return whether rates of joints exceed the largest speed. */
static inline int @NAME@_are_too_fast(const double *rates) {
  for (int i = 0; i < @UPPER@_N; i++) {
    const double most = @UPPER@_SPEED_MARGIN * @NAME@_velocity_limits[i];
    if (most > 0.0 && fabs(rates[i]) > most) return 1;
  }
  return 0;
}

/* Check a stop after a fraction of its time: the configuration must be on the same side of
   singularities, no joint may be too fast, or farther beyond its position limits than at the start
   by more than `beyond`, and the actuators must be strong enough. At the end they must also hold the
   mechanism. */
static inline int @NAME@_check_place(const @NAME@_controller *c, const @NAME@_stop *stop,
                                     const double *start, double fraction, double beyond) {
  double there[@UPPER@_NQ], velocity[@UPPER@_NV], acceleration[@UPPER@_NV];
  double positions[@UPPER@_N], rates[@UPPER@_N];
  const double left = 1.0 - fraction;
  for (int j = 0; j < @UPPER@_NV; j++) {
    velocity[j] = left * stop->velocity[j];
    acceleration[j] = -stop->velocity[j] / stop->time;
  }
  int status = @NAME@_move_on(c, stop->configuration, stop->velocity,
                              0.5 * (1.0 - left * left) * stop->time, there);
  if (status == @UPPER@_OK) status = @NAME@_joint_velocities(there, velocity, rates);
  if (status == @UPPER@_OK && @NAME@_are_too_fast(rates)) status = @UPPER@_TOO_FAST;
  if (status == @UPPER@_OK) status = @NAME@_joint_positions(there, positions);
  for (int i = 0; i < @UPPER@_N && status == @UPPER@_OK; i++) {
    const double lower = fmin(@NAME@_position_limits[i][0], start[i]) - beyond;
    const double upper = fmax(@NAME@_position_limits[i][1], start[i]) + beyond;
    if (!(positions[i] >= lower && positions[i] <= upper)) status = @UPPER@_BEYOND_ENDS;
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_can_be_driven(there, velocity, acceleration, NULL, @NAME@_braking_share(c));
  }
  if (status == @UPPER@_OK && left == 1.0) { /* friction helps at the start, but not at the end */
    memset(velocity, 0, sizeof velocity);
    status = @NAME@_can_be_driven(there, velocity, acceleration, NULL, @NAME@_braking_share(c));
  }
  if (status == @UPPER@_OK && left == 0.0) {
    memset(acceleration, 0, sizeof acceleration);
    status = @NAME@_can_be_driven(there, velocity, acceleration, NULL, @UPPER@_HOLDING_SHARE);
  }
  return status;
}

/* Find the shortest stop that the actuators can follow from the state in `stop`. If there is none, the
   status says why, and the time of `stop` is the shortest for which the actuators can begin to
   brake. */
static inline int @NAME@_find_stop(const @NAME@_controller *c, double tolerance,
                                   @NAME@_stop *stop) {
  double start[@UPPER@_N], rates[@UPPER@_N], fastest = 0.0, begun = 0.0;
  int status = @NAME@_joint_positions(stop->configuration, start);
  if (status == @UPPER@_OK) {
    status = @NAME@_joint_velocities(stop->configuration, stop->velocity, rates);
  }
  stop->time = @UPPER@_SHORTEST_STOP;
  if (status != @UPPER@_OK) return status;
  for (int j = 0; j < @UPPER@_NV; j++) fastest = fmax(fastest, fabs(stop->velocity[j]));
  const double beyond = @UPPER@_END_SHARE * tolerance;
  const double longest =
    fmin(@UPPER@_LONGEST_STOP, @NAME@_time_to_ends(start, rates, @UPPER@_END_MARGIN));
  for (double tried = @UPPER@_SHORTEST_STOP;; tried *= 2.0) {
    stop->time = fmin(tried, longest);
    status = @NAME@_check_place(c, stop, start, 0.0, beyond);
    if (status == @UPPER@_OK && begun == 0.0) begun = stop->time;
    const double most = ceil(fastest * stop->time / @UPPER@_PLACE_DISTANCE);
    const double places = fmin(fmax(@UPPER@_LEAST_PLACES, most), @UPPER@_MOST_PLACES);
    /* start with the end, which is critical most often */
    for (double k = places; k > 0.0 && status == @UPPER@_OK; k--) {
      status = @NAME@_check_place(c, stop, start, k / places, beyond);
    }
    if (status == @UPPER@_OK) return status;
    /* a longer stop leads to the same place, and a much longer one takes long to check */
    if (status != @UPPER@_TOO_STRONG || tried >= longest) break;
    if (begun > 0.0 && tried > begun) break;
  }
  stop->time = begun > 0.0 ? begun : fmax(longest, @UPPER@_SHORTEST_STOP);
  return status;
}

/* Return whether the mechanism lags: a joint is farther from the given positions than `way` plus its
   motion in two periods, or its rate differs too much. */
static inline int @NAME@_lags(const @NAME@_controller *c, const double *positions,
                              const double *rates, double period, double way) {
  for (int i = 0; i < @UPPER@_N && c->is_measured; i++) {
    const double most = @UPPER@_RATE_SHARE * @NAME@_velocity_limits[i];
    const double apart = fabs(@NAME@_joint_difference(i, positions[i], c->measured[i]));
    if (apart > way + 2.0 * period * fabs(rates[i])) return 1;
    if (most > 0.0 && fabs(c->measured_rates[i] - rates[i]) > most) return 1;
  }
  return 0;
}

/* Set the target to a configuration, velocity and acceleration, if they are valid. */
static inline int @NAME@_aim_at(@NAME@_controller *c, const double *target, const double *velocity,
                                const double *acceleration, double period, const double *base,
                                const @NAME@_settings *settings) {
  double positions[@UPPER@_N], rates[@UPPER@_N];
  period = @NAME@_usable_period(period);
  /* without a measured state, the mechanism only brakes */
  int status = !c->is_lost && c->lost_time == 0.0 ? @UPPER@_OK : @UPPER@_INVALID;
  if (status == @UPPER@_OK) status = @NAME@_joint_positions(target, positions);
  if (status == @UPPER@_OK) status = @NAME@_joint_velocities(target, velocity, rates);
  if (status == @UPPER@_OK && !@NAME@_all_finite(acceleration, @UPPER@_NV)) {
    status = @UPPER@_INVALID;
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_check_joints(c, positions, rates, period, settings->tolerance);
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_can_be_driven(target, velocity, acceleration, base, @UPPER@_EFFORT_MARGIN);
  }
  /* blocked: beyond a singularity a stop may be possible again, but none may be crossed */
  double towards = 0.0;
  for (int i = 0; i < @UPPER@_N && c->barred_time > 0.0; i++) towards += c->barred[i] * rates[i];
  if (status == @UPPER@_OK && towards > 0.0) {
    status = @UPPER@_NO_SOLUTION;
    c->barred_time = @UPPER@_BARRED_TIME;
  }
  if (status != @UPPER@_OK) {
    c->refused[status]++;
    c->status = status;
    return status;
  }
  c->idle_time = memcmp(positions, c->positions, sizeof positions) ? 0.0 : c->idle_time + period;
  memcpy(c->positions, positions, sizeof positions);
  memcpy(c->rates, rates, sizeof rates);
  memmove(c->target, target, sizeof c->target);
  memmove(c->target_velocity, velocity, sizeof c->target_velocity);
  memmove(c->target_acceleration, acceleration, sizeof c->target_acceleration);
  c->is_moving = 1;
  return @UPPER@_OK;
}

/* Check that rates are consistent with the change of positions, and accelerations with the change of
   rates, over some periods. A rate or an acceleration of zero is not checked. */
static inline int @NAME@_check_consistency(@NAME@_controller *c, const double *positions,
                                           const double *rates, const double *accelerations,
                                           double period, double tolerance) {
  const int continues = c->pauses <= 1;
  int fits = 1;
  for (int i = 0; i < @UPPER@_N; i++) {
    const double most = @NAME@_velocity_limits[i];
    const double most_drift = tolerance + @UPPER@_HOLD_TIME * fabs(rates[i]);
    const double most_change = isfinite(most) && most > 0.0 ? @UPPER@_RATE_SHARE * most
                                                            : tolerance / @UPPER@_HOLD_TIME;
    const double moved =
      continues ? @NAME@_joint_difference(i, c->given[i], positions[i]) : period * rates[i];
    const double changed = continues ? rates[i] - c->given_rates[i] : 0.0;
    const double drift = @NAME@_drift(
      c->drift[i], rates[i] != 0.0 ? period * rates[i] - moved : 0.0, period);
    const double rate_drift = @NAME@_drift(
      c->rate_drift[i], accelerations[i] != 0.0 ? period * accelerations[i] - changed : 0.0,
      period);
    fits = fits && fabs(drift) <= most_drift && fabs(rate_drift) <= most_change;
    /* bounded, so that even a large inconsistency is forgotten after a while */
    c->drift[i] = fmax(-2.0 * most_drift, fmin(drift, 2.0 * most_drift));
    c->rate_drift[i] = fmax(-2.0 * most_change, fmin(rate_drift, 2.0 * most_change));
    c->given[i] = positions[i];
    c->given_rates[i] = rates[i];
  }
  c->pauses = 0;
  return fits ? @UPPER@_OK : @UPPER@_TOO_FAST;
}

/* Check that the actuators are strong enough for a sudden change of rates. */
static inline int @NAME@_check_change(const @NAME@_controller *c, const double *target,
                                      const double *velocity, const double *rates,
                                      double period) {
  double changes[@UPPER@_N], acceleration[@UPPER@_NV];
  int is_sudden = 0;
  for (int i = 0; i < @UPPER@_N; i++) {
    const double most = @NAME@_velocity_limits[i], change = rates[i] - c->rates[i];
    is_sudden |= isfinite(most) && fabs(change) > @UPPER@_RATE_SHARE * most;
    changes[i] = change / (c->idle_time + period);
  }
  if (!is_sudden) return @UPPER@_OK;
  const int status = @NAME@_acceleration(target, rates, changes, acceleration);
  return status == @UPPER@_OK ? @NAME@_can_be_driven(target, velocity, acceleration, NULL, 1.0)
                              : status;
}

/* Set the target to positions, rates and accelerations of the joints, if they are valid. */
static inline int @NAME@_aim(@NAME@_controller *c, const double *positions, const double *rates,
                             const double *accelerations, double period, const double *base,
                             const @NAME@_settings *settings) {
  double target[@UPPER@_NQ], velocity[@UPPER@_NV], acceleration[@UPPER@_NV];
  int status = @UPPER@_INVALID;
  period = @NAME@_usable_period(period);
  if (@NAME@_all_finite(accelerations, @UPPER@_N)) {
    status = @NAME@_check_joints(c, positions, rates, period, settings->tolerance);
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_check_consistency(c, positions, rates, accelerations, period,
                                      settings->tolerance);
  }
  memcpy(target, c->target, sizeof target);
  if (status == @UPPER@_OK) status = @NAME@_configuration(positions, target);
  if (status == @UPPER@_OK) status = @NAME@_velocity(target, rates, velocity);
  if (status == @UPPER@_OK) {
    status = @NAME@_acceleration(target, rates, accelerations, acceleration);
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_check_change(c, target, velocity, rates, period);
  }
  if (status != @UPPER@_OK) {
    c->refused[status]++;
    c->status = status;
    return status;
  }
  return @NAME@_aim_at(c, target, velocity, acceleration, period, base, settings);
}

/* Advance along a stop by a period, in the last period to its end. If that is not possible, rest. */
static inline void @NAME@_advance_stop(const @NAME@_controller *c, double period,
                                       @NAME@_stop *stop) {
  double left = 1.0 - period / fmax(stop->time, period);
  const double way = 0.5 * (1.0 + left) * period;
  double there[@UPPER@_NQ];
  if (@NAME@_move_on(c, stop->configuration, stop->velocity, way, there) == @UPPER@_OK) {
    memcpy(stop->configuration, there, sizeof there);
  } else {
    left = 0.0;
  }
  for (int j = 0; j < @UPPER@_NV; j++) stop->velocity[j] *= left;
  stop->time = left > 0.0 ? stop->time - period : 0.0;
}

/* Set the target to the present state of the braking motion. */
static inline void @NAME@_set_braking(@NAME@_controller *c, double period) {
  const @NAME@_stop *stop = &c->braking;
  memcpy(c->target, stop->configuration, sizeof c->target);
  memcpy(c->target_velocity, stop->velocity, sizeof c->target_velocity);
  for (int j = 0; j < @UPPER@_NV; j++) {
    c->target_acceleration[j] = -stop->velocity[j] / fmax(stop->time, period);
  }
  @NAME@_joint_positions(c->target, c->positions);
  @NAME@_joint_velocities(c->target, c->target_velocity, c->rates);
  c->is_moving = 0;
}

/* Bring the target to rest along the last stop that the actuators can follow, and keep it there. */
static inline void @NAME@_brake(@NAME@_controller *c, double period) {
  period = @NAME@_usable_period(period);
  if (c->is_moving) {
    c->braking = c->stop;
  } else {
    @NAME@_advance_stop(c, period, &c->braking);
  }
  @NAME@_set_braking(c, period);
  c->idle_time = 0.0;
  if (c->pauses < 2) c->pauses++;
}

/* Reject the target, after which the mechanism could not stop, and follow the last stop instead. If
   the mechanism lags, the stop begins at the measured state, unless the load is so heavy that it
   would sink. */
static inline void @NAME@_return_to_stop(@NAME@_controller *c, int status, double period,
                                         const @NAME@_settings *settings) {
  const double way = @UPPER@_LAG_SHARE * settings->tolerance;
  if (c->is_moving) {
    c->refused[status]++;
    c->status = status;
    memcpy(c->barred, c->rates, sizeof c->barred);
    c->barred_time = @UPPER@_BARRED_TIME;
    c->idle_time = 0.0;
  }
  c->braking = c->stop;
  @NAME@_set_braking(c, period);
  if ((c->is_cut || c->held < @UPPER@_HOLDING_SHARE) &&
      @NAME@_lags(c, c->positions, c->rates, period, way)) {
    memcpy(c->stop.configuration, c->configuration, sizeof c->configuration);
    memcpy(c->stop.velocity, c->velocity, sizeof c->velocity);
    @NAME@_find_stop(c, settings->tolerance, &c->stop);
    c->braking = c->stop;
    @NAME@_set_braking(c, period);
  }
}

/* Return the largest fraction (at most 1) of an acceleration with which no joint exceeds both its
   present rate and its largest permitted speed within a period. */
static inline double @NAME@_share_of_rates(const @NAME@_controller *c, const double *acceleration,
                                           double period) {
  const double *before = c->measured_rates;
  double velocity[@UPPER@_NV], after[@UPPER@_N], share = 1.0;
  for (int j = 0; j < @UPPER@_NV; j++) velocity[j] = c->velocity[j] + period * acceleration[j];
  if (@NAME@_joint_velocities(c->configuration, velocity, after) != @UPPER@_OK) return share;
  for (int i = 0; i < @UPPER@_N; i++) {
    const double limit = @UPPER@_SPEED_MARGIN * @NAME@_velocity_limits[i];
    const double most = copysign(fmax(limit, fabs(before[i])), after[i]);
    if (limit > 0.0 && fabs(after[i]) > fabs(most)) {
      share = fmin(share, (most - before[i]) / (after[i] - before[i]));
    }
  }
  return share;
}

/* Predict the state in the middle of a period. Near singularities, the efforts that a motion needs
   change so fast that those of the beginning do not suffice for a period. */
static inline int @NAME@_half_way(const double *configuration, const double *velocity,
                                  const double *acceleration, double period, double *there,
                                  double *pace) {
  const double half = 0.5 * period;
  double way[@UPPER@_NV];
  for (int j = 0; j < @UPPER@_NV; j++) {
    way[j] = half * (velocity[j] + 0.5 * half * acceleration[j]);
    pace[j] = velocity[j] + half * acceleration[j];
  }
  return @NAME@_advance(configuration, way, there);
}

/* Compute the efforts of this period for a measured state. Limiting the efforts one by one would
   change the direction of the acceleration, and near singularities, where large efforts nearly
   cancel, also increase it. The acceleration is reduced instead, so that efforts and rates stay
   within their limits. */
static inline int @NAME@_efforts(const @NAME@_controller *c, double period, const double *wrench,
                                 const double *base, const @NAME@_settings *settings,
                                 double *efforts) {
  const int corrects = settings->control == @UPPER@_COMPUTED_TORQUE;
  const int plans = settings->control == @UPPER@_FEED_FORWARD;
  const int plans_friction = corrects && !settings->leaves_friction;
  double configuration[@UPPER@_NQ], target[@UPPER@_NQ], target_velocity[@UPPER@_NV];
  double velocity[@UPPER@_NV] = {0.0}, acceleration[@UPPER@_NV] = {0.0}, given[@UPPER@_NV];
  double share = 1.0;
  int status = @UPPER@_OK;
  memcpy(configuration, plans ? c->target : c->configuration, sizeof configuration);
  memcpy(target, c->target, sizeof target);
  memcpy(target_velocity, c->target_velocity, sizeof target_velocity);
  if (plans) {
    memcpy(velocity, c->target_velocity, sizeof velocity);
    memcpy(acceleration, c->target_acceleration, sizeof acceleration);
  } else if (corrects) {
    memcpy(velocity, c->velocity, sizeof velocity);
    if (!c->is_moving) {
      status = @NAME@_half_way(c->configuration, c->velocity, c->target_acceleration, period,
                               configuration, velocity);
      if (status == @UPPER@_OK) {
        status = @NAME@_half_way(c->target, c->target_velocity, c->target_acceleration, period,
                                 target, target_velocity);
      }
    }
    if (status == @UPPER@_OK) status = @NAME@_difference(configuration, target, acceleration);
    for (int j = 0; j < @UPPER@_NV; j++) {
      acceleration[j] = c->target_acceleration[j] + settings->kp[j] * acceleration[j] +
                        settings->kv[j] * (target_velocity[j] - velocity[j]);
    }
    share = @NAME@_share_of_rates(c, acceleration, period);
  }
  if (status != @UPPER@_OK) return status;
  for (int j = 0; j < @UPPER@_NV; j++) {
    given[j] = plans_friction ? c->target_acceleration[j] - (1.0 - share) * acceleration[j]
                              : share * acceleration[j];
  }
  if (plans_friction) {
    double left[@UPPER@_N];
    status = @NAME@_left_coriolis(settings, configuration, velocity, left);
    if (status != @UPPER@_OK) return status;
    status =
      @NAME@_computed_torque_less(configuration, velocity, target, target_velocity, given,
                                  settings->kp, settings->kv, left, wrench, base, efforts);
  } else {
    double still[@UPPER@_NV] = {0.0}, resting[@UPPER@_N];
    status = @NAME@_needed(settings, configuration, velocity, given, wrench, base, efforts);
    if (status == @UPPER@_OK && !@NAME@_are_within_limits(efforts)) {
      status = @NAME@_needed(settings, configuration, velocity, still, wrench, base, resting);
      if (status == @UPPER@_OK) status = @NAME@_reduce_efforts(configuration, resting, efforts);
    }
  }
  return share < 1.0 && status == @UPPER@_OK ? @UPPER@_LIMITED : status;
}

/* Find a stop from the state that efforts produce after a period. */
static inline int @NAME@_find_stop_after(const @NAME@_controller *c, const double *efforts,
                                         double period, const double *wrench, const double *base,
                                         const @NAME@_settings *settings, @NAME@_stop *stop) {
  double still[@UPPER@_NV] = {0.0}, acceleration[@UPPER@_NV], way[@UPPER@_NV];
  double total[@UPPER@_N], added[@UPPER@_N], needed[@UPPER@_N];
  double there[@UPPER@_NQ], pace[@UPPER@_NV];
  int status = @UPPER@_OK;
  memcpy(total, efforts, sizeof total);
  if (settings->leaves_friction || settings->leaves_coriolis) {
    status = @NAME@_inverse_dynamics(c->configuration, c->velocity, still, NULL, base, added);
    if (status == @UPPER@_OK) {
      status = @NAME@_needed(settings, c->configuration, c->velocity, still, NULL, base, needed);
    }
    for (int i = 0; i < @UPPER@_N && status == @UPPER@_OK; i++) total[i] += added[i] - needed[i];
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_forward_dynamics(c->configuration, c->velocity, total, wrench, base,
                                     acceleration);
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_half_way(c->configuration, c->velocity, acceleration, period, there, pace);
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_forward_dynamics(there, pace, total, wrench, base, acceleration);
  }
  for (int j = 0; j < @UPPER@_NV && status == @UPPER@_OK; j++) {
    way[j] = period * (c->velocity[j] + 0.5 * period * acceleration[j]);
    stop->velocity[j] = c->velocity[j] + period * acceleration[j];
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_move_on(c, c->configuration, way, 1.0, stop->configuration);
  }
  return status == @UPPER@_OK ? @NAME@_find_stop(c, settings->tolerance, stop) : status;
}

/* Compute the efforts of this period. Returns OK; LIMITED if they were reduced to the limits; or
   another status after GIVE_UP_TIME without a usable state. Apply the efforts in any case.

   Efforts are commanded only if the mechanism can stop from the state that they produce; this stop
   is stored. Otherwise the stop of the previous period is followed, which begins at this state. */
static inline int @NAME@_command(@NAME@_controller *c, double period, const double *wrench,
                                 const double *base, const @NAME@_settings *settings,
                                 double *efforts) {
  @NAME@_stop stop;
  int status = @UPPER@_INVALID, has_stop = 0;
  period = @NAME@_usable_period(period);
  c->barred_time -= c->barred_time > 0.0 ? period : 0.0;
  if (wrench && !@NAME@_all_finite(wrench, 6)) wrench = NULL;
  if (base && !@NAME@_all_finite(base, 9)) base = NULL;
  double own[9];
  const double *resting = @NAME@_resting_base(settings, own);
  for (int tries = 0; tries < 2 && c->is_measured; tries++) {
    status = @NAME@_efforts(c, period, wrench, base ? base : resting, settings, efforts);
    if (status == @UPPER@_OK || status == @UPPER@_LIMITED || (!wrench && !base)) break;
    wrench = base = NULL; /* no efforts with these sensor values: ignore the sensors */
  }
  int cut = status == @UPPER@_LIMITED;
  if (status == @UPPER@_OK || status == @UPPER@_LIMITED) {
    cut |= @NAME@_limit_efforts(efforts, c->holding);
    const int stops = @NAME@_find_stop_after(c, efforts, period, wrench, base ? base : resting,
                                             settings, &stop);
    has_stop = stops == @UPPER@_OK;
    if (!has_stop) {
      @NAME@_return_to_stop(c, stops, period, settings);
      status = @NAME@_efforts(c, period, wrench, base ? base : resting, settings, efforts);
      cut = status == @UPPER@_LIMITED;
    }
  }
  if (status != @UPPER@_OK && status != @UPPER@_LIMITED) {
    c->lost++;
    c->lost_time += period;
    c->status = status;
    if (c->is_moving) @NAME@_brake(c, period);
    const int known = @NAME@_needed(settings, c->target, c->target_velocity,
                                    c->target_acceleration, NULL, resting, efforts);
    if (known != @UPPER@_OK) memcpy(efforts, c->holding, sizeof c->holding);
  } else if (c->is_lost) {
    c->lost++;
    c->lost_time += period;
    status = c->status;
  } else {
    c->lost_time = 0.0;
    status = @UPPER@_OK;
  }
  if (!has_stop) {
    stop = c->stop;
    @NAME@_advance_stop(c, period, &stop);
  }
  c->stop = stop;
  cut |= @NAME@_limit_efforts(efforts, c->holding);
  memcpy(c->efforts, efforts, sizeof c->efforts);
  c->is_cut = cut;
  c->cut += cut ? 1 : 0;
  if (status != @UPPER@_OK &&
      (c->lost_time > @UPPER@_GIVE_UP_TIME || c->blind_time > @UPPER@_BLIND_TIME)) {
    return status;
  }
  return cut ? @UPPER@_LIMITED : @UPPER@_OK;
}

/* Measure, set the target and compute the efforts of one period. `reference` (3 N): positions, rates
   and accelerations of the joints; NULL: brake and hold. */
static inline int @NAME@_update(@NAME@_controller *c, const double *positions, const double *rates,
                                const double *reference, double period, const double *wrench,
                                const double *base, const @NAME@_settings *settings,
                                double *efforts) {
  @NAME@_measure(c, positions, rates, period, settings);
  if (!reference ||
      @NAME@_aim(c, reference, reference + @UPPER@_N, reference + 2 * @UPPER@_N, period, base,
                 settings) != @UPPER@_OK) {
    @NAME@_brake(c, period);
  }
  return @NAME@_command(c, period, wrench, base, settings, efforts);
}

#endif
