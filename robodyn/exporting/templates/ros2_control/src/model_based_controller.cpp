// Efforts for the driven joints from references of their position, velocity and acceleration.

#include <algorithm>
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
    references_ = get_node()->create_subscription<JointTrajectoryPoint>(
      "~/reference", rclcpp::SystemDefaultsQoS(),
      [this](const JointTrajectoryPoint & point) {take(point);});
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
    received_.writeFromNonRT(Reference{});
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
    holds_ = false;
    hold();
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
    const Reference & last = *received_.readFromRT();
    const double age = 1e-9 * static_cast<double>(time.nanoseconds() - last.at);
    const bool late = age > settings_.readFromRT()->reference_timeout;
    for (std::size_t k = 0; k < 3 * N; ++k) {
      reference_interfaces_[k] = late ? NONE : last.numbers[k];
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
      follow_references();
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

  struct Reference  // in the order of the reference interfaces, and when it came
  {
    std::vector<double> numbers = std::vector<double>(3 * N, NONE);
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

  // A reference from the topic.
  void take(const JointTrajectoryPoint & point)
  {
    Reference reference{std::vector<double>(3 * N, 0.0), get_node()->now().nanoseconds()};
    std::size_t kind = 0;
    for (const auto * given : {&point.positions, &point.velocities, &point.accelerations}) {
      if (given->size() != N && (kind == 0 || !given->empty())) {
        RCLCPP_ERROR(get_node()->get_logger(), "a reference needs %zu numbers of each kind", N);
        return;
      }
      for (std::size_t i = 0; i < given->size(); ++i) {
        reference.numbers[3 * i + kind] = (*given)[i];
      }
      ++kind;
    }
    received_.writeFromNonRT(reference);
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

  // Stand where the mechanism was when it began to hold.
  void hold()
  {
    if (!holds_) {
      target_ = {configuration_, {}, {}};
    }
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
      begins_ = trajectory->begin_at(target_.configuration);
      report_.refused += begins_ ? 0 : 1;
    }
    if (begins_) {
      target_ = trajectory->sample(now).motion();
      holds_ = false;
    }
    return begins_;
  }

  // The motion of the references; without any that can be followed, it holds.
  void follow_references()
  {
    // what a chain commands is for the next update: taken back to this one
    const double lead = is_in_chained_mode() ? 1.0 / get_update_rate() : 0.0;
    Joints positions, rates, changes;
    for (std::size_t i = 0; i < N; ++i) {
      changes[i] = finite_or_zero(reference_interfaces_[3 * i + 2]);
      rates[i] = finite_or_zero(reference_interfaces_[3 * i + 1]) - lead * changes[i];
      positions[i] = reference_interfaces_[3 * i] - lead * (rates[i] + 0.5 * lead * changes[i]);
    }
    const bool given = is_finite(positions);
    if (given && aim(to_library(positions), signed_as_urdf(rates), signed_as_urdf(changes))) {
      holds_ = false;
    } else {
      report_.refused += given ? 1 : 0;
      hold();
    }
  }

  // Take a motion of the joints for the target; false where it is out of reach, or a jump.
  bool aim(const Joints & positions, const Joints & rates, const Joints & changes)
  {
    Motion goal = target_;
    const double * at = goal.configuration.data();
    const bool follows = (!holds_ || is_near(positions)) &&
      succeeded(library::configuration(positions.data(), goal.configuration.data())) &&
      succeeded(library::velocity(at, rates.data(), goal.velocity.data())) &&
      succeeded(library::acceleration(at, rates.data(), changes.data(), goal.acceleration.data()));
    target_ = follows ? goal : target_;
    return follows;
  }

  // Whether the target's joints are near these positions: motion begins there, without a jump.
  bool is_near(const Joints & positions)
  {
    const double tolerance = settings_.readFromRT()->start_tolerance;
    Joints held;
    bool near = succeeded(library::joint_positions(target_.configuration.data(), held.data()));
    for (std::size_t i = 0; i < N; ++i) {
      near = near && std::abs(joint_difference(i, held[i], positions[i])) <= tolerance;
    }
    return near;
  }

  static double finite_or_zero(double number) {return std::isfinite(number) ? number : 0.0;}

  bool command()
  {
    const Settings & settings = *settings_.readFromRT();
    const Motion motion = settings.control == Control::GRAVITY_COMPENSATION ?
      Motion{configuration_, {}, {}} : target_;
    const double * at = motion.configuration.data(), * rate = motion.velocity.data();
    const double * change = motion.acceleration.data();
    const double * wrench =
      surroundings_.wrench(configuration_, motion.velocity, motion.acceleration);
    const double * base = surroundings_.base();
    Joints efforts;
    status_ = settings.control == Control::COMPUTED_TORQUE ?
      library::computed_torque(
      configuration_.data(), velocity_.data(), at, rate, change, settings.kp.data(),
      settings.kv.data(), wrench, base, efforts.data()) :
      library::inverse_dynamics(at, rate, change, wrench, base, efforts.data());
    if (status_ != library::OK && status_ != library::LIMITED) {
      return false;
    }
    bool cut = status_ == library::LIMITED, written = true;
    for (std::size_t i = 0; i < N; ++i) {
      const double most = library::effort_limits[i];
      const double effort = std::clamp(efforts[i], -most, most);
      cut = cut || effort != efforts[i];
      written = command_interfaces_[i].set_value(SIGNS[i] * effort) && written;
    }
    report_.cut += cut ? 1 : 0;
    return written;
  }

  std::shared_ptr<model_based_controller::ParamListener> listener_;
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr changes_;
  realtime_tools::RealtimeBuffer<Settings> settings_;
  rclcpp::Subscription<JointTrajectoryPoint>::SharedPtr references_;
  realtime_tools::RealtimeBuffer<Reference> received_;
  rclcpp::Subscription<MultiDOFJointTrajectory>::SharedPtr trajectories_;
  realtime_tools::RealtimeBuffer<std::shared_ptr<PoseTrajectory>> trajectory_;
  std::shared_ptr<PoseTrajectory> followed_;
  Surroundings surroundings_;
  Report report_;

  Configuration configuration_{};
  Velocity velocity_{};
  Motion target_{};
  bool holds_ = true, begins_ = false;
  int status_ = library::OK;
};

}  // namespace @PACKAGE@

PLUGINLIB_EXPORT_CLASS(
  @PACKAGE@::ModelBasedController,
  controller_interface::ChainableControllerInterface)
