// Efforts for the driven joints from references of their position, velocity and acceleration.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
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
            RCLCPP_ERROR(get_node()->get_logger(), "trajectory rejected: %s", fault.c_str());
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
    // starts at the measured position, and holds it until references arrive
    std::fill(reference_interfaces_.begin(), reference_interfaces_.end(), NONE);
    received_.writeFromNonRT(Reference{});
    trajectory_.writeFromNonRT(nullptr);
    followed_ = nullptr;
    if (!surroundings_.assign(state_interfaces_)) {
      RCLCPP_ERROR(
        get_node()->get_logger(),
        "no state interfaces of base_imu or wrench_sensor: check the names of the sensors");
      return CallbackReturn::FAILURE;
    }
    const auto [positions, rates] = measured();
    const int status = library::start(&controller_, positions.data(), rates.data());
    if (status != library::OK) {
      RCLCPP_ERROR(
        get_node()->get_logger(), "cannot start at the measured position: %s",
        library::status_text(status));
      return CallbackReturn::FAILURE;
    }
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
    const Settings & settings = *settings_.readFromRT();
    const double seconds = period.seconds();
    const auto [positions, rates] = measured();
    library::measure(&controller_, positions.data(), rates.data(), seconds, &settings.law);
    report_.unread += surroundings_.measure(seconds, settings) ? 0 : 1;
    const bool follows = (!is_in_chained_mode() && follow_trajectory(time.nanoseconds(), seconds)) ||
      follow_references(seconds);
    if (!follows) {
      library::brake(&controller_, seconds);
    }
    // an error is returned only after braking and holding for a while; efforts are always written
    const bool fine = command(seconds);
    const auto passed = std::chrono::steady_clock::now() - start;
    report_.update(time, std::chrono::duration<double>(passed).count(), controller_);
    return fine ? return_type::OK : return_type::ERROR;
  }

private:
  static constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

  struct Reference  // numbers in the order of the reference interfaces; time of receipt [ns]
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

  // Read the parameters, also after a change; returns false and changes nothing if one is invalid.
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

  // Store a reference received on the topic.
  void take(const JointTrajectoryPoint & point)
  {
    Reference reference{std::vector<double>(3 * N, 0.0), get_node()->now().nanoseconds()};
    std::size_t kind = 0;
    for (const auto * given : {&point.positions, &point.velocities, &point.accelerations}) {
      if (given->size() != N && (kind == 0 || !given->empty())) {
        RCLCPP_ERROR(
          get_node()->get_logger(),
          "reference rejected: expected %zu positions, and as many rates and accelerations or none",
          N);
        return;
      }
      for (std::size_t i = 0; i < given->size(); ++i) {
        reference.numbers[3 * i + kind] = (*given)[i];
      }
      ++kind;
    }
    received_.writeFromNonRT(reference);
  }

  // Positions and rates of the joints in the library's convention; NaN without a value.
  std::pair<Joints, Joints> measured() const
  {
    Joints positions, rates;
    for (std::size_t i = 0; i < N; ++i) {
      positions[i] = state_interfaces_[2 * i].get_optional().value_or(NONE);
      rates[i] = state_interfaces_[2 * i + 1].get_optional().value_or(NONE);
    }
    return {to_library(positions), signed_as_urdf(rates)};
  }

  // Follow the last pose trajectory unless a later reference was received; returns false if there
  // is none, or it is rejected.
  bool follow_trajectory(std::int64_t now, double period)
  {
    const auto trajectory = *trajectory_.readFromRT();
    if (!trajectory || trajectory->received() < received_.readFromRT()->at) {
      return false;
    }
    if (trajectory != followed_) {
      followed_ = trajectory;
      Configuration target;
      std::copy_n(controller_.target, NQ, target.begin());
      begins_ = trajectory->begin_at(target);
      controller_.refused[library::JUMPS] += begins_ ? 0 : 1;
    }
    if (!begins_) {
      return false;
    }
    const Motion motion = trajectory->sample(now).motion();
    return library::aim_at(
      &controller_, motion.configuration.data(), motion.velocity.data(),
      motion.acceleration.data(), period, surroundings_.base(),
      &settings_.readFromRT()->law) == library::OK;
  }

  // Follow the references; returns false if there are none, or they are rejected.
  bool follow_references(double period)
  {
    // a chained controller commands for the next update: extrapolate back to this one
    const double lead = is_in_chained_mode() ? 1.0 / get_update_rate() : 0.0;
    Joints positions, rates, changes;
    bool given = false;
    for (std::size_t i = 0; i < N; ++i) {
      given = given || !std::isnan(reference_interfaces_[3 * i]);
      // an interface without a command is NaN; an infinite number is rejected
      changes[i] = number_or_zero(reference_interfaces_[3 * i + 2]);
      rates[i] = number_or_zero(reference_interfaces_[3 * i + 1]) - lead * changes[i];
      positions[i] = reference_interfaces_[3 * i] - lead * (rates[i] + 0.5 * lead * changes[i]);
    }
    if (!given) {
      return false;
    }
    positions = to_library(positions);
    rates = signed_as_urdf(rates);
    changes = signed_as_urdf(changes);
    return library::aim(
      &controller_, positions.data(), rates.data(), changes.data(), period,
      surroundings_.base(), &settings_.readFromRT()->law) == library::OK;
  }

  static double number_or_zero(double number) {return std::isnan(number) ? 0.0 : number;}

  // Write the efforts; returns false if no state was usable, or no effort accepted, for too long.
  bool command(double period)
  {
    Configuration configuration;
    Velocity rate, change;
    std::copy_n(controller_.configuration, NQ, configuration.begin());
    std::copy_n(controller_.target_velocity, NV, rate.begin());
    std::copy_n(controller_.target_acceleration, NV, change.begin());
    const double * wrench = surroundings_.wrench(configuration, rate, change);
    Joints efforts;
    const int status = library::command(
      &controller_, period, wrench, surroundings_.base(), &settings_.readFromRT()->law,
      efforts.data());
    bool written = true;
    for (std::size_t i = 0; i < N; ++i) {
      written = command_interfaces_[i].set_value(SIGNS[i] * efforts[i]) && written;
    }
    unwritten_ = written ? 0.0 : unwritten_ + period;
    return unwritten_ < library::GIVE_UP_TIME &&
           (status == library::OK || status == library::LIMITED);
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

  library::Controller controller_{};
  bool begins_ = false;
  double unwritten_ = 0.0;  // [s] since the hardware last accepted the efforts
};

}  // namespace @PACKAGE@

PLUGINLIB_EXPORT_CLASS(
  @PACKAGE@::ModelBasedController,
  controller_interface::ChainableControllerInterface)
