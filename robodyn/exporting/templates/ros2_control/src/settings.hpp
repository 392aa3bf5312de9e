// Settings from the parameters, which can be copied without allocation.
#ifndef @UPPER@_SETTINGS_HPP_
#define @UPPER@_SETTINGS_HPP_

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "mechanism.hpp"

#include "@PACKAGE@/@NAME@_controller_parameters.hpp"

namespace @PACKAGE@
{

struct Settings
{
  library::Law law{};
  double reference_timeout = 0.0, base_imu_bandwidth = 0.0;
  double payload_mass = 0.0;
  std::array<double, 3> payload_com{};
  std::array<double, 3> gravity = GRAVITY;  // gravity to compensate
};

// Expand one gain for all coordinates, or one for each; any other count is an invalid_argument.
inline Velocity gains_of(const char * name, const std::vector<double> & given)
{
  if (given.size() != 1 && given.size() != NV) {
    throw std::invalid_argument(
            std::string(name) + " has " + std::to_string(given.size()) +
            " numbers, expected 1 or " + std::to_string(NV));
  }
  Velocity gains;
  for (std::size_t i = 0; i < NV; ++i) {
    gains[i] = given[given.size() == 1 ? 0 : i];
  }
  return gains;
}

inline Settings settings_of(const model_based_controller::Params & given)
{
  Settings found;
  found.law.control = given.control == "feed_forward" ? library::FEED_FORWARD :
    given.control == "gravity_compensation" ? library::GRAVITY_COMPENSATION :
    library::COMPUTED_TORQUE;
  const Velocity kp = gains_of("kp", given.kp), kv = gains_of("kv", given.kv);
  std::copy(kp.begin(), kp.end(), found.law.kp);
  std::copy(kv.begin(), kv.end(), found.law.kv);
  found.reference_timeout = given.reference_timeout;
  found.law.tolerance = given.start_tolerance;
  found.base_imu_bandwidth = given.base_imu_bandwidth;
  const auto compensates = [&given](const char * term) {
      return std::find(given.compensate.begin(), given.compensate.end(), term) !=
             given.compensate.end();
    };
  if (!given.gravity.empty()) {
    if (given.gravity.size() != 3) {
      throw std::invalid_argument(
              "gravity has " + std::to_string(given.gravity.size()) + " numbers, expected 3");
    }
    std::copy_n(given.gravity.begin(), 3, found.gravity.begin());
  }
  if (!compensates("gravity")) {
    found.gravity.fill(0.0);
  }
  found.law.has_gravity = found.gravity != GRAVITY;
  std::copy(found.gravity.begin(), found.gravity.end(), found.law.gravity);
  found.law.leaves_friction = !compensates("friction");
  found.law.leaves_coriolis = !compensates("coriolis");
  found.payload_mass = given.payload.mass;
  std::copy_n(given.payload.com.begin(), 3, found.payload_com.begin());
  return found;
}

}  // namespace @PACKAGE@

#endif  // @UPPER@_SETTINGS_HPP_
