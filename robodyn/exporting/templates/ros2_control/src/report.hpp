// Diagnostics of the controller, published on /diagnostics once a second.
#ifndef @UPPER@_REPORT_HPP_
#define @UPPER@_REPORT_HPP_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "diagnostic_msgs/msg/diagnostic_array.hpp"
#include "mechanism.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "realtime_tools/realtime_publisher.hpp"

namespace @PACKAGE@
{

class Report
{
public:
  std::size_t unread = 0;  // updates without a valid sensor reading since the last report

  void configure(rclcpp_lifecycle::LifecycleNode & node)
  {
    name_ = std::string(node.get_name()) + ": model-based control";
    publisher_ = std::make_unique<realtime_tools::RealtimePublisher<DiagnosticArray>>(
      node.create_publisher<DiagnosticArray>("/diagnostics", 1));
  }

  // Count an update of the controller that took `seconds`; publish once a second and reset counters.
  void update(const rclcpp::Time & time, double seconds, library::Controller & controller)
  {
    longest_ = std::max(longest_, seconds);
    total_ += seconds;
    ++updates_;
    if ((time - last_report_).seconds() < 1.0 && time >= last_report_) {
      return;
    }
    diagnostic_msgs::msg::DiagnosticStatus status;
    status.name = name_;
    status.hardware_id = MECHANISM;
    unsigned long refused = 0;
    for (unsigned long count : controller.refused) {
      refused += count;
    }
    const bool fine = controller.cut == 0 && refused == 0 && unread == 0 && controller.lost == 0;
    status.level = controller.lost > 0 ? status.ERROR : fine ? status.OK : status.WARN;
    status.message = controller.lost > 0 ? "no usable state: braking and holding by the model alone" :
      fine ? (controller.is_moving ? "following" : "holding") :
      unread > 0 ? "a sensor reading is not finite" : "efforts saturated or references rejected";
    const auto add = [&status](const std::string & key, const std::string & value) {
        status.values.emplace_back();
        status.values.back().key = key;
        status.values.back().value = value;
      };
    add("efforts saturated", std::to_string(controller.cut));
    add("references rejected", std::to_string(refused));
    for (int k = 0; k < library::STATUSES; ++k) {
      if (controller.refused[k] > 0) {
        add(std::string("rejected: ") + library::status_text(k),
          std::to_string(controller.refused[k]));
        controller.refused[k] = 0;
      }
    }
    add("updates without a usable state", std::to_string(controller.lost));
    if (controller.status != library::OK) {
      add("last reason", library::status_text(controller.status));
    }
    add("sensors not read", std::to_string(unread));
    add("mean time [us]", std::to_string(1e6 * total_ / static_cast<double>(updates_)));
    add("longest time [us]", std::to_string(1e6 * longest_));
    DiagnosticArray message;
    message.header.stamp = time;
    message.status.push_back(status);
    publisher_->try_publish(message);
    last_report_ = time;
    unread = updates_ = 0;
    controller.cut = controller.lost = 0;
    controller.status = library::OK;
    longest_ = total_ = 0.0;
  }

private:
  using DiagnosticArray = diagnostic_msgs::msg::DiagnosticArray;

  std::string name_;
  std::unique_ptr<realtime_tools::RealtimePublisher<DiagnosticArray>> publisher_;
  std::size_t updates_ = 0;
  double longest_ = 0.0, total_ = 0.0;
  rclcpp::Time last_report_{0, 0, RCL_ROS_TIME};
};

}  // namespace @PACKAGE@

#endif  // @UPPER@_REPORT_HPP_
