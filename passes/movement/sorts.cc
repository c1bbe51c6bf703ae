// simplify-sorts and permutation_sort_simplifier: sorts that carry too much, or sort what is known.
//
// Sorts with fewer operands, and scatters instead of sorts.
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/parameters.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {
namespace {

// Whether one of the parts must stay for its place in the order: the sort would stay with it.
bool HasOrderedParts(const Instruction& sort) {
  const auto users = sort.users();
  return std::any_of(users.begin(), users.end(), [](const Instruction* user) {
    return !user->control_predecessors().empty() || !user->control_successors().empty();
  });
}

bool IsCompared(const Computation& f, int64_t k) {
  for (int64_t p : {2 * k, 2 * k + 1})
    if (!f.parameter(p)->users().empty() || f.parameter(p)->IsRoot()) return true;
  return false;
}

// Which operands must stay: those compared or read.
std::vector<int64_t> Needed(const Instruction* sort) {
  std::vector<int64_t> needed;
  for (int64_t k = 0; k < sort->operand_count(); ++k) {
    bool needs = IsCompared(*sort->to_apply(), k);
    for (const Instruction* user : sort->users())
      needs |= user->opcode() != Opcode::kGetTupleElement ||
               (user->tuple_index() == k && (user->IsRoot() || !user->users().empty()));
    if (needs) needed.push_back(k);
  }
  return needed;
}

Computation* NarrowComparison(const Instruction* sort, const std::vector<int64_t>& needed) {
  Computation* f = sort->to_apply()->Clone(".narrow");
  for (int64_t k = sort->operand_count(); k-- > 0;) {
    if (std::find(needed.begin(), needed.end(), k) != needed.end()) continue;
    RemoveParameter(*f, 2 * k + 1);
    RemoveParameter(*f, 2 * k);
  }
  return f;
}

void Narrow(Instruction* sort, const std::vector<int64_t>& needed) {
  Computation& c = *sort->parent();
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (int64_t k : needed) {
    operands.push_back(sort->operand(k));
    shapes.push_back(sort->shape().elements[k]);
  }
  const bool one = needed.size() == 1;
  Instruction* made = c.Add(sort->CloneWith(one ? shapes[0] : Shape::Tuple(shapes), operands));
  made->set_called({NarrowComparison(sort, needed)});
  const std::vector<Instruction*> users(sort->users().begin(), sort->users().end());
  for (Instruction* user : users) {
    const auto place = std::find(needed.begin(), needed.end(), user->tuple_index());
    if (place == needed.end()) continue;
    user->ReplaceAllUsesWith(one ? made
                                 : c.Add(Opcode::kGetTupleElement, user->shape(), {made},
                                         GetTupleElementAttrs{place - needed.begin()}));
  }
}

absl::StatusOr<bool> RunSimplifySorts(Computation& computation, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : computation.Instructions()) {
    if (i->opcode() != Opcode::kSort || i->operand_count() < 2 || i->IsRoot() ||
        i->users().empty() || !i->control_predecessors().empty() ||
        !i->control_successors().empty() || HasOrderedParts(*i))
      continue;
    const std::vector<int64_t> needed = Needed(i);
    if (needed.empty() || static_cast<int64_t>(needed.size()) == i->operand_count() ||
        !control.Permit("simplify-sorts", *i, *i))
      continue;
    Narrow(i, needed);
    changed = true;
  }
  if (changed) {
    RemoveDead(computation);
    RemoveUncalled(*computation.module());
  }
  return changed;
}

bool IsVectorIota(const Instruction* i) {
  return i->opcode() == Opcode::kIota && i->shape().rank() == 1;
}

// The result of sorting an iota of int32 by something: a permutation.
bool IsPermutationVector(const Instruction* i) {
  return i->opcode() == Opcode::kGetTupleElement && i->operand(0)->opcode() == Opcode::kSort &&
         i->shape().rank() == 1 && i->shape().type == ElementType::kS32 &&
         IsVectorIota(i->operand(0)->operand(i->tuple_index()));
}

bool SortsByFirst(const Instruction* sort) {
  const Instruction* root = sort->to_apply()->root();
  return root->opcode() == Opcode::kCompare && sort->operand_count() >= 2 &&
         root->attr<CompareAttrs>().direction == ComparisonDirection::kLt &&
         root->operand(0) == sort->to_apply()->parameter(0) &&
         root->operand(1) == sort->to_apply()->parameter(1);
}

// A function of (old, new) that gives the new.
Computation* TakeNew(Module& module, ElementType type) {
  Computation* f = module.AddComputation("take_new");
  f->AddParameter(0, Shape::Scalar(type).WithDefaultLayout(), "old");
  f->set_root(f->AddParameter(1, Shape::Scalar(type).WithDefaultLayout(), "new"));
  return f;
}

Instruction* ScatterTo(Instruction* places, Instruction* x) {
  Computation& c = *places->parent();
  Rewriter r(c);
  const int64_t n = x->shape().dims[0];
  Instruction* indices = r.Reshape(places, Shape::Array(ElementType::kS32, {n, 1}));
  ScatterAttrs attrs;
  attrs.inserted_window_dims = {0};
  attrs.scatter_dims_to_operand_dims = {0};
  attrs.index_vector_dim = 1;
  attrs.unique_indices = true;
  Instruction* scatter =
      r.Add(Opcode::kScatter, x->shape(), {r.Splat(x->shape(), 0), indices, x}, std::move(attrs));
  scatter->set_called({TakeNew(*c.module(), x->shape().type)});
  return scatter;
}

absl::StatusOr<bool> RunPermutationSorts(Computation& computation, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : computation.PostOrder()) {
    if (i->opcode() != Opcode::kSort || i->IsRoot() || !IsPermutationVector(i->operand(0)) ||
        !SortsByFirst(i) || !control.Permit("permutation_sort_simplifier", *i, *i))
      continue;
    const std::vector<Instruction*> users(i->users().begin(), i->users().end());
    for (Instruction* user : users) {
      if (user->opcode() != Opcode::kGetTupleElement || (user->users().empty() && !user->IsRoot()))
        continue;
      const int64_t k = user->tuple_index();
      Instruction* made = k == 0 ? computation.Add(Opcode::kIota, user->shape(), {}, IotaAttrs{0})
                                 : ScatterTo(i->operand(0), i->operand(k));
      user->ReplaceAllUsesWith(made);
      changed = true;
    }
  }
  if (changed) RemoveDead(computation);
  return changed;
}

}  // namespace

// simplify-sorts. Matches sorts with operands that the comparison does not look at and whose sorted
// form nobody reads; leaves a sort without them. Cost: linear.
std::unique_ptr<Pass> CreateSimplifySorts() {
  return MakeComputationPass("simplify-sorts", RunSimplifySorts);
}

// permutation_sort_simplifier. Matches ascending sorts of vectors by a permutation of 0 .. n-1,
// which an earlier sort made of an iota; leaves the iota for the keys, and scatters of the other
// operands to the places that the permutation names. Cost: linear.
std::unique_ptr<Pass> CreatePermutationSortSimplifier() {
  return MakeComputationPass("permutation_sort_simplifier", RunPermutationSorts);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
