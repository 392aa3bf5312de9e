// External influences on the mechanism: motion of its base, a wrench on its body, a payload.
#ifndef @UPPER@_SURROUNDINGS_HPP_
#define @UPPER@_SURROUNDINGS_HPP_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mechanism.hpp"
#include "semantic_components/force_torque_sensor.hpp"
#include "semantic_components/imu_sensor.hpp"
#include "settings.hpp"

namespace @PACKAGE@
{

class Surroundings
{
public:
  using Interfaces = std::vector<hardware_interface::LoanedStateInterface>;

  void configure(const model_based_controller::Params & given)
  {
    imu_.reset();
    sensor_.reset();
    if (!given.base_imu.empty()) {
      imu_ = std::make_unique<semantic_components::IMUSensor>(given.base_imu);
    }
    if (!given.wrench_sensor.empty()) {
      sensor_ = std::make_unique<semantic_components::ForceTorqueSensor>(given.wrench_sensor);
    }
  }

  void add_names(std::vector<std::string> & names) const
  {
    const auto add = [&names](auto & sensor) {
        if (sensor) {
          const auto own = sensor->get_state_interface_names();
          names.insert(names.end(), own.begin(), own.end());
        }
      };
    add(imu_);
    add(sensor_);
  }

  bool assign(Interfaces & interfaces)
  {
    started_ = false;
    return (!imu_ || imu_->assign_loaned_state_interfaces(interfaces)) &&
           (!sensor_ || sensor_->assign_loaned_state_interfaces(interfaces));
  }

  void release()
  {
    if (imu_) {
      imu_->release_interfaces();
    }
    if (sensor_) {
      sensor_->release_interfaces();
    }
  }

  // Read the sensors; returns false if one has no valid reading, and keeps its previous one.
  bool measure(double period, const Settings & settings)
  {
    const double bandwidth = settings.base_imu_bandwidth;
    bool read = true;
    mass_ = settings.payload_mass;
    com_ = settings.payload_com;
    gravity_ = settings.gravity;
    if (imu_) {
      const Vector force = imu_->get_linear_acceleration(), rate = imu_->get_angular_velocity();
      read = is_finite(force) && is_finite(rate);
      if (read) {
        // the angular acceleration is the rate's finite difference, through a first-order filter
        const double share = period * bandwidth / (1.0 + period * bandwidth);
        for (std::size_t k = 0; k < 3; ++k) {
          const double change = started_ && period > 0.0 ? (rate[k] - base_[3 + k]) / period : 0.0;
          base_[6 + k] = started_ ? base_[6 + k] + share * (change - base_[6 + k]) : 0.0;
          base_[k] = force[k];
          base_[3 + k] = rate[k];
        }
        started_ = true;
      }
    }
    if (sensor_) {
      const Vector force = sensor_->get_forces(), moment = sensor_->get_torques();
      const bool finite = is_finite(force) && is_finite(moment);
      if (finite) {
        std::copy_n(force.begin(), 3, contact_.begin());
        std::copy_n(moment.begin(), 3, contact_.begin() + 3);
      }
      read = read && finite;
    }
    return read;
  }

  const double * base() const {return started_ ? base_.data() : nullptr;}

  // Return the wrench of the sensor and the payload on the body; null if there is neither.
  const double * wrench(
    const Configuration & configuration, const Velocity & velocity, const Velocity & acceleration)
  {
    std::array<double, 7> pose;
    if ((!sensor_ && mass_ == 0.0) ||
      library::body_pose(configuration.data(), pose.data()) != library::OK)
    {
      return nullptr;
    }
    wrench_.fill(0.0);
    if (sensor_) {
      put(turned(pose, {contact_[0], contact_[1], contact_[2]}), wrench_, 0);
      put(turned(pose, {contact_[3], contact_[4], contact_[5]}), wrench_, 3);
    }
    std::array<double, 6> twist, accel;
    if (mass_ > 0.0 && body_motion(configuration, velocity, acceleration, twist, accel)) {
      const Vector arm = turned(pose, com_), rate{twist[3], twist[4], twist[5]};
      const Vector v = sum({twist[0], twist[1], twist[2]}, cross(rate, arm));
      Vector a = sum({accel[0], accel[1], accel[2]}, cross({accel[3], accel[4], accel[5]}, arm));
      a = sum(a, cross(rate, cross(rate, arm)));
      if (started_) {  // moving base: add its specific force and inertial accelerations
        const Vector turn{base_[3], base_[4], base_[5]};
        const Vector place = sum({pose[0], pose[1], pose[2]}, arm);
        a = sum(a, {base_[0], base_[1], base_[2]});
        a = sum(a, cross({base_[6], base_[7], base_[8]}, place));
        a = sum(a, cross(turn, sum(cross(turn, place), v, 2.0)));
      } else {
        a = sum(a, gravity_, -1.0);
      }
      const Vector force{-mass_ * a[0], -mass_ * a[1], -mass_ * a[2]};
      put(force, wrench_, 0);
      put(cross(arm, force), wrench_, 3);
    }
    return wrench_.data();
  }

private:
  static bool is_finite(const Vector & x)
  {
    return std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2]);
  }

  static Vector turned(const std::array<double, 7> & pose, const Vector & x)
  {
    const Vector axis{pose[3], pose[4], pose[5]}, once = cross(axis, x);
    const Vector twice = cross(axis, once);
    Vector found;
    for (std::size_t k = 0; k < 3; ++k) {
      found[k] = x[k] + 2.0 * (pose[6] * once[k] + twice[k]);
    }
    return found;
  }

  static void put(const Vector & x, std::array<double, 6> & wrench, std::size_t first)
  {
    for (std::size_t k = 0; k < 3; ++k) {
      wrench[first + k] += x[k];
    }
  }

  // Compute the twist of the body, and its acceleration by finite differences along the motion.
  static bool body_motion(
    const Configuration & configuration, const Velocity & velocity, const Velocity & acceleration,
    std::array<double, 6> & twist, std::array<double, 6> & accel)
  {
    constexpr double STEP = 1e-4;  // [s]
    Joints positions, rates;
    bool known = multiplied(configuration, velocity, twist) &&
      multiplied(configuration, acceleration, accel) &&
      library::joint_positions(configuration.data(), positions.data()) == library::OK &&
      library::joint_velocities(configuration.data(), velocity.data(), rates.data()) == library::OK;
    for (double side : {1.0, -1.0}) {
      Configuration moved = configuration;
      Joints there;
      for (std::size_t i = 0; i < N; ++i) {
        there[i] = positions[i] + side * STEP * rates[i];
      }
      std::array<double, 6> then;
      known = known && library::configuration(there.data(), moved.data()) == library::OK &&
        multiplied(moved, velocity, then);
      for (std::size_t k = 0; known && k < 6; ++k) {
        accel[k] += side * then[k] / (2.0 * STEP);
      }
    }
    return known;
  }

  static bool multiplied(
    const Configuration & configuration, const Velocity & velocity, std::array<double, 6> & twist)
  {
    std::array<double, 6 * NV> jacobian;
    const int status = library::twist_jacobian(configuration.data(), jacobian.data());
    for (std::size_t k = 0; k < 6; ++k) {
      twist[k] = 0.0;
      for (std::size_t j = 0; j < NV; ++j) {
        twist[k] += jacobian[NV * k + j] * velocity[j];
      }
    }
    return status == library::OK;
  }

  std::unique_ptr<semantic_components::IMUSensor> imu_;
  std::unique_ptr<semantic_components::ForceTorqueSensor> sensor_;
  std::array<double, 9> base_{};
  std::array<double, 6> contact_{}, wrench_{};
  Vector com_{}, gravity_{};
  double mass_ = 0.0;
  bool started_ = false;
};

}  // namespace @PACKAGE@

#endif  // @UPPER@_SURROUNDINGS_HPP_
