// Elements of small arrays as values in registers, besides their place in memory.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "codegen/scalars/ops.h"
#include "ir/computation.h"

namespace hlokit {

// The values of one function while it is written. A value stays what it is even when its buffer is
// written over, so nothing is ever forgotten.
class SmallValues {
 public:
  using Elements = std::vector<ScalarValue>;  // in memory order

  // True for arrays of which registers hold all elements.
  static bool IsSmall(const Shape& shape);

  void Set(const Instruction* instruction, int64_t leaf, Elements elements);
  // The elements of a leaf (depth first) of a result, found through tuples, reshapes and constants;
  // nothing where they are only in memory.
  std::optional<Elements> Find(llvm::IRBuilderBase& builder, const Instruction* instruction,
                               int64_t leaf = 0) const;

 private:
  absl::flat_hash_map<std::pair<const Instruction*, int64_t>, Elements> known_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
