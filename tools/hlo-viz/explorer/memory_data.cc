// Buffers over time for the page: XLA's buffer assignment and live ranges where the dump has them,
// else our own (analysis/buffer_assignment). Times are steps of the schedule; sizes and offsets are
// bytes.
#include "tools/hlo-viz/explorer/memory_data.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analysis/buffer_assignment.h"
#include "analysis/value_flow.h"
#include "support/status.h"
#include "tools/hlo-viz/explorer/json_internal.h"
#include "tools/hlo-viz/explorer/xla_memory.h"
#include "tools/hlo-viz/graph/describe.h"

namespace hlokit {
namespace {

constexpr size_t kMaxReport = 200000;  // bytes

struct Buffer {
  int64_t instruction = -1;
  std::string name;  // `while{1,0}`
  int64_t size = 0, begin = 0, end = 0;
  int allocation = -1;
  int64_t offset = 0;
};

// `while{1,0}` of an instruction's leaf.
class LeafNames {
 public:
  std::string Of(const Instruction& i, int64_t leaf) {
    auto [it, fresh] = leaves_.try_emplace(&i);
    if (fresh)
      for (const ShapeLeaf& each : Leaves(i.shape()))
        it->second.push_back(absl::StrJoin(each.index, ","));
    const bool known = leaf >= 0 && leaf < static_cast<int64_t>(it->second.size());
    return absl::StrCat(i.name(), "{", known ? it->second[leaf] : "", "}");
  }

 private:
  absl::flat_hash_map<const Instruction*, std::vector<std::string>> leaves_;
};

class MemoryWriter {
 public:
  explicit MemoryWriter(const ModuleIndex& index)
      : index_(index), number_(index.module().id_bound(), -1) {
    int64_t next = 0;
    for (const Computation* computation : index.computations())
      for (const Instruction* i : index.Instructions(*computation)) {
        by_name_[i->name()] = next;
        number_[i->id()] = next++;
      }
  }

  std::string Run(const MemoryFiles& files) {
    const XlaAssignment assignment = ReadXlaAssignment(files.assignment);
    if (!assignment.buffers.empty()) {
      TakeXla(assignment, ReadXlaLiveRanges(files.live_ranges));
    } else if (!TakeOurs() && files.report.empty()) {
      return "";
    }
    return Json(assignment.buffers.empty() ? "hlokit" : "xla", files.report);
  }

 private:
  int64_t NumberOf(absl::string_view name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? -1 : it->second;
  }

  // Buffers as XLA's dump files tell them.
  void TakeXla(const XlaAssignment& assignment, XlaLiveRanges live) {
    if (live.ranges.empty()) live = OurTimes();
    end_ = live.end;
    for (const std::string& name : live.sequence) steps_.push_back(NumberOf(name));
    for (const XlaAllocation& allocation : assignment.allocations)
      allocations_.push_back({allocation.size, allocation.purpose});
    for (const XlaBuffer& from : assignment.buffers) {
      if (assignment.allocations[from.allocation].thread_local_memory) continue;
      Buffer buffer;
      buffer.instruction = NumberOf(from.instruction);
      buffer.name = absl::StrCat(from.instruction, "{", from.index, "}");
      const auto it = live.ranges.find(buffer.name);
      buffer.end = end_;  // told of no time: all the time
      if (it != live.ranges.end()) std::tie(buffer.begin, buffer.end) = it->second;
      buffer.size = from.size;
      buffer.allocation = from.allocation;
      buffer.offset = from.offset;
      buffers_.push_back(std::move(buffer));
    }
  }

  // Where XLA tells no times: those of our own walk over the schedule.
  XlaLiveRanges OurTimes() {
    XlaLiveRanges live;
    const auto flow = ValueFlow::Make(index_.module());
    if (!flow.ok()) return live;
    live.end = flow->end_time;
    for (const FlowValue& value : flow->values)
      if (value.def != nullptr && value.kind == FlowValue::Kind::kComputed)
        live.ranges[names_.Of(*value.def, value.leaf)] = {value.begin,
                                                          std::max(value.begin, value.end)};
    for (const Instruction* i : flow->order) SetStep(live.sequence, flow->time[i->id()], i->name());
    return live;
  }

  template <typename T, typename U>
  static void SetStep(std::vector<T>& steps, int64_t time, const U& value) {
    if (time < 0 || time > (int64_t{1} << 31)) return;
    if (static_cast<int64_t>(steps.size()) <= time) steps.resize(time + 1, T());
    steps[time] = value;
  }

  // False where the module has no schedule or cannot be planned.
  bool TakeOurs() {
    if (!index_.module().header().is_scheduled) return false;
    const auto flow = ValueFlow::Make(index_.module());
    if (!flow.ok()) return false;
    const auto plan = BufferAssignment::Make(index_.module());
    end_ = flow->end_time;
    for (const Instruction* i : flow->order)
      SetStep(steps_, flow->time[i->id()], number_[i->id()] + 1);
    for (int64_t& step : steps_) --step;  // -1 where nothing starts
    if (plan.ok()) allocations_.push_back({plan->arena_size(), "arena"});
    for (const FlowValue& value : flow->values)
      if (value.size > 0 && value.def != nullptr)
        buffers_.push_back(OurBuffer(value, plan.ok() ? &*plan : nullptr));
    return true;
  }

  Buffer OurBuffer(const FlowValue& value, const BufferAssignment* plan) {
    Buffer buffer;
    const bool computed = value.kind == FlowValue::Kind::kComputed;
    buffer.instruction = number_[value.def->id()];
    buffer.name = names_.Of(*value.def, value.leaf);
    buffer.size = value.size;
    buffer.begin = computed ? value.begin : 0;
    buffer.end = computed ? std::max(value.begin, value.end) : end_;
    if (plan == nullptr) return buffer;
    const absl::Span<const Slice> slices = plan->slices(value.def);
    if (value.leaf >= static_cast<int64_t>(slices.size())) return buffer;
    const Slice& slice = slices[value.leaf];
    buffer.allocation = AllocationOf(slice);
    buffer.offset = slice.offset;
    return buffer;
  }

  // Parameters, constants and results are allocations of their own.
  int AllocationOf(const Slice& slice) {
    constexpr const char* kNames[] = {"", "arena", "parameter ", "constant ", "result "};
    if (slice.kind == Slice::Kind::kNone) return -1;
    if (slice.kind == Slice::Kind::kArena) return 0;
    const auto [it, fresh] =
        known_.try_emplace(std::pair(static_cast<int>(slice.kind), slice.index),
                           static_cast<int>(allocations_.size()));
    if (fresh)
      allocations_.push_back(
          {slice.size, absl::StrCat(kNames[static_cast<int>(slice.kind)], slice.index)});
    return it->second;
  }

  std::string Json(absl::string_view source, absl::string_view report) const {
    std::string out = absl::StrCat("{\"source\":\"", source, "\",\"end\":", end_);
    {
      JsonList list(out, "steps");
      for (int64_t step : steps_) list.Add(step);
    }
    {
      JsonList list(out, "allocations");
      for (const auto& [size, purpose] : allocations_) {
        std::string row = absl::StrCat("[", size, ",");
        AppendJsonText(row, Shown(purpose, 200));
        list.AddRaw(row + "]");
      }
    }
    {
      JsonList list(out, "values");
      for (const Buffer& buffer : buffers_) list.AddRaw(Row(buffer));
    }
    out += ",\"report\":";
    AppendJsonText(out, PrintableText(report.substr(0, kMaxReport)));
    return out + "}";
  }

  static std::string PrintableText(absl::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      absl::StrAppend(&out, Shown(text.substr(at, end - at), 400), "\n");
      at = end + 1;
    }
    return out;
  }

  // instruction, name, size, begin, end, allocation, offset.
  static std::string Row(const Buffer& buffer) {
    std::string row = absl::StrCat("[", buffer.instruction, ",");
    AppendJsonText(row, Shown(buffer.name, 200));
    absl::StrAppend(&row, ",", buffer.size, ",", buffer.begin, ",", buffer.end, ",",
                    buffer.allocation, ",", buffer.offset, "]");
    return row;
  }

  const ModuleIndex& index_;
  std::vector<int64_t> number_;  // by instruction id
  absl::flat_hash_map<absl::string_view, int64_t> by_name_;
  absl::flat_hash_map<std::pair<int, int64_t>, int> known_;  // kind and index of a slice
  std::vector<std::pair<int64_t, std::string>> allocations_;
  std::vector<Buffer> buffers_;
  std::vector<int64_t> steps_;
  LeafNames names_;
  int64_t end_ = 0;
};

}  // namespace

std::string MemoryData(const ModuleIndex& index, const MemoryFiles& files) {
  return MemoryWriter(index).Run(files);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
