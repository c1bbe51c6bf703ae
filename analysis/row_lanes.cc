// Which fusions in row form can be written in vectors from the start (codegen's row kernels),
// without LLVM's vectorizer.
//
// Lanes cover the innermost dimensions of a row, or neighbouring columns where the reduced
// dimension is not the innermost one. Each instruction must have an opcode that is emitted the same
// way for vectors and scalars, a type with vector registers, and operands that are full arrays, row
// values or scalars. A broadcast along the lanes must be contiguous in memory:
//   f32[64,1024] + broadcast f32[1024]   lanes read neighbouring elements of the small array
//   f32[64,1024] * broadcast f32[64]     lanes share one value
// Lanes are neighbouring rows where these are shorter than vectors.
// What is computed from places alone, to a truth value, goes too:
//   select(iota >= broadcast iota, x, -1e9)   lanes compare a number with numbers that follow each
//   other
#include "analysis/row_lanes.h"

#include <algorithm>

#include "ir/op_facts.h"
#include "ops/dim_lists.h"
#include "ops/evaluate/reducer.h"

namespace hlokit {
namespace {

bool IsLaneType(ElementType type) {
  return type == ElementType::kF64 || type == ElementType::kF32 || type == ElementType::kBF16 ||
         type == ElementType::kF16 || type == ElementType::kS32 || type == ElementType::kPred;
}

// Elements that machines load from places apart.
bool IsGathered(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kF64 || type == ElementType::kS32;
}

bool IsReshape(const Instruction& i) {
  return (i.opcode() == Opcode::kReshape || i.opcode() == Opcode::kBitcast) &&
         i.shape().type == i.operand(0)->shape().type;
}

class LaneRules {
 public:
  LaneRules(const RowForm& form, absl::Span<const Instruction* const> members, bool across_rows)
      : form_(form),
        columns_(form.IsColumns() || across_rows),
        inside_(members.begin(), members.end()) {
    const DimVector& own = columns_ ? form.kept : form.within;
    const DimVector& others = columns_ ? form.within : form.kept;
    for (int64_t d : own)
      if (across_rows || others.empty() || d > others.back()) lanes_.dims.push_back(d);
    lanes_.across_rows = across_rows;
  }

  std::optional<RowLanes> Find(absl::Span<const Instruction* const> members,
                               const RowLaneLimits& limits) {
    if (!columns_)
      for (size_t k = members.size(); k-- > 0;) AddMask(*members[k]);
    for (const Instruction* i : members)
      if (!Goes(*i) || !LeavesFit(*i)) return std::nullopt;
    if (!lanes_.masks.empty() && !HasOneShape(members)) return std::nullopt;
    for (const int64_t d : lanes_.dims) lanes_.count *= form_.full.dims[d];
    for (const int64_t d : form_.within)
      if (!Contains(lanes_.dims, d)) lanes_.outer.push_back(d);
    const int64_t least = lanes_.across_rows ? limits.min_short_rows : limits.min_columns;
    if (columns_ ? lanes_.count < least : lanes_.count % limits.lanes != 0) return std::nullopt;
    return lanes_;
  }

 private:
  bool IsLeaf(const Instruction& i) const { return !inside_.contains(&i); }

  bool LeavesFit(const Instruction& i) const {
    for (const Instruction* operand : i.operands()) {
      const Shape& shape = operand->shape();
      if (!IsLeaf(*operand)) continue;
      if (!shape.IsArray()) return false;
      if (shape.ElementCount() == form_.full.ElementCount() &&
          (!form_.IsFull(shape) || !IsLaneType(shape.type)))
        return false;
      if (columns_ && (!shape.IsRowMajor() || (shape.rank() > 0 && !IsLaneType(shape.type))))
        return false;
      if (lanes_.across_rows && form_.IsFull(shape) && !IsGathered(shape.type)) return false;
    }
    return true;
  }

  // Places are known by their index among all rows, which reshapes would lose.
  bool HasOneShape(absl::Span<const Instruction* const> members) const {
    return std::all_of(members.begin(), members.end(), [&](const Instruction* i) {
      return !form_.IsFull(i->shape()) || i->shape().dims == form_.full.dims;
    });
  }

  // Takes in numbers of places along a row: those of columns are the same for all lanes.
  bool Counts(const Instruction& iota) {
    const int64_t d = iota.attr<IotaAttrs>().iota_dimension;
    if (iota.shape().type != ElementType::kS32 || iota.shape().dims != form_.full.dims ||
        !(columns_ ? Contains(form_.within, d) : TakesWhole({d})))
      return false;
    lanes_.masks.insert(&iota);
    return true;
  }

  // Takes in a mask of all rows' size, and what it is made of, if nothing else reads that.
  void AddMask(const Instruction& root) {
    constexpr size_t kMaxParts = 32;
    if (lanes_.masks.contains(&root) || !IsPred(root.shape().type) || !form_.IsFull(root.shape()) ||
        root.shape().dims != form_.full.dims)
      return;
    std::vector<const Instruction*> parts;
    DimVector own;
    for (int64_t d = 0; d < root.shape().rank(); ++d) own.push_back(d);
    if (!IsOfPlaces(root, own, parts) || parts.size() > kMaxParts) return;
    absl::flat_hash_set<const Instruction*> all(parts.begin(), parts.end());
    for (const Instruction* part : all)
      for (const Instruction* user : part->users())
        if (part != &root && !all.contains(user) && !lanes_.masks.contains(user)) return;
    lanes_.masks.insert(all.begin(), all.end());
  }

  // Whether `i` is made of iotas and scalars. `dims`: the dimensions of all rows that its own are.
  bool IsOfPlaces(const Instruction& i, const DimVector& dims,
                  std::vector<const Instruction*>& parts) {
    constexpr size_t kDeep = 64;
    const ElementType type = i.shape().type;
    if (!i.shape().IsArray() || IsLeaf(i) || parts.size() > kDeep ||
        (type != ElementType::kPred && type != ElementType::kS32 && type != ElementType::kU32))
      return false;
    parts.push_back(&i);
    switch (i.opcode()) {
      case Opcode::kIota: {
        const int64_t d = i.attr<IotaAttrs>().iota_dimension;
        return i.shape().dims[d] == form_.full.dims[dims[d]] && TakesWhole({dims[d]});
      }
      case Opcode::kBroadcast: {
        const Instruction& from = *i.operand(0);
        if (from.shape().IsScalar()) return true;
        DimVector inside;
        for (const int64_t d : i.attr<BroadcastAttrs>().dimensions) inside.push_back(dims[d]);
        return from.shape().ElementCount() > 1 && IsOfPlaces(from, inside, parts);
      }
      default:
        return HasTrait(i.opcode(), kVectorForm) &&
               Facts(i.opcode()).cost == CostClass::kArithmetic &&
               std::all_of(
                   i.operands().begin(), i.operands().end(),
                   [&](const Instruction* operand) { return IsOfPlaces(*operand, dims, parts); });
    }
  }

  bool Goes(const Instruction& i) {
    if (lanes_.masks.contains(&i)) return true;
    if (i.opcode() == Opcode::kReduce) return Reduces(i);
    const auto is_full = [&](const Instruction* x) { return form_.IsFull(x->shape()); };
    if (!is_full(&i)) {
      if (!i.shape().IsArray() || std::any_of(i.operands().begin(), i.operands().end(), is_full))
        return false;
      return !columns_ || IsScalar(i) || GoesAsColumns(i);
    }
    if (!IsLaneType(i.shape().type)) return false;
    if (i.opcode() == Opcode::kBroadcast) return Spreads(i);
    if (i.opcode() == Opcode::kIota) return Counts(i);
    for (const Instruction* operand : i.operands())
      if (!is_full(operand) || !IsLaneType(operand->shape().type)) return false;
    return IsReshape(i) || HasTrait(i.opcode(), kVectorForm);
  }

  bool Reduces(const Instruction& i) const {
    if (!i.shape().IsArray() || !IsLaneType(i.shape().type) || i.shape().type == ElementType::kPred)
      return false;
    if (!columns_ && RoundsSteps(i)) return false;  // one after the other
    const std::optional<Opcode> reducer = SimpleReducer(*i.to_apply());
    return reducer.has_value() && (*reducer == Opcode::kAdd || *reducer == Opcode::kMultiply ||
                                   *reducer == Opcode::kMaximum || *reducer == Opcode::kMinimum);
  }

  static bool IsScalar(const Instruction& i) {
    return i.shape().IsScalar() &&
           std::all_of(i.operands().begin(), i.operands().end(),
                       [](const Instruction* x) { return x->shape().IsScalar(); });
  }

  // Values with an element a column are vectors of neighbouring columns.
  bool GoesAsColumns(const Instruction& i) const {
    if (!form_.IsRowShaped(i.shape()) || !IsLaneType(i.shape().type)) return false;
    if (i.opcode() == Opcode::kBroadcast)
      return i.operand(0)->shape().IsScalar() ||
             (form_.IsRowShaped(i.operand(0)->shape()) && form_.BroadcastKeepsRow(i));
    for (const Instruction* operand : i.operands())
      if (!form_.IsRowShaped(operand->shape()) || !IsLaneType(operand->shape().type)) return false;
    return IsReshape(i) || HasTrait(i.opcode(), kVectorForm);
  }

  // Broadcasts of row values are made once a row; what lies along lanes has to be in memory.
  bool Spreads(const Instruction& i) {
    const Instruction& from = *i.operand(0);
    if (i.shape().dims != form_.full.dims || form_.IsFull(from.shape())) return false;
    if (from.shape().IsScalar()) return true;
    const DimVector& to = i.attr<BroadcastAttrs>().dimensions;
    DimVector spread;  // the dimensions along which it varies
    for (int64_t d = 0; d < from.shape().rank(); ++d)
      if (from.shape().dims[d] != 1) spread.push_back(to[d]);
    if (!columns_ && !form_.IsAlongRow(i)) return true;
    if (!IsLeaf(from)) return columns_ && form_.BroadcastKeepsRow(i) && TakesWhole(spread);
    // Of what varies along rows as well, the elements of neighbouring rows lie apart.
    if (lanes_.across_rows && Contains(spread, lanes_.dims.back()) &&
        spread.back() != lanes_.dims.back())
      return false;
    return from.shape().IsRowMajor() && IsLaneType(from.shape().type) && TakesWhole(spread);
  }

  // Lanes cover no dimensions of which `spread` has some and others not.
  // If `spread` covers only the inner part of the lane dimensions, the outer ones are given up
  // (erased) until either all lane dimensions vary or none does.
  bool TakesWhole(const DimVector& spread) {
    if (!std::is_sorted(spread.begin(), spread.end())) return false;
    const auto varies = [&](int64_t d) { return Contains(spread, d); };
    const bool last = varies(lanes_.dims.back());
    while (varies(lanes_.dims.front()) != last) lanes_.dims.erase(lanes_.dims.begin());
    return std::all_of(lanes_.dims.begin(), lanes_.dims.end(),
                       [&](int64_t d) { return varies(d) == last; });
  }

  const RowForm& form_;
  const bool columns_;
  RowLanes lanes_;
  absl::flat_hash_set<const Instruction*> inside_;
};

// Vectors that hold an element each of several rows are loaded and stored in pieces, which pays
// where rows fill no vectors of their own, or where there are long functions of an element a row.
bool PaysAcrossRows(const RowForm& form, absl::Span<const Instruction* const> members,
                    const RowLaneLimits& limits) {
  if (!form.IsContiguous() || form.kept.empty() || form.length > limits.max_short_row) return false;
  const absl::flat_hash_set<const Instruction*> inside(members.begin(), members.end());
  bool costly = false, costly_rows = false, stores = false;
  for (const Instruction* i : members) {
    const bool full = i->shape().IsArray() && form.IsFull(i->shape());
    costly |= IsCostly(*i);
    costly_rows |= IsCostly(*i) && !full;
    stores |= full && std::none_of(i->users().begin(), i->users().end(),
                                   [&](const Instruction* user) { return inside.contains(user); });
  }
  if (stores && form.length > limits.max_stored_row) return false;
  const bool twice = form.passes > 2 && !stores;
  if (twice && form.length < limits.lanes) return true;
  if (form.length % limits.lanes == 0) return costly_rows;
  if (costly) return true;
  // Halves of vectors go along a row too.
  if (twice && form.length % (limits.lanes / 2) != 0) return form.length <= limits.max_twice_row;
  return form.length >= limits.min_plain_row && form.length <= limits.max_plain_row;
}

}  // namespace

bool IsCostly(const Instruction& i) {
  const CostClass cost = Facts(i.opcode()).cost;
  return (cost == CostClass::kFunction || cost == CostClass::kLongFunction) &&
         !IsComplex(i.shape().type);
}

std::optional<RowLanes> FindRowLanes(const RowForm& form,
                                     absl::Span<const Instruction* const> members,
                                     const RowLaneLimits& limits) {
  if (form.within.empty()) return std::nullopt;
  if (PaysAcrossRows(form, members, limits)) {
    auto found = LaneRules(form, members, /*across_rows=*/true).Find(members, limits);
    if (found.has_value()) return found;
  }
  return LaneRules(form, members, /*across_rows=*/false).Find(members, limits);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
