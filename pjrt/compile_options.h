// CompileOptionsProto, as far as it concerns hlokit.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

struct PjrtCompileOptions {
  int64_t replicas = 1, partitions = 1;
  // Global ids, by replica * partitions + partition; empty: the client chooses.
  std::vector<int64_t> devices;
  bool tuple_arguments = false;
  // Whether the partitioner may choose shardings, one an argument or result, or one for all.
  std::vector<bool> propagate_to_parameters, propagate_to_output;
};

// Fields that hlokit has no use for are passed over. Errors: InvalidArgument for bytes that are no
// message, or counts that make no sense.
absl::StatusOr<PjrtCompileOptions> ReadCompileOptions(absl::string_view bytes);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
