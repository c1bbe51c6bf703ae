// A walk over places, forwards and backwards.
#include "passes/host_memory/host_values.h"

#include "absl/container/flat_hash_set.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlokit {
namespace {

ShapeIndex Tail(const ShapeIndex& index) { return ShapeIndex(index.begin() + 1, index.end()); }

ShapeIndex Within(int64_t k, const ShapeIndex& index) {
  ShapeIndex whole = {k};
  whole.insert(whole.end(), index.begin(), index.end());
  return whole;
}

// Whether the module gives the part `index` of its result in the host's memory.
bool IsHostResult(const Computation& entry, const ShapeIndex& index) {
  const auto& layout = entry.module()->header().entry_layout;
  const Shape* shape = layout ? SubShape(layout->result, index) : nullptr;
  return shape != nullptr && shape->has_layout && SpaceOf(*shape) == kHostSpace;
}

class PlaceWalk {
 public:
  HostValue Follow(Instruction* array) {
    Visit(array, {});
    while (!todo_.empty()) {
      const ValuePlace place = std::move(todo_.back());
      todo_.pop_back();
      Backwards(place);
      Forwards(place);
    }
    return std::move(found_);
  }

 private:
  void Visit(Instruction* i, const ShapeIndex& index) {
    if (!seen_.emplace(i, index).second) return;
    found_.places.push_back({i, index});
    todo_.push_back({i, index});
  }

  // What the place holds comes from.
  void Backwards(const ValuePlace& place) {
    Instruction* i = place.instruction;
    switch (i->opcode()) {
      case Opcode::kTuple:
        return Visit(i->operand(place.index[0]), Tail(place.index));
      case Opcode::kGetTupleElement:
        return Visit(i->operand(0), Within(i->tuple_index(), place.index));
      case Opcode::kOptimizationBarrier:
      case Opcode::kBitcast:
      case Opcode::kDynamicUpdateSlice:
        return Visit(i->operand(0), place.index);
      case Opcode::kWhile:
        Visit(i->called(0)->parameter(0), place.index);
        Visit(i->called(1)->parameter(0), place.index);
        Visit(i->called(1)->root(), place.index);
        return Visit(i->operand(0), place.index);
      case Opcode::kCall:
        return Visit(i->to_apply()->root(), place.index);
      case Opcode::kParameter:
        return Arguments(i, place.index);
      default:
        if (i->shape().IsArray())
          found_.makers.push_back(i);
        else
          found_.escapes = true;
    }
  }

  void Arguments(Instruction* parameter, const ShapeIndex& index) {
    Computation& c = *parameter->parent();
    if (c.IsEntry()) {
      if (index.empty())
        found_.makers.push_back(parameter);
      else
        found_.escapes = true;
      return;
    }
    for (Instruction* caller : c.Callers()) {
      if (caller->opcode() == Opcode::kWhile)
        Visit(caller, index);
      else if (caller->opcode() == Opcode::kCall)
        Visit(caller->operand(parameter->parameter_number()), index);
      else
        found_.escapes = true;
    }
  }

  // What holds it too.
  void Forwards(const ValuePlace& place) {
    if (place.instruction->IsRoot()) Result(place);
    for (Instruction* user : place.instruction->users())
      for (int64_t k = 0; k < user->operand_count(); ++k)
        if (user->operand(k) == place.instruction) Use(user, k, place.index);
  }

  void Result(const ValuePlace& place) {
    const Computation& c = *place.instruction->parent();
    if (c.IsEntry() && !IsHostResult(c, place.index)) found_.escapes = true;
    for (Instruction* caller : c.Callers()) {
      const bool condition = caller->opcode() == Opcode::kWhile && caller->called(0) == &c;
      if (!condition && (caller->opcode() == Opcode::kWhile || caller->opcode() == Opcode::kCall))
        Visit(caller, place.index);
      else
        found_.escapes = true;
    }
  }

  void Use(Instruction* user, int64_t k, const ShapeIndex& index) {
    switch (user->opcode()) {
      case Opcode::kTuple:
        if (user->IsRoot() && user->parent()->IsEntry() && index.empty() && user->users().empty() &&
            !IsHostResult(*user->parent(), {k}))
          return found_.reads.push_back({user, k});
        return Visit(user, Within(k, index));
      case Opcode::kGetTupleElement:
        if (user->tuple_index() == index[0]) Visit(user, Tail(index));
        return;
      case Opcode::kWhile:
      case Opcode::kOptimizationBarrier:
        return Visit(user, index);
      case Opcode::kCall:
        return Visit(user->to_apply()->parameter(k), index);
      case Opcode::kBitcast:
        return Visit(user, index);
      case Opcode::kDynamicUpdateSlice:
        if (k == 0) return Visit(user, index);
        break;
      default:
        break;
    }
    if (index.empty())
      found_.reads.push_back({user, k});
    else
      found_.escapes = true;
  }

  HostValue found_;
  std::vector<ValuePlace> todo_;
  absl::flat_hash_set<std::pair<Instruction*, ShapeIndex>> seen_;
};

}  // namespace

HostValue FollowValue(Instruction* array) { return PlaceWalk().Follow(array); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
