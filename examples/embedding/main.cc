// Uses the calculator; nothing here knows of hlokit.
#include <cstdio>

#include "calculator.h"

int main() {
  std::fputs(HypotenuseText(3).c_str(), stdout);
  const std::vector<float> result = Hypotenuse({0, 1, 7});
  for (const float value : result) std::printf("%g\n", value);
  return result[0] == 1 && result.size() == 3 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
