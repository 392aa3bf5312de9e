// What the controller tells on /diagnostics, once a second.
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
  // Updates since the last report whose efforts were cut, whose references were refused, and in
  // which a sensor had no numbers.
  std::size_t cut = 0, refused = 0, unread = 0;

  void configure(rclcpp_lifecycle::LifecycleNode & node)
  {
    name_ = std::string(node.get_name()) + ": model-based control";
    publisher_ = std::make_unique<realtime_tools::RealtimePublisher<DiagnosticArray>>(
      node.create_publisher<DiagnosticArray>("/diagnostics", 1));
  }

  // An update took these seconds.
  void tell(const rclcpp::Time & time, double seconds, bool holds)
  {
    longest_ = std::max(longest_, seconds);
    total_ += seconds;
    ++updates_;
    if ((time - told_).seconds() < 1.0 && time >= told_) {
      return;
    }
    diagnostic_msgs::msg::DiagnosticStatus status;
    status.name = name_;
    status.hardware_id = MECHANISM;
    const bool fine = cut == 0 && refused == 0 && unread == 0;
    status.level = fine ? status.OK : status.WARN;
    status.message = fine ? (holds ? "holds" : "follows") :
      unread > 0 ? "a sensor has no numbers" : "efforts cut or references refused";
    const auto add = [&status](const char * key, const std::string & value) {
        status.values.emplace_back();
        status.values.back().key = key;
        status.values.back().value = value;
      };
    add("efforts cut", std::to_string(cut));
    add("references refused", std::to_string(refused));
    add("sensors not read", std::to_string(unread));
    add("mean time [us]", std::to_string(1e6 * total_ / static_cast<double>(updates_)));
    add("longest time [us]", std::to_string(1e6 * longest_));
    DiagnosticArray message;
    message.header.stamp = time;
    message.status.push_back(status);
    publisher_->try_publish(message);
    told_ = time;
    cut = refused = unread = updates_ = 0;
    longest_ = total_ = 0.0;
  }

private:
  using DiagnosticArray = diagnostic_msgs::msg::DiagnosticArray;

  std::string name_;
  std::unique_ptr<realtime_tools::RealtimePublisher<DiagnosticArray>> publisher_;
  std::size_t updates_ = 0;
  double longest_ = 0.0, total_ = 0.0;
  rclcpp::Time told_{0, 0, RCL_ROS_TIME};
};

}  // namespace @PACKAGE@

#endif  // @UPPER@_REPORT_HPP_
