// Tables of a buffer assignment.
#include "tools/cpu-plugin/buffer_text.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "analysis/buffer_assignment.h"
#include "analysis/source_line.h"
#include "printer/printer.h"
#include "support/status.h"
#include "types/shape.h"

namespace hlokit {
namespace {

constexpr size_t kMaxLines = 20;

const char* KindText(Slice::Kind kind) {
  constexpr const char* kTexts[] = {"none", "arena", "parameter", "constant", "output"};
  return kTexts[static_cast<int>(kind)];
}

int64_t Sum(const std::vector<int64_t>& sizes) {
  int64_t sum = 0;
  for (int64_t size : sizes) sum += size;
  return sum;
}

int64_t ConstantBytes(const BufferAssignment& buffers) {
  int64_t bytes = 0;
  for (const Instruction* i : buffers.constants()) bytes += i->shape().ByteSize();
  return bytes;
}

void AppendSizes(const BufferAssignment& buffers, std::string& text) {
  absl::StrAppend(&text, "arena: ", buffers.arena_size(),
                  " bytes; peak of live bytes: ", buffers.live_peak(),
                  " bytes\nparameters: ", Sum(buffers.parameter_sizes()),
                  " bytes; results: ", Sum(buffers.output_sizes()),
                  " bytes; constants: ", ConstantBytes(buffers), " bytes\n");
}

void AppendPeakByLine(const BufferAssignment& buffers, std::string& text) {
  std::map<std::string, int64_t> by_line;
  for (const auto& live : buffers.at_peak()) by_line[SourceLine(*live.maker)] += live.size;
  std::vector<std::pair<std::string, int64_t>> lines(by_line.begin(), by_line.end());
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (lines.empty() || (lines.size() == 1 && lines[0].first.empty())) return;
  absl::StrAppend(&text, "\nat the peak, by source line:\n");
  for (const auto& [line, bytes] : lines)
    absl::StrAppend(&text, bytes, "\t", line.empty() ? "(no source)" : line, "\n");
}

void AppendPeak(const BufferAssignment& buffers, std::string& text) {
  if (buffers.at_peak().empty()) return;
  absl::StrAppend(&text, "\nat the peak, largest first:\n");
  for (size_t k = 0; k < std::min(kMaxLines, buffers.at_peak().size()); ++k) {
    const auto& live = buffers.at_peak()[k];
    absl::StrAppend(&text, live.size, "\t%", live.maker->parent()->name(), "\t%",
                    live.maker->name(), "\t", live.leaf, "\t", Text(live.maker->opcode()), "\n");
  }
}

void AppendArrays(const Module& module, const BufferAssignment& buffers, std::string& text) {
  absl::StrAppend(&text, "\narrays:\n");
  for (const Computation* computation : PrintingOrder(module)) {
    for (const Instruction* i : computation->ScheduleOrPostOrder()) {
      const auto slices = buffers.slices(i);
      for (size_t leaf = 0; leaf < slices.size(); ++leaf) {
        const Slice& slice = slices[leaf];
        absl::StrAppend(&text, "%", computation->name(), "\t%", i->name(), "\t", leaf, "\t",
                        KindText(slice.kind), " ", slice.index, "\toffset ", slice.offset,
                        "\tsize ", slice.size, "\n");
      }
    }
  }
}

// Opcodes whose results are other instructions' values, or parts of them.
bool OnlyPassesOn(Opcode opcode) {
  return opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement ||
         opcode == Opcode::kBitcast || opcode == Opcode::kWhile || opcode == Opcode::kCall ||
         opcode == Opcode::kConditional || opcode == Opcode::kOptimizationBarrier;
}

std::string IndexText(const ShapeIndex& index) {
  return absl::StrCat("{", absl::StrJoin(index, ","), "}");
}

// What lies in one piece of memory, in XLA's words.
class Allocations {
 public:
  Allocations(const Module& module, const BufferAssignment& buffers) : buffers_(buffers) {
    int64_t id = 0;
    for (const Computation* computation : PrintingOrder(module))
      for (const Instruction* i : computation->ScheduleOrPostOrder())
        if (!OnlyPassesOn(i->opcode()) && !buffers.slices(i).empty()) AddValues(*i, id);
    int64_t leaf = 0;
    for (const Instruction* parameter : module.entry()->parameters())
      for (const ShapeLeaf& part : Leaves(parameter->shape())) {
        Allocate(buffers.parameter_sizes()[leaf],
                 absl::StrCat("parameter ", parameter->parameter_number(), ", shape |",
                              Text(part.shape->WithoutLayout()), "| at ShapeIndex ",
                              IndexText(part.index), ":"),
                 {Slice::Kind::kParameter, leaf});
        ++leaf;
      }
    for (size_t k = 0; k < buffers.output_sizes().size(); ++k)
      Allocate(buffers.output_sizes()[k], "maybe-live-out:", {Slice::Kind::kOutput, k});
    for (size_t k = 0; k < buffers.constants().size(); ++k)
      Allocate(buffers.constants()[k]->shape().ByteSize(),
               "constant:", {Slice::Kind::kConstant, k});
    if (buffers.arena_size() > 0)
      Allocate(buffers.arena_size(), "preallocated-temp:", {Slice::Kind::kArena, 0});
  }

  const std::string& text() const { return text_; }

 private:
  using Place = std::pair<Slice::Kind, int64_t>;

  void AddValues(const Instruction& i, int64_t& id) {
    const std::vector<ShapeLeaf> leaves = Leaves(i.shape());
    const auto slices = buffers_.slices(&i);
    for (size_t k = 0; k < std::min(leaves.size(), slices.size()); ++k) {
      const Slice& slice = slices[k];
      const bool arena = slice.kind == Slice::Kind::kArena;
      absl::StrAppend(&values_[Place(slice.kind, arena ? 0 : slice.index)], " value: <", id++, " ",
                      i.name(), i.shape().IsTuple() ? IndexText(leaves[k].index) : "",
                      " @0> (size=", slice.size, ",offset=", arena ? slice.offset : 0,
                      "): ", Text(*leaves[k].shape, true), "\n");
    }
  }

  void Allocate(int64_t size, absl::string_view kind, const Place& place) {
    absl::StrAppend(&text_, "allocation ", count_++, ": size ", size, ", ", kind, "\n",
                    values_[place]);
  }

  const BufferAssignment& buffers_;
  std::map<Place, std::string> values_;
  std::string text_;
  int64_t count_ = 0;
};

// 2.00MiB, as XLA writes bytes.
std::string ReadableBytes(int64_t bytes) {
  constexpr double kStep = 1024;
  if (bytes < kStep) return absl::StrCat(bytes, "B");
  double size = static_cast<double>(bytes) / kStep;
  size_t unit = 0;
  constexpr absl::string_view kUnits = "KMGTPE";
  for (; size >= kStep && unit + 1 < kUnits.size(); ++unit) size /= kStep;
  return absl::StrFormat("%.*f%ciB", unit == 0 ? 1 : 2, size, kUnits[unit]);
}

// The totals, in XLA's words.
void AppendStats(const BufferAssignment& buffers, std::string& text) {
  const int64_t parameters = Sum(buffers.parameter_sizes()), outputs = Sum(buffers.output_sizes());
  const int64_t constants = ConstantBytes(buffers), arena = buffers.arena_size();
  const int64_t total = parameters + outputs + constants + arena;
  const int64_t unused = std::max<int64_t>(0, arena - buffers.live_peak());
  const auto share = [&](int64_t of) {
    return of > 0 ? 100 * static_cast<double>(unused) / static_cast<double>(of) : 0.0;
  };
  const auto line = [&](absl::string_view what, int64_t bytes) {
    absl::StrAppendFormat(&text, "%31s: %10s\n", what, ReadableBytes(bytes));
  };
  text += "\nBufferAssignment stats:\n";
  line("parameter allocation", parameters);
  line("constant allocation", constants);
  line("maybe_live_out allocation", outputs);
  line("preallocated temp allocation", arena);
  absl::StrAppendFormat(&text, "%31s: %10s (%.2f%%)\n", "preallocated temp fragmentation",
                        ReadableBytes(unused), share(arena));
  line("total allocation", total);
  absl::StrAppendFormat(&text, "%31s: %10s (%.2f%%)\n", "total fragmentation",
                        ReadableBytes(unused), share(total));
}

}  // namespace

absl::StatusOr<std::string> BufferText(const Module& module) {
  ASSIGN_OR_RETURN(const BufferAssignment buffers, BufferAssignment::Make(module));
  std::string text;
  AppendSizes(buffers, text);
  AppendPeakByLine(buffers, text);
  AppendPeak(buffers, text);
  AppendArrays(module, buffers, text);
  absl::StrAppend(&text, "\nBufferAssignment:\n", Allocations(module, buffers).text());
  AppendStats(buffers, text);
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
