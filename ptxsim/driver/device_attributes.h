// What a simulated device says of itself: the figures of an H100.
#pragma once

#include <optional>

namespace hlokit::cuda {

// By CUdevice_attribute; nullopt for those that the simulator does not know.
std::optional<int> AttributeOfH100(int attribute);

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
