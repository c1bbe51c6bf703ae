// while-loop-concat-code-motion: moves concatenates of loop state out of the loop.
// Matches concatenations, in a loop's body, of parts of its state that are of one shape and whose
// next values are computed alike: elementwise from such parts, from the slices of one array, or
// from equal scalars broadcast. The parts become one of the state, joined before the loop and
// sliced after it; what else reads them in the body reads slices. The option `min-operands` says
// how many parts a concatenation needs (2). Expects bodies with one caller. Exact. Cost: linear for
// each loop that changes.
//   while (a, b) { c = concatenate(a, b); ... a' = a * 2; b' = b * 2 }
//   while (ab)   { c = ab;                ... ab' = ab * 2 }
#include <algorithm>
#include <map>

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/post_order_of.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

using List = std::vector<Instruction*>;  // equal in shape, to be joined along one dimension

class Joiner {
 public:
  Joiner(WhileState loop, const Instruction* concatenate)
      : loop_(loop),
        dim_(concatenate->attr<DimensionsAttrs>().dimensions[0]),
        rewriter_(*loop.body),
        w_(rewriter_) {}

  // Whether the parts that `list` names, and all that their next values need, can be joined.
  bool Plan(const List& list) {
    if (!CanJoin(list)) return false;
    for (size_t g = 0; g < groups_.size(); ++g) {
      List next;
      for (int64_t k : groups_[g]) next.push_back(loop_.root->operand(k));
      if (!CanJoin(next)) return false;
    }
    return true;
  }

  void Rewrite() {
    List before;
    Rewriter outside(*loop_.loop->parent());
    HloWriter outer(outside);
    if (loop_.loop->IsRoot()) {
      List parts;
      for (size_t k = 0; k < loop_.loop->shape().elements.size(); ++k)
        parts.push_back(outer.Part(loop_.loop, static_cast<int64_t>(k)));
      loop_.loop->parent()->set_root(outer.Tuple(parts));
    }
    for (const auto& group : groups_) {
      List parts;
      for (int64_t k : group) parts.push_back(loop_.Initial(k));
      before.push_back(outer.Concatenate(parts, dim_));
    }
    const auto old = static_cast<int64_t>(loop_.loop->shape().elements.size());
    const List inside = loop_.Widen(before);
    for (size_t g = 0; g < groups_.size(); ++g) {
      List parts;
      for (int64_t k : groups_[g]) parts.push_back(PartOf(k));
      joined_[parts] = inside[g];
    }
    for (size_t g = 0; g < groups_.size(); ++g) {
      List next;
      for (int64_t k : groups_[g]) next.push_back(loop_.root->operand(k));
      loop_.root->SetOperand(old + static_cast<int64_t>(g), Join(next));
    }
    ReplaceConcatenations();
    for (size_t g = 0; g < groups_.size(); ++g)
      for (size_t p = 0; p < groups_[g].size(); ++p)
        TakeApart(groups_[g][p], static_cast<int64_t>(p), inside[g], old + static_cast<int64_t>(g),
                  outer);
    RemoveDead(*loop_.body);
    NarrowState(loop_);
  }

 private:
  bool IsPart(const Instruction* i) const {
    return i->opcode() == Opcode::kGetTupleElement && i->operand(0) == loop_.parameter;
  }

  Instruction* PartOf(int64_t k) {
    for (Instruction* user : loop_.parameter->users())
      if (user->opcode() == Opcode::kGetTupleElement && user->tuple_index() == k) return user;
    return w_.Part(loop_.parameter, k);
  }

  // Piece p of the array that holds `count` of them.
  SliceSpec Piece(const Shape& part, int64_t p) const {
    SliceSpec slice;
    for (int64_t d = 0; d < part.rank(); ++d)
      slice.push_back(
          {d == dim_ ? p * part.dims[d] : 0, d == dim_ ? (p + 1) * part.dims[d] : part.dims[d], 1});
    return slice;
  }

  // The array of which the list holds the pieces, in order; null where it does not.
  Instruction* Whole(const List& list) const {
    for (size_t p = 0; p < list.size(); ++p)
      if (list[p]->opcode() != Opcode::kSlice || list[p]->operand(0) != list[0]->operand(0) ||
          list[p]->attr<SliceAttrs>().slice != Piece(list[p]->shape(), p))
        return nullptr;
    Instruction* whole = list[0]->operand(0);
    const Shape& part = list[0]->shape();
    return whole->shape().dims[dim_] == part.dims[dim_] * static_cast<int64_t>(list.size())
               ? whole
               : nullptr;
  }

  // Whether the list names one array again and again.
  static bool IsOne(const List& list) {
    return std::all_of(list.begin(), list.end(), [&](Instruction* i) { return i == list[0]; });
  }

  bool CanJoin(const List& list) {
    if (!planned_.emplace(list, true).second) return true;
    for (const Instruction* i : list)
      if (i->shape() != list[0]->shape() || !i->shape().IsArray() || i->shape().rank() <= dim_ ||
          i->shape().HasDynamicDims())
        return false;
    if (std::all_of(list.begin(), list.end(), [&](Instruction* i) { return IsPart(i); }))
      return AddGroup(list);
    if (Whole(list) != nullptr || IsOne(list)) return true;
    for (const Instruction* i : list)
      if (i->opcode() != list[0]->opcode() || !i->SameAttributes(*list[0]) ||
          i->operand_count() != list[0]->operand_count())
        return false;
    if (SplatValue(list[0]) != nullptr)
      return std::all_of(list.begin(), list.end(), [&](const Instruction* i) {
        return SplatValue(i) != nullptr && *SplatValue(i) == *SplatValue(list[0]);
      });
    if (!HasTrait(list[0]->opcode(), kElementwise) || list[0]->HasSideEffect()) return false;
    for (int64_t o = 0; o < list[0]->operand_count(); ++o)
      if (!CanJoin(OperandsOf(list, o))) return false;
    return true;
  }

  static List OperandsOf(const List& list, int64_t o) {
    List operands;
    for (const Instruction* i : list) operands.push_back(i->operand(o));
    return operands;
  }

  bool AddGroup(const List& list) {
    std::vector<int64_t> group;
    for (const Instruction* i : list) {
      const int64_t k = i->tuple_index();
      if (std::find(grouped_.begin(), grouped_.end(), k) != grouped_.end()) return false;
      for (const Instruction* user : loop_.condition->parameter(0)->users())
        if (user->opcode() != Opcode::kGetTupleElement || user->tuple_index() == k) return false;
      grouped_.push_back(k);
      group.push_back(k);
    }
    groups_.push_back(std::move(group));
    return true;
  }

  Instruction* Join(const List& list) {
    Instruction*& joined = joined_[list];
    if (joined != nullptr) return joined;
    if (Instruction* whole = Whole(list)) return joined = whole;
    Shape shape = list[0]->shape();
    shape.dims[dim_] *= static_cast<int64_t>(list.size());
    if (SplatValue(list[0]) != nullptr) {
      joined = w_.Fill(shape, list[0]->operand(0));
      return joined;
    }
    if (IsOne(list)) {
      DimVector dims = list[0]->shape().dims, where;
      for (int64_t d = 0; d < list[0]->shape().rank(); ++d) where.push_back(d < dim_ ? d : d + 1);
      dims.insert(dims.begin() + dim_, static_cast<int64_t>(list.size()));
      return joined_[list] = w_.Reshape(w_.Broadcast(list[0], dims, where), shape.dims);
    }
    List operands;
    for (int64_t o = 0; o < list[0]->operand_count(); ++o)
      operands.push_back(Join(OperandsOf(list, o)));
    return joined_[list] = rewriter_.Clone(list[0], shape, operands);
  }

  void ReplaceConcatenations() {
    for (Instruction* i : loop_.body->Instructions()) {
      if (i->opcode() != Opcode::kConcatenate || i->attr<DimensionsAttrs>().dimensions[0] != dim_)
        continue;
      const auto found = joined_.find(List(i->operands().begin(), i->operands().end()));
      if (found != joined_.end() && found->second != i) i->ReplaceAllUsesWith(found->second);
    }
  }

  // Readers of part k, in the body and after the loop, read piece p of the joined part.
  void TakeApart(int64_t k, int64_t p, Instruction* inside, int64_t place, HloWriter& outer) {
    Instruction* part = PartOf(k);
    const Shape shape = part->shape();
    const std::vector<Instruction*> readers(part->users().begin(), part->users().end());
    for (Instruction* reader : readers)
      if (reader != loop_.root) part->ReplaceUseIn(reader, w_.Slice(inside, Piece(shape, p)));
    loop_.root->SetOperand(k, part);
    const std::vector<Instruction*> users(loop_.loop->users().begin(), loop_.loop->users().end());
    for (Instruction* user : users)
      if (user->tuple_index() == k)
        user->ReplaceAllUsesWith(outer.Slice(outer.Part(loop_.loop, place), Piece(shape, p)));
  }

  WhileState loop_;
  int64_t dim_;
  Rewriter rewriter_;
  HloWriter w_;
  std::map<List, bool> planned_;
  std::map<List, Instruction*> joined_;
  std::vector<std::vector<int64_t>> groups_;  // numbers of parts
  std::vector<int64_t> grouped_;
};

class Motion final : public Pass {
 public:
  explicit Motion(int64_t min_operands) : min_operands_(min_operands) {}
  absl::string_view name() const override { return "while-loop-concat-code-motion"; }

  absl::StatusOr<bool> Run(Module& module) override {
    bool changed = false;
    const std::vector<int> callers = CountCallers(module);
    for (Computation* c : module.ComputationsPostOrder())
      for (Instruction* i : PostOrderOf(*c, Opcode::kWhile)) {
        const std::optional<WhileState> loop = WhileState::Of(i);
        if (!loop || !loop->IsOnlyCaller(callers) || !OnlyParts(*i) || !i->backend_config().empty())
          continue;
        changed |= MoveOne(*loop);
      }
    if (changed)
      for (Computation* c : module.Computations()) RemoveDead(*c);
    return changed;
  }

 private:
  static bool OnlyParts(const Instruction& loop) {
    for (const Instruction* user : loop.users())
      if (user->opcode() != Opcode::kGetTupleElement) return false;
    return loop.called(1)->root()->users().empty();
  }

  bool MoveOne(const WhileState& loop) {
    for (Instruction* i : loop.body->PostOrder()) {
      if (i->opcode() != Opcode::kConcatenate || i->operand_count() < min_operands_) continue;
      const bool parts =
          std::all_of(i->operands().begin(), i->operands().end(), [&](const Instruction* x) {
            return x->opcode() == Opcode::kGetTupleElement && x->operand(0) == loop.parameter;
          });
      if (!parts) continue;
      Joiner joiner(loop, i);
      if (!joiner.Plan(List(i->operands().begin(), i->operands().end())) ||
          !control().Permit(name(), *i, *i))
        continue;
      joiner.Rewrite();
      return true;
    }
    return false;
  }

  int64_t min_operands_;
};

}  // namespace

std::unique_ptr<Pass> CreateWhileLoopConcatCodeMotion(PassArguments& arguments) {
  return std::make_unique<Motion>(
      std::max<int64_t>(2, arguments.Int("min-operands", 2, "parts a concatenation needs")));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
