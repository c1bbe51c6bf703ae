// A module as columns: names, opcodes, shapes, operands, costs, each a list over all instructions,
// with tables for texts that repeat. Columns compress several times better than a record for each
// instruction.
#include "tools/hlo-viz/explorer/page_data.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "analysis/instruction_cost.h"
#include "printer/printer.h"
#include "tools/hlo-viz/explorer/difference_data_internal.h"
#include "tools/hlo-viz/explorer/json_internal.h"
#include "tools/hlo-viz/explorer/module_text_internal.h"
#include "tools/hlo-viz/graph/describe.h"
#include "tools/hlo-viz/graph/trip_counts.h"

namespace hlokit {
namespace {

// The number of a text among those seen so far.
class Table {
 public:
  int64_t NumberOf(const std::string& text) {
    const auto [it, fresh] = numbers_.try_emplace(text, static_cast<int64_t>(texts_.size()));
    if (fresh) texts_.push_back(text);
    return it->second;
  }
  void Write(std::string& out, absl::string_view name) const {
    JsonList list(out, name);
    for (const std::string& text : texts_) list.AddText(text);
  }

 private:
  absl::flat_hash_map<std::string, int64_t> numbers_;
  std::vector<std::string> texts_;
};

// Instructions are numbered in the order of computations; columns refer to them by number.
class DataWriter {
 public:
  DataWriter(const ModuleIndex& index, const ScopeTree& tree, const PageDataInputs& inputs)
      : index_(index), tree_(tree), inputs_(inputs), number_(index.module().id_bound(), -1) {
    for (const Computation* computation : index.computations()) {
      first_.push_back(static_cast<int64_t>(all_.size()));
      for (const Instruction* i : index.Instructions(*computation)) {
        number_[i->id()] = static_cast<int64_t>(all_.size());
        all_.push_back(i);
      }
    }
    first_.push_back(static_cast<int64_t>(all_.size()));
  }

  std::string Run() {
    out_ = "{\"name\":";
    AppendJsonText(out_, index_.module().name());
    const ModuleText text = TextOf(index_);
    out_ += ",\"text\":";
    AppendJsonText(out_, text.text);
    WriteComputations(text);
    WriteNames();
    WriteOpcodesAndShapes();
    WriteOperands();
    WriteCalls();
    WriteScopes();
    WriteCosts();
    WriteSparse();
    WriteFrames();
    WriteCode();
    AppendDifference(out_, index_, tree_, number_, inputs_);
    out_ += "}";
    return std::move(out_);
  }

 private:
  void WriteComputations(const ModuleText& text) {
    JsonList list(out_, "comps");
    for (size_t c = 0; c < index_.computations().size(); ++c) {
      const Computation& computation = *index_.computations()[c];
      const Instruction* one = index_.OneOperation(computation);
      std::string row = "{\"n\":";
      AppendJsonText(row, computation.name());
      absl::StrAppend(&row, ",\"f\":", first_[c], ",\"c\":", first_[c + 1] - first_[c],
                      ",\"l\":", text.first_line[c], ",\"r\":", number_[computation.root()->id()],
                      ",\"s\":", tree_.root_of(computation), ",\"k\":",
                      computation.IsEntry()         ? 1
                      : index_.IsFused(computation) ? 2
                                                    : 0,
                      ",\"o\":");
      AppendJsonText(row, one == nullptr || computation.IsEntry() || index_.IsFused(computation)
                              ? ""
                              : Text(one->opcode()));
      list.AddRaw(row + "}");
    }
  }

  void WriteNames() {
    std::string names;
    for (const Instruction* i : all_) absl::StrAppend(&names, names.empty() ? "" : "\n", i->name());
    out_ += ",\"names\":";
    AppendJsonText(out_, names);
  }

  void WriteOpcodesAndShapes() {
    Table opcodes, shapes;
    std::vector<int> looks;
    {
      JsonList list(out_, "op");
      for (const Instruction* i : all_) {
        const auto number = static_cast<size_t>(opcodes.NumberOf(std::string(Text(i->opcode()))));
        if (number == looks.size()) looks.push_back(static_cast<int>(LookOf(*i)));
        list.Add(static_cast<int64_t>(number));
      }
    }
    opcodes.Write(out_, "ops");
    {
      JsonList list(out_, "looks");
      for (int look : looks) list.Add(look);
    }
    {
      JsonList list(out_, "shape");
      for (const Instruction* i : all_)
        list.Add(shapes.NumberOf(Shown(Text(i->shape(), true), 400)));
    }
    shapes.Write(out_, "shapes");
  }

  // Operands as how many instructions before their user they stand.
  void WriteOperands() {
    {
      JsonList list(out_, "counts");
      for (const Instruction* i : all_) list.Add(i->operand_count());
    }
    {
      JsonList list(out_, "operands");
      for (const Instruction* i : all_)
        for (const Instruction* operand : i->operands())
          list.Add(number_[i->id()] - number_[operand->id()]);
    }
    JsonList list(out_, "control");
    for (const Instruction* i : all_)
      for (const Instruction* before : i->control_predecessors()) {
        list.Add(number_[i->id()]);
        list.Add(number_[before->id()]);
      }
  }

  void WriteCalls() {
    absl::flat_hash_map<const Computation*, int64_t> number;
    for (size_t c = 0; c < index_.computations().size(); ++c)
      number[index_.computations()[c]] = static_cast<int64_t>(c);
    JsonList list(out_, "calls");
    for (const Instruction* i : all_) {
      if (i->called().empty()) continue;
      std::string row = absl::StrCat("[", number_[i->id()]);
      for (const Computation* called : i->called()) absl::StrAppend(&row, ",", number[called]);
      list.AddRaw(row + "]");
    }
  }

  void WriteScopes() {
    {
      JsonList list(out_, "scope");
      for (const Instruction* i : all_) list.Add(tree_.scope_of(*i));
    }
    absl::flat_hash_map<const Computation*, size_t> number;
    for (size_t c = 0; c < index_.computations().size(); ++c) number[index_.computations()[c]] = c;
    JsonList list(out_, "scopes");
    for (const Scope& scope : tree_.scopes()) {
      std::string row = absl::StrCat("[", scope.parent, ",");
      AppendJsonText(row, Shown(scope.label, 200));
      absl::StrAppend(&row, ",", static_cast<int>(scope.kind), ",", number[scope.computation], "]");
      list.AddRaw(row);
    }
  }

  void WriteCosts() {
    std::vector<InstructionCost> costs;
    costs.reserve(all_.size());
    for (const Instruction* i : all_) costs.push_back(CostOf(*i));
    {
      JsonList list(out_, "flops");
      for (const InstructionCost& cost : costs) list.AddNumber(cost.flops);
    }
    JsonList list(out_, "bytes");
    for (const InstructionCost& cost : costs) list.AddNumber(cost.bytes);
  }

  // Pairs of number and value for what few instructions have.
  void WriteSparse() {
    Table shardings;
    {
      JsonList list(out_, "sharding");
      for (const Instruction* i : all_)
        if (i->sharding() != nullptr) {
          list.Add(number_[i->id()]);
          list.Add(shardings.NumberOf(Shown(Text(*i->sharding()), 400)));
        }
    }
    shardings.Write(out_, "shardings");
    WritePairs("spaces", [](const Instruction& i) {
      return static_cast<double>(i.shape().IsArray() ? i.shape().layout.memory_space() : 0);
    });
    WritePairs("trips", [trips = TripCounts(index_.module())](const Instruction& i) {
      return trips.empty() ? 0.0 : static_cast<double>(trips[i.id()]);
    });
    WritePairs("frame", [](const Instruction& i) {
      return static_cast<double>(i.metadata().stack_frame_id);
    });
    WritePairs("time", [this](const Instruction& i) {
      if (inputs_.times == nullptr) return 0.0;
      const auto it = inputs_.times->find(i.name());
      return it == inputs_.times->end() ? 0.0 : it->second;
    });
  }

  template <typename Fn>
  void WritePairs(absl::string_view name, Fn value_of) {
    JsonList list(out_, name);
    for (const Instruction* i : all_)
      if (const double value = value_of(*i); value != 0) {
        list.Add(number_[i->id()]);
        list.AddNumber(value);
      }
  }

  void WriteFrames() {
    const StackFrameTables& tables = index_.module().header().stack_frames;
    JsonList list(out_, "frames");
    for (size_t n = 0; n < tables.frames.size(); ++n) {
      const std::optional<StackFrame> frame = ReadStackFrame(tables, static_cast<int64_t>(n) + 1);
      std::string row = "[";
      AppendJsonText(row, frame ? FrameText(*frame) : "?");
      list.AddRaw(absl::StrCat(row, ",", frame ? frame->caller : 0, "]"));
    }
  }

  void WriteCode() {
    JsonList list(out_, "code");
    for (const KernelCode& code : inputs_.code) {
      std::string row = absl::StrCat("[", number_[code.instruction->id()], ",");
      AppendJsonText(row, code.title);
      row += ',';
      AppendJsonText(row, code.text);
      list.AddRaw(row + "]");
    }
  }

  const ModuleIndex& index_;
  const ScopeTree& tree_;
  const PageDataInputs& inputs_;
  std::vector<const Instruction*> all_;  // in the order of the text
  std::vector<int64_t> number_;          // by id: place in all_
  std::vector<int64_t> first_;           // of each computation, and the end
  std::string out_;
};

}  // namespace

std::string PageData(const ModuleIndex& index, const ScopeTree& tree,
                     const PageDataInputs& inputs) {
  return DataWriter(index, tree, inputs).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
