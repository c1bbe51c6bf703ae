// Arguments of a module: read from files or made at random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "tools/common/sharded_entry.h"

namespace CLI {
class App;
}

namespace hlokit {

// What the flags of every tool that evaluates say of inputs.
struct InputOptions {
  std::vector<std::string> inputs;
  std::string input_format;  // npz, safetensors, npy, txt, bin, pb or pbtxt; empty: by the name
  std::string weights_map;   // a JSON file: names of arrays in the files, by names of parameters
  uint64_t seed = 0;
  std::vector<double> float_range = {-1, 1};
  std::vector<int64_t> int_range = {0, 7};  // both ends included
  bool large_floats = false;                // of all magnitudes, instead of float_range
  bool random_inputs = true;                // else zeros
  bool shared_inputs = false;               // every device the same
  bool normal_inputs = false;               // floats of a normal distribution, not of float_range
  bool device_inputs = false;               // each element is the device's number
  std::string elided_constants = "refuse";
};

// Adds the flags that fill `options`, but for --input-format, which not every tool has free.
void AddInputFlags(CLI::App& app, InputOptions& options);
// The flags again, as a shell takes them; those that say what goes without saying are left out.
std::vector<std::string> InputFlags(const InputOptions& options);
// What is wrong with them together; OK where nothing is.
absl::Status CheckInputOptions(const InputOptions& options);

// One literal an entry parameter, for each device that has arguments of its own. Where every device
// gets the same, there is one list.
class Arguments {
 public:
  // From --input where given, else random. A sharded entry gets whole arrays, joined where the
  // files hold each device's shards. Errors: NotFound for a missing file or array; InvalidArgument
  // names parameter, expected and given. `local`: the devices of this process, of which alone
  // arguments are made; empty: all.
  static absl::StatusOr<Arguments> Make(const Module& module, const InputOptions& options,
                                        int64_t devices, const ShardedEntry& sharded,
                                        std::vector<int64_t> local = {});

  // The shards that each device of `local` holds of whole arrays in files: `cuts` says how the
  // entry of `module` is cut. Arrays that are stored as they are stay in their mapped files; only
  // the shards are copied. Errors: as Make's. Precondition: the files hold no arrays of single
  // devices.
  static absl::StatusOr<Arguments> MakeShards(const Module& module, const InputOptions& options,
                                              const ShardedEntry& cuts,
                                              absl::Span<const int64_t> local);

  // What a snapshot recorded, by device. Errors: InvalidArgument where it does not fit the module.
  static absl::StatusOr<Arguments> OfSnapshot(const Module& module,
                                              std::vector<std::vector<Literal>> by_device,
                                              int64_t devices);

  // Each of these devices' shards of the first device's arguments, whole arrays.
  Arguments CutFor(const ShardedEntry& sharded, absl::Span<const int64_t> devices) const;

  std::vector<std::vector<const Literal*>> Pointers(int64_t devices) const;
  // Those of the only device, for a program that may keep them; empty where there are several.
  std::vector<Literal*> Given();

 private:
  std::vector<std::vector<Literal>> by_device_;
};

// Whether the files of --input hold arrays for single devices (in0.d1).
absl::StatusOr<bool> InputsDifferByDevice(const InputOptions& options);

// Gives constants that the text elided a value: that of a protobuf of the same dump beside the text
// (a note says so), else as --elided-constants says. Returns how many of the latter there were.
absl::StatusOr<int64_t> FillElidedConstants(Module& module, const InputOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
