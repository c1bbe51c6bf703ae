// Chains of operations over arrays of which several dimensions have sizes that only the run knows.
//
//   x = f32[<=8,<=4]: set-dimension-size of f32[8,4] by sizes computed from parameters
//   -> reshape, slice, pad, concatenate, reduce, dot, ... -> zeros beyond the sizes -> a result
// Integers throughout (floats hold small ones), so that every execution gives the same bits. What a
// chain leaves is kept with zeros beyond its sizes. No step reads elements beyond a size: what
// these are is not defined.
// Sizes are often the bound, 1 or 0, where mistakes hide. `most` bounds the floats of an array, so
// a chain of sums and products ends before numbers are no longer exact (kMaxExact).
#include <algorithm>

#include "generator/dynamic_internal.h"
#include "ops/dim_lists.h"

namespace hlokit {
namespace {

constexpr double kMaxExact = 1 << 22;  // floats: sums and products below it are exact

// An array under way. Empty where a step could not be made.
struct Sized {
  Instruction* array = nullptr;
  double most = 0;  // of its floats

  const Shape& shape() const { return array->shape(); }
  const DimVector& dims() const { return shape().dims; }
  int rank() const { return shape().rank(); }
  ElementType type() const { return shape().type; }
};

bool Fits(GeneratedCode& s, absl::Span<const int64_t> dims) {
  return CountOf(dims) <= 4 * s.state().options.max_elements;
}

Instruction* Size(GeneratedCode& s, Instruction* x, int64_t d) {
  return s.Make(Opcode::kGetDimensionSize, {x}, DimensionsAttrs{{d}});
}

Instruction* SetSize(GeneratedCode& s, Instruction* x, int64_t d, Instruction* size) {
  return s.Make(Opcode::kSetDimensionSize, {x, size}, DimensionsAttrs{{d}});
}

// From `least` to the bound; often one of those, or 1.
Instruction* RandomSize(GeneratedCode& s, int64_t least, int64_t bound) {
  const auto constant = [&](int64_t size) {
    return s.ScalarConstant(ElementType::kS32, static_cast<double>(std::clamp(size, least, bound)));
  };
  switch (s.random().Between(0, 9)) {
    case 0:
      return constant(0);
    case 1:
    case 2:
      return constant(1);
    case 3:
      return constant(bound);
    default:
      return s.TameInteger(s.Get(ElementType::kS32, {}).instruction, least, bound);
  }
}

// An array of `dims` without sizes.
Sized Plain(GeneratedCode& s, ElementType type, absl::Span<const int64_t> dims) {
  if (!IsFloat(type)) return {s.Get(type, dims).instruction, 0};
  const Shape shape = Shape::Array(type, dims);
  Instruction* small = s.TameInteger(s.Get(ElementType::kS8, dims).instruction, -8, 8);
  return {s.Make(Opcode::kConvert, {small}, &shape), 8};
}

// With sizes for some of the dimensions, all of at least `least`.
Sized New(GeneratedCode& s, ElementType type, absl::Span<const int64_t> dims, int64_t least = 0) {
  Sized x = Plain(s, type, dims);
  for (int d = 0; d < x.rank() && x.array != nullptr; ++d)
    if (x.dims()[d] >= least && s.random().Chance(0.65))
      x.array = SetSize(s, x.array, d, RandomSize(s, least, x.dims()[d]));
  return x;
}

// An array of `dims` that has x's sizes where `along` gives one of its dimensions, and perhaps
// sizes of its own where it gives -1.
Sized NewAlong(GeneratedCode& s, const Sized& x, absl::Span<const int64_t> dims,
               absl::Span<const int64_t> along) {
  Sized made = Plain(s, x.type(), dims);
  for (size_t d = 0; d < dims.size() && made.array != nullptr; ++d) {
    if (along[d] >= 0 && x.shape().IsDynamic(static_cast<int>(along[d])))
      made.array = SetSize(s, made.array, d, Size(s, x.array, along[d]));
    if (along[d] < 0 && s.random().Chance(0.6))
      made.array = SetSize(s, made.array, d, RandomSize(s, 0, dims[d]));
  }
  return made;
}

DimVector Numbers(int64_t rank) {
  DimVector numbers;
  for (int64_t d = 0; d < rank; ++d) numbers.push_back(d);
  return numbers;
}

// With the dynamic dimensions of all operands: of some operations inference looks at one only.
Instruction* DeclaredAlong(Instruction* made) {
  if (made == nullptr) return nullptr;
  Shape shape = made->shape();
  for (const Instruction* operand : made->operands())
    if (operand->shape().rank() == shape.rank())
      shape.dynamic_mask |= operand->shape().dynamic_mask;
  made->set_shape(shape);
  return made;
}

Sized Negated(GeneratedCode& s, const Sized& x) {
  return {s.Make(Opcode::kNegate, {x.array}), x.most};
}

// Another array of x's dimensions: of sizes of its own, without any, or x itself.
Sized Partner(GeneratedCode& s, const Sized& x) {
  const int64_t kind = s.random().Between(0, 9);
  if (kind == 0) return x;
  if (kind == 1) return Plain(s, x.type(), x.dims());
  return New(s, x.type(), x.dims());
}

Sized Combined(GeneratedCode& s, const Sized& x) {
  const Sized y = Partner(s, x);
  const Opcode opcode = s.random().OneOf(
      {Opcode::kAdd, Opcode::kSubtract, Opcode::kMaximum, Opcode::kMinimum, Opcode::kMultiply});
  const bool product = opcode == Opcode::kMultiply;
  if (product && x.most * y.most > kMaxExact) return x;
  const bool swaps = s.random().Chance(0.5);
  return {s.Make(opcode, {swaps ? y.array : x.array, swaps ? x.array : y.array}),
          product ? x.most * y.most : x.most + y.most};
}

Sized Selected(GeneratedCode& s, const Sized& x) {
  const Sized y = Partner(s, x), z = Partner(s, x);
  Instruction* which =
      s.Make(Opcode::kCompare, {x.array, y.array}, CompareAttrs{ComparisonDirection::kLt, {}});
  return {DeclaredAlong(s.Make(Opcode::kSelect, {which, y.array, z.array})),
          std::max(y.most, z.most)};
}

Sized Clamped(GeneratedCode& s, const Sized& x) {
  return {s.Make(Opcode::kClamp,
                 {s.ScalarConstant(x.type(), 1), x.array, s.ScalarConstant(x.type(), 5)}),
          5};
}

Sized Mapped(GeneratedCode& s, const Sized& x) {
  const Sized y = Partner(s, x);
  return {DeclaredAlong(s.MakeCalling(Opcode::kMap, {x.array, y.array},
                                      {s.ScalarFunction(Opcode::kMaximum, x.type())},
                                      MapAttrs{Numbers(x.rank())})),
          std::max(x.most, y.most)};
}

Sized Transposed(GeneratedCode& s, const Sized& x) {
  DimVector order = Numbers(x.rank());
  s.random().Shuffle(order);
  return {s.Make(Opcode::kTranspose, {x.array}, DimensionsAttrs{order}), x.most};
}

Sized Reversed(GeneratedCode& s, const Sized& x) {
  DimVector dims;
  for (int d = 0; d < x.rank(); ++d)
    if (s.random().Chance(0.6)) dims.push_back(d);
  return {s.Make(Opcode::kReverse, {x.array}, DimensionsAttrs{dims}), x.most};
}

Sized Broadcast(GeneratedCode& s, const Sized& x) {
  const int64_t place = s.random().Between(0, x.rank());
  Shape shape = Shape::Array(x.type(), {});
  DimVector where;
  for (int64_t d = 0; d <= x.rank(); ++d) {
    if (d == place) {
      shape.dims.push_back(s.random().Between(1, 3));
      continue;
    }
    shape.SetDynamic(static_cast<int>(d), x.shape().IsDynamic(static_cast<int>(where.size())));
    shape.dims.push_back(x.dims()[where.size()]);
    where.push_back(d);
  }
  if (!Fits(s, shape.dims)) return x;
  return {s.Make(Opcode::kBroadcast, {x.array}, BroadcastAttrs{where}, &shape), x.most};
}

Sized Padded(GeneratedCode& s, const Sized& x) {
  PaddingConfig padding(x.rank());
  DimVector dims;
  for (int d = 0; d < x.rank(); ++d) {
    padding[d] = {s.random().Between(0, 2), s.random().Between(0, 2), s.random().Between(0, 1)};
    const int64_t inner = std::max<int64_t>(x.dims()[d] - 1, 0) * padding[d].interior;
    dims.push_back(x.dims()[d] + padding[d].low + padding[d].high + inner);
  }
  if (!Fits(s, dims)) return x;
  return {s.Make(Opcode::kPad, {x.array, s.ScalarConstant(x.type(), 3)}, PadAttrs{padding}),
          std::max(x.most, 3.0)};
}

Sized Joined(GeneratedCode& s, const Sized& x) {
  const int64_t d = s.random().Between(0, x.rank() - 1);
  DimVector dims = x.dims(), along = Numbers(x.rank());
  dims[d] = s.random().Between(0, 5);
  along[d] = -1;
  const Sized y = NewAlong(s, x, dims, along);
  dims[d] += x.dims()[d];
  if (!Fits(s, dims)) return x;
  std::vector<Instruction*> parts = {x.array, y.array};
  if (s.random().Chance(0.5)) std::swap(parts[0], parts[1]);
  return {s.Make(Opcode::kConcatenate, parts, DimensionsAttrs{{d}}), std::max(x.most, y.most)};
}

// Parts of dimensions, with the sizes that are left of them.
Sized Cut(GeneratedCode& s, const Sized& x) {
  SliceSpec slice;
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t start = s.random().Chance(0.5) ? 0 : s.random().Between(0, x.dims()[d]);
    slice.push_back({start, s.random().Between(start, x.dims()[d]), s.random().Between(1, 2)});
    if (s.random().Chance(0.3)) slice.back() = {0, x.dims()[d], 1};
  }
  Instruction* made = s.Make(Opcode::kSlice, {x.array}, SliceAttrs{slice});
  if (made == nullptr) return {};
  Shape shape = made->shape();
  for (int d = 0; d < x.rank(); ++d) shape.SetDynamic(d, x.shape().IsDynamic(d));
  made->set_shape(shape);
  return {made, x.most};
}

// Parts of dimensions without sizes.
Sized Taken(GeneratedCode& s, const Sized& x) {
  std::vector<Instruction*> operands = {x.array};
  DynamicSliceAttrs attributes;
  for (int d = 0; d < x.rank(); ++d) {
    const bool whole = x.shape().IsDynamic(d);
    attributes.dynamic_slice_sizes.push_back(whole ? x.dims()[d]
                                                   : s.random().Between(0, x.dims()[d]));
    operands.push_back(s.Get(ElementType::kS32, {}).instruction);
  }
  return {s.Make(Opcode::kDynamicSlice, operands, attributes), x.most};
}

// An update that covers no whole dimension with a size: that would say how long the result is.
Sized Updated(GeneratedCode& s, const Sized& x) {
  DimVector dims, along;
  for (int64_t size : x.dims()) {
    dims.push_back(s.random().Between(0, size));
    along.push_back(-1);
  }
  Sized update = Plain(s, x.type(), dims);
  for (int d = 0; d < x.rank() && update.array != nullptr; ++d)
    if (dims[d] < x.dims()[d] && s.random().Chance(0.6))
      update.array = SetSize(s, update.array, d, RandomSize(s, 0, dims[d]));
  std::vector<Instruction*> operands = {x.array, update.array};
  for (int d = 0; d < x.rank(); ++d) operands.push_back(s.Get(ElementType::kS32, {}).instruction);
  return {s.Make(Opcode::kDynamicUpdateSlice, operands), std::max(x.most, update.most)};
}

Sized Flattened(GeneratedCode& s, const Sized& x) {
  Shape shape = Shape::Array(x.type(), {CountOf(x.dims())});
  shape.SetDynamic(0, x.shape().HasDynamicDims());
  if (!shape.IsDynamic(0) || s.random().Chance(0.5))
    return {s.Make(Opcode::kReshape, {x.array}, ReshapeAttrs{}, &shape), x.most};
  Instruction* count = s.ScalarConstant(ElementType::kS32, 1);
  for (int d = 0; d < x.rank(); ++d)
    count = s.Make(Opcode::kMultiply, {count, Size(s, x.array, d)});
  const Shape* const declared = &shape;
  return {s.Make(Opcode::kDynamicReshape, {x.array, count}, declared), x.most};
}

// The first dimension in two; elements that do not fill a row are left out.
Sized Split(GeneratedCode& s, const Sized& x) {
  if (x.dims()[0] < 2) return x;
  int64_t factor = s.random().Between(2, 4);
  while (x.dims()[0] % factor != 0) --factor;
  Shape shape = x.shape().WithoutLayout();
  shape.dims[0] /= factor;
  shape.dims.insert(shape.dims.begin() + 1, factor);
  shape.dynamic_mask = x.shape().IsDynamic(0) ? 1 : 0;
  for (int d = 1; d < x.rank(); ++d) shape.SetDynamic(d + 1, x.shape().IsDynamic(d));
  return {s.Make(Opcode::kReshape, {x.array}, ReshapeAttrs{}, &shape), x.most};
}

// Rows of another array, which x names.
Sized Looked(GeneratedCode& s, const Sized& x) {
  const Shape numbers = x.shape().WithoutLayout().WithType(ElementType::kS32);
  Instruction* indices = s.Make(Opcode::kConvert, {x.array}, &numbers);
  DimVector dims = s.NewDims(1, 2);
  for (int64_t& d : dims) d = std::clamp<int64_t>(d, 1, 6);
  const Sized table = New(s, x.type(), dims, /*least=*/1);
  GatherAttrs attributes;
  attributes.collapsed_slice_dims = attributes.start_index_map = {0};
  attributes.index_vector_dim = x.rank();
  attributes.slice_sizes = dims;
  attributes.slice_sizes[0] = 1;
  DimVector result = x.dims();
  for (size_t d = 1; d < dims.size(); ++d) {
    attributes.offset_dims.push_back(static_cast<int64_t>(result.size()));
    result.push_back(dims[d]);
  }
  if (!Fits(s, result)) return x;
  return {s.Make(Opcode::kGather, {table.array, indices}, attributes), table.most};
}

// Rows are added to those of x that random indices name.
Sized Scattered(GeneratedCode& s, const Sized& x) {
  const int64_t count = s.random().Between(0, 6);
  const Sized indices = New(s, ElementType::kS32, {count});
  DimVector dims = x.dims(), along = Numbers(x.rank());
  dims[0] = count;
  along[0] = -1;
  const Sized updates = NewAlong(s, x, dims, along);
  ScatterAttrs attributes;
  for (int d = 1; d < x.rank(); ++d) attributes.update_window_dims.push_back(d);
  attributes.inserted_window_dims = attributes.scatter_dims_to_operand_dims = {0};
  attributes.index_vector_dim = 1;
  return {s.MakeCalling(Opcode::kScatter, {x.array, indices.array, updates.array},
                        {s.ScalarFunction(Opcode::kAdd, x.type())}, attributes),
          x.most + static_cast<double>(count) * updates.most};
}

Sized Sorted(GeneratedCode& s, const Sized& x) {
  const int64_t dimension = s.random().Between(0, x.rank() - 1);
  Computation* less = s.module().AddComputation("less");
  const Shape scalar = Shape::Scalar(x.type()).WithDefaultLayout();
  Instruction *a = less->AddParameter(0, scalar), *b = less->AddParameter(1, scalar);
  less->set_root(less->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred).WithDefaultLayout(),
                           {a, b}, CompareAttrs{ComparisonDirection::kLt, {}}));
  return {s.MakeCalling(Opcode::kSort, {x.array}, {less}, SortAttrs{{dimension}, false}), x.most};
}

// What changes nothing in a sum or a maximum of the chain's numbers.
Instruction* Start(GeneratedCode& s, Opcode reducer, ElementType type) {
  if (reducer == Opcode::kAdd) return s.ScalarConstant(type, 0);
  return s.ScalarConstant(type, IsUnsigned(type) ? 0 : -100);
}

Sized Windowed(GeneratedCode& s, const Sized& x) {
  const Opcode reducer = s.random().OneOf({Opcode::kAdd, Opcode::kMaximum});
  WindowAttrs attributes;
  double taps = 1;
  DimVector dims;
  for (int d = 0; d < x.rank(); ++d) {
    WindowDim& w = attributes.window.emplace_back();
    w.size = s.random().Between(1, 3);
    w.stride = s.random().Between(1, 2);
    w.pad_low = s.random().Between(0, w.size - 1);
    w.pad_high = s.random().Between(0, w.size - 1);
    if (s.random().Chance(0.2)) w.base_dilation = 2;
    if (s.random().Chance(0.2)) w.window_dilation = 2;
    taps *= static_cast<double>(w.size);
    dims.push_back(x.dims()[d] * w.base_dilation + 4);
  }
  if (!Fits(s, dims)) return x;
  return {s.MakeCalling(Opcode::kReduceWindow, {x.array, Start(s, reducer, x.type())},
                        {s.ScalarFunction(reducer, x.type())}, attributes),
          std::max(100.0, x.most * taps)};
}

// Sums or maxima over some of the dimensions.
Sized Reduced(GeneratedCode& s, const Sized& x) {
  const Opcode reducer = s.random().OneOf({Opcode::kAdd, Opcode::kMaximum});
  DimVector dims;
  double count = 1;
  for (int d = 0; d < x.rank(); ++d) {
    if (!s.random().Chance(0.5)) continue;
    dims.push_back(d);
    count *= static_cast<double>(x.dims()[d]);
  }
  return {s.MakeCalling(Opcode::kReduce, {x.array, Start(s, reducer, x.type())},
                        {s.ScalarFunction(reducer, x.type())}, DimensionsAttrs{dims}),
          std::max(100.0, x.most * count)};
}

// The last dimension of x with the first (after a batch) of another array.
Sized Multiplied(GeneratedCode& s, const Sized& x) {
  const bool has_batch = x.rank() > 1 && s.random().Chance(0.4);
  const int64_t contracted = x.rank() - 1;
  DimVector dims, along;
  if (has_batch) {
    dims.push_back(x.dims()[0]);
    along.push_back(0);
  }
  for (int64_t size : {x.dims()[contracted], s.random().Between(1, 5)}) {
    dims.push_back(size);
    along.push_back(-1);
  }
  const Sized y = NewAlong(s, x, dims, along);
  DimVector result = x.dims();
  result.back() = dims.back();
  const double most = x.most * y.most * static_cast<double>(x.dims()[contracted]);
  if (!Fits(s, result) || most > kMaxExact) return x;
  DotAttrs attributes;
  if (has_batch) attributes.lhs_batch_dims = attributes.rhs_batch_dims = {0};
  attributes.lhs_contracting_dims = {contracted};
  attributes.rhs_contracting_dims = {has_batch ? 1 : 0};
  const Shape type = Shape::Scalar(x.type());
  return {s.Make(Opcode::kDot, {x.array, y.array}, attributes, &type), most};
}

// Of arrays of rank 3: batch, one spatial dimension, features.
Sized Convolved(GeneratedCode& s, const Sized& x) {
  if (x.rank() != 3 || x.dims()[2] == 0) return x;
  ConvolutionAttrs attributes;
  WindowDim& w = attributes.window.emplace_back();
  w.size = s.random().Between(1, 3);
  w.stride = s.random().Between(1, 2);
  w.pad_low = s.random().Between(0, 1);
  w.pad_high = s.random().Between(0, 1);
  if (s.random().Chance(0.2)) w.base_dilation = 2;
  ConvDims& labels = attributes.dim_labels;
  labels.input_feature = labels.output_feature = labels.kernel_output_feature = 2;
  labels.input_spatial = labels.output_spatial = {1};
  labels.kernel_input_feature = 1;
  labels.kernel_spatial = {0};
  const Sized kernel = Plain(s, x.type(), {w.size, x.dims()[2], s.random().Between(1, 3)});
  const double most = x.most * kernel.most * static_cast<double>(w.size * x.dims()[2]);
  if (most > kMaxExact) return x;
  const Shape type = Shape::Scalar(x.type());
  return {s.Make(Opcode::kConvolution, {x.array, kernel.array}, attributes, &type), most};
}

// A computation of one array like x: negated, or added to itself.
Computation* Body(GeneratedCode& s, const Sized& x, bool doubles) {
  Computation* body = s.module().AddComputation("of_dynamic");
  Instruction* p = body->AddParameter(0, x.shape());
  body->set_root(doubles ? body->Add(Opcode::kAdd, x.shape(), {p, p})
                         : body->Add(Opcode::kNegate, x.shape(), {p}));
  return body;
}

Sized Branched(GeneratedCode& s, const Sized& x) {
  const double most = 2 * x.most;
  if (!s.state().options.control_flow) return x;
  if (s.random().Chance(0.4))
    return {s.MakeCalling(Opcode::kCall, {x.array}, {Body(s, x, true)}, CallAttrs{}), most};
  Instruction* which = s.Get(ElementType::kPred, {}).instruction;
  return {s.MakeCalling(Opcode::kConditional, {which, x.array, x.array},
                        {Body(s, x, true), Body(s, x, false)}, NoAttrs{}),
          most};
}

Sized Bundled(GeneratedCode& s, const Sized& x) {
  const Sized y = New(s, x.type(), x.dims());
  if (y.array == nullptr) return {};
  Instruction* tuple = s.Make(Opcode::kTuple, {y.array, x.array});
  if (tuple == nullptr) return {};
  if (s.random().Chance(0.5)) tuple = s.Make(Opcode::kOptimizationBarrier, {tuple});
  return {s.Make(Opcode::kGetTupleElement, {tuple}, GetTupleElementAttrs{1}), x.most};
}

using Step = Sized (*)(GeneratedCode&, const Sized&);
constexpr Step kSteps[] = {
    Negated,   Combined, Combined, Combined, Selected,   Clamped,   Mapped,    Transposed, Reversed,
    Broadcast, Padded,   Joined,   Cut,      Taken,      Updated,   Flattened, Split,      Looked,
    Scattered, Sorted,   Windowed, Reduced,  Multiplied, Convolved, Branched,  Bundled};

}  // namespace

void KeepInside(GeneratedCode& s, Instruction* x, double most) {
  const Shape& shape = x->shape();
  const Shape numbers = shape.WithoutLayout().WithType(ElementType::kS32);
  Shape fixed_numbers = numbers;
  fixed_numbers.dynamic_mask = 0;
  Instruction *inside = nullptr, *fixed = x;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!shape.IsDynamic(d)) continue;
    Instruction* size = Size(s, x, d);
    s.Keep(size);
    Instruction* index = s.Make(Opcode::kIota, {}, IotaAttrs{d}, &fixed_numbers);
    Instruction* below = s.Make(Opcode::kCompare, {index, s.Spread(size, fixed_numbers)},
                                CompareAttrs{ComparisonDirection::kLt, {}});
    inside = inside == nullptr ? below : s.Make(Opcode::kAnd, {inside, below});
    Shape declared = fixed->shape().WithoutLayout();
    declared.SetDynamic(d, false);
    Instruction* bound = s.ScalarConstant(ElementType::kS32, static_cast<double>(shape.dims[d]));
    fixed = s.Make(Opcode::kSetDimensionSize, {fixed, bound}, DimensionsAttrs{{d}}, &declared);
  }
  if (inside != nullptr) {
    Instruction* zeros = s.Spread(s.ScalarConstant(shape.type, 0), fixed->shape());
    fixed = s.Make(Opcode::kSelect, {inside, fixed, zeros});
  }
  s.Keep(fixed, {-most, most, 0});
}

void DynamicChain(GeneratedCode& s) {
  const ElementType type =
      s.random().OneOf({ElementType::kS32, ElementType::kS32, ElementType::kS64, ElementType::kU8,
                        ElementType::kF32, ElementType::kF32});
  DimVector dims = s.AnyDims();
  if (dims.empty() || dims.size() > 4 || s.random().Chance(0.3)) dims = s.NewDims(1, 3);
  Sized x = New(s, type, dims);
  for (int64_t steps = s.random().Between(1, 4); steps > 0; --steps) {
    if (x.rank() == 0 || x.most > kMaxExact) break;
    const Sized next = s.random().OneOf(kSteps)(s, x);
    if (next.array == nullptr) return;
    x = next;
  }
  if (x.most > kMaxExact) return;
  KeepInside(s, x.array, x.most);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
