// What a launch costs a GPU: instructions by kind, 32-byte sectors of memory, conflicts of shared
// memory, products of matrices; and a roofline that turns the counts into time.
//
// Sectors are counted twice. Requests: the sectors that each warp's instruction touches, what the
// L1 cache is asked for. DRAM: each sector once a launch, when it is first read (unless the launch
// wrote it before) and when it is first written, as if the L2 cache held all of the launch and
// nothing of the one before.
//   32 lanes that load f32 side by side: 1 request, 4 sectors; with a stride of 32 bytes, 32
//   sectors.
// Costs about as much as the run itself, on one thread of the host.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "ptxsim/launch_options.h"
#include "ptxsim/program.h"

namespace hlokit::ptx {

enum class ProductKind : uint8_t { kHalf, kTf32, kByte, kDouble, kNibble };
inline constexpr int kProductKinds = 5;

struct LaunchCounts {
  int64_t warp_instructions = 0, thread_instructions = 0;  // of PTX, guarded ones included
  std::map<std::string, int64_t> by_kind;                  // warp instructions
  int64_t global_requests = 0;  // warp instructions that touch global memory
  int64_t uncoalesced = 0;      // of them those that touch more sectors than their bytes need
  int64_t sectors_read = 0, sectors_written = 0;
  int64_t dram_read = 0, dram_written = 0;  // sectors
  int64_t shared_requests = 0;
  int64_t shared_cycles = 0;  // one a request, and one for each further word of the busiest bank
  double products[kProductKinds] = {};  // multiply-adds, two operations each
  int64_t blocks = 0, threads_a_block = 0, shared_bytes = 0;

  int64_t bank_conflicts() const { return shared_cycles - shared_requests; }
  int64_t dram_sectors() const { return dram_read + dram_written; }
  void Add(const LaunchCounts& other);
};

// Collects the counts of one launch. One thread of the host uses it.
class Profile {
 public:
  struct Counter {
    int64_t warps = 0, threads = 0;
  };
  // A counter for each op of `code`.
  Counter* CountersOf(const Code& code);
  // A warp's access: lane i of `mask` at addresses[i] + offset, `size` bytes.
  void Access(Space space, const uint64_t* addresses, int64_t offset, LaneMask mask, int64_t size,
              bool reads, bool writes);
  // One piece of memory, by a bulk copy.
  void Range(Space space, uint64_t address, int64_t size, bool writes);
  void Product(ProductKind kind, double multiply_adds) {
    counts_.products[static_cast<int>(kind)] += multiply_adds;
  }
  // What was collected.
  LaunchCounts Take(const Program& program, const LaunchOptions& options);

 private:
  void Global(const uint64_t* lanes, int count, int64_t size, bool reads, bool writes);
  void Shared(const uint64_t* lanes, int count, int64_t size);
  void Dram(uint64_t sector, bool reads, bool writes);

  struct Page {  // 64 sectors
    uint64_t seen = 0, written = 0;
  };
  LaunchCounts counts_;
  absl::flat_hash_map<uint64_t, Page> pages_;
  absl::flat_hash_map<const Code*, std::vector<Counter>> counters_;
};

// A GPU's peaks.
struct GpuModel {
  std::string name;
  int processors = 0;                   // SMs
  double clock = 0;                     // Hz
  double dram = 0, l2 = 0;              // bytes/s
  double products[kProductKinds] = {};  // multiply-adds/s, dense
  int warps = 64, blocks = 32;          // of an SM
  int64_t shared = 0;                   // bytes of an SM
};
// h100, h200, a100, b200; null for others.
const GpuModel* FindGpuModel(absl::string_view name);

// How many of an SM's warps the blocks of a launch fill, 0 to 1; registers are not known.
double OccupancyOf(const LaunchCounts& counts, const GpuModel& gpu);
// Seconds: the slowest of DRAM, L2, issue of instructions, shared memory and matrix units, with the
// SMs that have no block in the last wave idle. Without latencies, L1 hits and launch overhead.
double RooflineOf(const LaunchCounts& counts, const GpuModel& gpu);

// A table of the counts, for `gpu` where it is not null.
std::string CountsText(const LaunchCounts& counts, const GpuModel* gpu);
// Appends a line for the launch to a tab-separated file, whose first line names the columns.
absl::Status AppendCounts(const std::string& path, absl::string_view kernel,
                          const LaunchCounts& counts);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
