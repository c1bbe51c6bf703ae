// The walk that finds values: it visits computations in execution order and gives each array that
// exists at run time one number and a live range [begin, end].
//
// Time counts instructions as they execute. A called computation takes its times inside its
// caller's. Tuples, bitcasts and calls create no values: they pass numbers on.
//   t = (f32[8], s32[]) tuple(a, b)      by_instruction[t] = {a, b}
//   w = while(t), body(s) {...}          a, b -> kLoopEntry -> state of w; next state -> kLoopBack
// A loop has up to three values per leaf: the initial one, the state, and the result; `joined` says
// that state and result are one buffer. A leaf that the body returns unchanged keeps its number.
//
// Cost: linear in instructions and leaves. Each computation is walked once per caller, so the call
// graph must be flat (passes/calls/flatten_call_graph).
#include "analysis/value_flow.h"

#include <algorithm>

#include "analysis/in_place.h"
#include "support/status.h"
#include "types/shape_leaves.h"

namespace hlokit {
namespace {

// Calls nested deeper than this are refused rather than risking the stack.
constexpr int kMaxCallDepth = 500;

using Ids = std::vector<int>;

// True if leaf `leaf` of `i` is, through tuples and ops that move nothing, leaf `leaf` of parameter
// 0.
bool IsParameterLeaf(const Instruction* i, int64_t leaf, int64_t wanted) {
  while (true) {
    if (i->IsParameter()) return leaf == wanted && i->parameter_number() == 0;
    if (i->opcode() == Opcode::kTuple) {
      int64_t k = 0;
      for (; leaf >= NumLeaves(i->operand(k)->shape()); ++k)
        leaf -= NumLeaves(i->operand(k)->shape());
      i = i->operand(k);
    } else if (i->opcode() == Opcode::kGetTupleElement) {
      leaf += LeafOffset(i->operand(0)->shape(), i->tuple_index());
      i = i->operand(0);
    } else if (IsPassThrough(*i)) {
      i = i->operand(0);
    } else if (i->opcode() == Opcode::kWhile && IsParameterLeaf(i->called(1)->root(), leaf, leaf)) {
      i = i->operand(0);
    } else {
      return false;
    }
  }
}

class Walker {
 public:
  explicit Walker(const Module& module) : module_(module) {}

  absl::StatusOr<ValueFlow> Run() {
    flow_.by_instruction.resize(module_.id_bound());
    flow_.time.resize(module_.id_bound(), 0);
    const Computation& entry = *module_.entry();
    std::vector<Ids> arguments(entry.parameter_count());
    int64_t number = 0;
    for (int64_t p = 0; p < entry.parameter_count(); ++p) {
      arguments[p] = NewValues(entry.parameter(p), FlowValue::Kind::kParameter);
      for (int id : arguments[p]) {
        if (id >= 0) flow_.values[id].number = number;
        ++number;
      }
    }
    RETURN_IF_ERROR(Walk(entry, arguments, 0));
    const Ids& root = ValuesOf(entry.root());
    flow_.end_time = ++now_;
    for (size_t leaf = 0; leaf < root.size(); ++leaf) {
      if (root[leaf] < 0) continue;
      Use(root[leaf]);
      flow_.edges.push_back(
          {FlowEdge::Kind::kOutput, nullptr, 0, root[leaf], static_cast<int>(leaf)});
    }
    return std::move(flow_);
  }

 private:
  const Ids& ValuesOf(const Instruction* i) const { return flow_.by_instruction[i->id()]; }

  int NewValue(const Instruction* def, int64_t leaf, const Shape& shape, FlowValue::Kind kind) {
    if (!shape.IsArray()) return -1;
    FlowValue value;
    value.kind = kind;
    value.def = def;
    value.leaf = leaf;
    value.size = shape.ByteSize();
    value.begin = value.end = now_;
    flow_.values.push_back(value);
    return static_cast<int>(flow_.values.size()) - 1;
  }

  Ids NewValues(const Instruction* def, FlowValue::Kind kind = FlowValue::Kind::kComputed) {
    Ids ids;
    int64_t leaf = 0;
    for (const ShapeLeaf& l : Leaves(def->shape()))
      ids.push_back(NewValue(def, leaf++, *l.shape, kind));
    return ids;
  }

  // A read at the current time: the live range reaches at least to here.
  void Use(int id) {
    if (id >= 0) flow_.values[id].end = std::max(flow_.values[id].end, now_);
  }

  absl::Status Walk(const Computation& computation, const std::vector<Ids>& arguments, int depth) {
    if (depth > kMaxCallDepth) return Unimplemented("calls nested deeper than ", kMaxCallDepth);
    for (const Instruction* i : computation.ScheduleOrPostOrder()) {
      ++now_;
      flow_.time[i->id()] = now_;
      flow_.order.push_back(i);
      ASSIGN_OR_RETURN(flow_.by_instruction[i->id()], Visit(i, arguments, depth));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Ids> Visit(const Instruction* i, const std::vector<Ids>& arguments, int depth) {
    switch (i->opcode()) {
      case Opcode::kParameter:
        return arguments[i->parameter_number()];
      case Opcode::kConstant:
        return NewValues(i, FlowValue::Kind::kConstant);
      case Opcode::kTuple: {
        Ids ids;
        for (const Instruction* operand : i->operands()) {
          const Ids& part = ValuesOf(operand);
          ids.insert(ids.end(), part.begin(), part.end());
        }
        return ids;
      }
      case Opcode::kGetTupleElement: {
        const Ids& from = ValuesOf(i->operand(0));
        const int64_t first = LeafOffset(i->operand(0)->shape(), i->tuple_index());
        return Ids(from.begin() + first, from.begin() + first + NumLeaves(i->shape()));
      }
      case Opcode::kCall:
        return VisitCall(i, depth);
      case Opcode::kWhile:
        return VisitWhile(i, depth);
      case Opcode::kConditional:
        return VisitConditional(i, depth);
      default:
        break;
    }
    if (IsPassThrough(*i)) return ValuesOf(i->operand(0));
    for (const Instruction* operand : i->operands())
      for (int id : ValuesOf(operand)) Use(id);
    return NewValues(i);
  }

  absl::StatusOr<Ids> VisitCall(const Instruction* i, int depth) {
    std::vector<Ids> arguments;
    for (const Instruction* operand : i->operands()) arguments.push_back(ValuesOf(operand));
    RETURN_IF_ERROR(Walk(*i->to_apply(), arguments, depth + 1));
    return ValuesOf(i->to_apply()->root());
  }

  // Times of a loop: entry, condition, the read of the predicate and of all state, body, back edge,
  // exit. The state is read after the condition, so that the condition cannot overwrite it.
  absl::StatusOr<Ids> VisitWhile(const Instruction* i, int depth) {
    const Computation& condition = *i->called(0);
    const Computation& body = *i->called(1);
    const Ids init = ValuesOf(i->operand(0));
    const auto leaves = Leaves(i->shape());
    Ids state = init;
    for (size_t k = 0; k < init.size(); ++k) {
      if (init[k] < 0 || IsParameterLeaf(body.root(), k, k)) continue;  // unchanged by the loop
      state[k] = NewValue(i, k, *leaves[k].shape, FlowValue::Kind::kComputed);
      Use(init[k]);
      flow_.edges.push_back({FlowEdge::Kind::kLoopEntry, i, 0, init[k], state[k]});
    }
    RETURN_IF_ERROR(Walk(condition, {state}, depth + 1));
    ++now_;
    Use(ValuesOf(condition.root())[0]);
    for (int id : state) Use(id);
    RETURN_IF_ERROR(Walk(body, {state}, depth + 1));
    const Ids next = ValuesOf(body.root());
    ++now_;
    Ids result = state;
    for (size_t k = 0; k < state.size(); ++k) {
      if (state[k] == init[k]) continue;
      Use(next[k]);
      flow_.edges.push_back({FlowEdge::Kind::kLoopBack, i, 0, next[k], state[k]});
    }
    ++now_;
    for (size_t k = 0; k < state.size(); ++k) {
      if (state[k] == init[k]) {
        Use(state[k]);  // alive through every iteration
        continue;
      }
      result[k] = NewValue(i, k, *leaves[k].shape, FlowValue::Kind::kComputed);
      flow_.joined.push_back({state[k], result[k]});
    }
    return result;
  }

  // All branches are laid out one after the other, although only one runs: their temporary values
  // may share memory, while each operand stays live until the last branch has ended.
  absl::StatusOr<Ids> VisitConditional(const Instruction* i, int depth) {
    Use(ValuesOf(i->operand(0))[0]);
    for (size_t b = 0; b < i->called().size(); ++b)
      for (int id : ValuesOf(i->operand(b + 1))) Use(id);
    std::vector<Ids> roots;
    for (size_t b = 0; b < i->called().size(); ++b) {
      RETURN_IF_ERROR(Walk(*i->called(b), {ValuesOf(i->operand(b + 1))}, depth + 1));
      ++now_;
      roots.push_back(ValuesOf(i->called(b)->root()));
      for (int id : roots.back()) Use(id);
    }
    ++now_;
    Ids result = NewValues(i);
    for (size_t b = 0; b < roots.size(); ++b)
      for (size_t k = 0; k < result.size(); ++k)
        if (result[k] >= 0)
          flow_.edges.push_back(
              {FlowEdge::Kind::kBranch, i, static_cast<int64_t>(b), roots[b][k], result[k]});
    return result;
  }

  const Module& module_;
  ValueFlow flow_;
  int64_t now_ = 0;
};

}  // namespace

absl::StatusOr<ValueFlow> ValueFlow::Make(const Module& module) { return Walker(module).Run(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
