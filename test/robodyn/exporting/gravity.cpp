// Gravity compensation by the generated controller's settings and surroundings, without ROS 2.
// Arguments: gravity (3), mass and center of a payload (3), terms to compensate. On stdin and stdout
// binary records: positions of the driven joints, and efforts.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace hardware_interface
{
struct LoanedStateInterface {};
}  // namespace hardware_interface

namespace semantic_components
{
struct Sensor  // none is configured
{
  explicit Sensor(const std::string &) {}
  std::vector<std::string> get_state_interface_names() const {return {};}
  bool assign_loaned_state_interfaces(std::vector<hardware_interface::LoanedStateInterface> &)
  {
    return false;
  }
  void release_interfaces() {}
  std::array<double, 3> get_linear_acceleration() const {return {};}
  std::array<double, 3> get_angular_velocity() const {return {};}
  std::array<double, 3> get_forces() const {return {};}
  std::array<double, 3> get_torques() const {return {};}
};
using IMUSensor = Sensor;
using ForceTorqueSensor = Sensor;
}  // namespace semantic_components

#include "surroundings.hpp"

using namespace PACKAGE;

int main(int argc, char ** argv)
{
  model_based_controller::Params given;
  given.control = "gravity_compensation";
  given.gravity = {std::atof(argv[1]), std::atof(argv[2]), std::atof(argv[3])};
  given.payload.mass = std::atof(argv[4]);
  given.payload.com = {std::atof(argv[5]), std::atof(argv[6]), std::atof(argv[7])};
  given.compensate.assign(argv + 8, argv + argc);
  const Settings settings = settings_of(given);
  const double period = 1e-3;
  Joints positions, efforts;
  const Joints rest{};
  Surroundings surroundings;
  surroundings.configure(given);
  while (std::fread(positions.data(), sizeof(double), N, stdin) == N) {
    library::Controller controller;
    positions = to_library(positions);
    int status = library::start(&controller, positions.data(), rest.data());
    library::measure(&controller, positions.data(), rest.data(), period, &settings.law);
    surroundings.measure(period, settings);
    library::brake(&controller, period);
    Configuration configuration;
    std::copy_n(controller.configuration, NQ, configuration.begin());
    const double * wrench = surroundings.wrench(configuration, {}, {});
    status += library::command(
      &controller, period, wrench, surroundings.base(), &settings.law, efforts.data());
    if (status != library::OK) {
      return status;
    }
    efforts = signed_as_urdf(efforts);
    std::fwrite(efforts.data(), sizeof(double), N, stdout);
  }
  return 0;
}
