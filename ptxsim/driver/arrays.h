// What the handles of arrays point to.
#pragma once

#include <memory>
#include <vector>

#include "ptxsim/driver/texture_api.h"
#include "ptxsim/texture.h"

namespace hlokit::cuda {

// An array, or one level of a mipmapped one: the texture that it could be, without a sampler.
struct ArrayHandle {
  ptx::Texture texture;
  int level = 0;
  bool is_level = false;
};
struct MipmappedArrayHandle {
  ptx::Texture texture;
  std::vector<std::unique_ptr<ArrayHandle>> levels;
};

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
