// recognize-reduce-window: sums of slices as windows, and weighted sums as dots.
// Rules, operands after users, so that the longest chain is found first:
//   slice(x) + slice(x) + slice(x)        one slice of x and a reduce-window: the slices, plain
//   ones
//                                         or dynamic ones at constant places, lie at equal
//                                         distances along one dimension
//   a + a, n - n of integers              a * 2, 0
//   a * 3 + b * 4, slice(x) - slice(x)    dot(concatenate(a, b), {3, 4})
//   a * v + b * w                         dot(concatenate(v, w), concatenate(a, b)), batch by place
// A chain keeps its order of additions; the sign of a zero may be lost. Products of other types
// than f32, f64 and integers stay, as a dot would round them otherwise; so does x - x, which is no
// zero where x is infinite. Cost: linear.
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

constexpr absl::string_view kRecognizeReduceWindow = "recognize-reduce-window";

// Where a slice at a constant place begins and ends; nothing for any other instruction.
std::optional<SliceSpec> PlaceOf(const Instruction* i) {
  if (i->opcode() == Opcode::kSlice) return i->attr<SliceAttrs>().slice;
  if (i->opcode() != Opcode::kDynamicSlice) return std::nullopt;
  SliceSpec place;
  const Shape& from = i->operand(0)->shape();
  for (int64_t d = 0; d < from.rank(); ++d) {
    const std::optional<int64_t> start = IntegerSplat(i->operand(d + 1));
    if (!start || !i->operand(d + 1)->shape().IsScalar()) return std::nullopt;
    const int64_t size = i->shape().dims[d];
    const int64_t begin = std::clamp<int64_t>(*start, 0, from.dims[d] - size);
    place.push_back({begin, begin + size, 1});
  }
  return place;
}

struct Slice {
  Instruction* array;
  SliceSpec place;
};

std::optional<Slice> SliceOf(const Instruction* i) {
  auto place = PlaceOf(i);
  if (!place) return std::nullopt;
  return Slice{i->operand(0), *std::move(place)};
}

bool StartsBefore(const Slice& a, const Slice& b) {
  for (size_t d = 0; d < a.place.size() && d < b.place.size(); ++d)
    if (a.place[d].start != b.place[d].start) return a.place[d].start < b.place[d].start;
  return false;
}

// The slices that a chain of additions adds, in order; empty where it is something else.
std::vector<Slice> AddedSlices(const Instruction* sum) {
  std::vector<Slice> slices;
  const Instruction* at = sum;
  while (at->opcode() == Opcode::kAdd &&
         (at == sum || (at->users().size() == 1 && !at->IsRoot()))) {
    const std::optional<Slice> last = SliceOf(at->operand(1));
    if (!last) break;
    slices.push_back(*last);
    at = at->operand(0);
  }
  const std::optional<Slice> first = SliceOf(at);
  if (!first) return {};
  slices.push_back(*first);
  std::reverse(slices.begin(), slices.end());
  // Of two the order does not matter.
  if (slices.size() == 2 && StartsBefore(slices[1], slices[0])) std::swap(slices[0], slices[1]);
  return slices;
}

struct Steps {
  int64_t dimension = -1, distance = 0;
};

// How the slices of one array follow each other, if they do.
std::optional<Steps> StepsOf(const std::vector<Slice>& slices) {
  Steps steps;
  for (size_t k = 1; k < slices.size(); ++k) {
    if (slices[k].array != slices[0].array) return std::nullopt;
    const SliceSpec &a = slices[k - 1].place, &b = slices[k].place;
    for (size_t d = 0; d < a.size(); ++d) {
      if (a[d].stride != 1 || b[d].stride != 1) return std::nullopt;
      const int64_t distance = b[d].start - a[d].start;
      if (distance == 0) continue;
      const auto at = static_cast<int64_t>(d);
      const bool fits = distance > 0 && (steps.dimension < 0 ||
                                         (steps.dimension == at && steps.distance == distance));
      if (!fits) return std::nullopt;
      steps = {at, distance};
    }
  }
  return steps.dimension >= 0 ? std::optional<Steps>(steps) : std::nullopt;
}

// The slice from where the first starts to where the last ends, and a window over it.
Instruction* Windowed(Instruction* i, const std::vector<Slice>& slices, const Steps& steps,
                      HloWriter& w) {
  SliceSpec whole = slices[0].place;
  whole[steps.dimension].limit = slices.back().place[steps.dimension].limit;
  Instruction* const x = w.Slice(slices[0].array, std::move(whole));
  WindowAttrs attrs;
  attrs.window.resize(i->shape().rank());
  attrs.window[steps.dimension].size = static_cast<int64_t>(slices.size());
  attrs.window[steps.dimension].window_dilation = steps.distance;
  Instruction* zero = w.Integer(i->shape().type, 0);
  Instruction* made =
      w.rewriter().Add(Opcode::kReduceWindow, i->shape(), {x, zero}, std::move(attrs));
  made->set_called({MakeReducer(*i->module(), Opcode::kAdd, i->shape().type)});
  return made;
}

Instruction* SumAsWindow(Instruction* i, HloWriter& w) {
  if (i->opcode() != Opcode::kAdd) return nullptr;
  const std::vector<Slice> slices = AddedSlices(i);
  const std::optional<Steps> steps = slices.size() >= 2 ? StepsOf(slices) : std::nullopt;
  return steps ? Windowed(i, slices, *steps, w) : nullptr;
}

// One side of a sum: array * number, or array * weights.
struct Term {
  Instruction* array = nullptr;
  const Literal* number = nullptr;  // null: 1
  Instruction* weights = nullptr;
};

Term TermOf(Instruction* i) {
  if (i->opcode() != Opcode::kMultiply) return {i};
  for (int k : {1, 0})
    if (const Literal* number = SplatValue(i->operand(k))) return {i->operand(1 - k), number};
  return {i->operand(0), nullptr, i->operand(1)};
}

// The array with a dimension of size 1 before its own: what dots of several read as one of them.
Instruction* Row(HloWriter& w, Instruction* x) {
  DimVector dims = {1};
  dims.insert(dims.end(), x->shape().dims.begin(), x->shape().dims.end());
  return w.Reshape(x, dims);
}

Instruction* NumbersDot(Instruction* i, const Term& a, const Term& b, HloWriter& w) {
  const bool minus = i->opcode() == Opcode::kSubtract;
  const ElementType type = i->shape().type;
  Literal factors(RowMajor(type, {2}));
  if (IsFloat(type)) {
    factors.SetDouble(0, a.number ? a.number->GetDouble(0) : 1);
    factors.SetDouble(1, (b.number ? b.number->GetDouble(0) : 1) * (minus ? -1 : 1));
  } else {
    const int64_t second = b.number ? b.number->GetInt(0) : 1;
    factors.SetInt(0, a.number ? a.number->GetInt(0) : 1);
    factors.SetInt(1, minus ? static_cast<int64_t>(-static_cast<uint64_t>(second)) : second);
  }
  Instruction* const first = Row(w, a.array);
  Instruction* const stacked = w.Concatenate({first, Row(w, b.array)}, 0);
  DotAttrs attrs;
  attrs.lhs_contracting_dims = {0};
  attrs.rhs_contracting_dims = {0};
  return w.rewriter().Add(Opcode::kDot, i->shape(),
                          {stacked, w.rewriter().Constant(std::move(factors))}, std::move(attrs));
}

Instruction* WeightsDot(Instruction* i, const Term& a, const Term& b, HloWriter& w) {
  std::vector<Instruction*> weights, arrays;
  for (const Term* term : {&a, &b}) {
    weights.push_back(Row(w, term->weights));
    arrays.push_back(Row(w, term->array));
  }
  DotAttrs attrs;
  attrs.lhs_contracting_dims = {0};
  attrs.rhs_contracting_dims = {0};
  for (int64_t d = 1; d <= i->shape().rank(); ++d) {
    attrs.lhs_batch_dims.push_back(d);
    attrs.rhs_batch_dims.push_back(d);
  }
  return w.rewriter().Add(Opcode::kDot, i->shape(),
                          {w.Concatenate(weights, 0), w.Concatenate(arrays, 0)}, std::move(attrs));
}

// Both are slices, of one array.
bool AreSlicesOfOne(const Instruction* a, const Instruction* b) {
  return a->opcode() == Opcode::kSlice && b->opcode() == Opcode::kSlice &&
         a->operand(0) == b->operand(0);
}

// Whether a dot adds products as the type's own multiplications and additions do.
bool DotIsAlike(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kF64 ||
         (IsInteger(type) && BitWidth(type) >= 8);
}

Instruction* SumAsDot(Instruction* i, HloWriter& w) {
  if (!DotIsAlike(i->shape().type) || i->shape().rank() == 0) return nullptr;
  const Term a = TermOf(i->operand(0)), b = TermOf(i->operand(1));
  if (a.weights != nullptr && b.weights != nullptr && i->opcode() == Opcode::kAdd)
    return WeightsDot(i, a, b, w);
  if (a.weights != nullptr || b.weights != nullptr) return nullptr;
  const bool both_weighted = a.number != nullptr && b.number != nullptr;
  return a.array != b.array && (both_weighted || AreSlicesOfOne(a.array, b.array))
             ? NumbersDot(i, a, b, w)
             : nullptr;
}

Instruction* Rewritten(Instruction* i, HloWriter& w) {
  if (i->opcode() == Opcode::kAdd && i->operand(0) == i->operand(1) && !IsPred(i->shape().type))
    return w.rewriter().Add(Opcode::kMultiply, i->shape(),
                            {i->operand(0), w.FillInteger(i->operand(0)->shape(), 2)});
  if (i->opcode() == Opcode::kSubtract && i->operand(0) == i->operand(1) &&
      IsInteger(i->shape().type))
    return w.FillInteger(i->shape(), 0);
  if (Instruction* window = SumAsWindow(i, w)) return window;
  return SumAsDot(i, w);
}

absl::StatusOr<bool> RecognizeReduceWindows(Computation& computation, RewriteControl& control) {
  bool changed = false;
  std::vector<Instruction*> order = computation.PostOrder();
  std::reverse(order.begin(), order.end());  // the longest chains first
  for (Instruction* i : order) {
    if ((i->opcode() != Opcode::kAdd && i->opcode() != Opcode::kSubtract) ||
        i->shape().HasDynamicDims() || (i->users().empty() && !i->IsRoot()))
      continue;
    if (!i->shape().IsRowMajor() || !control.Permit(kRecognizeReduceWindow, *i, *i)) continue;
    Rewriter r(computation);
    r.set_subject(i);
    HloWriter w(r);
    Instruction* const made = Rewritten(i, w);
    if (made == nullptr) continue;
    i->ReplaceAllUsesWith(made);
    changed = true;
  }
  if (changed) RemoveDead(computation);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateRecognizeReduceWindow() {
  return MakeComputationPass(kRecognizeReduceWindow, RecognizeReduceWindows);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
