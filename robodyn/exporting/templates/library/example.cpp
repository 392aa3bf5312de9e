// Simulates the mechanism for 1 s at 1 kHz with computed torque that holds it at home:
//   c++ example.cpp -I. -L. -l@NAME@ -Wl,-rpath,'$ORIGIN' -o example && ./example
#include <algorithm>
#include <array>
#include <iostream>

#include "@NAME@.h"

int main() {
  std::array<double, @UPPER@_NQ> configuration;
  std::copy_n(@NAME@_home, @UPPER@_NQ, configuration.begin());
  std::array<double, @UPPER@_NV> velocity{}, rest{}, kp, kv;
  std::array<double, @UPPER@_N> efforts;@MOTORS@
  kp.fill(100.0);
  kv.fill(20.0);
  for (int i = 0; i < 1000; i++) {
    int status = @NAME@_computed_torque(
      configuration.data(), velocity.data(), @NAME@_home, rest.data(), rest.data(), kp.data(),
      kv.data(), nullptr, nullptr, efforts.data());
    if (status == @UPPER@_OK || status == @UPPER@_LIMITED) {
      status = @NAME@_step(
        configuration.data(), velocity.data(),@MOTOR_ARGUMENTS@ efforts.data(), nullptr, nullptr,
        1e-3, 1);
    }
    if (status != @UPPER@_OK) {
      std::cerr << @NAME@_status_text(status) << '\n';
      return 1;
    }
  }
  for (double number : configuration) std::cout << number << '\n';
}
