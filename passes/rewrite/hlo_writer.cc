// Shorthands that write HLO: HloWriter adds one instruction per call, infers its shape, and gives
// it the subject's metadata through its Rewriter. Passes that expand operations are written with
// it.
//   w.Binary(Opcode::kMultiply, x, w.FillNumber(x->shape(), 0.5))
//   ->  half = f32[] constant(0.5)   halves = f32[8] broadcast(half)   y = f32[8] multiply(x,
// halves) Results are row-major; a caller that needs another layout adds a copy. Lowest and Highest
// are the identity elements of maximum and minimum: infinities where the type has them, else its
// ends. Constants are made anew each time; cse merges them later.
#include "passes/rewrite/hlo_writer.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ops/evaluate/reducer.h"
#include "passes/rewrite/matchers.h"
#include "support/status.h"
#include "types/float_convert.h"
#include "types/number_literal.h"

namespace hlokit {
namespace {

Shape WithDims(const Shape& shape, absl::Span<const int64_t> dims) {
  return RowMajor(shape.type, dims);
}

}  // namespace

Shape RowMajor(ElementType type, absl::Span<const int64_t> dims) {
  return Shape::Array(type, dims).WithDefaultLayout();
}

ElementType UnsignedOfWidth(int bits) {
  return bits == 8    ? ElementType::kU8
         : bits == 16 ? ElementType::kU16
         : bits == 32 ? ElementType::kU32
                      : ElementType::kU64;
}

Shape RetypedLike(const Shape& shape, ElementType type) {
  Shape result = shape.WithType(type);
  if (result.has_layout && result.layout.extras != nullptr &&
      result.layout.extras->element_size_in_bits != 0) {
    auto extras = std::make_shared<LayoutExtras>(*result.layout.extras);
    extras->element_size_in_bits = 0;
    result.layout.extras = *extras == LayoutExtras() ? nullptr : std::move(extras);
  }
  return result;
}

Instruction* HloWriter::Integer(ElementType type, int64_t value) {
  if (IsFloat(type) || IsComplex(type)) return Number(type, static_cast<double>(value));
  Literal scalar(Shape::Scalar(type));
  scalar.SetInt(0, value);
  return r_.Constant(std::move(scalar));
}

Instruction* HloWriter::Number(ElementType type, double value) {
  return r_.Constant(NumberLiteral(type, value));
}

Instruction* HloWriter::List(ElementType type, absl::Span<const int64_t> values) {
  Literal list(RowMajor(type, {static_cast<int64_t>(values.size())}));
  for (size_t k = 0; k < values.size(); ++k) list.SetInt(k, values[k]);
  return r_.Constant(std::move(list));
}

Instruction* HloWriter::Fill(const Shape& shape, Instruction* scalar) {
  return shape.IsScalar() ? scalar
                          : r_.Broadcast(scalar, RetypedLike(shape, scalar->shape().type), {});
}
Instruction* HloWriter::FillInteger(const Shape& shape, int64_t value) {
  return Fill(shape, Integer(shape.type, value));
}
Instruction* HloWriter::FillNumber(const Shape& shape, double value) {
  return Fill(shape, Number(shape.type, value));
}

Instruction* HloWriter::Lowest(ElementType type) {
  if (IsFloat(type)) return Number(type, EndOf(type, /*low=*/true));
  if (!IsSigned(type)) return Integer(type, 0);
  return Integer(type, static_cast<int64_t>(~uint64_t{0} << (BitWidth(type) - 1)));
}

Instruction* HloWriter::Highest(ElementType type) {
  if (IsFloat(type)) return Number(type, EndOf(type, /*low=*/false));
  if (IsPred(type)) return Integer(type, 1);
  const int bits = BitWidth(type);
  const uint64_t highest =
      IsSigned(type) ? (uint64_t{1} << (bits - 1)) - 1 : ~uint64_t{0} >> (64 - bits);
  return Integer(type, static_cast<int64_t>(highest));
}
// For sums of floats -0.0 is the identity element: -0.0 + -0.0 is -0.0, while 0.0 + -0.0 is 0.0.
Instruction* HloWriter::Identity(Opcode opcode, ElementType type) {
  switch (opcode) {
    case Opcode::kAdd:
      return IsFloat(type) ? Number(type, -0.0) : Integer(type, 0);
    case Opcode::kMultiply:
      return Integer(type, 1);
    case Opcode::kMaximum:
      return Lowest(type);
    case Opcode::kMinimum:
      return Highest(type);
    case Opcode::kAnd:
      return Integer(type, IsPred(type) ? 1 : -1);
    default:  // or, xor
      return Integer(type, 0);
  }
}

Instruction* HloWriter::Iota(ElementType type, absl::Span<const int64_t> dims, int64_t dimension) {
  return r_.Add(Opcode::kIota, RowMajor(type, dims), {}, IotaAttrs{dimension});
}

Instruction* HloWriter::Unary(Opcode opcode, Instruction* x) {
  return r_.Add(opcode, x->shape(), {x});
}
Instruction* HloWriter::Binary(Opcode opcode, Instruction* x, Instruction* y) {
  return r_.Add(opcode, x->shape(), {x, y});
}
Instruction* HloWriter::WithInteger(Opcode opcode, Instruction* x, int64_t y) {
  return Binary(opcode, x, FillInteger(x->shape(), y));
}
Instruction* HloWriter::WithNumber(Opcode opcode, Instruction* x, double y) {
  return Binary(opcode, x, FillNumber(x->shape(), y));
}
Instruction* HloWriter::Compare(Instruction* x, Instruction* y, ComparisonDirection direction) {
  return r_.Add(Opcode::kCompare, RetypedLike(x->shape(), ElementType::kPred), {x, y},
                CompareAttrs{direction});
}
Instruction* HloWriter::Select(Instruction* which, Instruction* x, Instruction* y) {
  if (which->shape().IsScalar() && !x->shape().IsScalar()) which = Fill(x->shape(), which);
  return r_.Add(Opcode::kSelect, x->shape(), {which, x, y});
}
Instruction* HloWriter::Convert(Instruction* x, ElementType type) {
  if (x->shape().type == type) return x;
  return r_.Add(Opcode::kConvert, RetypedLike(x->shape(), type), {x});
}
Instruction* HloWriter::Bitcast(Instruction* x, ElementType type) {
  if (x->shape().type == type) return x;
  return r_.Add(Opcode::kBitcastConvert, RetypedLike(x->shape(), type), {x});
}

Instruction* HloWriter::Reshape(Instruction* x, absl::Span<const int64_t> dims) {
  if (absl::MakeConstSpan(x->shape().dims) == dims) return x;
  return r_.Reshape(x, WithDims(x->shape(), dims));
}

Instruction* HloWriter::Transpose(Instruction* x, absl::Span<const int64_t> permutation) {
  if (IsIota(permutation)) return x;
  DimVector dims;
  for (int64_t d : permutation) dims.push_back(x->shape().dims[d]);
  return r_.Add(Opcode::kTranspose, WithDims(x->shape(), dims), {x},
                DimensionsAttrs{DimVector(permutation.begin(), permutation.end())});
}

Instruction* HloWriter::Broadcast(Instruction* x, absl::Span<const int64_t> dims,
                                  absl::Span<const int64_t> where) {
  return r_.Broadcast(x, WithDims(x->shape(), dims), DimVector(where.begin(), where.end()));
}

Instruction* HloWriter::Slice(Instruction* x, SliceSpec slice) {
  DimVector dims;
  for (const SliceDim& d : slice) dims.push_back((d.limit - d.start + d.stride - 1) / d.stride);
  Shape shape = x->shape();
  shape.dims = dims;
  return r_.Add(Opcode::kSlice, shape, {x}, SliceAttrs{std::move(slice)});
}

Instruction* HloWriter::SliceOf(Instruction* x, int64_t dimension, int64_t start, int64_t limit) {
  SliceSpec slice;
  for (int64_t size : x->shape().dims) slice.push_back({0, size, 1});
  slice[dimension] = {start, limit, 1};
  return Slice(x, std::move(slice));
}

Instruction* HloWriter::Pad(Instruction* x, Instruction* value, PaddingConfig padding) {
  Shape shape = x->shape();
  for (size_t d = 0; d < padding.size(); ++d)
    shape.dims[d] += padding[d].low + padding[d].high +
                     padding[d].interior * std::max<int64_t>(shape.dims[d] - 1, 0);
  return r_.Add(Opcode::kPad, shape, {x, value}, PadAttrs{std::move(padding)});
}

Instruction* HloWriter::Reverse(Instruction* x, absl::Span<const int64_t> dims) {
  return r_.Add(Opcode::kReverse, x->shape(), {x},
                DimensionsAttrs{DimVector(dims.begin(), dims.end())});
}

Instruction* HloWriter::Concatenate(absl::Span<Instruction* const> parts, int64_t dimension) {
  if (parts.size() == 1) return parts[0];
  Shape shape = parts[0]->shape();
  for (size_t k = 1; k < parts.size(); ++k)
    shape.dims[dimension] += parts[k]->shape().dims[dimension];
  return r_.Add(Opcode::kConcatenate, shape, parts, DimensionsAttrs{{dimension}});
}

Instruction* HloWriter::DynamicSlice(Instruction* x, absl::Span<Instruction* const> starts,
                                     absl::Span<const int64_t> sizes) {
  std::vector<Instruction*> operands = {x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  Shape shape = x->shape();
  shape.dims.assign(sizes.begin(), sizes.end());
  return r_.Add(Opcode::kDynamicSlice, shape, operands,
                DynamicSliceAttrs{DimVector(sizes.begin(), sizes.end())});
}

Instruction* HloWriter::DynamicUpdateSlice(Instruction* x, Instruction* update,
                                           absl::Span<Instruction* const> starts) {
  std::vector<Instruction*> operands = {x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return r_.Add(Opcode::kDynamicUpdateSlice, x->shape(), operands);
}

Instruction* HloWriter::ElementOf(Instruction* list, int64_t k) {
  Instruction* one = list->shape().dims[0] == 1 ? list : SliceOf(list, 0, k, k + 1);
  return Reshape(one, {});
}

Instruction* HloWriter::Reduce(Instruction* x, Instruction* init, absl::Span<const int64_t> dims,
                               Computation* reducer) {
  DimVector kept;
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) kept.push_back(x->shape().dims[d]);
  Instruction* made = r_.Add(Opcode::kReduce, WithDims(x->shape(), kept), {x, init},
                             DimensionsAttrs{DimVector(dims.begin(), dims.end())});
  made->set_called({reducer});
  return made;
}

Instruction* HloWriter::Dot(Instruction* x, Instruction* y, int64_t x_dim, int64_t y_dim,
                            int64_t batch) {
  DotAttrs attrs;
  DimVector dims;
  for (int64_t b = 0; b < batch; ++b) {
    attrs.lhs_batch_dims.push_back(b);
    attrs.rhs_batch_dims.push_back(b);
    dims.push_back(x->shape().dims[b]);
  }
  attrs.lhs_contracting_dims = {x_dim};
  attrs.rhs_contracting_dims = {y_dim};
  attrs.operand_precision = {Precision::kHighest, Precision::kHighest};
  for (int64_t d = batch; d < x->shape().rank(); ++d)
    if (d != x_dim) dims.push_back(x->shape().dims[d]);
  for (int64_t d = batch; d < y->shape().rank(); ++d)
    if (d != y_dim) dims.push_back(y->shape().dims[d]);
  return r_.Add(Opcode::kDot, WithDims(x->shape(), dims), {x, y}, std::move(attrs));
}

Instruction* HloWriter::Tuple(absl::Span<Instruction* const> parts) {
  std::vector<Shape> shapes;
  for (Instruction* part : parts) shapes.push_back(part->shape());
  return r_.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), parts);
}

Instruction* HloWriter::Part(Instruction* tuple, int64_t index) {
  return r_.Add(Opcode::kGetTupleElement, tuple->shape().elements[index], {tuple},
                GetTupleElementAttrs{index});
}

Instruction* HloWriter::Call(Computation* callee, absl::Span<Instruction* const> operands) {
  Instruction* made = r_.Add(Opcode::kCall, callee->root()->shape(), operands);
  made->set_called({callee});
  return made;
}

Computation* MakeReducer(Module& module, Opcode opcode, ElementType type) {
  Computation* c = module.AddComputation(absl::StrCat(Text(opcode), "_", Text(type)));
  const Shape scalar = RowMajor(type, {});
  Instruction* lhs = c->AddParameter(0, scalar, "lhs");
  Instruction* rhs = c->AddParameter(1, scalar, "rhs");
  c->set_root(c->Add(opcode, scalar, {lhs, rhs}));
  return c;
}

std::optional<Opcode> CombiningOpcode(const Instruction& i) {
  if (i.operand_count() != 2 || !i.operand(0)->IsParameter() || !i.operand(1)->IsParameter() ||
      i.operand(0) == i.operand(1))
    return std::nullopt;
  return IsCombining(i.opcode()) ? std::optional<Opcode>(i.opcode()) : std::nullopt;
}

std::optional<Opcode> ReducerOpcode(const Computation& computation) {
  if (computation.parameter_count() != 2) return std::nullopt;
  return CombiningOpcode(*computation.root());
}

std::optional<Opcode> OrderlessCombiner(const Instruction& scatter) {
  const ElementType type = scatter.operand(0)->shape().type;
  if (scatter.operand_count() != 3 || BitWidth(type) < 32 || IsComplex(type)) return std::nullopt;
  const std::optional<Opcode> combine = ReducerOpcode(*scatter.to_apply());
  const bool is_extreme = combine == Opcode::kMaximum || combine == Opcode::kMinimum;
  if (combine == Opcode::kMultiply || !(IsInteger(type) || is_extreme)) return std::nullopt;
  return combine;
}

bool IsIdentity(const Instruction* value, Opcode opcode) {
  while (value->opcode() == Opcode::kConvert) value = value->operand(0);
  const Literal* scalar = SplatValue(value);
  return scalar != nullptr && IsIdentityElement(*scalar, opcode);
}

namespace {

Computation* LoopCondition(Module& module, absl::string_view name, const Shape& state,
                           int64_t count) {
  Computation* c = module.AddComputation(absl::StrCat(name, "_cond"));
  Rewriter r(*c);
  HloWriter w(r);
  Instruction* i = w.Part(c->AddParameter(0, state), 0);
  c->set_root(w.Compare(i, w.Integer(ElementType::kS32, count), ComparisonDirection::kLt));
  return c;
}

Computation* LoopStep(Module& module, absl::string_view name, const Shape& state,
                      const LoopBody& body) {
  Computation* c = module.AddComputation(absl::StrCat(name, "_body"));
  Rewriter r(*c);
  HloWriter w(r);
  Instruction* parameter = c->AddParameter(0, state);
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < state.elements.size(); ++k) parts.push_back(w.Part(parameter, k));
  std::vector<Instruction*> next = {w.WithInteger(Opcode::kAdd, parts[0], 1)};
  for (Instruction* part : body(w, parts[0], absl::MakeSpan(parts).subspan(1)))
    next.push_back(part);
  c->set_root(w.Tuple(next));
  return c;
}

}  // namespace

// Writes: while (i < count) { state = body(i, state); i += 1 }. A count of one writes the body
// itself.
std::vector<Instruction*> CountedLoop(HloWriter& w, absl::string_view name, int64_t count,
                                      absl::Span<Instruction* const> state, const LoopBody& body) {
  Instruction* zero = w.Integer(ElementType::kS32, 0);
  if (count == 1) return body(w, zero, state);
  std::vector<Instruction*> parts = {zero};
  parts.insert(parts.end(), state.begin(), state.end());
  Instruction* start = w.Tuple(parts);
  Module& module = *zero->module();
  Instruction* loop = w.rewriter().Add(Opcode::kWhile, start->shape(), {start});
  loop->set_called({LoopCondition(module, name, start->shape(), count),
                    LoopStep(module, name, start->shape(), body)});
  std::vector<Instruction*> after;
  for (size_t k = 1; k < parts.size(); ++k) after.push_back(w.Part(loop, k));
  return after;
}

bool IsElementwiseScalar(const Computation& computation) {
  for (const Instruction* i : computation.Instructions()) {
    if (i->opcode() == Opcode::kTuple && i->IsRoot()) continue;
    if (!i->shape().IsScalar()) return false;
    const bool leaf = i->IsParameter() || (i->IsConstant() && i->literal() != nullptr);
    const bool scalar_broadcast = i->opcode() == Opcode::kBroadcast;
    if (!leaf && !scalar_broadcast && !HasTrait(i->opcode(), kElementwise)) return false;
  }
  return true;
}

// A scalar computation applied to whole arrays: add(a, b) of scalars becomes add(A, B) of arrays.
std::vector<Instruction*> InlineElementwise(HloWriter& w, const Computation& computation,
                                            absl::Span<Instruction* const> arguments) {
  absl::flat_hash_map<const Instruction*, Instruction*> made;
  const Shape& shape = arguments[0]->shape();
  for (const Instruction* i : computation.PostOrder()) {
    if (i->IsParameter()) {
      made[i] = arguments[i->parameter_number()];
    } else if (i->opcode() == Opcode::kBroadcast) {
      made[i] = made.at(i->operand(0));
    } else if (i->IsConstant()) {
      made[i] = w.Fill(shape, w.rewriter().Constant(*i->literal()));
    } else if (i->opcode() != Opcode::kTuple) {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : i->operands()) operands.push_back(made.at(operand));
      made[i] = w.rewriter().Clone(i, RetypedLike(shape, i->shape().type), operands);
    }
  }
  const Instruction* root = computation.root();
  if (root->opcode() != Opcode::kTuple) return {made.at(root)};
  std::vector<Instruction*> results;
  for (const Instruction* part : root->operands()) results.push_back(made.at(part));
  return results;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
