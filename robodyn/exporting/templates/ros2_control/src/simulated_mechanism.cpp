// Simulated mechanism as hardware: its dynamics advance by the period of each update.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hardware_interface/system_interface.hpp"
#include "mechanism.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/rclcpp.hpp"

namespace @PACKAGE@
{

using hardware_interface::CallbackReturn;
using hardware_interface::return_type;

// Longest time [s] that is simulated at once after a pause.
constexpr double LONGEST_PERIOD = 0.1;
// Gains of the drives that accept positions or velocities.
constexpr double KP = 1e5;
constexpr double KV = 600.0;

class SimulatedMechanism : public hardware_interface::SystemInterface
{
public:
  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    state_ = State{home(), {}, HOME_MOTORS, {}};
    efforts_.fill(0.0);
    commands_.fill(NONE);
    mode_ = Mode::BRAKED;
    requested_ = mode_;
    forget_commands();
    return publish(0.0) ? CallbackReturn::SUCCESS : CallbackReturn::ERROR;
  }

  // May be called from another thread than the updates; the next write applies the change.
  return_type perform_command_mode_switch(
    const std::vector<std::string> & started, const std::vector<std::string> & stopped) override
  {
    Mode next = stopped.empty() ? requested_.load() : Mode::BRAKED;
    for (const auto & name : started) {
      const auto kind = name.substr(name.rfind('/') + 1);
      next = kind == "effort" ? Mode::EFFORT :
        kind == "position" ? Mode::POSITION :
        kind == "velocity" ? Mode::VELOCITY : next;
    }
    requested_ = next;
    return return_type::OK;
  }

  // Advance by the time since the last update, under the commands of that update.
  return_type read(const rclcpp::Time &, const rclcpp::Duration & period) override
  {
    const double passed = std::clamp(period.seconds(), 0.0, LONGEST_PERIOD);
    return advance(passed) && publish(passed) ? return_type::OK : failed();
  }

  return_type write(const rclcpp::Time &, const rclcpp::Duration &) override
  {
    const Mode next = requested_;
    if (next != mode_) {
      goal_ = state_.configuration;
      if (mode_ == Mode::BRAKED) {
        forget_commands();  // commands that a deactivated controller has left
      }
      mode_ = next;
    }
    commands_.fill(NONE);
    for (std::size_t i = 0; i < N && mode_ != Mode::BRAKED; ++i) {
      commands_[i] = get_command<double>(
        library::joint_names[i] + std::string(KINDS[static_cast<std::size_t>(mode_)]));
    }
    return return_type::OK;
  }

private:
  enum class Mode : std::size_t {EFFORT, POSITION, VELOCITY, BRAKED};
  static constexpr std::array<const char *, 3> KINDS{"/effort", "/position", "/velocity"};
  static constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

  void forget_commands()
  {
    for (const char * joint : library::joint_names) {
      for (const char * kind : KINDS) {
        if (has_command(joint + std::string(kind))) {
          set_command(joint + std::string(kind), NONE);
        }
      }
    }
  }

  return_type failed()
  {
    RCLCPP_ERROR(get_logger(), "%s: %s", MECHANISM, library::status_text(status_));
    return return_type::ERROR;
  }

  bool succeeded(int status)
  {
    status_ = status;
    return status == library::OK || status == library::LIMITED;
  }

  bool advance(double passed)
  {
    if (!is_finite(commands_)) {
      state_.velocity.fill(0.0);  // brakes close without commands
      state_.motor_rates.fill(0.0);
      efforts_.fill(0.0);
      return true;
    }
    if (passed <= 0.0) {
      return true;
    }
    const auto steps = static_cast<int>(std::ceil(passed / LONGEST_STEP - 1e-6));
    const bool held = mode_ == Mode::EFFORT;
    const double dt = passed / steps;
    for (int k = 0; k < (held ? 1 : steps); ++k) {
      if (held) {
        efforts_ = signed_as_urdf(commands_);
      } else if (!drive(commands_, dt)) {
        return false;
      }
      if (!succeeded(stepped(state_, efforts_, dt, held ? steps : 1))) {
        return false;
      }
    }
    return true;
  }

  // Compute the efforts of drives that track positions or velocities.
  bool drive(const Joints & wanted, double dt)
  {
    Joints positions, rates{};
    if (mode_ == Mode::POSITION) {
      positions = to_library(wanted);
    } else {
      rates = signed_as_urdf(wanted);
      if (!succeeded(library::joint_positions(goal_.data(), positions.data()))) {
        return false;
      }
      for (std::size_t i = 0; i < N; ++i) {
        positions[i] += dt * rates[i];
      }
    }
    Velocity velocity;
    const Velocity rest{};
    Velocity kp, kv;
    kp.fill(KP);
    kv.fill(KV);
    return succeeded(library::configuration(positions.data(), goal_.data())) &&
           succeeded(library::velocity(goal_.data(), rates.data(), velocity.data())) &&
           succeeded(
      library::computed_torque(
        state_.configuration.data(), state_.velocity.data(), goal_.data(), velocity.data(),
        rest.data(),
        kp.data(), kv.data(), nullptr, nullptr, efforts_.data()));
  }

  bool publish(double passed)
  {
    const Configuration & configuration = state_.configuration;
    Joints positions = state_.motors, rates = state_.motor_rates;  // as encoders measure them
    if (
      !IS_ELASTIC &&
      !(succeeded(library::joint_positions(configuration.data(), positions.data())) &&
      succeeded(
        library::joint_velocities(configuration.data(), state_.velocity.data(), rates.data()))))
    {
      return false;
    }
    positions = to_urdf(positions);
    rates = signed_as_urdf(rates);
    const Joints efforts = signed_as_urdf(efforts_);
    for (std::size_t i = 0; i < N; ++i) {
      const std::string joint = library::joint_names[i];
      set_state(joint + "/position", positions[i]);
      set_state(joint + "/velocity", rates[i]);
      set_state(joint + "/effort", efforts[i]);
    }
    for (std::size_t i = 0; i < PASSIVE.size(); ++i) {
      const std::string joint = PASSIVE[i].name;
      const double at = configuration[PASSIVE[i].at];
      set_state(joint + "/position", at);
      set_state(joint + "/velocity", passed > 0.0 ? (at - passive_[i]) / passed : 0.0);
      passive_[i] = at;
    }
    std::array<double, 7> pose;
    if (has_state("body/position.x") &&
      succeeded(library::body_pose(configuration.data(), pose.data())))
    {
      for (std::size_t k = 0; k < pose.size(); ++k) {
        set_state(std::string("body/") + POSE[k], pose[k]);
      }
    }
    return true;
  }

  static constexpr std::array<const char *, 7> POSE{
    "position.x", "position.y", "position.z",
    "orientation.x", "orientation.y", "orientation.z", "orientation.w"};

  State state_{};
  Configuration goal_{};
  std::array<double, PASSIVE.size()> passive_{};
  Joints commands_{}, efforts_{};
  Mode mode_ = Mode::BRAKED;
  std::atomic<Mode> requested_{Mode::BRAKED};
  int status_ = library::OK;
};

}  // namespace @PACKAGE@

PLUGINLIB_EXPORT_CLASS(
  @PACKAGE@::SimulatedMechanism,
  hardware_interface::SystemInterface)
