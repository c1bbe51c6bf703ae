// Tables and traces of InstructionTimes.
#include "tools/hlo-run/profile.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/instruction_cost.h"
#include "analysis/source_line.h"
#include "backends/cpu/jit/roofline.h"
#include "ir/computation.h"
#include "ir/module.h"

namespace hlokit {
namespace {

constexpr size_t kRows = 40;

std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= ' ') out += c;
  }
  return out + "\"";
}

std::string Row(const InstructionTime& time, int64_t runs, double total, const Roofline& roofline) {
  const Instruction& i = *time.instruction;
  InstructionCost cost = CostOf(i);
  cost.flops *= static_cast<double>(time.calls);
  cost.bytes *= static_cast<double>(time.calls);
  const double seconds = std::max(time.seconds, 1e-12);
  return absl::StrFormat("%5.1f%% %10.4f %9.1f %9.2f %8.2f %7.1f%%  %%%s %s%s%s\n",
                         100 * time.seconds / total, 1e3 * time.seconds / static_cast<double>(runs),
                         static_cast<double>(time.calls) / static_cast<double>(runs),
                         cost.flops / seconds * 1e-9, cost.bytes / seconds * 1e-9,
                         100 * roofline.Seconds(cost.flops, cost.bytes) / seconds, i.name(),
                         Text(i.opcode()), SourceLine(i).empty() ? "" : "  ", SourceLine(i));
}

// Each instruction once, with what all devices spent in it.
std::vector<InstructionTime> Sums(const std::vector<InstructionTime>& times) {
  std::vector<InstructionTime> sums;
  absl::flat_hash_map<const Instruction*, size_t> place;
  for (const InstructionTime& time : times) {
    const auto [at, added] = place.emplace(time.instruction, sums.size());
    if (added) sums.push_back({time.instruction});
    sums[at->second].calls += time.calls;
    sums[at->second].seconds += time.seconds;
  }
  return sums;
}

// The name of a track, and its place among the others.
std::string Track(int64_t device) {
  return absl::StrFormat(
      "{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"device "
      "%d\"}},"
      "\n{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_sort_index\",\"args\":{\"sort_"
      "index\":%d}}",
      device + 1, device, device + 1, device);
}

}  // namespace

std::string ProfileTable(const std::vector<InstructionTime>& times, int64_t runs, int threads) {
  const Roofline roofline = MeasureRoofline(threads);
  std::vector<InstructionTime> sorted = Sums(times);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  double total = 1e-12;
  for (const InstructionTime& time : sorted) total += time.seconds;
  std::string text = absl::StrFormat(
      "profile of %d run%s; this machine: %.1f GFLOP/s, %.1f GB/s\n"
      " share     ms/run calls/run   GFLOP/s     GB/s of roof  instruction\n",
      runs, runs == 1 ? "" : "s", roofline.flops_per_second * 1e-9,
      roofline.bytes_per_second * 1e-9);
  for (size_t k = 0; k < std::min(kRows, sorted.size()); ++k)
    text += Row(sorted[k], runs, total, roofline);
  if (sorted.size() > kRows)
    absl::StrAppend(&text, "(", sorted.size() - kRows, " more instructions)\n");
  return text;
}

std::string ProfileTrace(const std::vector<InstructionTime>& times, int64_t runs) {
  std::string text = absl::StrCat(
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":",
      Quoted(times.empty() ? "nothing" : times[0].instruction->module()->name()), "}}");
  int64_t device = -1;
  double at = 0;  // microseconds
  for (const InstructionTime& time : times) {
    if (time.device != device) {
      device = time.device;
      at = 0;
      absl::StrAppend(&text, ",\n", Track(device));
    }
    const double duration = 1e6 * time.seconds / static_cast<double>(runs);
    const Instruction& i = *time.instruction;
    absl::StrAppend(&text, ",\n",
                    absl::StrFormat("{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,",
                                    device + 1, at, duration),
                    "\"name\":", Quoted(i.name()), ",\"cat\":", Quoted(Text(i.opcode())),
                    ",\"args\":{\"opcode\":", Quoted(Text(i.opcode())),
                    ",\"source\":", Quoted(SourceLine(i)),
                    ",\"computation\":", Quoted(i.parent()->name()),
                    ",\"calls\":", time.calls / std::max<int64_t>(1, runs), "}}");
    at += duration;
  }
  return absl::StrCat(text, "\n]}\n");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
