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
/* the same [s] if rates are not measured either: the efforts of the model alone let it drift */
#define @UPPER@_BLIND_TIME 0.25
/* longest time [s] for which a reference may be repeated; memory [s] of inconsistencies */
#define @UPPER@_HOLD_TIME 0.1
#define @UPPER@_MEMORY 0.25
/* largest delay [s] of measured rates */
#define @UPPER@_RATE_LAG 0.03
/* largest inconsistency of accelerations and rates, as a fraction of the velocity limits */
#define @UPPER@_RATE_SHARE 0.1
/* largest speed while references are followed, as a multiple of the velocity limits */
#define @UPPER@_SPEED_MARGIN 1.25
/* time [s] for which a direction stays blocked in which the mechanism could not stop */
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
/* lag, as a fraction of the tolerance, above which the mechanism must also be able to stop from its
   measured state */
#define @UPPER@_LAG_SHARE 0.05
/* overshoot of a joint's end, as a fraction of the tolerance, if SHORTEST_STOP is too short */
#define @UPPER@_END_SHARE 0.1
/* number of configurations checked between the mechanism and a target that it lags behind */
#define @UPPER@_RETURN_STEPS 3
/* number of steps from home to the measured positions at the start */
#define @UPPER@_START_STEPS 32
/* tolerance [rad or m] of the position limits, for rounding */
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
  double kp[@UPPER@_NV], kv[@UPPER@_NV]; /* [1/s^2], [1/s] */
  double tolerance; /* [rad or m] largest jump from one reference to the next, beyond its own motion */
  /* Efforts that the drives compensate themselves. The motion of a moving base (`base` of
     @NAME@_command) includes gravity. */
  int has_gravity;   /* whether `gravity` replaces the model's */
  double gravity[3]; /* [m/s^2] base frame; zeros for drives that compensate it themselves */
  int leaves_friction, leaves_coriolis;
} @NAME@_settings;

typedef struct {
  double positions[@UPPER@_N], rates[@UPPER@_N];           /* of the target's joints */
  double configuration[@UPPER@_NQ], velocity[@UPPER@_NV];  /* last measured */
  double target[@UPPER@_NQ], target_velocity[@UPPER@_NV], target_acceleration[@UPPER@_NV];
  double measured[@UPPER@_N], measured_rates[@UPPER@_N];
  double efforts[@UPPER@_N];  /* last commanded */
  double holding[@UPPER@_N];  /* that hold the mechanism against gravity */
  double held;                /* largest share of the actuators' efforts that gravity takes */
  double given[@UPPER@_N], given_rates[@UPPER@_N]; /* by the last reference, refused or not */
  double drift[@UPPER@_N], rate_drift[@UPPER@_N];  /* references': integral minus change */
  double measured_drift[@UPPER@_N];                /* likewise of the measured rates */
  int pauses;                                      /* updates without a reference, at least */
  double stop_time, lost_time, idle_time; /* [s] left to rest; without a state; since a reference */
  double blind_time;                      /* [s] without even rates */
  double barred[@UPPER@_N], barred_time;  /* rates towards where it could not stop; [s] left */
  double side;    /* of singularities, since the start; see @NAME@_side */
  int place;      /* on the way to rest that is looked at next */
  int is_moving;  /* whether references are followed */
  int is_cut;      /* whether the last efforts were cut */
  int is_measured; /* whether configuration and velocity are usable for feedback */
  int is_lost;     /* whether they were not measured, but extrapolated by the rates at best */
  int status;     /* last one that is not OK, for the report */
  unsigned long refused[@UPPER@_STATUSES]; /* references refused, by status */
  unsigned long cut, lost;                 /* updates with efforts cut, or without a usable state */
} @NAME@_controller;

/* Return the difference of two positions of a joint; the shorter way if it is continuous. */
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
    /* positions that stand still while the joint moves */
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

/* Check a reference; for the results see the statuses of @NAME@.h. If the model has no velocity
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

/* Return whether the actuators can bring a motion to rest within a time [s]. */
static inline int @NAME@_can_brake(const @NAME@_controller *c, const double *configuration,
                                   const double *velocity, double time) {
  double acceleration[@UPPER@_NV];
  for (int j = 0; j < @UPPER@_NV; j++) acceleration[j] = -velocity[j] / time;
  return @NAME@_can_be_driven(configuration, velocity, acceleration, NULL,
                              @NAME@_braking_share(c));
}

/* Return the position of a joint after coasting for a time [s], limited to its ends. */
static inline double @NAME@_coast(int joint, double position, double rate, double time) {
  const double lower = @NAME@_position_limits[joint][0], upper = @NAME@_position_limits[joint][1];
  const double there = position + time * rate;
  if (there > upper && rate > 0.0) return position > upper ? position : upper;
  if (there < lower && rate < 0.0) return position < lower ? position : lower;
  return there;
}

/* Return the longest braking time [s] that keeps joints with these rates within a margin of their
   ends. */
static inline double @NAME@_time_to_ends(const double *positions, const double *rates,
                                         double period, double beyond) {
  double time = INFINITY;
  for (int i = 0; i < @UPPER@_N; i++) {
    const double end = @NAME@_position_limits[i][rates[i] > 0.0], speed = fabs(rates[i]);
    const double left = fabs(end - @NAME@_coast(i, positions[i], rates[i], period));
    if (speed > 0.0) time = fmin(time, 2.0 * (left + beyond) / speed);
  }
  return time;
}

/* Advance a configuration by a velocity for a time [s]; fails beyond a singularity. */
static inline int @NAME@_move_on(const @NAME@_controller *c, const double *configuration,
                                 const double *velocity, double time, double *there) {
  double way[@UPPER@_NV], side = 0.0;
  for (int j = 0; j < @UPPER@_NV; j++) way[j] = time * velocity[j];
  int status = @NAME@_advance(configuration, way, there);
  if (status == @UPPER@_OK) status = @NAME@_side(there, &side);
  return status == @UPPER@_OK && !(side * c->side > 0.0) ? @UPPER@_SINGULAR : status;
}

/* Return whether the actuators can brake the joints within a time [s] and hold them, at the positions
   after coasting for some time. No singularity may be between. */
static inline int @NAME@_can_rest_ahead(const @NAME@_controller *c, const double *configuration,
                                        const double *positions, const double *rates, double way,
                                        double time) {
  double there[@UPPER@_NQ], joints[@UPPER@_N], changes[@UPPER@_N], side = 0.0;
  double still[@UPPER@_NV] = {0.0}, acceleration[@UPPER@_NV];
  for (int i = 0; i < @UPPER@_N; i++) {
    joints[i] = @NAME@_coast(i, positions[i], rates[i], way);
    changes[i] = -rates[i] / time;
  }
  memcpy(there, configuration, sizeof there);
  int status = @NAME@_configuration(joints, there);
  if (status == @UPPER@_OK) status = @NAME@_side(there, &side);
  if (status == @UPPER@_OK && !(side * c->side > 0.0)) status = @UPPER@_SINGULAR;
  if (status == @UPPER@_OK) status = @NAME@_velocity(there, changes, acceleration);
  if (status == @UPPER@_OK) {
    status = @NAME@_can_be_driven(there, still, acceleration, NULL, @NAME@_braking_share(c));
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_can_be_driven(there, still, still, NULL, @UPPER@_HOLDING_SHARE);
  }
  return status;
}

/* Return whether the actuators can brake within a time [s] in a configuration on the way: after
   coasting for some time, with a fraction of the velocity. With fraction 0 they must also hold it. */
static inline int @NAME@_can_brake_on_the_way(const @NAME@_controller *c,
                                              const double *configuration, const double *velocity,
                                              double way, double share, double time) {
  double there[@UPPER@_NQ], pace[@UPPER@_NV], change[@UPPER@_NV], still[@UPPER@_NV] = {0.0};
  for (int j = 0; j < @UPPER@_NV; j++) {
    pace[j] = share * velocity[j];
    change[j] = -velocity[j] / time;
  }
  int status = @NAME@_move_on(c, configuration, velocity, way, there);
  if (status == @UPPER@_OK) {
    status = @NAME@_can_be_driven(there, pace, change, NULL, @NAME@_braking_share(c));
  }
  if (status == @UPPER@_OK && share == 0.0) {
    status = @NAME@_can_be_driven(there, still, still, NULL, @UPPER@_HOLDING_SHARE);
  }
  return status;
}

/* Check that a motion which continues for another period can be braked to rest, and find the
   shortest time [s]. The configuration at rest, and a tolerance farther, must exist before the
   joints' ends. The actuators must be able to brake the mechanism at the start, half-way and at the
   end, and to hold it there. Near the limits of a loop, small rates of the joints mean large rates
   of the body, and the efforts for braking grow without bound.
   `place` selects one of the three places, in turn from update to update; -1 selects all. */
static inline int @NAME@_can_stop(const @NAME@_controller *c, const double *configuration,
                                  const double *velocity, const double *positions,
                                  const double *rates, double period, double tolerance,
                                  int place, double *time) {
  const double longest =
    fmin(@UPPER@_LONGEST_STOP,
         @NAME@_time_to_ends(positions, rates, period, @UPPER@_END_MARGIN));
  double fastest = 0.0, last = 0.0;
  int status = @UPPER@_TOO_STRONG, has_time = 0;
  for (int i = 0; i < @UPPER@_N; i++) fastest = fmax(fastest, fabs(rates[i]));
  *time = fmin(@UPPER@_SHORTEST_STOP, longest);
  /* what brakes within a few periods lags behind, and meets the end */
  if (tolerance > 0.0 && @NAME@_time_to_ends(positions, rates, period, @UPPER@_END_SHARE * tolerance) <
                           @UPPER@_SHORTEST_STOP) {
    return @UPPER@_BEYOND_ENDS;
  }
  tolerance = fastest > 0.0 ? tolerance / fastest : 0.0; /* as a time */
  if (fastest == 0.0) {
    return @NAME@_can_brake_on_the_way(c, configuration, velocity, 0.0, 0.0, *time);
  }
  for (double tried = *time; last < longest; tried *= 2.0) {
    tried = last = fmin(tried, longest);
    if (@NAME@_can_brake(c, configuration, velocity, tried) != @UPPER@_OK) continue;
    if (!has_time) *time = tried; /* if there is no other */
    has_time = 1;
    if (tried > 2.0 * *time) break; /* a longer way may lead past where loops can move no farther */
    const double way = period + 0.5 * tried;
    status = @UPPER@_OK;
    if (place < 1) { /* half-way */
      status = @NAME@_can_brake_on_the_way(c, configuration, velocity, period + 0.375 * tried, 0.5,
                                           tried);
    }
    if (status == @UPPER@_OK && (place < 0 || place == 1)) {
      status = @NAME@_can_brake_on_the_way(c, configuration, velocity, way, 0.0, tried);
    }
    if (status == @UPPER@_OK && (place < 0 || place == 2)) {
      status = @NAME@_can_rest_ahead(c, configuration, positions, rates, way + tolerance, tried);
    }
    if (status != @UPPER@_TOO_STRONG) { /* it can, or nothing is there, nor any farther */
      if (status == @UPPER@_OK) *time = tried;
      return status;
    }
  }
  if (!has_time) *time = fmax(longest, @UPPER@_SHORTEST_STOP);
  return status;
}

/* Return whether feedback may move the mechanism to a target: it can stop from its present state,
   no singularity is between, and the actuators can hold it in all configurations between. */
static inline int @NAME@_can_return(const @NAME@_controller *c, const double *target,
                                    double period) {
  double way[@UPPER@_NV], there[@UPPER@_NQ], still[@UPPER@_NV] = {0.0}, time;
  int status = @NAME@_can_stop(c, c->configuration, c->velocity, c->measured, c->measured_rates,
                               period, 0.0, -1, &time);
  if (status == @UPPER@_OK) status = @NAME@_difference(c->configuration, target, way);
  for (int k = 1; k <= @UPPER@_RETURN_STEPS && status == @UPPER@_OK; k++) {
    status = @NAME@_move_on(c, c->configuration, way, k / (@UPPER@_RETURN_STEPS + 1.0), there);
    if (status == @UPPER@_OK) {
      status = @NAME@_can_be_driven(there, still, still, NULL, @UPPER@_HOLDING_SHARE);
    }
  }
  return status;
}

/* Return whether the mechanism lags: a joint is farther from the given positions than a distance plus
   its motion in two periods, or its rate differs too much. */
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

/* Set the target to a motion of the configuration, if it is valid. */
static inline int @NAME@_aim_at(@NAME@_controller *c, const double *target, const double *velocity,
                                const double *acceleration, double period, const double *base,
                                const @NAME@_settings *settings) {
  double positions[@UPPER@_N], rates[@UPPER@_N], time;
  period = @NAME@_usable_period(period);
  /* without a state there is only braking */
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
  if (status == @UPPER@_OK) {
    status = @NAME@_can_stop(c, target, velocity, positions, rates, period, settings->tolerance,
                             c->is_moving ? c->place : -1, &time);
    c->place = (c->place + 1) % 3;
    if (status != @UPPER@_OK) {
      memcpy(c->barred, rates, sizeof rates);
      c->barred_time = @UPPER@_BARRED_TIME;
    }
  }
  /* behind a singularity there are places to stop again: none is passed */
  double towards = 0.0;
  for (int i = 0; i < @UPPER@_N && c->barred_time > 0.0; i++) towards += c->barred[i] * rates[i];
  if (status == @UPPER@_OK && towards > 0.0) {
    status = @UPPER@_NO_SOLUTION;
    c->barred_time = @UPPER@_BARRED_TIME;
  }
  if (status == @UPPER@_OK &&
      @NAME@_lags(c, positions, rates, period, @UPPER@_LAG_SHARE * settings->tolerance)) {
    status = @NAME@_can_return(c, target, period);
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
  c->stop_time = 0.0;
  return @UPPER@_OK;
}

/* Return whether rates are consistent with the change of positions, and accelerations with the change
   of rates, over some periods. All rates or all accelerations zero means not commanded. */
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
    /* forgotten in a while, however far they were apart */
    c->drift[i] = fmax(-2.0 * most_drift, fmin(drift, 2.0 * most_drift));
    c->rate_drift[i] = fmax(-2.0 * most_change, fmin(rate_drift, 2.0 * most_change));
    c->given[i] = positions[i];
    c->given_rates[i] = rates[i];
  }
  c->pauses = 0;
  return fits ? @UPPER@_OK : @UPPER@_TOO_FAST;
}

/* Return whether the actuators have the efforts for a sudden change of rates. */
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
  if (@NAME@_all_finite(accelerations, @UPPER@_N)) {
    status = @NAME@_check_joints(c, positions, rates, @NAME@_usable_period(period),
                                 settings->tolerance);
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_check_consistency(c, positions, rates, accelerations,
                                      @NAME@_usable_period(period), settings->tolerance);
  }
  memcpy(target, c->target, sizeof target);
  if (status == @UPPER@_OK) status = @NAME@_configuration(positions, target);
  if (status == @UPPER@_OK) status = @NAME@_velocity(target, rates, velocity);
  if (status == @UPPER@_OK) {
    status = @NAME@_acceleration(target, rates, accelerations, acceleration);
  }
  if (status == @UPPER@_OK) {
    status = @NAME@_check_change(c, target, velocity, rates, @NAME@_usable_period(period));
  }
  if (status != @UPPER@_OK) {
    c->refused[status]++;
    c->status = status;
    return status;
  }
  return @NAME@_aim_at(c, target, velocity, acceleration, period, base, settings);
}

/* Return whether rates of joints exceed their limits. */
static inline int @NAME@_are_too_fast(const double *rates) {
  for (int i = 0; i < @UPPER@_N; i++) {
    const double most = @NAME@_velocity_limits[i];
    if (most > 0.0 && fabs(rates[i]) > most) return 1;
  }
  return 0;
}

/* Begin to brake: from the measured state if the mechanism lags, otherwise from the target one period
   after the last reference. */
static inline void @NAME@_begin_to_brake(@NAME@_controller *c, double period,
                                         const @NAME@_settings *settings, int follows) {
  double positions[@UPPER@_N], target[@UPPER@_NQ], velocity[@UPPER@_NV];
  follows = follows && !@NAME@_lags(c, c->positions, c->rates, period, settings->tolerance);
  for (int i = 0; i < @UPPER@_N; i++) {
    positions[i] = @NAME@_coast(i, c->positions[i], c->rates[i], period);
  }
  if (follows) {
    memcpy(target, c->target, sizeof target);
    if (@NAME@_configuration(positions, target) == @UPPER@_OK &&
        @NAME@_velocity(target, c->rates, velocity) == @UPPER@_OK) {
      memcpy(c->positions, positions, sizeof positions);
      memcpy(c->target, target, sizeof target);
      memcpy(c->target_velocity, velocity, sizeof velocity);
    }
  } else {
    memcpy(c->positions, c->measured, sizeof c->positions);
    memcpy(c->rates, c->measured_rates, sizeof c->rates);
    memcpy(c->target, c->configuration, sizeof c->target);
    memcpy(c->target_velocity, c->velocity, sizeof c->target_velocity);
  }
  @NAME@_can_stop(c, c->target, c->target_velocity, c->positions, c->rates, 0.0, 0.0,
                  -1, &c->stop_time);
}

/* Bring the target to rest as fast as the actuators can, and keep it there. */
static inline void @NAME@_brake(@NAME@_controller *c, double period,
                                const @NAME@_settings *settings) {
  double positions[@UPPER@_N], rates[@UPPER@_N];
  double target[@UPPER@_NQ], velocity[@UPPER@_NV], acceleration[@UPPER@_NV];
  int status = @UPPER@_OK, rests = 1;
  period = @NAME@_usable_period(period);
  /* without the efforts or a way to come back, it is braked where it is; not a load that it hardly
     holds, which would sink */
  const int lags =
    @NAME@_lags(c, c->positions, c->rates, period, @UPPER@_LAG_SHARE * settings->tolerance);
  const int fails = lags && (c->is_cut || (c->held < @UPPER@_HOLDING_SHARE &&
                                           @NAME@_can_return(c, c->target, period) != @UPPER@_OK));
  const double elapsed = c->is_moving || fails ? 0.0 : period;
  if (c->is_moving || fails) @NAME@_begin_to_brake(c, period, settings, !fails);
  /* away from a singularity the same velocity makes joints faster */
  if (@NAME@_are_too_fast(c->rates) &&
      @NAME@_can_brake(c, c->target, c->target_velocity, 0.5 * c->stop_time) == @UPPER@_OK) {
    c->stop_time *= 0.5;
  }
  c->is_moving = 0;
  c->idle_time = 0.0;
  if (c->pauses < 2) c->pauses++;
  const double left = c->stop_time > elapsed ? 1.0 - elapsed / c->stop_time : 0.0;
  for (int j = 0; j < @UPPER@_NV; j++) {
    velocity[j] = left * c->target_velocity[j];
    acceleration[j] = left > 0.0 ? -c->target_velocity[j] / c->stop_time : 0.0;
    rests = rests && velocity[j] == 0.0;
  }
  status = @NAME@_move_on(c, c->target, c->target_velocity,
                          left > 0.0 ? 0.5 * (1.0 + left) * elapsed : 0.0, target);
  c->stop_time = rests ? 0.0 : c->stop_time - elapsed;
  if (status == @UPPER@_OK) status = @NAME@_joint_positions(target, positions);
  if (status == @UPPER@_OK) status = @NAME@_joint_velocities(target, velocity, rates);
  for (int i = 0; i < @UPPER@_N && status == @UPPER@_OK; i++) {
    const double lower = @NAME@_position_limits[i][0], upper = @NAME@_position_limits[i][1];
    if ((positions[i] > upper && positions[i] > c->positions[i] + @UPPER@_END_MARGIN) ||
        (positions[i] < lower && positions[i] < c->positions[i] - @UPPER@_END_MARGIN)) {
      status = @UPPER@_BEYOND_ENDS;
    }
  }
  if (status != @UPPER@_OK) { /* rest where the target is */
    memcpy(positions, c->positions, sizeof positions);
    memcpy(target, c->target, sizeof target);
    memset(rates, 0, sizeof rates);
    memset(velocity, 0, sizeof velocity);
    memset(acceleration, 0, sizeof acceleration);
    c->stop_time = 0.0;
  }
  memcpy(c->positions, positions, sizeof positions);
  memcpy(c->rates, rates, sizeof rates);
  memcpy(c->target, target, sizeof target);
  memcpy(c->target_velocity, velocity, sizeof velocity);
  memcpy(c->target_acceleration, acceleration, sizeof acceleration);
}

/* Return the largest fraction (at most 1) of an acceleration after which no joint exceeds both its
   present rate and its velocity limit within a period. */
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
  const double *configuration = plans ? c->target : c->configuration;
  double velocity[@UPPER@_NV] = {0.0}, acceleration[@UPPER@_NV] = {0.0}, given[@UPPER@_NV];
  double share = 1.0;
  int status = @UPPER@_OK;
  if (plans) {
    memcpy(velocity, c->target_velocity, sizeof velocity);
    memcpy(acceleration, c->target_acceleration, sizeof acceleration);
  } else if (corrects) {
    memcpy(velocity, c->velocity, sizeof velocity);
    status = @NAME@_difference(configuration, c->target, acceleration);
    for (int j = 0; j < @UPPER@_NV; j++) {
      acceleration[j] = c->target_acceleration[j] + settings->kp[j] * acceleration[j] +
                        settings->kv[j] * (c->target_velocity[j] - velocity[j]);
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
      @NAME@_computed_torque_less(configuration, velocity, c->target, c->target_velocity, given,
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

/* Compute the efforts of this period. Returns OK; LIMITED if they were reduced to the limits; or
   another status after GIVE_UP_TIME without a usable state. Apply the efforts in any case. */
static inline int @NAME@_command(@NAME@_controller *c, double period, const double *wrench,
                                 const double *base, const @NAME@_settings *settings,
                                 double *efforts) {
  int status = @UPPER@_INVALID;
  period = @NAME@_usable_period(period);
  c->barred_time -= c->barred_time > 0.0 ? period : 0.0;
  if (wrench && !@NAME@_all_finite(wrench, 6)) wrench = NULL;
  if (base && !@NAME@_all_finite(base, 9)) base = NULL;
  double own[9];
  const double *resting = @NAME@_resting_base(settings, own);
  for (int tries = 0; tries < 2 && c->is_measured; tries++) {
    status = @NAME@_efforts(c, period, wrench, base ? base : resting, settings, efforts);
    if (status == @UPPER@_OK || status == @UPPER@_LIMITED || (!wrench && !base)) break;
    wrench = base = NULL; /* a sensor's number that leads to no efforts */
  }
  int cut = status == @UPPER@_LIMITED;
  if (status != @UPPER@_OK && status != @UPPER@_LIMITED) {
    c->lost++;
    c->lost_time += period;
    c->status = status;
    if (c->is_moving) @NAME@_brake(c, period, settings);
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
    @NAME@_brake(c, period, settings);
  }
  return @NAME@_command(c, period, wrench, base, settings, efforts);
}

#endif
