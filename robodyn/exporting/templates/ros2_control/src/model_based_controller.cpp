// Efforts for the driven joints from references of their position, velocity and acceleration.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "mechanism.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "pose_trajectory.hpp"
#include "realtime_tools/realtime_buffer.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "surroundings.hpp"
#include "trajectory_msgs/msg/joint_trajectory_point.hpp"
#include "trajectory_msgs/msg/multi_dof_joint_trajectory.hpp"

namespace @PACKAGE@
{

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;
using trajectory_msgs::msg::JointTrajectoryPoint;
using trajectory_msgs::msg::MultiDOFJointTrajectory;

class ModelBasedController : public controller_interface::ChainableControllerInterface
{
public:
  CallbackReturn on_init() override
  {
    listener_ = std::make_shared<model_based_controller::ParamListener>(get_node());
    changes_ = get_node()->add_post_set_parameters_callback(
      [this](const std::vector<rclcpp::Parameter> &) {read_parameters();});
    return CallbackReturn::SUCCESS;
  }

  InterfaceConfiguration command_interface_configuration() const override
  {
    return {interface_configuration_type::INDIVIDUAL, interfaces({"effort"})};
  }

  InterfaceConfiguration state_interface_configuration() const override
  {
    auto names = interfaces({"position", "velocity"});
    surroundings_.add_names(names);
    return {interface_configuration_type::INDIVIDUAL, names};
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
  {
    reference_interfaces_.assign(3 * N, NONE);
    references_ = get_node()->create_subscription<JointTrajectoryPoint>(
      "~/reference", rclcpp::SystemDefaultsQoS(),
      [this](const std::shared_ptr<JointTrajectoryPoint> point) {
        const bool fits = point->positions.size() == N &&
        (point->velocities.empty() || point->velocities.size() == N) &&
        (point->accelerations.empty() || point->accelerations.size() == N);
        if (!fits) {
          RCLCPP_ERROR(get_node()->get_logger(), "a reference needs %zu positions", N);
          return;
        }
        received_.writeFromNonRT(Received{point, get_node()->now().nanoseconds()});
      });
    if constexpr (IS_POSE) {
      trajectories_ = get_node()->create_subscription<MultiDOFJointTrajectory>(
        "~/platform_trajectory", rclcpp::QoS(1).transient_local(),
        [this](const std::shared_ptr<MultiDOFJointTrajectory> message) {
          const auto fault = PoseTrajectory::fault(*message);
          if (!fault.empty()) {
            RCLCPP_ERROR(get_node()->get_logger(), "a trajectory is refused: %s", fault.c_str());
            return;
          }
          const auto now = get_node()->now().nanoseconds();
          trajectory_.writeFromNonRT(std::make_shared<PoseTrajectory>(*message, now));
        });
    }
    if (!read_parameters()) {
      return CallbackReturn::FAILURE;
    }
    report_.configure(*get_node());
    surroundings_.configure(listener_->get_params());
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    // begins where the mechanism is, and holds it until there are references
    std::fill(reference_interfaces_.begin(), reference_interfaces_.end(), NONE);
    received_.writeFromNonRT(Received{});
    trajectory_.writeFromNonRT(nullptr);
    followed_ = nullptr;
    if (!surroundings_.assign(state_interfaces_)) {
      RCLCPP_ERROR(get_node()->get_logger(), "base_imu or wrench_sensor has not its interfaces");
      return CallbackReturn::FAILURE;
    }
    configuration_ = home();
    if (!measure()) {
      RCLCPP_ERROR(get_node()->get_logger(), "where it is: %s", library::status_text(status_));
      return CallbackReturn::FAILURE;
    }
    stand();
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override
  {
    surroundings_.release();
    return CallbackReturn::SUCCESS;
  }

protected:
  std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() override
  {
    reference_interfaces_.assign(3 * N, NONE);
    std::vector<hardware_interface::CommandInterface> found;
    const auto names = interfaces({"position", "velocity", "acceleration"});
    for (std::size_t i = 0; i < names.size(); ++i) {
      found.emplace_back(get_node()->get_name(), names[i], &reference_interfaces_[i]);
    }
    return found;
  }

  return_type update_reference_from_subscribers(
    const rclcpp::Time & time, const rclcpp::Duration &) override
  {
    const Received & last = *received_.readFromRT();
    const double age = 1e-9 * static_cast<double>(time.nanoseconds() - last.at);
    if (!last.point || age > settings_.readFromRT()->reference_timeout) {
      std::fill(reference_interfaces_.begin(), reference_interfaces_.end(), NONE);
      return return_type::OK;
    }
    for (std::size_t i = 0; i < N; ++i) {
      reference_interfaces_[3 * i] = last.point->positions[i];
      reference_interfaces_[3 * i + 1] =
        last.point->velocities.empty() ? 0.0 : last.point->velocities[i];
      reference_interfaces_[3 * i + 2] =
        last.point->accelerations.empty() ? 0.0 : last.point->accelerations[i];
    }
    return return_type::OK;
  }

  return_type update_and_write_commands(
    const rclcpp::Time & time, const rclcpp::Duration & period) override
  {
    const auto start = std::chrono::steady_clock::now();
    if (!measure()) {
      return return_type::ERROR;
    }
    report_.unread += surroundings_.measure(period.seconds(), *settings_.readFromRT()) ? 0 : 1;
    if (is_in_chained_mode() || !follow_trajectory(time.nanoseconds())) {
      aim();
    }
    if (!command()) {
      return return_type::ERROR;
    }
    const auto passed = std::chrono::steady_clock::now() - start;
    report_.tell(time, std::chrono::duration<double>(passed).count(), holds_);
    return return_type::OK;
  }

private:
  static constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

  struct Received
  {
    std::shared_ptr<JointTrajectoryPoint> point;
    std::int64_t at = 0;
  };

  static std::vector<std::string> interfaces(const std::vector<std::string> & kinds)
  {
    std::vector<std::string> found;
    for (const char * joint : library::joint_names) {
      for (const auto & kind : kinds) {
        found.push_back(std::string(joint) + "/" + kind);
      }
    }
    return found;
  }

  // Take the parameters, when they change as well; false where they do not fit, and nothing changes.
  bool read_parameters()
  {
    try {
      settings_.writeFromNonRT(settings_of(listener_->get_params()));
    } catch (const std::invalid_argument & fault) {
      RCLCPP_ERROR(get_node()->get_logger(), "%s", fault.what());
      return false;
    }
    return true;
  }

  bool succeeded(int status)
  {
    status_ = status;
    return status == library::OK;
  }

  // Configuration and velocity, from the last ones.
  bool measure()
  {
    Joints positions, rates;
    for (std::size_t i = 0; i < N; ++i) {
      positions[i] = state_interfaces_[2 * i].get_optional().value_or(NONE);
      rates[i] = state_interfaces_[2 * i + 1].get_optional().value_or(NONE);
    }
    positions = to_library(positions);
    rates = signed_as_urdf(rates);
    return succeeded(library::configuration(positions.data(), configuration_.data())) &&
           succeeded(
      library::velocity(configuration_.data(), rates.data(), velocity_.data()));
  }

  // Hold the mechanism where it is.
  void stand()
  {
    target_ = configuration_;
    target_velocity_.fill(0.0);
    target_acceleration_.fill(0.0);
    holds_ = true;
  }

  // The motion of the last trajectory of the pose, if nothing has come after it.
  bool follow_trajectory(std::int64_t now)
  {
    const auto trajectory = *trajectory_.readFromRT();
    if (!trajectory || trajectory->received() < received_.readFromRT()->at) {
      return false;
    }
    if (trajectory != followed_) {
      followed_ = trajectory;
      begins_ = trajectory->begin_at(target_);
      report_.refused += begins_ ? 0 : 1;
    }
    if (!begins_) {
      return false;
    }
    const auto point = trajectory->sample(now);
    std::copy_n(point.pose.begin(), std::min<std::size_t>(7, NQ), target_.begin());
    std::copy_n(point.velocity.begin(), std::min<std::size_t>(6, NV), target_velocity_.begin());
    std::copy_n(
      point.acceleration.begin(), std::min<std::size_t>(6, NV), target_acceleration_.begin());
    holds_ = false;
    return true;
  }

  // The motion of the references; without any, it stands where it was.
  void aim()
  {
    // what a chain commands is for the next update: taken back to this one
    const double lead = is_in_chained_mode() ? 1.0 / get_update_rate() : 0.0;
    Joints positions, rates, changes;
    for (std::size_t i = 0; i < N; ++i) {
      changes[i] = finite_or_zero(reference_interfaces_[3 * i + 2]);
      rates[i] = finite_or_zero(reference_interfaces_[3 * i + 1]) - lead * changes[i];
      positions[i] = reference_interfaces_[3 * i] - lead * (rates[i] + 0.5 * lead * changes[i]);
    }
    if (!is_finite(positions)) {
      if (!holds_) {
        stand();
      }
      return;
    }
    positions = to_library(positions);
    rates = signed_as_urdf(rates);
    changes = signed_as_urdf(changes);
    if (holds_ && !is_near(positions)) {
      ++report_.refused;
      return;
    }
    Configuration goal = target_;
    Velocity velocity, acceleration;
    const bool follows =
      succeeded(library::configuration(positions.data(), goal.data())) &&
      succeeded(library::velocity(goal.data(), rates.data(), velocity.data())) &&
      succeeded(
      library::acceleration(goal.data(), rates.data(), changes.data(), acceleration.data()));
    if (!follows) {
      ++report_.refused;
      if (!holds_) {
        stand();
      }
      return;
    }
    target_ = goal;
    target_velocity_ = velocity;
    target_acceleration_ = acceleration;
    holds_ = false;
  }

  // Whether the target's joints are near these positions: motion begins there, without a jump.
  bool is_near(const Joints & positions)
  {
    const double tolerance = settings_.readFromRT()->start_tolerance;
    Joints held;
    bool near = succeeded(library::joint_positions(target_.data(), held.data()));
    for (std::size_t i = 0; i < N; ++i) {
      near = near && std::abs(positions[i] - held[i]) <= tolerance;
    }
    return near;
  }

  static double finite_or_zero(double number) {return std::isfinite(number) ? number : 0.0;}

  bool command()
  {
    Joints efforts;
    const Velocity rest{};
    const Settings & settings = *settings_.readFromRT();
    const bool stands = settings.control == Control::GRAVITY_COMPENSATION;
    const auto & rate = stands ? rest : target_velocity_;
    const auto & change = stands ? rest : target_acceleration_;
    const double * wrench = surroundings_.wrench(configuration_, rate, change);
    const double * base = surroundings_.base();
    if (settings.control == Control::COMPUTED_TORQUE) {
      status_ = library::computed_torque(
        configuration_.data(), velocity_.data(), target_.data(), target_velocity_.data(),
        target_acceleration_.data(), settings.kp.data(), settings.kv.data(), wrench, base,
        efforts.data());
    } else if (settings.control == Control::FEED_FORWARD) {
      status_ = library::inverse_dynamics(
        target_.data(), target_velocity_.data(), target_acceleration_.data(), wrench, base,
        efforts.data());
    } else {
      status_ = library::inverse_dynamics(
        configuration_.data(), rest.data(), rest.data(), wrench, base, efforts.data());
    }
    if (status_ != library::OK && status_ != library::LIMITED) {
      return false;
    }
    bool cut = status_ == library::LIMITED;
    for (std::size_t i = 0; i < N; ++i) {
      const double most = library::effort_limits[i];
      cut = cut || std::abs(efforts[i]) > most;
      efforts[i] = std::clamp(efforts[i], -most, most);
    }
    report_.cut += cut ? 1 : 0;
    efforts = signed_as_urdf(efforts);
    bool written = true;
    for (std::size_t i = 0; i < N; ++i) {
      written = command_interfaces_[i].set_value(efforts[i]) && written;
    }
    return written;
  }

  std::shared_ptr<model_based_controller::ParamListener> listener_;
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr changes_;
  realtime_tools::RealtimeBuffer<Settings> settings_;
  rclcpp::Subscription<JointTrajectoryPoint>::SharedPtr references_;
  realtime_tools::RealtimeBuffer<Received> received_;
  rclcpp::Subscription<MultiDOFJointTrajectory>::SharedPtr trajectories_;
  realtime_tools::RealtimeBuffer<std::shared_ptr<PoseTrajectory>> trajectory_;
  std::shared_ptr<PoseTrajectory> followed_;
  Surroundings surroundings_;
  Report report_;

  Configuration configuration_{}, target_{};
  Velocity velocity_{}, target_velocity_{}, target_acceleration_{};
  bool holds_ = true, begins_ = false;
  int status_ = library::OK;
};

}  // namespace @PACKAGE@

PLUGINLIB_EXPORT_CLASS(
  @PACKAGE@::ModelBasedController,
  controller_interface::ChainableControllerInterface)
