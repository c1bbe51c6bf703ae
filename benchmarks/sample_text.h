// Modules of any size for measuring growth: layers of a network, repeated.
#pragma once

#include <cstddef>
#include <string>

namespace hlokit {

// HLO text of about `bytes` bytes: computations of a hundred instructions or so, which the entry
// calls one after the other, with the metadata, shapes, attributes and constants that dumps of
// trained models have. It verifies.
std::string SampleModuleText(size_t bytes);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
