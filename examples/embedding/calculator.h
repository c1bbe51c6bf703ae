// A calculator whose users need not know how it computes.
#pragma once

#include <string>
#include <vector>

// sqrt(x * x + 1) of each number, compiled at the first call of that length. Throws
// std::runtime_error where the compiler has something to say.
std::vector<float> Hypotenuse(const std::vector<float>& x);

// The program that does it for `size` numbers, as text.
std::string HypotenuseText(int size);
// SPDX-License-Identifier: Apache-2.0
