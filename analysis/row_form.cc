// Row form: whether a fusion can be computed row by row, in several passes over the same row.
//
// A softmax reads each row three times: maximum, sum of exponentials, quotient. One kernel can do
// all three while the row is in the cache, if every value that depends on a reduction is used only
// inside its own row. The pass of an instruction is the number of reductions before it on its
// longest path:
//   m = reduce-max(x)         pass 0
//   e = exp(x - broadcast m)  needs pass 0
//   s = reduce-add(e)         pass 1
//   ROOT e / broadcast s      needs pass 1
// The checker visits the members in post order and refuses a fusion at the first step that would
// need another row: a transpose, a slice, or a reduction over other dimensions. Cost: linear.
#include "analysis/row_form.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "ops/dim_lists.h"
#include "ops/evaluate/reducer.h"

namespace hlokit {
namespace {

const Shape& FirstPart(const Instruction& i) {
  return i.shape().IsTuple() ? i.shape().elements[0] : i.shape();
}

// Splits the reduced array's dimensions; false if nothing is reduced.
bool SplitDims(const Instruction& reduce, RowForm& form) {
  form.full = reduce.operand(0)->shape();
  if (!form.full.IsArray() || form.full.HasDynamicDims() || !form.full.IsRowMajor()) return false;
  const DimVector& reduced = reduce.attr<DimensionsAttrs>().dimensions;
  for (int64_t d = 0; d < form.full.rank(); ++d) {
    if (form.full.dims[d] == 1) continue;
    if (Contains(reduced, d)) {
      form.within.push_back(d);
      form.length *= form.full.dims[d];
    } else {
      form.kept.push_back(d);
      form.rows *= form.full.dims[d];
    }
  }
  return form.length > 1;
}

class Checker {
 public:
  Checker(RowForm& form, int64_t max_nested) : form_(form), max_nested_(max_nested) {}

  bool Add(const Instruction& i) {
    int pass = -1;  // the last pass whose reductions the operands need
    for (const Instruction* operand : i.operands())
      if (auto found = pass_.find(operand); found != pass_.end())
        pass = std::max(pass, found->second);
    if (i.opcode() == Opcode::kReduce) return AddReduce(i, pass);
    if (pass < 0) return true;  // reads memory only: any element may be asked for
    pass_[&i] = pass;
    return StaysInRow(i);
  }

 private:
  bool AddReduce(const Instruction& i, int pass) {
    RowForm own;
    if (!SplitDims(i, own) || own.full.dims != form_.full.dims || own.within != form_.within)
      return pass < 0 && own.length <= max_nested_ && !i.shape().IsTuple();
    for (int64_t k = 0; k < i.operand_count(); ++k)
      if (k >= i.operand_count() / 2 && pass_.contains(i.operand(k))) return false;
    if (!FirstPart(i).IsRowMajor()) return false;
    form_.reductions.push_back({&i, pass + 1});
    form_.passes = std::max(form_.passes, pass + 3);
    pass_[&i] = pass + 1;
    return true;
  }

  // i depends on a reduction.
  bool StaysInRow(const Instruction& i) const {
    switch (i.opcode()) {
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
        return true;
      case Opcode::kBroadcast:
        return Conforms(i.shape()) && form_.BroadcastKeepsRow(i);
      case Opcode::kReshape:
      case Opcode::kBitcast:
        return form_.IsRowShaped(i.shape()) && form_.IsRowShaped(i.operand(0)->shape()) &&
               i.shape().type == i.operand(0)->shape().type;
      default:
        break;
    }
    if (!HasTrait(i.opcode(), kElementwise) || i.opcode() == Opcode::kBitcastConvert ||
        !Conforms(i.shape()))
      return false;
    for (const Instruction* operand : i.operands())
      if (pass_.contains(operand) && operand->shape().dims != i.shape().dims) return false;
    return true;
  }

  bool Conforms(const Shape& shape) const {
    return shape.IsArray() && shape.IsRowMajor() &&
           (shape.dims == form_.full.dims || form_.IsRowShaped(shape));
  }

  RowForm& form_;
  const int64_t max_nested_;
  absl::flat_hash_map<const Instruction*, int> pass_;
};

}  // namespace

bool RowForm::IsRowShaped(const Shape& shape) const {
  return shape.IsArray() && shape.IsRowMajor() && shape.ElementCount() == rows;
}

bool RowForm::IsFull(const Shape& shape) const {
  return shape.IsArray() && shape.IsRowMajor() && shape.ElementCount() == full.ElementCount();
}

bool RowForm::IsFullBroadcast(const Instruction& i) const {
  return i.opcode() == Opcode::kBroadcast && i.shape().dims == full.dims;
}

bool RowForm::IsAlongRow(const Instruction& broadcast) const {
  const Shape& from = broadcast.operand(0)->shape();
  const DimVector& to = broadcast.attr<BroadcastAttrs>().dimensions;
  for (int64_t d = 0; d < from.rank(); ++d)
    if (from.dims[d] != 1 && Contains(within, to[d])) return true;
  return false;
}

bool RowForm::BroadcastKeepsRow(const Instruction& broadcast) const {
  const Shape& from = broadcast.operand(0)->shape();
  if (!IsRowShaped(from)) return false;
  const DimVector& to = broadcast.attr<BroadcastAttrs>().dimensions;
  if (IsRowShaped(broadcast.shape())) return std::is_sorted(to.begin(), to.end());
  size_t next = 0;
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.dims[d] == 1) continue;
    if (next == kept.size() || to[d] != kept[next++] || from.dims[d] != full.dims[to[d]])
      return false;
  }
  return next == kept.size();
}

bool RowForm::IsColumns() const {
  return !kept.empty() && (within.empty() || kept.back() > within.back());
}

bool RowForm::IsContiguous() const {
  return kept.empty() || within.empty() || kept.back() < within.front();
}

std::optional<RowForm> FindRowForm(absl::Span<const Instruction* const> members,
                                   int64_t max_nested) {
  // The last reduction needs the others, or nothing of them; nested ones come before it.
  for (size_t k = members.size(); k-- > 0;) {
    if (members[k]->opcode() != Opcode::kReduce) continue;
    RowForm form;
    if (!SplitDims(*members[k], form)) return std::nullopt;
    Checker checker(form, max_nested);
    const bool all = std::all_of(members.begin(), members.end(),
                                 [&](const Instruction* i) { return checker.Add(*i); });
    if (all) return form;
    if (max_nested == 0) return std::nullopt;
  }
  return std::nullopt;
}

bool CanRegroup(const Instruction& reduce) {
  const ElementType type = reduce.operand(0)->shape().type;
  return reduce.operand_count() == 2 && SimpleReducer(*reduce.to_apply()).has_value() &&
         !RoundsSteps(reduce) && !IsComplex(type) && !IsSubByte(type);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
