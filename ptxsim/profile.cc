// Counting accesses: lanes' sectors and banks are sorted and told apart; DRAM's sectors are bits of
// pages that a hash table holds.
#include "ptxsim/profile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ptxsim/memory.h"
#include "support/status.h"

namespace hlokit::ptx {
namespace {

constexpr int kSector = 32, kBanks = 32, kBankBytes = 4;

constexpr double kTera = 1e12;
// From NVIDIA's data sheets: SXM modules, boost clocks, dense products. The L2's are measured ones
// of microbenchmarks.
const GpuModel kModels[] = {
    {"h100",
     132,
     1.755e9,
     3.35 * kTera,
     5.5 * kTera,
     {495e12, 247e12, 990e12, 33.5e12, 990e12},
     64,
     32,
     228 << 10},
    {"h200",
     132,
     1.755e9,
     4.8 * kTera,
     5.5 * kTera,
     {495e12, 247e12, 990e12, 33.5e12, 990e12},
     64,
     32,
     228 << 10},
    {"a100",
     108,
     1.41e9,
     2.04 * kTera,
     4.0 * kTera,
     {156e12, 78e12, 312e12, 9.75e12, 624e12},
     64,
     32,
     164 << 10},
    {"b200",
     148,
     1.85e9,
     8.0 * kTera,
     10 * kTera,
     {1125e12, 562e12, 2250e12, 20e12, 4500e12},
     64,
     32,
     228 << 10},
};

// ld.global, st.shared, ...; other instructions by their names.
std::string KindOf(const Instruction& instruction) {
  const absl::string_view name = instruction.opcode;
  std::string kind(name);
  if (name != "ld" && name != "st" && name != "atom" && name != "red") return kind;
  for (absl::string_view modifier : instruction.modifiers)
    if (const auto space = SpaceNamed(modifier); space.has_value())
      return absl::StrCat(kind, ".", Text(*space));
  return absl::StrCat(kind, ".generic");
}

bool IsSharedAddress(Space space, uint64_t address) {
  return space == Space::kShared ||
         (space == Space::kGeneric && address - kSharedWindow < kWindowBytes);
}

}  // namespace

void LaunchCounts::Add(const LaunchCounts& other) {
  warp_instructions += other.warp_instructions;
  thread_instructions += other.thread_instructions;
  for (const auto& [kind, count] : other.by_kind) by_kind[kind] += count;
  global_requests += other.global_requests;
  uncoalesced += other.uncoalesced;
  sectors_read += other.sectors_read;
  sectors_written += other.sectors_written;
  dram_read += other.dram_read;
  dram_written += other.dram_written;
  shared_requests += other.shared_requests;
  shared_cycles += other.shared_cycles;
  for (int i = 0; i < kProductKinds; ++i) products[i] += other.products[i];
  blocks += other.blocks;
  threads_a_block = std::max(threads_a_block, other.threads_a_block);
  shared_bytes = std::max(shared_bytes, other.shared_bytes);
}

Profile::Counter* Profile::CountersOf(const Code& code) {
  std::vector<Counter>& counters = counters_[&code];
  if (counters.empty()) counters.resize(code.ops.size());
  return counters.data();
}

void Profile::Dram(uint64_t sector, bool reads, bool writes) {
  Page& page = pages_[sector >> 6];
  const uint64_t bit = uint64_t{1} << (sector & 63);
  if (reads && !((page.seen | page.written) & bit)) {
    page.seen |= bit;
    ++counts_.dram_read;
  }
  if (writes && !(page.written & bit)) {
    page.written |= bit;
    ++counts_.dram_written;
  }
}

void Profile::Global(const uint64_t* lanes, int count, int64_t size, bool reads, bool writes) {
  uint64_t sectors[kLanes * 2];
  int touched = 0;
  for (int i = 0; i < count; ++i) {
    const uint64_t first = lanes[i] / kSector, last = (lanes[i] + size - 1) / kSector;
    for (uint64_t s = first; s <= last && touched < kLanes * 2; ++s) sectors[touched++] = s;
  }
  std::sort(sectors, sectors + touched);
  touched = static_cast<int>(std::unique(sectors, sectors + touched) - sectors);
  // What the distinct bytes need: lanes may read one place together.
  uint64_t sorted[kLanes];
  std::copy_n(lanes, count, sorted);
  std::sort(sorted, sorted + count);
  const auto distinct = std::unique(sorted, sorted + count) - sorted;
  ++counts_.global_requests;
  counts_.uncoalesced += touched > (distinct * size + kSector - 1) / kSector + 1;
  if (reads) counts_.sectors_read += touched;
  if (writes) counts_.sectors_written += touched;
  for (int i = 0; i < touched; ++i) Dram(sectors[i], reads, writes);
}

// Lanes go together in groups whose bytes fill the banks once: 32 of 4 bytes, 16 of 8, 8 of 16.
void Profile::Shared(const uint64_t* lanes, int count, int64_t size) {
  const int words = static_cast<int>(std::max<int64_t>(1, size / kBankBytes));
  const int together = std::max(1, kLanes / words);
  for (int begin = 0; begin < count; begin += together) {
    std::vector<uint64_t> used[kBanks];
    size_t most = 1;
    for (int i = begin; i < std::min(count, begin + together); ++i)
      for (int w = 0; w < words; ++w) {
        const uint64_t word = lanes[i] / kBankBytes + static_cast<uint64_t>(w);
        std::vector<uint64_t>& bank = used[word % kBanks];
        if (std::find(bank.begin(), bank.end(), word) == bank.end()) bank.push_back(word);
        most = std::max(most, bank.size());
      }
    ++counts_.shared_requests;
    counts_.shared_cycles += static_cast<int64_t>(most);
  }
}

void Profile::Access(Space space, const uint64_t* addresses, int64_t offset, LaneMask mask,
                     int64_t size, bool reads, bool writes) {
  if (space == Space::kLocal || space == Space::kParam) return;
  uint64_t global[kLanes], shared[kLanes];
  int globals = 0, shareds = 0;
  for (int i = 0; i < kLanes; ++i) {
    if (!(mask >> i & 1)) continue;
    const uint64_t address = addresses[i] + static_cast<uint64_t>(offset);
    if (IsSharedAddress(space, address)) {
      shared[shareds++] = address;
    } else if (space == Space::kGlobal || address >= kImageWindow) {
      global[globals++] = address;
    }
  }
  if (globals > 0) Global(global, globals, size, reads, writes);
  if (shareds > 0) Shared(shared, shareds, size);
}

void Profile::Range(Space space, uint64_t address, int64_t size, bool writes) {
  if (size <= 0) return;
  if (IsSharedAddress(space, address)) {
    counts_.shared_requests += (size + 127) / 128;
    counts_.shared_cycles += (size + 127) / 128;
    return;
  }
  const uint64_t first = address / kSector, last = (address + size - 1) / kSector;
  ++counts_.global_requests;
  (writes ? counts_.sectors_written : counts_.sectors_read) +=
      static_cast<int64_t>(last - first + 1);
  for (uint64_t s = first; s <= last; ++s) Dram(s, !writes, writes);
}

// An instruction was executed as often as the op of it that ran most: others widen its operands.
LaunchCounts Profile::Take(const Program& program, const LaunchOptions& options) {
  for (const auto& [code, counters] : counters_) {
    std::vector<Counter> of(code->function->instructions.size() + 1);
    for (size_t i = 0; i < counters.size(); ++i) {
      Counter& instruction = of[code->ops[i].instruction];
      if (counters[i].warps > instruction.warps) instruction = counters[i];
    }
    for (size_t i = 0; i < code->function->instructions.size(); ++i) {
      counts_.warp_instructions += of[i].warps;
      counts_.thread_instructions += of[i].threads;
      if (of[i].warps > 0) counts_.by_kind[KindOf(code->function->instructions[i])] += of[i].warps;
    }
  }
  counts_.blocks = int64_t{options.grid[0]} * options.grid[1] * options.grid[2];
  counts_.threads_a_block = int64_t{options.block[0]} * options.block[1] * options.block[2];
  counts_.shared_bytes = program.shared_bytes + options.dynamic_shared;
  return counts_;
}

const GpuModel* FindGpuModel(absl::string_view name) {
  const auto found = std::find_if(std::begin(kModels), std::end(kModels),
                                  [&](const GpuModel& model) { return model.name == name; });
  return found == std::end(kModels) ? nullptr : &*found;
}

namespace {

int64_t BlocksOfProcessor(const LaunchCounts& counts, const GpuModel& gpu) {
  const int64_t warps = std::max<int64_t>(1, (counts.threads_a_block + kLanes - 1) / kLanes);
  int64_t blocks = std::min<int64_t>(gpu.blocks, gpu.warps / warps);
  // Each block takes 1 KiB of shared memory beside its own.
  blocks = std::min(blocks, gpu.shared / (counts.shared_bytes + 1024));
  return std::max<int64_t>(1, blocks);
}

}  // namespace

double OccupancyOf(const LaunchCounts& counts, const GpuModel& gpu) {
  const int64_t warps = std::max<int64_t>(1, (counts.threads_a_block + kLanes - 1) / kLanes);
  return std::min(1.0, static_cast<double>(BlocksOfProcessor(counts, gpu) * warps) / gpu.warps);
}

double RooflineOf(const LaunchCounts& counts, const GpuModel& gpu) {
  const double sms = gpu.processors;
  double seconds = static_cast<double>(counts.dram_sectors()) * kSector / gpu.dram;
  seconds = std::max(seconds, static_cast<double>(counts.sectors_read + counts.sectors_written) *
                                  kSector / gpu.l2);
  // Blocks of the last wave leave SMs without work; four warp instructions a cycle and SM.
  const double waves = static_cast<double>(counts.blocks) / sms;
  const double idle = waves > 0 ? std::ceil(waves) / waves : 1;
  seconds = std::max(seconds,
                     static_cast<double>(counts.warp_instructions) / (4 * sms * gpu.clock) * idle);
  seconds = std::max(seconds, static_cast<double>(counts.shared_cycles) / (sms * gpu.clock) * idle);
  for (int i = 0; i < kProductKinds; ++i)
    seconds = std::max(seconds, counts.products[i] / gpu.products[i] * idle);
  return seconds;
}

std::string CountsText(const LaunchCounts& counts, const GpuModel* gpu) {
  std::string text = absl::StrFormat("%d warp instructions, %d thread instructions\n",
                                     counts.warp_instructions, counts.thread_instructions);
  std::vector<std::pair<std::string, int64_t>> kinds(counts.by_kind.begin(), counts.by_kind.end());
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [kind, count] : kinds) absl::StrAppendFormat(&text, "%14d %s\n", count, kind);
  absl::StrAppendFormat(&text,
                        "global memory: %d requests (%d uncoalesced), sectors: %d read, %d "
                        "written; DRAM: %d read, %d "
                        "written\nshared memory: %d requests, %d bank conflicts\n",
                        counts.global_requests, counts.uncoalesced, counts.sectors_read,
                        counts.sectors_written, counts.dram_read, counts.dram_written,
                        counts.shared_requests, counts.bank_conflicts());
  if (gpu != nullptr)
    absl::StrAppendFormat(&text, "%s: occupancy %.0f %%, at least %.2f us\n", gpu->name,
                          100 * OccupancyOf(counts, *gpu), 1e6 * RooflineOf(counts, *gpu));
  return text;
}

absl::Status AppendCounts(const std::string& path, absl::string_view kernel,
                          const LaunchCounts& counts) {
  std::ofstream file(path, std::ios::app);
  if (file.tellp() == 0)
    file << "kernel\twarp_instructions\tthread_instructions\tglobal_requests\tuncoalesced\t"
            "sectors_read\tsectors_written\tdram_read\tdram_written\tshared_requests\t"
            "bank_conflicts\tproducts\th100_us\n";
  double products = 0;
  for (const double p : counts.products) products += p;
  file << absl::StrFormat(
      "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%.3f\n", kernel, counts.warp_instructions,
      counts.thread_instructions, counts.global_requests, counts.uncoalesced, counts.sectors_read,
      counts.sectors_written, counts.dram_read, counts.dram_written, counts.shared_requests,
      counts.bank_conflicts(), products, 1e6 * RooflineOf(counts, *FindGpuModel("h100")));
  file.flush();
  if (!file.good()) return InvalidArgument("cannot write ", path);
  return absl::OkStatus();
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
