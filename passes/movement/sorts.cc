// simplify-sorts and permutation_sort_simplifier: sorts that carry too much, or sort what is known.
//
// Sorts with fewer operands, and scatters instead of sorts.
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/parameters.h"

namespace hlokit {
namespace {

// Whether one of the parts must stay for its place in the order: the sort would stay with it.
bool HasOrderedParts(const Instruction& sort) {
  const auto users = sort.users();
  return std::any_of(users.begin(), users.end(),
                     [](const Instruction* user) { return HasControlEdges(*user); });
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

// `made` has the needed results of `sort`, and what the sharding says of those.
void NarrowSharding(const Instruction& sort, const std::vector<int64_t>& needed,
                    Instruction& made) {
  const Sharding* whole = sort.sharding();
  if (whole == nullptr || whole->kind != Sharding::Kind::kTuple) return;
  Sharding rest = *whole;
  rest.elements.clear();
  for (int64_t k : needed) rest.elements.push_back(whole->elements[k]);
  made.mutable_extras().sharding =
      std::make_unique<Sharding>(made.shape().IsTuple() ? rest : rest.elements[0]);
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
  NarrowSharding(*sort, needed, *made);
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
        i->users().empty() || HasControlEdges(*i) || HasOrderedParts(*i))
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

// The result of sorting an iota along the sorted dimension by something: a permutation in each row.
bool IsPermutation(const Instruction* i, int64_t dimension) {
  if (i->opcode() != Opcode::kGetTupleElement || i->operand(0)->opcode() != Opcode::kSort ||
      !IsInteger(i->shape().type) || i->shape().HasDynamicDims())
    return false;
  const Instruction& sort = *i->operand(0);
  const Instruction& sorted = *sort.operand(i->tuple_index());
  return sort.attr<SortAttrs>().dimensions == DimVector{dimension} &&
         sorted.opcode() == Opcode::kIota && sorted.attr<IotaAttrs>().iota_dimension == dimension;
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

// `x` with each element at the place along `dimension` that `places` names.
Instruction* ScatterTo(Instruction* places, Instruction* x, int64_t dimension) {
  Computation& c = *places->parent();
  Rewriter r(c);
  HloWriter w(r);
  DimVector row = x->shape().dims;
  row.push_back(1);
  const int64_t rank = x->shape().rank();
  std::vector<Instruction*> parts;
  ScatterAttrs attrs;
  for (int64_t d = 0; d < rank; ++d) {
    attrs.inserted_window_dims.push_back(d);
    attrs.scatter_dims_to_operand_dims.push_back(d);
    parts.push_back(d == dimension ? w.Reshape(places, row) : w.Iota(places->shape().type, row, d));
  }
  attrs.index_vector_dim = rank;
  attrs.unique_indices = true;
  Instruction* indices = rank == 1 ? parts[0] : w.Concatenate(parts, rank);
  Instruction* scatter =
      r.Add(Opcode::kScatter, x->shape(), {r.Splat(x->shape(), 0), indices, x}, std::move(attrs));
  scatter->set_called({TakeNew(*c.module(), x->shape().type)});
  return scatter;
}

// Whether the integers of `type` count to every place of a dimension of `size`.
bool Counts(ElementType type, int64_t size) {
  const int bits = BitWidth(type) - (IsSigned(type) ? 1 : 0);
  return bits >= 62 || size <= int64_t{1} << bits;
}

// A root of parts, so that each can be replaced.
void TakeRootApart(Instruction* root) {
  Rewriter r(*root->parent());
  HloWriter w(r);
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < root->shape().elements.size(); ++k)
    parts.push_back(w.Part(root, static_cast<int64_t>(k)));
  root->parent()->set_root(w.Tuple(parts));
}

absl::StatusOr<bool> RunPermutationSorts(Computation& computation, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : computation.PostOrder()) {
    if (i->opcode() != Opcode::kSort || i->operand_count() < 2) continue;
    const int64_t dimension = i->attr<SortAttrs>().dimensions[0];
    const Shape& keys = i->operand(0)->shape();
    if (!IsPermutation(i->operand(0), dimension) || !Counts(keys.type, keys.dims[dimension]) ||
        !SortsByFirst(i) || !control.Permit("permutation_sort_simplifier", *i, *i))
      continue;
    if (i->IsRoot()) TakeRootApart(i);
    const std::vector<Instruction*> users(i->users().begin(), i->users().end());
    for (Instruction* user : users) {
      if (user->opcode() != Opcode::kGetTupleElement || (user->users().empty() && !user->IsRoot()))
        continue;
      const int64_t k = user->tuple_index();
      Instruction* made =
          k == 0 ? computation.Add(Opcode::kIota, user->shape(), {}, IotaAttrs{dimension})
                 : ScatterTo(i->operand(0), i->operand(k), dimension);
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

// permutation_sort_simplifier. Matches ascending sorts by permutations of 0 .. n-1 along the sorted
// dimension, which an earlier sort made of an iota; leaves the iota for the keys, and scatters of
// the other operands to the places that the permutation names. Cost: linear.
std::unique_ptr<Pass> CreatePermutationSortSimplifier() {
  return MakeComputationPass("permutation_sort_simplifier", RunPermutationSorts);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
