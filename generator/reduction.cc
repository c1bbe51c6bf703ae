// Recipes that combine many elements into few: reduce (with several operands too), scan,
// reduce-window, select-and-scatter, map, and batch normalization. Reducers are associative and
// commutative, since XLA may combine in any order; other initial values than the identity element
// are used only where each result starts from it once.
#include <algorithm>
#include <cmath>

#include "generator/scope_internal.h"

namespace hlokit {
namespace {

// A combiner that may be applied in any order.
Opcode Reducer(GeneratedCode& s, ElementType type) {
  if (IsComplex(type)) return Opcode::kAdd;
  if (IsPred(type)) return s.random().OneOf({Opcode::kAnd, Opcode::kOr, Opcode::kXor});
  if (IsFloat(type))
    return s.random().OneOf({Opcode::kAdd, Opcode::kAdd, Opcode::kMaximum, Opcode::kMinimum});
  return s.random().OneOf({Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum, Opcode::kMinimum,
                           Opcode::kAnd, Opcode::kOr, Opcode::kXor});
}

Bounds ReducedBounds(ElementType type, Opcode reducer, const Bounds& x, const Bounds& init,
                     int64_t count) {
  if (reducer != Opcode::kAdd || !(IsFloat(type) || IsComplex(type))) return Join(x, init);
  // Partial sums may start from the initial value more than once only where it is the identity
  // element.
  return AddBounds(type, SumBounds(type, {-x.Most(), x.Most(), x.error}, {1, 1, 0}, count), init);
}

// The value that changes nothing: partial results may each start from it.
Instruction* IdentityElement(GeneratedCode& s, Opcode reducer, ElementType type) {
  Literal literal(Shape::Scalar(type));
  const bool largest = reducer == Opcode::kMinimum;
  if (IsFloat(type) || IsComplex(type)) {
    const double most = MostUseful(type);
    return s.ScalarConstant(type, reducer == Opcode::kAdd ? 0 : largest ? most : -most);
  }
  const int bits = BitWidth(type);
  int64_t value = 0;
  if (reducer == Opcode::kMultiply) value = 1;
  if (reducer == Opcode::kAnd) value = IsPred(type) ? 1 : -1;
  if (reducer == Opcode::kMaximum && IsSigned(type)) value = int64_t{-1} << (bits - 1);
  if (largest) value = IsSigned(type) ? ~(int64_t{-1} << (bits - 1)) : -1;
  literal.SetInt(0, value);
  return s.Constant(std::move(literal));
}

// Where the identity element itself may be a result.
Bounds Widest(ElementType type, Opcode reducer) {
  if (reducer == Opcode::kAdd || !IsFloat(type)) return {};
  return {-MostUseful(type), MostUseful(type), 0};
}

// Each dimension with probability one half, in order.
DimVector SomeDimensions(GeneratedCode& s, int rank) {
  DimVector dimensions;
  for (int d = 0; d < rank; ++d)
    if (s.random().Chance(0.5)) dimensions.push_back(d);
  return dimensions;
}

int64_t CountAlong(const Shape& shape, const DimVector& dimensions) {
  int64_t count = 1;
  for (int64_t d : dimensions) count *= shape.dims[d];
  return count;
}

}  // namespace

void ReduceValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  if (x.type() == ElementType::kF8E8M0FNU) return;
  const Opcode reducer = Reducer(s, x.type());
  const DimVector dimensions = SomeDimensions(s, x.shape().rank());
  const int64_t count = CountAlong(x.shape(), dimensions);
  // Where nothing meets but the initial value, it need not be looked at (XLA does not).
  const bool identity = count == 1 || s.random().Chance(0.7);
  RandomValue init;
  if (identity) {
    init = {IdentityElement(s, reducer, x.type()), x.bounds};
    if (count == 0) init.bounds = Widest(x.type(), reducer);
  } else {
    init = s.RandomConstant(x.type(), {});
  }
  s.Keep(s.MakeCalling(Opcode::kReduce, {x.instruction, init.instruction},
                       {s.ScalarFunction(reducer, x.type())}, DimensionsAttrs{dimensions}),
         ReducedBounds(x.type(), reducer, x.bounds, init.bounds, count));
}

namespace {

// (value, index) pairs: the larger value, and of equal ones the smaller index.
Computation* ArgMax(GeneratedCode& s, ElementType type) {
  Computation* made = s.module().AddComputation("arg_max");
  const Shape value = Shape::Scalar(type).WithDefaultLayout();
  const Shape index = Shape::Scalar(ElementType::kS32).WithDefaultLayout();
  const Shape pred = Shape::Scalar(ElementType::kPred).WithDefaultLayout();
  Instruction* x = made->AddParameter(0, value);
  Instruction* i = made->AddParameter(1, index);
  Instruction* y = made->AddParameter(2, value);
  Instruction* j = made->AddParameter(3, index);
  using D = ComparisonDirection;
  auto compare = [&](D direction, Instruction* a, Instruction* b) {
    return made->Add(Opcode::kCompare, pred, {a, b}, CompareAttrs{direction, {}});
  };
  Instruction* tie = made->Add(Opcode::kAnd, pred, {compare(D::kEq, x, y), compare(D::kLt, i, j)});
  Instruction* first = made->Add(Opcode::kOr, pred, {compare(D::kGt, x, y), tie});
  Instruction* best = made->Add(Opcode::kSelect, value, {first, x, y});
  Instruction* where = made->Add(Opcode::kSelect, index, {first, i, j});
  made->set_root(made->Add(Opcode::kTuple, Shape::Tuple({value, index}), {best, where}));
  return made;
}

// The fields of several operands reduced at a time, each by its own combiner; in any order.
Computation* FieldByField(GeneratedCode& s, absl::Span<const ElementType> types,
                          absl::Span<const Opcode> reducers) {
  Computation* made = s.module().AddComputation("fields");
  std::vector<Instruction*> parameters, results;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < 2 * types.size(); ++i) {
    const Shape scalar = Shape::Scalar(types[i % types.size()]).WithDefaultLayout();
    parameters.push_back(made->AddParameter(static_cast<int64_t>(i), scalar));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    Instruction *x = parameters[i], *y = parameters[i + types.size()];
    if (s.random().Chance(0.2)) std::swap(x, y);
    shapes.push_back(x->shape());
    results.push_back(made->Add(reducers[i], x->shape(), {x, y}));
  }
  made->set_root(made->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), results));
  return made;
}

void ReduceFields(GeneratedCode& s) {
  const DimVector dims = s.AnyDims(), dimensions = SomeDimensions(s, static_cast<int>(dims.size()));
  std::vector<Instruction*> operands, initial;
  std::vector<ElementType> types;
  std::vector<Opcode> reducers;
  std::vector<Bounds> bounds;
  for (int64_t count = s.random().Between(2, 4); count > 0; --count) {
    ElementType type = s.AnyType();
    if (type == ElementType::kF8E8M0FNU) type = ElementType::kF32;
    const RandomValue x = s.Get(type, dims);
    const Opcode reducer = Reducer(s, type);
    const int64_t along = CountAlong(x.shape(), dimensions);
    const RandomValue init = {IdentityElement(s, reducer, type),
                              along == 0 ? Widest(type, reducer) : x.bounds};
    types.push_back(type);
    reducers.push_back(reducer);
    operands.push_back(x.instruction);
    initial.push_back(init.instruction);
    bounds.push_back(ReducedBounds(type, reducer, x.bounds, init.bounds, along));
  }
  operands.insert(operands.end(), initial.begin(), initial.end());
  s.KeepElements(s.MakeCalling(Opcode::kReduce, operands, {FieldByField(s, types, reducers)},
                               DimensionsAttrs{dimensions}),
                 bounds);
}

// The position in row-major order over `dimensions`, as s32.
Instruction* PositionAlong(GeneratedCode& s, const Shape& shape, const DimVector& dimensions) {
  const Shape numbers = shape.WithoutLayout().WithType(ElementType::kS32);
  Instruction* position = nullptr;
  int64_t step = 1;
  for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
    Instruction* along = s.Make(Opcode::kIota, {}, IotaAttrs{*d}, &numbers);
    if (step != 1)
      along = s.Make(
          Opcode::kMultiply,
          {along,
           s.Spread(s.ScalarConstant(ElementType::kS32, static_cast<double>(step)), numbers)});
    position = position == nullptr ? along : s.Make(Opcode::kAdd, {position, along});
    step *= shape.dims[*d];
  }
  return position;
}

}  // namespace

// Two to four fields, or the largest value and where it stands.
void ReduceSeveral(GeneratedCode& s) {
  if (s.random().Chance(0.5)) return ReduceFields(s);
  const ElementType type = s.random().Chance(0.6) ? s.FloatType() : s.IntegerType();
  const RandomValue x = s.GetAny(type, /*exact=*/true);
  const int rank = x.shape().rank();
  DimVector dimensions = SomeDimensions(s, rank);
  if (rank == 0) return;
  if (dimensions.empty()) dimensions = {s.random().Between(0, rank - 1)};
  Instruction* index = PositionAlong(s, x.shape(), dimensions);
  Instruction* least =
      IsFloat(type) ? s.ScalarConstant(type, -4) : IdentityElement(s, Opcode::kMaximum, type);
  Instruction* none = s.ScalarConstant(ElementType::kS32, 1 << 20);
  Instruction* reduced = s.MakeCalling(Opcode::kReduce, {x.instruction, index, least, none},
                                       {ArgMax(s, type)}, DimensionsAttrs{dimensions});
  s.KeepElements(reduced, {Join(x.bounds, {-4, -4, 0}), {}});
}

namespace {

// element and carry to (output, carry): the two combined.
Computation* ScanStep(GeneratedCode& s, Opcode opcode, const Shape& element) {
  Computation* made = s.module().AddComputation("scan_step");
  Instruction* x = made->AddParameter(0, element);
  Instruction* carry = made->AddParameter(1, element);
  Instruction* total = made->Add(opcode, element, {x, carry});
  made->set_root(made->Add(Opcode::kTuple, Shape::Tuple({element, element}),
                           {s.random().Chance(0.7) ? total : carry, total}));
  return made;
}

}  // namespace

// Scans forward or reversed, associative or not.
void ScanValues(GeneratedCode& s) {
  const RandomValue x = s.Plain(s.Any());
  const ElementType type = x.type();
  if (x.shape().rank() == 0 || type == ElementType::kF8E8M0FNU) return;
  const int64_t dimension = s.random().Between(0, x.shape().rank() - 1);
  DimVector dims = x.shape().dims;
  const int64_t length = dims[dimension];
  dims.erase(dims.begin() + dimension);
  const RandomValue init = s.Plain(s.Get(type, dims));
  const Opcode opcode = Reducer(s, type);
  ScanAttrs attributes;
  attributes.dimensions = {dimension};
  attributes.num_carries = 1;
  attributes.is_reverse = s.random().Chance(0.4);
  attributes.is_associative = s.random().Chance(0.5);
  const Bounds bounds = ReducedBounds(type, opcode, x.bounds, init.bounds, length);
  const Shape element = Shape::Array(type, dims).WithDefaultLayout();
  s.KeepElements(s.MakeCalling(Opcode::kScan, {x.instruction, init.instruction},
                               {ScanStep(s, opcode, element)}, attributes),
                 {bounds, bounds});
}

namespace {

// A window over an array; `taps` is how many elements one result combines.
Window SomeWindow(GeneratedCode& s, const Shape& shape, bool dilations, int64_t& taps) {
  Window window;
  taps = 1;
  for (int64_t size : shape.dims) {
    WindowDim& w = window.emplace_back();
    w.size = s.random().Chance(0.4) ? 1 : s.random().Between(1, 3);
    if (s.random().Chance(0.4)) w.stride = s.random().Between(1, 3);
    if (s.random().Chance(0.3)) w.pad_low = s.random().Between(0, w.size - 1);
    if (s.random().Chance(0.3)) w.pad_high = s.random().Between(0, w.size - 1);
    // Padding that cuts, and windows that see nothing but padding.
    if (dilations && size > 4 && s.random().Chance(0.1)) w.pad_low = s.random().Between(-2, 4);
    if (dilations && size > 4 && s.random().Chance(0.1)) w.pad_high = s.random().Between(-2, 4);
    if (dilations && s.random().Chance(0.15)) w.base_dilation = s.random().Between(1, 3);
    if (dilations && s.random().Chance(0.15)) w.window_dilation = s.random().Between(1, 3);
    if (!dilations && size < w.size) w = WindowDim();
    taps *= w.size;
  }
  return window;
}

}  // namespace

void ReduceWindowValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  if (x.type() == ElementType::kF8E8M0FNU) return;
  const Opcode reducer = Reducer(s, x.type());
  int64_t taps = 1;
  const WindowAttrs attributes{SomeWindow(s, x.shape(), /*dilations=*/true, taps)};
  RandomValue init = {IdentityElement(s, reducer, x.type()), Widest(x.type(), reducer)};
  if (s.random().Chance(0.2)) init = s.RandomConstant(x.type(), {});
  s.Keep(s.MakeCalling(Opcode::kReduceWindow, {x.instruction, init.instruction},
                       {s.ScalarFunction(reducer, x.type())}, attributes),
         ReducedBounds(x.type(), reducer, x.bounds, init.bounds, taps));
}

// Windows that choose their largest element, which gets the source's.
void SelectAndScatterValue(GeneratedCode& s) {
  const ElementType type = s.random().OneOf(
      {ElementType::kF32, ElementType::kF64, ElementType::kS32, ElementType::kBF16});
  const RandomValue x = s.GetAny(type, /*exact=*/true);
  int64_t taps = 1;
  const WindowAttrs attributes{SomeWindow(s, x.shape(), /*dilations=*/false, taps)};
  DimVector dims;
  for (int d = 0; d < x.shape().rank(); ++d) {
    const WindowDim& w = attributes.window[d];
    const int64_t slack = x.shape().dims[d] + w.pad_low + w.pad_high - w.size;
    dims.push_back(slack < 0 ? 0 : slack / w.stride + 1);
  }
  const RandomValue source = s.Get(type, dims);
  Computation* select = s.module().AddComputation("select");
  const Shape scalar = Shape::Scalar(type).WithDefaultLayout();
  Instruction* a = select->AddParameter(0, scalar);
  Instruction* b = select->AddParameter(1, scalar);
  using D = ComparisonDirection;
  select->set_root(
      select->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred).WithDefaultLayout(), {a, b},
                  CompareAttrs{s.random().OneOf({D::kGe, D::kGt, D::kLe, D::kLt}), {}}));
  s.Keep(s.MakeCalling(Opcode::kSelectAndScatter,
                       {x.instruction, source.instruction, s.ScalarConstant(type, 0)},
                       {select, s.ScalarFunction(Opcode::kAdd, type)}, attributes),
         SumBounds(type, {-source.bounds.Most(), source.bounds.Most(), source.bounds.error},
                   {1, 1, 0}, taps));
}

// map of max or min over two arrays.
void MapValue(GeneratedCode& s) {
  const RandomValue x = s.Any();
  const ElementType type = x.type();
  if (IsComplex(type) || type == ElementType::kF8E8M0FNU) return;
  const RandomValue y = s.Get(type, x.shape().dims);
  const Opcode opcode = s.random().OneOf({Opcode::kMaximum, Opcode::kMinimum});
  MapAttrs attributes;
  for (int d = 0; d < x.shape().rank(); ++d) attributes.dimensions.push_back(d);
  s.Keep(s.MakeCalling(Opcode::kMap, {x.instruction, y.instruction},
                       {s.ScalarFunction(opcode, type)}, attributes),
         Join(x.bounds, y.bounds));
}

void BatchNorm(GeneratedCode& s) {
  const ElementType type = s.random().OneOf({ElementType::kF32, ElementType::kF64});
  const RandomValue x = s.Tame(s.Get(type, s.NewDims(1, 4)), -2, 2);
  const Shape& shape = x.shape();
  const int64_t feature = s.random().Between(0, shape.rank() - 1);
  if (shape.ElementCount() == 0) return;
  const DimVector dims = {shape.dims[feature]};
  BatchNormAttrs attributes;
  attributes.epsilon = 0.25;
  attributes.feature_index = feature;
  const RandomValue scale = s.GetTame(type, dims, -2, 2);
  const RandomValue offset = s.GetTame(type, dims, -2, 2);
  // (x - mean) / sqrt(variance + epsilon) is at most 8, and no operand moves it by more than 64
  // times its own error.
  const double count = static_cast<double>(shape.ElementCount());
  const double error = 64 * (x.bounds.error + scale.bounds.error + offset.bounds.error) +
                       count * RoundingError(type, 32);
  const Bounds result{-32, 32, error};
  if (s.random().Chance(0.4))
    return s.KeepElements(
        s.Make(Opcode::kBatchNormTraining, {x.instruction, scale.instruction, offset.instruction},
               attributes),
        {result, {-2, 2, error}, {0, 4, error}});
  const RandomValue mean = s.GetTame(type, dims, -2, 2);
  const RandomValue variance = s.GetTame(type, dims, 0, 4);
  Bounds more = result;
  more.error += 64 * (mean.bounds.error + variance.bounds.error);
  if (s.random().Chance(0.6))
    return s.Keep(s.Make(Opcode::kBatchNormInference,
                         {x.instruction, scale.instruction, offset.instruction, mean.instruction,
                          variance.instruction},
                         attributes),
                  more);
  const RandomValue gradient = s.GetTame(type, shape.dims, -2, 2);
  more.error = count * (more.error + 64 * gradient.bounds.error);
  const Bounds sum{-64 * count, 64 * count, more.error * 4};
  s.KeepElements(s.Make(Opcode::kBatchNormGrad,
                        {x.instruction, scale.instruction, mean.instruction, variance.instruction,
                         gradient.instruction},
                        attributes),
                 {sum, sum, sum});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
