/* A supervised controller of @MECHANISM@: references in, efforts out, at a fixed rate.

   Every effort that it writes is finite and within the actuators' limits, whatever it is given.
   References that are not finite, beyond the position limits, too fast, too strong, not near the
   one before or not consistent with it are refused and counted, and so are references after which
   the mechanism could not stop. Without a reference that can be followed the controller
   brakes to rest and holds. If the state cannot be measured, or no efforts follow from it, the
   controller brakes and holds by the model alone; only if that lasts longer than
   @UPPER@_GIVE_UP_TIME, or @UPPER@_BLIND_TIME without rates, does an update fail.

   No allocation, no lock, no global state. Joints are in the order and with the signs of @NAME@.h. */
#ifndef @UPPER@_CONTROLLER_H
#define @UPPER@_CONTROLLER_H

#include <math.h>
#include <string.h>

#include "@NAME@.h"

/* [s] for which braking and holding go on without a usable state */
#define @UPPER@_GIVE_UP_TIME 1.0
/* [s] likewise, if not even rates are measured: efforts of the model alone hold nothing for long */
#define @UPPER@_BLIND_TIME 0.25
/* [s] for which a source may repeat a reference, and in which inconsistencies are forgotten */
#define @UPPER@_HOLD_TIME 0.1
#define @UPPER@_MEMORY 0.25
/* [s] by which measured rates may be late */
#define @UPPER@_RATE_LAG 0.03
/* accelerations and rates may disagree by this share of the velocity limits */
#define @UPPER@_RATE_SHARE 0.1
/* the mechanism may exceed the velocity limits by this factor while references are followed */
#define @UPPER@_SPEED_MARGIN 1.25
/* [s] for which a direction in which it could not stop is refused */
#define @UPPER@_BARRED_TIME 0.5
/* a reference may need this multiple of the efforts that the actuators have: feedback cuts them */
#define @UPPER@_EFFORT_MARGIN 3.0
/* and this multiple of the velocity limits: splines pass them by a little */
#define @UPPER@_RATE_MARGIN 1.01
/* shares of the actuators' efforts that holding, and braking without a load, may need: feedback has
   the rest */
#define @UPPER@_HOLDING_SHARE 0.9
#define @UPPER@_BRAKING_SHARE 0.6
/* [s] in which motions are braked to rest */
#define @UPPER@_SHORTEST_STOP 0.02
#define @UPPER@_LONGEST_STOP 0.64
/* share of the tolerance by which the mechanism may lag behind before it must be able to stop from
   where it is, too */
#define @UPPER@_LAG_SHARE 0.05
/* share of the tolerance by which a joint may pass its end if it cannot be braked in SHORTEST_STOP */
#define @UPPER@_END_SHARE 0.1
/* configurations that are looked at between the mechanism and a target that it lags behind */
#define @UPPER@_RETURN_STEPS 3
/* steps from home to where the mechanism is when the controller starts */
#define @UPPER@_START_STEPS 32
/* [rad or m] beyond the position limits, for rounding */
#define @UPPER@_END_MARGIN 1e-6
/* statuses counted apart */
#define @UPPER@_STATUSES (@UPPER@_JUMPS + 1)

typedef enum {
  @UPPER@_COMPUTED_TORQUE,      /* feedback and feedforward */
  @UPPER@_FEED_FORWARD,         /* the efforts of the reference motion alone */
  @UPPER@_GRAVITY_COMPENSATION  /* the efforts that hold the mechanism where it is */
} @NAME@_control;

typedef struct {
  @NAME@_control control;
  double kp[@UPPER@_NV], kv[@UPPER@_NV]; /* [1/s^2], [1/s] */
  double tolerance; /* [rad or m] between a reference and the one before, besides its motion */
  /* What the efforts do not compensate, because the drives do. Of a base that moves, see `base` of
     @NAME@_command, gravity is a part. */
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

/* How far a joint is from a position to another: the short way, if it is continuous. */
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

/* The least and the largest effort of an actuator. */
static inline void @NAME@_effort_ends(int joint, double *least, double *largest) {
  const double most = @NAME@_effort_limits[joint];
  *least = fmax(-most, @NAME@_effort_range[joint][0]);
  *largest = fmin(most, @NAME@_effort_range[joint][1]);
}

/* Within the actuators' limits and finite; `otherwise` in place of a number that is neither. */
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

/* Whether actuators have efforts. */
static inline int @NAME@_are_within_limits(const double *efforts) {
  for (int i = 0; i < @UPPER@_N; i++) {
    double least, largest;
    @NAME@_effort_ends(i, &least, &largest);
    if (!(efforts[i] >= least && efforts[i] <= largest)) return 0;
  }
  return 1;
}

/* The motion of a base that feels the gravity of the settings, in `own` if that is not the model's. */
static inline const double *@NAME@_resting_base(const @NAME@_settings *settings, double *own) {
  if (!settings->has_gravity || !@NAME@_all_finite(settings->gravity, 3)) return NULL;
  for (int k = 0; k < 9; k++) own[k] = k < 3 ? -settings->gravity[k] : 0.0;
  return own;
}

/* The Coriolis and centrifugal efforts of a motion that the drives compensate; zero if they do not. */
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

/* Efforts of a motion, of what is to be compensated. */
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

/* The largest share of the actuators' efforts that efforts take. */
static inline double @NAME@_largest_share(const double *efforts) {
  double share = 0.0;
  for (int i = 0; i < @UPPER@_N; i++) {
    share = fmax(share, fabs(efforts[i]) / @NAME@_effort_limits[i]);
  }
  return share;
}

/* Whether the efforts that a motion needs are within a multiple of those that the actuators have. */
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

/* Stand where the mechanism is, from its joints' positions and rates: assembled as it is on the way
   from home. Not OK: there is no such configuration, and the controller must not be used. */
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
  status = @NAME@_configuration(positions, c->configuration);
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

/* How far an integral and what it should give have drifted apart, after another period. */
static inline double @NAME@_drift(double drift, double change, double period) {
  return drift + change - drift * period / @UPPER@_MEMORY;
}

/* Take a state. It is not used if it is not finite, out of reach, or farther from the last one than
   ten times the velocity limits explain, or if positions do not move as the rates say; positions
   then follow from the rates, if these are usable. */
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

/* Whether joints may be led there next: see the statuses of @NAME@.h. Where the model has no
   velocity limit, rates must fit the change of positions. */
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

/* The share of the actuators' efforts that braking may need: more than half of what a load leaves. */
static inline double @NAME@_braking_share(const @NAME@_controller *c) {
  return fmin(fmax(@UPPER@_BRAKING_SHARE, 0.5 + 0.5 * c->held), @UPPER@_HOLDING_SHARE);
}

/* Whether the actuators have efforts to change a motion to rest in a time [s]. */
static inline int @NAME@_can_brake(const @NAME@_controller *c, const double *configuration,
                                   const double *velocity, double time) {
  double acceleration[@UPPER@_NV];
  for (int j = 0; j < @UPPER@_NV; j++) acceleration[j] = -velocity[j] / time;
  return @NAME@_can_be_driven(configuration, velocity, acceleration, NULL,
                              @NAME@_braking_share(c));
}

/* A joint's position after coasting for a time [s], not farther beyond an end than it is already. */
static inline double @NAME@_coast(int joint, double position, double rate, double time) {
  const double lower = @NAME@_position_limits[joint][0], upper = @NAME@_position_limits[joint][1];
  const double there = position + time * rate;
  if (there > upper && rate > 0.0) return position > upper ? position : upper;
  if (there < lower && rate < 0.0) return position < lower ? position : lower;
  return there;
}

/* The longest time [s] in which joints at these rates can be braked before they are some way beyond
   their ends. */
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

/* Move a configuration by a velocity for a time [s], if that is on this side of singularities. */
static inline int @NAME@_move_on(const @NAME@_controller *c, const double *configuration,
                                 const double *velocity, double time, double *there) {
  double way[@UPPER@_NV], side = 0.0;
  for (int j = 0; j < @UPPER@_NV; j++) way[j] = time * velocity[j];
  int status = @NAME@_advance(configuration, way, there);
  if (status == @UPPER@_OK) status = @NAME@_side(there, &side);
  return status == @UPPER@_OK && !(side * c->side > 0.0) ? @UPPER@_SINGULAR : status;
}

/* Whether the actuators have efforts to brake joints within a time [s], and to hold them, where they
   are after coasting for some time. It must be on this side of singularities. */
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

/* Whether the actuators have efforts to brake within a time [s], in a configuration on the way: where
   the mechanism is after coasting for some time, at a share of its velocity; without one they hold
   it, too. */
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

/* Whether the mechanism can be braked to rest from a motion that goes on for another period, and the
   shortest time [s] of it: before the joints' ends there is a configuration where it would stop,
   and still a tolerance farther, and the actuators have efforts to brake it here, half-way and
   there, and to hold it. Where loops can move no farther, small rates of joints are large ones of
   the body: the efforts that brake the joints grow, and in the end nothing controls the body.
   `place` is the one of the three that is looked at, which change from update to update; -1: all. */
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

/* Whether feedback may lead from where the mechanism is to a target: it can stop from there, and
   between are no singularity and only configurations that the actuators can hold. */
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

/* Whether the mechanism does not follow: a joint is farther from positions than some way and its
   motion in two periods, or its rate differs much. */
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

/* Take a motion of the configuration for the target. */
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

/* Whether rates fit the change of positions and accelerations that of rates, over some periods
   of a source. Kinds that are zero are not commanded. */
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

/* Whether the actuators have efforts for a sudden change of rates. */
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

/* Take positions, rates and accelerations of the joints for the target. */
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

/* Whether rates of joints exceed their limits. */
static inline int @NAME@_are_too_fast(const double *rates) {
  for (int i = 0; i < @UPPER@_N; i++) {
    const double most = @NAME@_velocity_limits[i];
    if (most > 0.0 && fabs(rates[i]) > most) return 1;
  }
  return 0;
}

/* Begin to brake: from where the mechanism is, if it did not follow; else from where the target is
   a period after the last reference. */
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

/* Lead the target to rest, as fast as the actuators can, and leave it there. */
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

/* The largest share of an acceleration, at most 1, after a period of which no joint is faster than
   it is or than the velocity limits allow. */
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

/* The efforts of this period for a state that is measured. Efforts that are cut one by one accelerate
   the mechanism in another direction: near singularities, where large efforts nearly cancel, by far
   more than was meant. So the acceleration is reduced instead, to what the actuators have efforts
   for, and to what keeps the joints' rates within their limits. */
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

/* The efforts of this period: OK; LIMITED, if they were cut; or, if the controller gives up after
   GIVE_UP_TIME without a usable state, another status. The efforts are to be applied in any case. */
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

/* All of it: `reference` (3 N) has positions, rates and accelerations of the joints; NULL: hold. */
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
