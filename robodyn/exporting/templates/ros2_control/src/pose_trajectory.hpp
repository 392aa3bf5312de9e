// A trajectory of the body's pose, for mechanisms whose configuration is that pose.
#ifndef @UPPER@_POSE_TRAJECTORY_HPP_
#define @UPPER@_POSE_TRAJECTORY_HPP_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mechanism.hpp"
#include "trajectory_msgs/msg/multi_dof_joint_trajectory.hpp"

namespace @PACKAGE@
{

// Largest distance [m, rad] from the present pose to a first point that is due at once.
constexpr double NEAR = 2e-3;
constexpr bool IS_POSE = NQ == 7 && NV == 6;

class PoseTrajectory
{
public:
  struct Point
  {
    double time = 0.0;
    std::array<double, 7> pose{};
    std::array<double, 6> velocity{}, acceleration{};

    Motion motion() const
    {
      Motion found;
      std::copy_n(pose.begin(), std::min<std::size_t>(7, NQ), found.configuration.begin());
      std::copy_n(velocity.begin(), std::min<std::size_t>(6, NV), found.velocity.begin());
      std::copy_n(acceleration.begin(), std::min<std::size_t>(6, NV), found.acceleration.begin());
      return found;
    }
  };

  // Return why a message is rejected; empty if it is accepted.
  static std::string fault(const trajectory_msgs::msg::MultiDOFJointTrajectory & message)
  {
    double last = -1.0;
    for (const auto & point : message.points) {
      if (point.transforms.size() != 1 || point.velocities.size() != 1 ||
        point.accelerations.size() != 1)
      {
        return "each point needs one transform, velocity and acceleration";
      }
      const Point known = point_of(point);
      double total = known.time, square = 0.0;
      for (std::size_t k = 0; k < 7; ++k) {
        total += known.pose[k] + (k < 6 ? known.velocity[k] + known.acceleration[k] : 0.0);
        square += k > 2 ? known.pose[k] * known.pose[k] : 0.0;
      }
      if (!std::isfinite(total) || !(std::abs(square - 1.0) < 1e-3)) {
        return "a number is not finite, or a quaternion is not of unit length";
      }
      if (!(known.time > last)) {
        return "times do not increase";
      }
      last = known.time;
    }
    return message.points.empty() ? "it has no points" : "";
  }

  PoseTrajectory(
    const trajectory_msgs::msg::MultiDOFJointTrajectory & message, std::int64_t received)
  : received_(received)
  {
    const auto & stamp = message.header.stamp;
    const auto stamped = 1000000000LL * stamp.sec + stamp.nanosec;
    start_ = stamped == 0 ? received : stamped;
    points_.emplace_back();  // the target pose at the start, see begin_at
    for (const auto & point : message.points) {
      points_.push_back(point_of(point));
    }
  }

  std::int64_t received() const {return received_;}

  // Begin with a motion from rest at a pose to the first point. Returns false if that point is due
  // at once and not at this pose.
  bool begin_at(const Configuration & configuration)
  {
    const Point & first = points_[1];
    std::copy_n(configuration.begin(), std::min<std::size_t>(7, NQ), points_[0].pose.begin());
    if (first.time > 0.0) {
      return true;
    }
    const Vector turn = rotation(points_[0].pose, first.pose);
    bool near = true;
    for (std::size_t k = 0; k < 3; ++k) {
      near = near && std::abs(first.pose[k] - points_[0].pose[k]) < NEAR &&
        std::abs(turn[k]) < NEAR;
    }
    return near;
  }

  // Return the motion at a time [ns]; after the end, it rests at the last point.
  Point sample(std::int64_t now)
  {
    const double t = 1e-9 * static_cast<double>(now - start_);
    while (last_ + 2 < points_.size() && points_[last_ + 1].time <= t) {
      ++last_;
    }
    const Point & a = points_[last_], & b = points_[last_ + 1];
    if (t >= b.time || b.time <= a.time) {
      Point rest;
      rest.pose = b.pose;
      return rest;
    }
    return between(a, b, std::max(t, a.time));
  }

private:
  static Point point_of(const trajectory_msgs::msg::MultiDOFJointTrajectoryPoint & point)
  {
    const auto & at = point.transforms[0];
    const auto & v = point.velocities[0];
    const auto & a = point.accelerations[0];
    return {
      point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec,
      {at.translation.x, at.translation.y, at.translation.z, at.rotation.x, at.rotation.y,
        at.rotation.z, at.rotation.w},
      {v.linear.x, v.linear.y, v.linear.z, v.angular.x, v.angular.y, v.angular.z},
      {a.linear.x, a.linear.y, a.linear.z, a.angular.x, a.angular.y, a.angular.z}};
  }

  static Vector angular(const std::array<double, 6> & x) {return {x[3], x[4], x[5]};}

  // Interpolate by polynomials of degree 5 in the position and in the rotation vector. Rates use
  // the series of the left Jacobian, which is accurate if points are close together.
  static Point between(const Point & a, const Point & b, double t)
  {
    const Vector turn = rotation(a.pose, b.pose);
    Vector rate = angular(b.velocity), change = angular(b.acceleration);
    rate = sum(sum(rate, cross(turn, rate), -0.5), cross(turn, cross(turn, rate)), 1.0 / 12.0);
    change = sum(change, cross(rate, cross(turn, rate)), -1.0 / 6.0);
    change =
      sum(sum(change, cross(turn, change), -0.5), cross(turn, cross(turn, change)), 1.0 / 12.0);
    const double T = b.time - a.time, s = (t - a.time) / T;
    Point found;
    Vector x, v, w;
    for (std::size_t k = 0; k < 6; ++k) {
      const double start = k < 3 ? a.pose[k] : 0.0, end = k < 3 ? b.pose[k] : turn[k - 3];
      const double v1 = k < 3 ? b.velocity[k] : rate[k - 3];
      const double a1 = k < 3 ? b.acceleration[k] : change[k - 3];
      const double c1 = T * a.velocity[k], c2 = 0.5 * T * T * a.acceleration[k];
      const double p = end - start - c1 - c2, q = T * v1 - c1 - 2.0 * c2, r = T * T * a1 - 2.0 * c2;
      const double c3 = 10.0 * p - 4.0 * q + 0.5 * r, c4 = -15.0 * p + 7.0 * q - r;
      const double c5 = 6.0 * p - 3.0 * q + 0.5 * r;
      const double at = start + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))));
      const double slope =
        (c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / T;
      const double bend = (2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / (T * T);
      if (k < 3) {
        found.pose[k] = at;
        found.velocity[k] = slope;
        found.acceleration[k] = bend;
      } else {
        x[k - 3] = at;
        v[k - 3] = slope;
        w[k - 3] = bend;
      }
    }
    rate = sum(sum(v, cross(x, v), 0.5), cross(x, cross(x, v)), 1.0 / 6.0);
    change = sum(sum(w, cross(x, w), 0.5), cross(x, cross(x, w)), 1.0 / 6.0);
    change = sum(change, cross(v, cross(x, v)), 1.0 / 6.0);
    for (std::size_t k = 0; k < 3; ++k) {
      found.velocity[3 + k] = rate[k];
      found.acceleration[3 + k] = change[k];
    }
    const double angle = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    const double sine = angle > 1e-12 ? std::sin(0.5 * angle) / angle : 0.5;
    const std::array<double, 4> turned =
      product({sine * x[0], sine * x[1], sine * x[2], std::cos(0.5 * angle)}, quaternion(a.pose));
    std::copy(turned.begin(), turned.end(), found.pose.begin() + 3);
    return found;
  }

  static std::array<double, 4> quaternion(const std::array<double, 7> & pose)
  {
    return {pose[3], pose[4], pose[5], pose[6]};
  }

  static std::array<double, 4> product(
    const std::array<double, 4> & a, const std::array<double, 4> & b)
  {
    const Vector u{a[0], a[1], a[2]}, v{b[0], b[1], b[2]}, w = cross(u, v);
    return {
      a[3] * v[0] + b[3] * u[0] + w[0], a[3] * v[1] + b[3] * u[1] + w[1],
      a[3] * v[2] + b[3] * u[2] + w[2], a[3] * b[3] - u[0] * v[0] - u[1] * v[1] - u[2] * v[2]};
  }

  // Return the rotation vector from one pose to another in the base frame.
  static Vector rotation(const std::array<double, 7> & from, const std::array<double, 7> & to)
  {
    const auto turn = product(quaternion(to), {-from[3], -from[4], -from[5], from[6]});
    const double sine = std::sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
    const double side = turn[3] < 0.0 ? -1.0 : 1.0;
    const double factor =
      sine > 1e-12 ? 2.0 * std::atan2(sine, std::abs(turn[3])) / sine : 2.0;
    return {side * factor * turn[0], side * factor * turn[1], side * factor * turn[2]};
  }

  std::int64_t received_, start_ = 0;
  std::vector<Point> points_;
  std::size_t last_ = 0;
};

}  // namespace @PACKAGE@

#endif  // @UPPER@_POSE_TRAJECTORY_HPP_
