// The grid: clusters of blocks (of one, for most kernels) over threads of the host. Each host
// thread runs one cluster at a time, warp by warp in turns of a fixed number of ops. Blocks may
// wait for each other through memory, so that one which takes long makes room for another to start.
#include "ptxsim/launch.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "ptxsim/block.h"
#include "ptxsim/profile.h"
#include "ptxsim/races.h"
#include "ptxsim/stalls.h"
#include "support/status.h"
#include "support/threads.h"

namespace hlokit::ptx {
namespace {

using Clock = std::chrono::steady_clock;

// Ops of a warp before the block's other warps have their turn.
constexpr int64_t kWarpTurn = 1 << 16;
// Turns of a cluster before another one starts beside it, for which it may wait.
constexpr int kBlockTurns = 64;
// Turns before it is first looked at (StallWatch).
constexpr int kFirstTurns = 4;
constexpr size_t kMaxResident = 256;

// Errors where the block has more threads than the kernel or a GPU allows, or too much shared
// memory.
absl::Status CheckDimensions(const Program& program, const LaunchOptions& o) {
  const Function& kernel = *program.functions[0]->function;
  const uint64_t threads = uint64_t{o.block[0]} * o.block[1] * o.block[2];
  if (threads == 0 || threads > 1024 || o.block[0] > 1024 || o.block[1] > 1024 || o.block[2] > 64)
    return InvalidArgument("a block of ", o.block[0], "x", o.block[1], "x", o.block[2],
                           " threads: a GPU takes 1 to 1024, at most 1024 x 1024 x 64");
  if (o.grid[0] == 0 || o.grid[1] == 0 || o.grid[2] == 0 || o.grid[0] > 0x7fffffff ||
      o.grid[1] > 65535 || o.grid[2] > 65535)
    return InvalidArgument("a grid of ", o.grid[0], "x", o.grid[1], "x", o.grid[2],
                           " blocks: a GPU takes at least 1, at most 2147483647 x 65535 x 65535");
  const int* given = kernel.max_threads;
  if (kernel.requires_threads && (o.block[0] != static_cast<uint32_t>(given[0]) ||
                                  o.block[1] != static_cast<uint32_t>(given[1]) ||
                                  o.block[2] != static_cast<uint32_t>(given[2])))
    return InvalidArgument("kernel ", kernel.name, " requires blocks of ", given[0], "x", given[1],
                           "x", given[2], " threads (.reqntid), not ", o.block[0], "x", o.block[1],
                           "x", o.block[2]);
  if (given[0] > 0 && threads > uint64_t(given[0]) * given[1] * given[2])
    return InvalidArgument("kernel ", kernel.name, " takes at most ",
                           int64_t{given[0]} * given[1] * given[2],
                           " threads a block (.maxntid), not ", threads);
  const uint64_t blocks = uint64_t{o.cluster[0]} * o.cluster[1] * o.cluster[2];
  if (blocks == 0 || blocks > 16)
    return InvalidArgument("clusters of ", o.cluster[0], "x", o.cluster[1], "x", o.cluster[2],
                           " blocks: a GPU takes 1 to 16");
  if (o.grid[0] % o.cluster[0] != 0 || o.grid[1] % o.cluster[1] != 0 ||
      o.grid[2] % o.cluster[2] != 0)
    return InvalidArgument("a grid of ", o.grid[0], "x", o.grid[1], "x", o.grid[2],
                           " blocks is no multiple of clusters of ", o.cluster[0], "x",
                           o.cluster[1], "x", o.cluster[2]);
  // PTX for an older GPU may run on a newer one; the driver knows what the device has.
  constexpr int64_t kMaxSharedBytes = 227 << 10;
  if (o.dynamic_shared < 0 || program.shared_bytes + o.dynamic_shared > kMaxSharedBytes)
    return InvalidArgument("kernel ", kernel.name, " with ",
                           program.shared_bytes + o.dynamic_shared,
                           " bytes of shared memory a block: a GPU has at most ", kMaxSharedBytes);
  return absl::OkStatus();
}

class Grid {
 public:
  explicit Grid(LaunchState& launch) : launch_(launch), begin_(Clock::now()) {
    const uint32_t* grid = launch.options->grid;
    const uint32_t* cluster = launch.options->cluster;
    count_ = int64_t{grid[0] / cluster[0]} * (grid[1] / cluster[1]) * (grid[2] / cluster[2]);
  }

  void Run() {
    int64_t workers = std::max(1, launch_.options->threads);
    if (launch_.program->order_matters || launch_.races != nullptr || launch_.profile != nullptr)
      workers = 1;
    workers = std::min(workers, count_);
    launch_.cancel_next = [this] {
      const int64_t index = next_.fetch_add(1);
      return index < count_ ? index : -1;
    };
    stalls_ = std::make_unique<StallWatch>(launch_, static_cast<int>(workers));
    RunOnThreads(workers, workers, [this](int64_t worker) {
      Work(static_cast<int>(worker));
      stalls_->Leave(static_cast<int>(worker));
    });
  }
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  // Runs clusters until none is left. One that takes long may wait for another: then that one
  // starts.
  void Work(int worker) {
    std::vector<std::unique_ptr<Cluster>> resident;
    size_t turn = 0;
    while (!launch_.stopped) {
      if (resident.empty() && !Start(resident)) return;
      turn %= resident.size();
      bool done = false;
      const int turns = stalls_->IsQuiet(worker, *resident[turn]) ? 1 : kBlockTurns;
      for (int i = 0; i < turns && !done && !launch_.stopped; ++i) {
        done = resident[turn]->Run(kWarpTurn);
        CheckLimits();
        if (i == kFirstTurns && !done)
          stalls_->Look(worker, *resident[turn], resident, /*all_began=*/false);
      }
      if (done) {
        stalls_->Forget(worker, *resident[turn]);
        resident.erase(resident.begin() + static_cast<int64_t>(turn));
        continue;
      }
      const bool all_began = resident.size() >= kMaxResident || !Start(resident);
      stalls_->Look(worker, *resident[turn], resident, all_began);
      ++turn;
    }
  }
  bool Start(std::vector<std::unique_ptr<Cluster>>& resident) {
    const int64_t index = next_.fetch_add(1);
    if (index >= count_) return false;
    resident.push_back(std::make_unique<Cluster>(launch_, index));
    return true;
  }
  void CheckLimits() {
    const LaunchOptions& o = *launch_.options;
    if (o.max_steps > 0 && launch_.steps > o.max_steps)
      launch_.Fail(INT64_MAX - 1, absl::AbortedError(absl::StrCat("the kernel ran more than ",
                                                                  o.max_steps, " instructions")));
    if (o.timeout > 0 && Seconds() > o.timeout)
      launch_.Fail(INT64_MAX - 1, absl::AbortedError(absl::StrCat("the kernel ran longer than ",
                                                                  o.timeout, " s")));
  }

  LaunchState& launch_;
  Clock::time_point begin_;
  int64_t count_ = 0;
  std::atomic<int64_t> next_ = 0;
  std::unique_ptr<StallWatch> stalls_;
};

}  // namespace

// Global variables as allocations, with their initial values.
absl::Status LoadVariables(const Program& program, Memory& memory, bool keep) {
  for (const Program::GlobalVariable& variable : program.globals) {
    const uint64_t address =
        kImageWindow + static_cast<uint64_t>(program.image_base + variable.offset);
    // What an earlier kernel of the module left stays.
    if (const Allocation* old = memory.Find(address);
        keep && old != nullptr && old->address == address && old->name == variable.name)
      continue;
    RETURN_IF_ERROR(memory.AllocateAt(address, variable.size, variable.name));
    memory.Find(address)->is_constant = variable.is_constant;
    std::copy_n(program.global_image.data() + variable.offset, variable.size,
                memory.Host(address, variable.size));
  }
  return absl::OkStatus();
}

absl::Status Launch(const Program& program, Memory& memory, absl::Span<const std::byte> parameters,
                    const LaunchOptions& asked, LaunchStats& stats) {
  LaunchOptions options = asked;
  const int* cluster = program.functions[0]->function->cluster;
  for (int d = 0; d < 3 && cluster[0] > 0; ++d)
    options.cluster[d] = static_cast<uint32_t>(std::max(1, cluster[d]));
  RETURN_IF_ERROR(CheckDimensions(program, options));
  if (static_cast<int64_t>(parameters.size()) != program.parameter_bytes)
    return InvalidArgument("parameters of ", parameters.size(), " bytes: the kernel takes ",
                           program.parameter_bytes);
  LaunchState launch;
  launch.program = &program;
  launch.memory = &memory;
  launch.options = &options;
  launch.parameters.assign(parameters.begin(), parameters.end());
  if (options.checks.races) {
    launch.races = std::make_shared<RaceDetector>(
        static_cast<int>(options.block[0] * options.block[1] * options.block[2]));
    launch.barrier_opens = [&](Block& block, int barrier) {
      launch.races->OpenBarrier(block, barrier);
    };
  }
  if (options.profile) launch.profile = std::make_shared<Profile>();
  Grid grid(launch);
  grid.Run();
  if (options.profile)
    stats.counts = std::make_shared<const LaunchCounts>(launch.profile->Take(program, options));
  stats.seconds = grid.Seconds();
  stats.warp_instructions = launch.steps;
  stats.thread_instructions = launch.thread_steps;
  stats.output = launch.Output();
  return launch.Result();
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
