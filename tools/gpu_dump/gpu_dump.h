// The folder that XLA's GPU compiler fills by --xla_dump_to: what of it a replay needs.
//
// For a module `module_0001.jit_f` these are
//   *gpu_after_optimizations.txt           the scheduled HLO
//   *buffer-assignment.txt                 allocations, and where in them each value lies
//   *buffer-assignment-values.txt          at which instructions each value is found
//   *.ptx                                  kernels
//   *thunk_sequence.txt                    launches: kernel, grid, threads, dynamic shared memory
//   *thunk_metadata.txt                    the instruction behind each launch
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// The files of one module. Lists are sorted by name.
struct GpuDumpFiles {
  std::string module;  // module_0001.jit_f
  std::string hlo, buffers, values, thunks, metadata;
  std::vector<std::string> ptx;
};

// The files of a dump in `folder`, or in `folder`/`stem` where the folder itself has none: a folder
// of several dumps, one a module. Errors: NotFound where a file is missing; InvalidArgument where
// the folder holds several modules, with their names.
absl::StatusOr<GpuDumpFiles> FindGpuDump(const std::string& folder, const std::string& stem);

// One entry of thunk_sequence.txt.
struct GpuThunk {
  int64_t id = 0;
  std::string kind;    // kCustomKernel, kCopy, kMemzero, ...
  std::string kernel;  // empty where the entry names none
  uint32_t grid[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
  int64_t shared_bytes = 0;
  std::string instruction;  // by its metadata; empty where there is none
};

// Reads thunk_sequence.txt and thunk_metadata.txt (may be empty: an older XLA; then the kernel's
// name stands for the instruction's). Errors: InvalidArgument with the line.
absl::StatusOr<std::vector<GpuThunk>> ParseGpuThunks(absl::string_view sequence,
                                                     absl::string_view metadata);

// A piece of an allocation.
struct GpuSlice {
  int64_t allocation = -1, offset = 0, size = 0;  // bytes
  bool operator==(const GpuSlice&) const = default;
};

struct GpuBuffers {
  struct Allocation {
    int64_t size = 0;
    bool is_thread_local = false;
  };
  std::vector<Allocation> allocations;
  // By position: `fusion.4` for an array, `fusion.4{1}` for an element of a tuple.
  absl::flat_hash_map<std::string, GpuSlice> slices;
};

// Reads the buffer assignment and the positions of its values. Errors: InvalidArgument with the
// line.
absl::StatusOr<GpuBuffers> ParseGpuBuffers(absl::string_view assignment, absl::string_view values);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
