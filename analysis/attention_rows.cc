// A walk from the last product back to the first, over what may stand between; then what of it
// depends on the scores, and what else is cheap enough to be made anew. Linear in the members, of
// which there are at most kMaxMembers.
#include "analysis/attention_rows.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/emittable.h"
#include "analysis/form_body.h"
#include "ir/computation.h"
#include "ops/dim_lists.h"
#include "ops/evaluate/reducer.h"

namespace hlokit {
namespace {

constexpr size_t kMaxMembers = 64;
constexpr int64_t kMinSide = 8;  // rows of a batch, keys, terms, columns

bool IsTaken(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDims() &&
         (shape.type == ElementType::kF32 || shape.type == ElementType::kBF16 ||
          shape.type == ElementType::kF16);
}

int64_t SizeOf(const Shape& shape, const DimVector& dims) {
  int64_t size = 1;
  for (const int64_t d : dims) size *= shape.dims[d];
  return size;
}

bool IsProduct(const Instruction& dot) {
  if (dot.opcode() != Opcode::kDot || dot.operand_count() != 2) return false;
  return IsTaken(dot.shape()) && IsTaken(dot.operand(0)->shape()) &&
         IsTaken(dot.operand(1)->shape());
}

// A dot's dimensions as a batched product of matrices.
struct Sizes {
  int64_t batch, terms, rows, columns;

  explicit Sizes(const Instruction& dot) {
    const auto& a = dot.attr<DotAttrs>();
    const Shape &x = dot.operand(0)->shape(), &y = dot.operand(1)->shape();
    batch = SizeOf(x, a.lhs_batch_dims);
    terms = SizeOf(x, a.lhs_contracting_dims);
    rows = FreeElements(x.dims, {a.lhs_batch_dims, a.lhs_contracting_dims});
    columns = FreeElements(y.dims, {a.rhs_batch_dims, a.rhs_contracting_dims});
  }
};

// Whether batch, free and contracted dimensions of operand `o` follow each other in memory.
bool IsInOrder(const Instruction& dot, int64_t o) {
  const auto& a = dot.attr<DotAttrs>();
  const DimVector& batch = o == 0 ? a.lhs_batch_dims : a.rhs_batch_dims;
  const DimVector& summed = o == 0 ? a.lhs_contracting_dims : a.rhs_contracting_dims;
  const Shape& shape = dot.operand(o)->shape();
  DimVector order = batch;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (!Contains(batch, d) && !Contains(summed, d)) order.push_back(d);
  order.insert(order.end(), summed.begin(), summed.end());
  order.erase(
      std::remove_if(order.begin(), order.end(), [&](int64_t d) { return shape.dims[d] == 1; }),
      order.end());
  return shape.IsRowMajor() && std::is_sorted(order.begin(), order.end());
}

bool IsScalarConstant(const Instruction& i) {
  return i.IsConstant() && i.shape().IsScalar() && i.literal() != nullptr;
}

// Of elements in the same order.
bool KeepsOrder(const Instruction& i) {
  return (i.opcode() == Opcode::kReshape || i.opcode() == Opcode::kBitcast) &&
         i.shape().IsArray() && i.shape().IsRowMajor() && i.operand(0)->shape().IsRowMajor() &&
         i.shape().type == i.operand(0)->shape().type;
}

// Made of one element an operand, or moved without another order.
bool IsStep(const Instruction& i) {
  if (KeepsOrder(i)) return true;
  return HasTrait(i.opcode(), kElementwise) && i.opcode() != Opcode::kBitcastConvert &&
         i.called().empty() && i.shape().IsArray();
}

bool MayStandBetween(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kReduce:
    case Opcode::kIota:
      return CanEmitElement(i) && i.shape().IsArray();
    case Opcode::kConstant:
      return IsScalarConstant(i);
    default:
      return IsStep(i) && CanEmitElement(i);
  }
}

// The operand that `i` only converts, moves or broadcasts.
const Instruction* Source(const Instruction* i) {
  while (i->opcode() == Opcode::kConvert || i->opcode() == Opcode::kBroadcast || KeepsOrder(*i))
    i = i->operand(0);
  return i;
}

bool Reduces(const Instruction& reduce, Opcode opcode) {
  return reduce.operand_count() == 2 && SimpleReducer(*reduce.to_apply()) == opcode;
}

// Of exp(x - m) / t, where m is the maximum of each row x and t the sum of its exponentials.
const Instruction* ExponentialsOf(const AttentionRows& attention) {
  const RowForm& form = attention.form;
  if (form.passes != 3 || form.reductions.size() != 2) return nullptr;
  const Instruction &most = *form.reductions[0].reduce, &sum = *form.reductions[1].reduce;
  const Instruction* const quotient = Source(attention.probabilities);
  if (!Reduces(most, Opcode::kMaximum) || !Reduces(sum, Opcode::kAdd) ||
      quotient->opcode() != Opcode::kDivide || Source(quotient->operand(1)) != &sum)
    return nullptr;
  const Instruction* const e = Source(sum.operand(0));
  if (e->opcode() != Opcode::kExponential || Source(quotient->operand(0)) != e) return nullptr;
  const Instruction* const d = e->operand(0);
  const bool is_softmax = d->opcode() == Opcode::kSubtract && Source(d->operand(1)) == &most &&
                          Source(d->operand(0)) == Source(most.operand(0));
  const auto is_taken = [](const Instruction* i) { return IsTaken(i->shape()); };
  return is_softmax && is_taken(e) && is_taken(&most) && is_taken(&sum) && is_taken(quotient)
             ? e
             : nullptr;
}

class AttentionWalk {
 public:
  std::optional<AttentionRows> From(const Instruction& product) {
    if (!IsProduct(product)) return std::nullopt;
    for (const int64_t side : {0, 1}) {
      found_ = {};
      found_.product = &product;
      found_.side = side;
      found_.probabilities = product.operand(side);
      if (product.operand(1 - side) != found_.probabilities && Find()) return std::move(found_);
    }
    return std::nullopt;
  }

 private:
  bool Find() {
    std::vector<const Instruction*> reshapes;
    while (KeepsOrder(*found_.probabilities)) {
      reshapes.push_back(found_.probabilities);
      found_.probabilities = found_.probabilities->operand(0);
    }
    const Instruction& p = *found_.probabilities;
    if (!IsStep(p) || !IsInOrder(*found_.product, found_.side) || !Collect(&p) ||
        found_.scores == nullptr || !Choose())
      return false;
    std::vector<const Instruction*> between = found_.members;
    std::erase(between, found_.scores);
    const std::optional<RowForm> form = FindRowForm(between);
    if (!form || !form->IsContiguous() || form->full.dims != p.shape().dims) return false;
    found_.form = *form;
    found_.exponentials = ExponentialsOf(found_);
    const bool keeps_rows = IsRegrouped() && KeepsRows();
    found_.members.insert(found_.members.end(), reshapes.rbegin(), reshapes.rend());
    found_.members.push_back(found_.product);
    return keeps_rows && SizesFit() && !IsUsedElsewhere() && ListReads();
  }

  // All that `root` may be made of, operands before users, and the scores.
  bool Collect(const Instruction* root) {
    candidates_.clear();
    absl::flat_hash_set<const Instruction*> seen;
    std::vector<std::pair<const Instruction*, bool>> stack = {{root, false}};
    while (!stack.empty()) {
      const auto [i, done] = stack.back();
      stack.pop_back();
      if (done) {
        candidates_.push_back(i);
        continue;
      }
      if (!seen.insert(i).second) continue;
      if (AreScores(*i)) {
        found_.scores = i;
        candidates_.push_back(i);
      } else if (MayStandBetween(*i)) {
        if (seen.size() > kMaxMembers) return false;
        stack.push_back({i, true});
        for (const Instruction* operand : i->operands()) stack.push_back({operand, false});
      }
    }
    return true;
  }

  // The first that is met: others would be read from memory.
  bool AreScores(const Instruction& i) const {
    return found_.scores == nullptr && IsProduct(i) && i.shape().IsRowMajor() &&
           i.shape().ElementCount() == found_.probabilities->shape().ElementCount();
  }

  // Members: what depends on the scores, and cheap work for them alone.
  bool Choose() {
    absl::flat_hash_set<const Instruction*> chosen;
    dependent_ = {found_.scores};
    for (const Instruction* i : candidates_)
      for (const Instruction* operand : i->operands())
        if (i != found_.scores && dependent_.contains(operand)) dependent_.insert(i);
    for (auto i = candidates_.rbegin(); i != candidates_.rend(); ++i)
      if (dependent_.contains(*i) || IsCheap(**i, chosen)) chosen.insert(*i);
    for (const Instruction* i : candidates_)
      if (chosen.contains(i)) found_.members.push_back(i);
    return dependent_.contains(found_.probabilities) && found_.probabilities != found_.scores;
  }

  static bool IsCheap(const Instruction& i, const absl::flat_hash_set<const Instruction*>& chosen) {
    const auto is_chosen = [&](const Instruction* user) { return chosen.contains(user); };
    const std::vector<Instruction*> users(i.users().begin(), i.users().end());
    if (std::none_of(users.begin(), users.end(), is_chosen)) return false;
    if (IsFree(i)) return true;
    return IsStep(i) && std::all_of(users.begin(), users.end(), is_chosen);
  }

  static bool IsFree(const Instruction& i) {
    return i.IsConstant() || i.opcode() == Opcode::kIota || i.opcode() == Opcode::kBroadcast;
  }

  // Rows are read for their reductions before anything else, and in any order.
  bool IsRegrouped() const {
    return std::all_of(found_.form.reductions.begin(), found_.form.reductions.end(),
                       [&](const RowForm::Reduction& r) {
                         return CanRegroup(*r.reduce) && dependent_.contains(r.reduce);
                       });
  }

  // Whether what depends on the scores, but on no reduction, keeps to the places of its elements;
  // FindRowForm looks at the rest.
  bool KeepsRows() const {
    for (const Instruction* i : found_.members) {
      if (!dependent_.contains(i) || i == found_.scores || i->opcode() == Opcode::kReduce) continue;
      if (i->opcode() == Opcode::kBroadcast) {
        if (!found_.form.IsRowShaped(i->operand(0)->shape())) return false;
        continue;
      }
      if (!IsStep(*i)) return false;
      for (const Instruction* operand : i->operands())
        if (dependent_.contains(operand) && !IsStepOf(*i, *operand)) return false;
    }
    return true;
  }

  bool IsStepOf(const Instruction& i, const Instruction& operand) const {
    if (!i.shape().IsRowMajor()) return false;
    if (HasTrait(i.opcode(), kElementwise)) return i.shape().dims == operand.shape().dims;
    return found_.form.IsRowShaped(i.shape()) || found_.form.IsFull(i.shape());
  }

  bool SizesFit() const {
    const Sizes scores(*found_.scores), product(*found_.product);
    const RowForm& form = found_.form;
    const int64_t rows = found_.side == 0 ? product.rows : product.columns;
    const int64_t columns = found_.side == 0 ? product.columns : product.rows;
    return form.length == scores.columns && form.length == product.terms &&
           scores.batch == product.batch && scores.rows == rows &&
           form.rows == scores.batch * rows && scores.batch > 0 &&
           (form.length <= kMaxAttentionKeys ||
            (found_.exponentials != nullptr && columns <= kMaxAttentionColumns)) &&
           std::min({rows, form.length, scores.terms, product.rows, product.columns}) >= kMinSide;
  }

  bool IsUsedElsewhere() const {
    const absl::flat_hash_set<const Instruction*> members(found_.members.begin(),
                                                          found_.members.end());
    for (const Instruction* i : found_.members) {
      if (i == found_.product || IsFree(*i)) continue;
      if (i->IsRoot() || !i->control_predecessors().empty() || !i->control_successors().empty())
        return true;
      for (const Instruction* user : i->users())
        if (!members.contains(user)) return true;
    }
    return false;
  }

  bool ListReads() {
    absl::flat_hash_set<const Instruction*> seen(found_.members.begin(), found_.members.end());
    for (const Instruction* i : found_.members)
      for (const Instruction* operand : i->operands())
        if (seen.insert(operand).second) found_.reads.push_back(operand);
    return std::all_of(found_.reads.begin(), found_.reads.end(), [](const Instruction* i) {
      return i->shape().IsArray() && !i->shape().HasDynamicDims();
    });
  }

  AttentionRows found_;
  std::vector<const Instruction*> candidates_;
  absl::flat_hash_set<const Instruction*> dependent_;
};

}  // namespace

std::optional<AttentionRows> FindAttentionRows(const Instruction& product) {
  return AttentionWalk().From(product);
}

std::optional<AttentionRows> FindAttentionRowsFusion(const Instruction& fusion) {
  if (fusion.opcode() != Opcode::kFusion || fusion.attr<FusionAttrs>().kind != FusionKind::kCustom)
    return std::nullopt;
  const Computation& body = *fusion.to_apply();
  std::optional<AttentionRows> found = FindAttentionRows(*body.root());
  if (!found || !HoldsFormAlone(body, found->members.size(), found->reads)) return std::nullopt;
  return found;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
