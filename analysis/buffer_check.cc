// Checks a buffer assignment by simulating the contents of memory, independently of the planner's
// live ranges.
//
// Memory is a list of slices, each with the names of the arrays whose elements it holds. Execution
// is followed step by step: a read must find its array's name in the slice that the assignment
// says; a write clears every overlapping slice. A loop is followed for two iterations, enough to
// see a value of one iteration read in the next. After a conditional only what all branches leave
// holds.
//   a at [0,64), b at [32,96): writing b clears a; a later read of a is the error.
//
// Cost: instructions times live slices; used by --sanitize and tests only.
#include "analysis/buffer_check.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analysis/in_place.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "types/shape_leaves.h"

namespace hlokit {
namespace {

// A leaf of an instruction that makes it.
using Name = std::pair<const Instruction*, int64_t>;

struct Content {
  Slice slice;
  std::set<Name> names;
};

class BufferWalk {
 public:
  BufferWalk(const Module& module, const BufferAssignment& buffers) : buffers_(buffers) {
    for (const Computation* c : module.Computations())
      for (const Instruction* i : c->Instructions())
        for (Computation* called : i->called()) caller_[called] = i;
    for (const Instruction* constant : buffers.constants()) Write({constant, 0});
  }

  absl::Status Run(const Computation& entry) {
    for (int64_t p = 0; p < entry.parameter_count(); ++p) WriteAll(entry.parameter(p));
    RETURN_IF_ERROR(Follow(entry));
    const Instruction* root = entry.root();
    RETURN_IF_ERROR(ReadAll(root, root));
    Copy(buffers_.output_copies());
    return absl::OkStatus();
  }

 private:
  absl::Status Follow(const Computation& computation) {
    for (const Instruction* i : computation.ScheduleOrPostOrder()) RETURN_IF_ERROR(Visit(*i));
    return absl::OkStatus();
  }

  absl::Status Visit(const Instruction& i) {
    switch (i.opcode()) {
      case Opcode::kParameter:
      case Opcode::kConstant:
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
        return absl::OkStatus();
      case Opcode::kWhile:
        return VisitWhile(i);
      case Opcode::kConditional:
        return VisitConditional(i);
      case Opcode::kCall:
        return Follow(*i.called(0));
      default:
        break;
    }
    if (IsPassThrough(i)) return absl::OkStatus();
    for (const Instruction* operand : i.operands()) RETURN_IF_ERROR(ReadAll(operand, &i));
    WriteAll(&i);
    return absl::OkStatus();
  }

  absl::Status VisitWhile(const Instruction& loop) {
    RETURN_IF_ERROR(ReadAll(loop.operand(0), &loop));
    Copy(buffers_.loop_entry_copies(&loop));
    RETURN_IF_ERROR(HandOn(loop, loop.operand(0)));
    for (int round = 0; round < 2; ++round) {
      RETURN_IF_ERROR(Follow(*loop.called(0)));
      RETURN_IF_ERROR(ReadAll(loop.called(0)->root(), &loop));
      RETURN_IF_ERROR(Follow(*loop.called(1)));
      RETURN_IF_ERROR(ReadAll(loop.called(1)->root(), &loop));
      Copy(buffers_.loop_back_copies(&loop));
      RETURN_IF_ERROR(HandOn(loop, loop.called(1)->root()));
    }
    return Follow(*loop.called(0));
  }

  // Afterwards what every branch leaves.
  absl::Status VisitConditional(const Instruction& choice) {
    RETURN_IF_ERROR(ReadAll(choice.operand(0), &choice));
    const std::vector<Content> before = memory_;
    std::vector<Content> after;
    for (size_t b = 0; b < choice.called().size(); ++b) {
      memory_ = before;
      const Computation& branch = *choice.called(static_cast<int64_t>(b));
      RETURN_IF_ERROR(Follow(branch));
      RETURN_IF_ERROR(ReadAll(branch.root(), &choice));
      Copy(buffers_.branch_copies(&choice, static_cast<int64_t>(b)));
      RETURN_IF_ERROR(HandOn(choice, branch.root()));
      after = b == 0 ? memory_ : InBoth(after, memory_);
    }
    memory_ = std::move(after);
    return absl::OkStatus();
  }

  static std::vector<Content> InBoth(const std::vector<Content>& x, const std::vector<Content>& y) {
    std::vector<Content> both;
    for (const Content& a : x)
      for (const Content& b : y) {
        if (!(a.slice == b.slice)) continue;
        Content common = {a.slice, {}};
        std::set_intersection(a.names.begin(), a.names.end(), b.names.begin(), b.names.end(),
                              std::inserter(common.names, common.names.end()));
        if (!common.names.empty()) both.push_back(std::move(common));
      }
    return both;
  }

  // The leaves of `from`, where those of `to` lie, are named so.
  absl::Status HandOn(const Instruction& to, const Instruction* from) {
    const auto slices = buffers_.slices(&to);
    std::vector<Content*> holders(slices.size());
    for (size_t k = 0; k < slices.size(); ++k) {
      if (slices[k].kind == Slice::Kind::kNone) continue;
      const Name name = Maker(from, static_cast<int64_t>(k));
      RETURN_IF_ERROR(Read(name, slices[k], to));
      holders[k] = Find(slices[k]);
    }
    for (size_t k = 0; k < slices.size(); ++k) {
      const Name name = {&to, static_cast<int64_t>(k)};
      if (holders[k] == nullptr) continue;
      for (Content& content : memory_)
        if (&content != holders[k]) content.names.erase(name);
      holders[k]->names.insert(name);
    }
    return absl::OkStatus();
  }

  // The instruction that makes a leaf, through all that only names it.
  Name Maker(const Instruction* i, int64_t leaf) const {
    for (;;) {
      if (i->opcode() == Opcode::kTuple) {
        int64_t o = 0;
        for (; leaf >= NumLeaves(i->operand(o)->shape()); ++o)
          leaf -= NumLeaves(i->operand(o)->shape());
        i = i->operand(o);
      } else if (i->opcode() == Opcode::kGetTupleElement) {
        leaf += LeafOffset(i->operand(0)->shape(), i->tuple_index());
        i = i->operand(0);
      } else if (i->opcode() == Opcode::kCall) {
        i = i->called(0)->root();
      } else if (IsPassThrough(*i)) {
        i = i->operand(0);
      } else if (i->IsParameter() && caller_.contains(i->parent())) {
        const Instruction* caller = caller_.at(i->parent());
        if (caller->opcode() == Opcode::kWhile) return {caller, leaf};
        if (caller->opcode() == Opcode::kCall) {
          i = caller->operand(i->parameter_number());
        } else if (caller->opcode() == Opcode::kConditional) {
          const auto called = caller->called();
          i = caller->operand(
              1 + (std::find(called.begin(), called.end(), i->parent()) - called.begin()));
        } else {
          return {i, leaf};
        }
      } else {
        return {i, leaf};
      }
    }
  }

  Content* Find(const Slice& slice) {
    const auto found = std::find_if(memory_.begin(), memory_.end(),
                                    [&](const Content& c) { return c.slice == slice; });
    return found == memory_.end() ? nullptr : &*found;
  }

  absl::Status ReadAll(const Instruction* array, const Instruction* reader) {
    const auto slices = buffers_.slices(array);
    for (size_t k = 0; k < slices.size(); ++k)
      RETURN_IF_ERROR(Read(Maker(array, static_cast<int64_t>(k)), slices[k], *reader));
    return absl::OkStatus();
  }

  absl::Status Read(const Name& name, const Slice& slice, const Instruction& reader) {
    if (slice.kind == Slice::Kind::kNone) return absl::OkStatus();
    const Content* content = Find(slice);
    if (content != nullptr && content->names.contains(name)) return absl::OkStatus();
    std::string instead = "nothing";
    for (const Content& other : memory_)
      if (Overlap(other.slice, slice) && !other.names.empty())
        instead = absl::StrCat("%", other.names.begin()->first->name());
    return WithPlace(Internal("buffer assignment: %", reader.name(), " reads %", name.first->name(),
                              " where ", instead, " lies (kind ", static_cast<int>(slice.kind),
                              ", offset ", slice.offset, ", ", slice.size, " bytes)"),
                     reader.place());
  }

  void Write(const Name& name) { Place(buffers_.slice(name.first, name.second), {name}); }

  void WriteAll(const Instruction* i) {
    for (size_t k = 0; k < buffers_.slices(i).size(); ++k) Write({i, static_cast<int64_t>(k)});
  }

  void Place(const Slice& slice, std::set<Name> names) {
    if (slice.kind == Slice::Kind::kNone) return;
    std::erase_if(memory_, [&](const Content& c) { return Overlap(c.slice, slice); });
    memory_.push_back({slice, std::move(names)});
  }

  void Copy(const std::vector<BufferCopy>& copies) {
    std::vector<std::set<Name>> read;
    for (const BufferCopy& copy : copies) {
      const Content* content = Find(copy.from);
      read.push_back(content != nullptr ? content->names : std::set<Name>());
      Slice staging = copy.staging;
      staging.size = copy.to.size;
      Place(staging, {});
    }
    for (size_t k = 0; k < copies.size(); ++k) Place(copies[k].to, std::move(read[k]));
  }

  const BufferAssignment& buffers_;
  absl::flat_hash_map<const Computation*, const Instruction*> caller_;
  std::vector<Content> memory_;
};

}  // namespace

absl::Status CheckBuffers(const Module& module, const BufferAssignment& buffers) {
  return BufferWalk(module, buffers).Run(*module.entry());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
