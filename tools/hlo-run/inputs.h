// Arguments of a module: read from files or made at random.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "backends/backend.h"
#include "ir/module.h"
#include "tools/hlo-run/options.h"
#include "tools/hlo-run/sharded.h"

namespace hlokit {

// One literal an entry parameter, for each device that has arguments of its own. Where every device
// gets the same, there is one list.
class Arguments {
 public:
  // From --input where given, else random. A sharded entry gets whole arrays, joined where the
  // files hold each device's shards. Errors: NotFound for a missing file or array; InvalidArgument
  // names parameter, expected and given.
  static absl::StatusOr<Arguments> Make(const Module& module, const RunOptions& options,
                                        int64_t devices, const ShardedEntry& sharded);

  // What a snapshot recorded, by device. Errors: InvalidArgument where it does not fit the module.
  static absl::StatusOr<Arguments> OfSnapshot(const Module& module,
                                              std::vector<std::vector<Literal>> by_device,
                                              int64_t devices);

  std::vector<DeviceArguments> Pointers(int64_t devices) const;
  // Those of the only device, for a program that may keep them; empty where there are several.
  std::vector<Literal*> Given();

 private:
  std::vector<std::vector<Literal>> by_device_;
};

// Whether the files of --input hold arrays for single devices (in0.d1).
absl::StatusOr<bool> InputsDifferByDevice(const RunOptions& options);

// Gives constants that the text elided a value, as --elided-constants says. Returns how many there
// were.
absl::StatusOr<int64_t> FillElidedConstants(Module& module, const RunOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
