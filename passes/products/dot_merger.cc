// dot-merger: merges dots that share an operand into one dot of concatenated operands.
// Matches two dots that read one array, of which none needs the other and whose batch and
// contracting dimensions are the same ones of that array. The array may be on either side, and
// behind transposes. Leaves one dot with the other operands side by side, and slices of it.
//   dot(a, b), dot(a, c)  ->  d = dot(a, concatenate(b, c)), slice(d), slice(d)
// Where the other operands differ in more than one dimension, or in order, they are transposed and
// reshaped to batch, free and contracting dimensions first, and the slices back after it.
// Option bytes: of each pair at least one dot, operands and result, is no larger. Cost: the number
// of dots of one operand, squared, times a walk over what they need.
#include <algorithm>
#include <map>

#include "absl/container/flat_hash_set.h"
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

constexpr int64_t kFree = -1;

// A dot seen from one of its operands, the shared one. Each dimension has a label: that of the
// array which is shared, or kFree for those of the other operand alone.
struct SharedDot {
  Instruction* dot = nullptr;
  int64_t side = 0;              // which operand is shared
  Instruction* array = nullptr;  // the operand, or what its transposes read
  DimVector batch, contracting;  // labels, ascending
  DimVector rest;   // labels of the other dimensions of the array, as the result has them
  DimVector other;  // labels of the other operand's dimensions

  Instruction* other_operand() const { return dot->operand(1 - side); }
};

// What a transpose reads, and the label of each dimension of `operand` in it.
Instruction* BehindTransposes(Instruction* operand, DimVector& labels) {
  labels.resize(operand->shape().rank());
  for (size_t d = 0; d < labels.size(); ++d) labels[d] = static_cast<int64_t>(d);
  while (operand->opcode() == Opcode::kTranspose) {
    const DimVector& moved = operand->attr<DimensionsAttrs>().dimensions;
    for (int64_t& label : labels) label = moved[label];
    operand = operand->operand(0);
  }
  return operand;
}

SharedDot SeenFrom(Instruction* dot, int64_t side, bool behind_transposes) {
  const DotAttrs& attrs = dot->attr<DotAttrs>();
  const DimVector& batch = side == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims;
  const DimVector& sums = side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
  const DimVector& other_batch = side == 0 ? attrs.rhs_batch_dims : attrs.lhs_batch_dims;
  const DimVector& other_sums = side == 0 ? attrs.rhs_contracting_dims : attrs.lhs_contracting_dims;
  SharedDot seen{dot, side, dot->operand(side), {}, {}, {}, {}};
  DimVector labels;
  Instruction* const array = BehindTransposes(seen.array, labels);
  if (behind_transposes)
    seen.array = array;
  else
    for (size_t d = 0; d < labels.size(); ++d) labels[d] = static_cast<int64_t>(d);
  seen.other.assign(dot->operand(1 - side)->shape().rank(), kFree);
  for (size_t k = 0; k < batch.size(); ++k) {
    seen.batch.push_back(labels[batch[k]]);
    seen.other[other_batch[k]] = labels[batch[k]];
  }
  for (size_t k = 0; k < sums.size(); ++k) {
    seen.contracting.push_back(labels[sums[k]]);
    seen.other[other_sums[k]] = labels[sums[k]];
  }
  for (size_t d = 0; d < labels.size(); ++d)
    if (!Contains(batch, d) && !Contains(sums, d)) seen.rest.push_back(labels[d]);
  std::sort(seen.batch.begin(), seen.batch.end());
  std::sort(seen.contracting.begin(), seen.contracting.end());
  return seen;
}

// Labels of the result's dimensions: batch, then the free ones of the left and the right operand.
DimVector ResultLabels(const SharedDot& d) {
  const DotAttrs& attrs = d.dot->attr<DotAttrs>();
  const DimVector& other_batch = d.side == 0 ? attrs.rhs_batch_dims : attrs.lhs_batch_dims;
  DimVector labels;
  for (int64_t k : other_batch) labels.push_back(d.other[k]);
  const DimVector free(std::count(d.other.begin(), d.other.end(), kFree), kFree);
  const DimVector &left = d.side == 0 ? d.rest : free, &right = d.side == 0 ? free : d.rest;
  labels.insert(labels.end(), left.begin(), left.end());
  labels.insert(labels.end(), right.begin(), right.end());
  return labels;
}

bool SamePrecision(const SharedDot& a, const SharedDot& b) {
  const DotAttrs &x = a.dot->attr<DotAttrs>(), &y = b.dot->attr<DotAttrs>();
  if (x.algorithm != y.algorithm) return false;
  if (a.side == b.side) return x.operand_precision == y.operand_precision;
  const std::vector<Precision> swapped(y.operand_precision.rbegin(), y.operand_precision.rend());
  return x.operand_precision == swapped;
}

bool Alike(const SharedDot& a, const SharedDot& b) {
  return a.array == b.array && a.batch == b.batch && a.contracting == b.contracting &&
         SamePrecision(a, b) && a.dot->shape().type == b.dot->shape().type &&
         a.other_operand()->shape().type == b.other_operand()->shape().type;
}

// The dimension along which the other operands can be concatenated as they are: their labels are
// the same, batch dimensions are in order, and it is the only one that differs in size (or the
// first free one). Absent: none.
std::optional<int64_t> JoinedAsTheyAre(const SharedDot& a, const SharedDot& b) {
  const DimVector result = ResultLabels(a);
  if (a.other != b.other || a.side != b.side || result != ResultLabels(b) ||
      !std::is_sorted(result.begin(), result.begin() + static_cast<int64_t>(a.batch.size())))
    return {};
  const Shape &x = a.other_operand()->shape(), &y = b.other_operand()->shape();
  std::optional<int64_t> first, differs;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (a.other[d] == kFree && !first) first = d;
    if (x.dims[d] == y.dims[d]) continue;
    if (differs) return {};
    differs = d;
  }
  return differs ? differs : first;
}

// Consecutive labels, several: they can become one dimension of the array by a reshape.
bool CanFlatten(const DimVector& contracting) {
  return contracting.size() > 1 &&
         contracting.back() - contracting.front() + 1 == static_cast<int64_t>(contracting.size());
}

class Merger {
 public:
  Merger(SharedDot a, SharedDot b)
      : a_(std::move(a)), b_(std::move(b)), r_(*a_.dot->parent()), w_(r_) {
    r_.set_subject(a_.dot);
  }

  // Gives the merged dot, null if it would need another memory order; the two lose their users.
  Instruction* Run() {
    const std::optional<int64_t> joined = JoinedAsTheyAre(a_, b_);
    if (joined && !CanFlatten(a_.contracting)) return MergeAsTheyAre(*joined);
    if (!a_.dot->shape().IsRowMajor() || !b_.dot->shape().IsRowMajor()) return nullptr;
    return MergeFlattened();
  }

 private:
  // The first dot with the other operands side by side along `joined`.
  Instruction* MergeAsTheyAre(int64_t joined) {
    if (!SameOrder(a_.dot->shape(), b_.dot->shape())) return nullptr;
    const int64_t x = a_.other_operand()->shape().dims[joined];
    const int64_t y = b_.other_operand()->shape().dims[joined];
    std::vector<Instruction*> operands = {a_.array, a_.array};
    operands[a_.side] = a_.dot->operand(a_.side);
    operands[1 - a_.side] = w_.Concatenate({a_.other_operand(), b_.other_operand()}, joined);
    // The k-th free dimension of the other operand is the k-th free one of the result.
    int64_t nth = std::count(a_.other.begin(), a_.other.begin() + joined, kFree);
    const DimVector labels = ResultLabels(a_);
    int64_t at = 0;
    while (labels[at] != kFree || nth-- > 0) ++at;
    Shape shape = a_.dot->shape();
    shape.dims[at] = x + y;
    Instruction* const merged = r_.Clone(a_.dot, shape, operands);
    a_.dot->ReplaceAllUsesWith(w_.SliceOf(merged, at, 0, x));
    b_.dot->ReplaceAllUsesWith(w_.SliceOf(merged, at, x, x + y));
    return merged;
  }

  static bool SameOrder(const Shape& x, const Shape& y) {
    return x.rank() == y.rank() && x.MinorToMajor() == y.MinorToMajor();
  }

  // The other operand as batch, one free and the contracting dimensions, in ascending labels.
  Instruction* Flattened(const SharedDot& d, bool one_sum) {
    DimVector order, dims;
    const Shape& shape = d.other_operand()->shape();
    auto take = [&](int64_t label) {
      for (int64_t k = 0; k < shape.rank(); ++k)
        if (d.other[k] == label) order.push_back(k);
    };
    for (int64_t label : d.batch) take(label);
    const bool free_last = SumsBeforeFree(a_);
    if (!free_last) take(kFree);
    for (int64_t label : d.contracting) take(label);
    if (free_last) take(kFree);
    int64_t sums = 1;
    for (int64_t label : d.batch) dims.push_back(d.array->shape().dims[label]);
    for (int64_t label : d.contracting) sums *= d.array->shape().dims[label];
    if (!free_last) dims.push_back(FreeElements(d));
    if (one_sum)
      dims.push_back(sums);
    else
      for (int64_t label : d.contracting) dims.push_back(d.array->shape().dims[label]);
    if (free_last) dims.push_back(FreeElements(d));
    return w_.Reshape(w_.Transpose(d.other_operand(), order), dims);
  }

  // Whether the free dimensions of the first dot's other operand are its last ones.
  static bool SumsBeforeFree(const SharedDot& d) {
    return !d.contracting.empty() && !d.other.empty() && d.other.back() == kFree;
  }

  static int64_t FreeElements(const SharedDot& d) {
    int64_t count = 1;
    for (size_t k = 0; k < d.other.size(); ++k)
      if (d.other[k] == kFree) count *= d.other_operand()->shape().dims[k];
    return count;
  }

  // The array with its contracting dimensions as one, where `one_sum`; labels follow.
  Instruction* FlattenedArray(bool one_sum, DimVector& labels) {
    labels.clear();
    DimVector dims;
    for (int64_t d = 0; d < a_.array->shape().rank(); ++d) {
      const int64_t size = a_.array->shape().dims[d];
      if (one_sum && Contains(a_.contracting, d) && d != a_.contracting[0]) {
        dims.back() *= size;
      } else {
        labels.push_back(d);
        dims.push_back(size);
      }
    }
    return w_.Reshape(a_.array, dims);
  }

  Instruction* MergeFlattened() {
    const bool one_sum = CanFlatten(a_.contracting);
    const auto batch = static_cast<int64_t>(a_.batch.size());
    const int64_t sums = one_sum ? 1 : static_cast<int64_t>(a_.contracting.size());
    const int64_t free = SumsBeforeFree(a_) ? batch + sums : batch;
    const int64_t first_sum = SumsBeforeFree(a_) ? batch : batch + 1;
    DimVector labels;
    std::vector<Instruction*> operands(2);
    operands[a_.side] = FlattenedArray(one_sum, labels);
    operands[1 - a_.side] = w_.Concatenate({Flattened(a_, one_sum), Flattened(b_, one_sum)}, free);
    DotAttrs attrs = a_.dot->attr<DotAttrs>();
    DimVector shared_batch, shared_sums, other_batch, other_sums, rest, dims;
    for (size_t d = 0; d < labels.size(); ++d) {
      const auto at = static_cast<int64_t>(d);
      if (Contains(a_.batch, labels[d]))
        shared_batch.push_back(at);
      else if (Contains(a_.contracting, labels[d]))
        shared_sums.push_back(at);
      else
        rest.push_back(labels[d]);
    }
    for (int64_t k = 0; k < batch; ++k) other_batch.push_back(k);
    for (int64_t k = 0; k < sums; ++k) other_sums.push_back(first_sum + k);
    attrs.lhs_batch_dims = a_.side == 0 ? shared_batch : other_batch;
    attrs.rhs_batch_dims = a_.side == 0 ? other_batch : shared_batch;
    attrs.lhs_contracting_dims = a_.side == 0 ? shared_sums : other_sums;
    attrs.rhs_contracting_dims = a_.side == 0 ? other_sums : shared_sums;
    const int64_t both = FreeElements(a_) + FreeElements(b_);
    DimVector result = a_.batch;  // labels of the merged dot's result
    if (a_.side == 1) result.push_back(kFree);
    result.insert(result.end(), rest.begin(), rest.end());
    if (a_.side == 0) result.push_back(kFree);
    for (int64_t label : result)
      dims.push_back(label == kFree ? both : a_.array->shape().dims[label]);
    Instruction* const merged =
        r_.Add(Opcode::kDot, RowMajor(a_.dot->shape().type, dims), operands, attrs);
    Restore(a_, merged, result, 0);
    Restore(b_, merged, result, FreeElements(a_));
    return merged;
  }

  // Cuts what `d` gave out of the merged result, in the dimensions and the order of `d`.
  void Restore(const SharedDot& d, Instruction* merged, const DimVector& result, int64_t start) {
    const int64_t at = std::find(result.begin(), result.end(), kFree) - result.begin();
    Instruction* part = w_.SliceOf(merged, at, start, start + FreeElements(d));
    DimVector dims, labels;  // with each free dimension of `d` again
    for (int64_t label : result) {
      if (label != kFree) {
        labels.push_back(label);
        dims.push_back(d.array->shape().dims[label]);
        continue;
      }
      for (size_t k = 0; k < d.other.size(); ++k) {
        if (d.other[k] != kFree) continue;
        labels.push_back(kFree - static_cast<int64_t>(k));
        dims.push_back(d.other_operand()->shape().dims[k]);
      }
    }
    part = w_.Reshape(part, dims);
    DimVector order;
    size_t k = 0;
    for (int64_t label : ResultLabels(d)) {
      if (label == kFree) {
        while (d.other[k] != kFree) ++k;
        label = kFree - static_cast<int64_t>(k++);
      }
      order.push_back(std::find(labels.begin(), labels.end(), label) - labels.begin());
    }
    part = w_.Transpose(part, order);
    d.dot->ReplaceAllUsesWith(part);
  }

  SharedDot a_, b_;
  Rewriter r_;
  HloWriter w_;
};

bool Needs(const Instruction* i, const Instruction* other) {
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> work = {i};
  while (!work.empty()) {
    const Instruction* at = work.back();
    work.pop_back();
    if (at == other) return true;
    for (const Instruction* operand : at->operands())
      if (seen.insert(operand).second) work.push_back(operand);
    for (const Instruction* before : at->control_predecessors())
      if (seen.insert(before).second) work.push_back(before);
  }
  return false;
}

bool IsCandidate(const Instruction* i) {
  if (i->opcode() != Opcode::kDot || i->operand_count() != 2 || i->shape().HasDynamicDims())
    return false;
  for (const Instruction* operand : i->operands())
    if (operand->shape().HasDynamicDims() || operand->shape().ElementCount() == 0) return false;
  return !HasControlEdges(*i) && (i->IsRoot() || !i->users().empty());
}

int64_t BytesOf(const Instruction* dot) {
  return dot->shape().ByteSize() + dot->operand(0)->shape().ByteSize() +
         dot->operand(1)->shape().ByteSize();
}

class DotMerger final : public ComputationPass {
 public:
  explicit DotMerger(PassArguments& arguments)
      : bytes_(arguments.Int("bytes", std::numeric_limits<int64_t>::max(),
                             "of each pair, one dot with its operands is no larger")) {}
  absl::string_view name() const override { return "dot-merger"; }
  absl::StatusOr<bool> RunOnComputation(Computation& computation) override;

 private:
  Instruction* TryMerge(Instruction* a, Instruction* b);
  const int64_t bytes_;
};

// The merged dot, or null.
Instruction* DotMerger::TryMerge(Instruction* a, Instruction* b) {
  if (BytesOf(a) > bytes_ && BytesOf(b) > bytes_) return nullptr;
  for (bool behind_transposes : {false, true})
    for (int64_t x : {0, 1})
      for (int64_t y : {x, 1 - x}) {
        SharedDot seen_a = SeenFrom(a, x, behind_transposes);
        SharedDot seen_b = SeenFrom(b, y, behind_transposes);
        if (!Alike(seen_a, seen_b)) continue;
        if (Needs(a, b) || Needs(b, a) || !control().Permit("dot-merger", *b, *a)) return nullptr;
        if (Instruction* merged = Merger(std::move(seen_a), std::move(seen_b)).Run()) return merged;
      }
  return nullptr;
}

absl::StatusOr<bool> DotMerger::RunOnComputation(Computation& computation) {
  std::map<int64_t, std::vector<Instruction*>> classes;  // by the id of an array that dots read
  for (Instruction* i : computation.Instructions()) {
    if (!IsCandidate(i)) continue;
    DimVector labels;
    const int64_t left = BehindTransposes(i->operand(0), labels)->id();
    const int64_t right = BehindTransposes(i->operand(1), labels)->id();
    classes[left].push_back(i);
    if (right != left) classes[right].push_back(i);
  }
  absl::flat_hash_set<Instruction*> gone;
  for (auto& [id, dots] : classes)
    for (size_t a = 0; a < dots.size(); ++a)
      for (size_t b = a + 1; b < dots.size(); ++b) {
        if (gone.contains(dots[a]) || gone.contains(dots[b])) continue;
        Instruction* const merged = TryMerge(dots[a], dots[b]);
        if (merged == nullptr) continue;
        gone.insert({dots[a], dots[b]});
        dots[a] = merged;
      }
  return !gone.empty() && RemoveDead(computation);
}

}  // namespace

std::unique_ptr<Pass> CreateDotMerger(PassArguments& arguments) {
  return std::make_unique<DotMerger>(arguments);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
