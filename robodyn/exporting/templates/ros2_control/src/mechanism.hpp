// Data of @MECHANISM@ for ros2_control, and conversion to and from the joint positions of its URDF.
#ifndef @UPPER@_MECHANISM_HPP_
#define @UPPER@_MECHANISM_HPP_

#include <array>
#include <cmath>
#include <cstddef>

#include "@NAME@.h"
#include "@NAME@_controller.h"

namespace @PACKAGE@
{

constexpr std::size_t NQ = @UPPER@_NQ;
constexpr std::size_t NV = @UPPER@_NV;
constexpr std::size_t N = @UPPER@_N;

// The library, under names that do not depend on the mechanism.
namespace library
{
inline constexpr auto acceleration = @NAME@_acceleration;
inline constexpr auto body_pose = @NAME@_body_pose;
inline constexpr auto computed_torque = @NAME@_computed_torque;
inline constexpr auto configuration = @NAME@_configuration;
inline constexpr auto inverse_dynamics = @NAME@_inverse_dynamics;
inline constexpr auto joint_positions = @NAME@_joint_positions;
inline constexpr auto joint_velocities = @NAME@_joint_velocities;
inline constexpr auto status_text = @NAME@_status_text;
inline constexpr auto twist_jacobian = @NAME@_twist_jacobian;
inline constexpr auto velocity = @NAME@_velocity;
inline constexpr auto & effort_limits = @NAME@_effort_limits;
inline constexpr auto & home = @NAME@_home;
inline constexpr auto & joint_names = @NAME@_joint_names;
inline constexpr int OK = @UPPER@_OK;
inline constexpr int JUMPS = @UPPER@_JUMPS;
inline constexpr int LIMITED = @UPPER@_LIMITED;
inline constexpr double GIVE_UP_TIME = @UPPER@_GIVE_UP_TIME;
inline constexpr int STATUSES = @UPPER@_STATUSES;
inline constexpr auto COMPUTED_TORQUE = @UPPER@_COMPUTED_TORQUE;
inline constexpr auto FEED_FORWARD = @UPPER@_FEED_FORWARD;
inline constexpr auto GRAVITY_COMPENSATION = @UPPER@_GRAVITY_COMPENSATION;
using Controller = @NAME@_controller;
using Law = @NAME@_settings;
// functions that are defined in the header, so each file has its own
constexpr auto aim = @NAME@_aim;
constexpr auto aim_at = @NAME@_aim_at;
constexpr auto brake = @NAME@_brake;
constexpr auto command = @NAME@_command;
constexpr auto measure = @NAME@_measure;
constexpr auto start = @NAME@_start;
}  // namespace library

inline constexpr char MECHANISM[] = @MECHANISM_STRING@;

using Configuration = std::array<double, NQ>;
using Velocity = std::array<double, NV>;
using Joints = std::array<double, N>;

struct Motion
{
  Configuration configuration{};
  Velocity velocity{}, acceleration{};
};

// position of the library = sign * position of the URDF + offset; efforts and rates likewise
constexpr Joints SIGNS{@SIGNS@};
constexpr Joints OFFSETS{@OFFSETS@};

// Joints that no actuator drives, with their indices in a configuration.
struct PassiveJoint
{
  const char * name;
  std::size_t at;
};
using PassiveJoints = std::array<PassiveJoint, @PASSIVE_COUNT@>;
constexpr PassiveJoints PASSIVE{{@PASSIVE@}};

// Positions of the motors at home; with elastic drives, motors move separately from the joints.
constexpr bool IS_ELASTIC = @IS_ELASTIC@;
constexpr Joints HOME_MOTORS{@HOME_MOTORS@};
constexpr double LONGEST_STEP = @LONGEST_STEP@;  // [s]

// State of the mechanism, and of the motors of elastic drives.
struct State
{
  Configuration configuration{};
  Velocity velocity{};
  Joints motors{}, motor_rates{};
};

// Advance a state by steps with constant efforts; returns the status.
inline int stepped(State & state, const Joints & efforts, double dt, int steps)
{
  return @NAME@_step(
    state.configuration.data(), state.velocity.data(),@MOTOR_STATES@ efforts.data(), nullptr,
    nullptr, dt, steps);
}

constexpr std::array<double, 3> GRAVITY{@GRAVITY@};  // [m/s^2] base frame

inline Configuration home()
{
  Configuration found;
  for (std::size_t i = 0; i < NQ; ++i) {
    found[i] = library::home[i];
  }
  return found;
}

inline bool is_finite(const Joints & numbers)
{
  for (double number : numbers) {
    if (!std::isfinite(number)) {
      return false;
    }
  }
  return true;
}

inline Joints to_library(const Joints & positions)
{
  Joints found;
  for (std::size_t i = 0; i < N; ++i) {
    found[i] = SIGNS[i] * positions[i] + OFFSETS[i];
  }
  return found;
}

inline Joints to_urdf(const Joints & positions)
{
  Joints found;
  for (std::size_t i = 0; i < N; ++i) {
    found[i] = (positions[i] - OFFSETS[i]) / SIGNS[i];
  }
  return found;
}

// Conversion of rates, accelerations and efforts, in both directions.
inline Joints signed_as_urdf(const Joints & rates)
{
  Joints found;
  for (std::size_t i = 0; i < N; ++i) {
    found[i] = SIGNS[i] * rates[i];
  }
  return found;
}

using Vector = std::array<double, 3>;

inline Vector cross(const Vector & a, const Vector & b)
{
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline Vector sum(const Vector & a, const Vector & b, double factor = 1.0)
{
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

}  // namespace @PACKAGE@

#endif  // @UPPER@_MECHANISM_HPP_
