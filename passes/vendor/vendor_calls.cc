// What the expansions are written in: arithmetic with numbers and rows, and the activation
// functions by their names in vendors' configurations.
//
// Vendors' kernels compute in a wide type and round once at the end. So does an expansion: operands
// are converted by As to Wide(type) (f32 for narrower floats, s32 for narrower integers), Do and
// Scaled work there, and the walk converts the result.
//   epilogue "BIAS_GELU"  ->  x' = x + bias;  0.5 x' (1 + tanh(0.797885 (x' + 0.044715 x'^3)))
// The names GELU and GELU_TANH mean the form with tanh, GELUEXACT and GELU_ERF that with erf.
#include <algorithm>
#include <cmath>

#include "ir/module.h"
#include "ops/dim_lists.h"
#include "passes/rewrite/rewriter.h"
#include "passes/vendor/vendor_calls_internal.h"
#include "types/number_literal.h"

namespace hlokit {
namespace {

constexpr double kSqrt2OverPi = 0.79788456080286535588;

// x / 2 (1 + inner), with inner = erf or tanh of what the two kinds of gelu want.
Instruction* Gelu(VendorCall& c, Instruction* x, Instruction* inner) {
  return c.Do(Opcode::kMultiply, c.Scaled(x, 0.5),
              c.Do(Opcode::kAdd, inner, c.Number(1, x->shape())));
}

Instruction* GeluErf(VendorCall& c, Instruction* x) {
  return Gelu(c, x, c.Do(Opcode::kErf, c.Scaled(x, M_SQRT1_2)));
}

Instruction* GeluTanh(VendorCall& c, Instruction* x) {
  Instruction* cube = c.Do(Opcode::kMultiply, c.Do(Opcode::kMultiply, x, x), x);
  Instruction* sum = c.Do(Opcode::kAdd, x, c.Scaled(cube, 0.044715));
  return Gelu(c, x, c.Do(Opcode::kTanh, c.Scaled(sum, kSqrt2OverPi)));
}

Instruction* Identity(VendorCall&, Instruction* x) { return x; }
Instruction* Relu(VendorCall& c, Instruction* x) {
  return c.Do(Opcode::kMaximum, x, c.Number(0, x->shape()));
}
Instruction* Relu6(VendorCall& c, Instruction* x) {
  return c.Do(Opcode::kMinimum, Relu(c, x), c.Number(6, x->shape()));
}
Instruction* Tanh(VendorCall& c, Instruction* x) { return c.Do(Opcode::kTanh, x); }
Instruction* Sigmoid(VendorCall& c, Instruction* x) { return c.Do(Opcode::kLogistic, x); }
Instruction* Swish(VendorCall& c, Instruction* x) {
  return c.Do(Opcode::kMultiply, x, Sigmoid(c, x));
}
Instruction* Elu(VendorCall& c, Instruction* x) {
  Rewriter& r = c.rewriter();
  Instruction* negative =
      r.Add(Opcode::kCompare, Shape::Array(ElementType::kPred, x->shape().dims),
            {x, c.Number(0, x->shape())}, CompareAttrs{ComparisonDirection::kLt});
  return r.Add(Opcode::kSelect, x->shape(), {negative, c.Do(Opcode::kExponentialMinusOne, x), x});
}

constexpr struct {
  absl::string_view name;
  Instruction* (*apply)(VendorCall&, Instruction*);
} kActivations[] = {{"", Identity},        {"DEFAULT", Identity},   {"NONE", Identity},
                    {"ELU", Elu},          {"GELU", GeluTanh},      {"GELUEXACT", GeluErf},
                    {"GELU_ERF", GeluErf}, {"GELU_TANH", GeluTanh}, {"RELU", Relu},
                    {"RELU6", Relu6},      {"SIGMOID", Sigmoid},    {"SILU", Swish},
                    {"SWISH", Swish},      {"TANH", Tanh}};

}  // namespace

const ConfigValue& VendorCall::config(absl::string_view name) const {
  const ConfigValue* inner = config_.Find(name);
  return inner != nullptr ? *inner : config_;
}

std::vector<const Shape*> VendorCall::operand_shapes() const {
  std::vector<const Shape*> shapes;
  for (const Instruction* operand : call_->operands()) shapes.push_back(&operand->shape());
  return shapes;
}

const Shape& VendorCall::result(size_t leaf) const {
  return call_->shape().IsTuple() ? call_->shape().elements[leaf] : call_->shape();
}

size_t VendorCall::result_count() const {
  return call_->shape().IsTuple() ? call_->shape().elements.size() : 1;
}

ElementType VendorCall::Wide(ElementType type) {
  if (IsFloat(type)) return type == ElementType::kF64 ? type : ElementType::kF32;
  return IsInteger(type) && BitWidth(type) < 32 ? ElementType::kS32 : type;
}

Instruction* VendorCall::As(Instruction* x, ElementType type) {
  if (x->shape().type == type) return x;
  Shape shape = x->shape();
  shape.type = type;
  return r_.Add(Opcode::kConvert, shape.WithDefaultLayout(), {x});
}

Instruction* VendorCall::As(Instruction* x, const Shape& shape) {
  x = As(x, shape.type);
  if (x->shape().MinorToMajor() == shape.MinorToMajor()) return x;
  return r_.Add(Opcode::kCopy, shape, {x});
}

Instruction* VendorCall::Do(Opcode opcode, Instruction* a, Instruction* b) {
  return r_.Add(opcode, a->shape().WithDefaultLayout(), {a, b});
}

Instruction* VendorCall::Do(Opcode opcode, Instruction* a) {
  return r_.Add(opcode, a->shape().WithDefaultLayout(), {a});
}

Instruction* VendorCall::Number(double value, const Shape& shape) {
  Instruction* constant = r_.Constant(NumberLiteral(shape.type, value));
  return shape.IsScalar() ? constant : r_.Broadcast(constant, shape.WithDefaultLayout(), {});
}

Instruction* VendorCall::Scaled(Instruction* x, double factor) {
  return factor == 1 ? x : Do(Opcode::kMultiply, x, Number(factor, x->shape()));
}

Instruction* VendorCall::Plus(Instruction* x, Instruction* y, double factor) {
  y = Scaled(As(y, x->shape().type), factor);
  const int64_t missing = x->shape().rank() - y->shape().rank();
  if (missing < 0) return nullptr;
  DimVector at;
  for (int64_t d = 0; d < y->shape().rank(); ++d) {
    if (y->shape().dims[d] != x->shape().dims[missing + d]) return nullptr;
    at.push_back(missing + d);
  }
  if (missing > 0) y = r_.Broadcast(y, x->shape().WithDefaultLayout(), at);
  return Do(Opcode::kAdd, x, y);
}

Instruction* VendorCall::Activated(absl::string_view name, Instruction* x) {
  const std::string upper = ActivationName(name);
  for (const auto& row : kActivations)
    if (row.name == upper) return row.apply(*this, x);
  return nullptr;
}

Instruction* VendorCall::Reduced(Opcode opcode, Instruction* x, const DimVector& dimensions) {
  const Shape scalar = Shape::Scalar(x->shape().type).WithDefaultLayout();
  Computation* reducer = call_->module()->AddComputation("along");
  Instruction* a = reducer->AddParameter(0, scalar, "a");
  Instruction* b = reducer->AddParameter(1, scalar, "b");
  reducer->set_root(reducer->Add(opcode, scalar, {a, b}));
  DimVector kept;
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (!Contains(dimensions, d)) kept.push_back(x->shape().dims[d]);
  Instruction* start = Number(opcode == Opcode::kAdd ? 0 : -HUGE_VAL, scalar);
  Instruction* reduced = r_.Add(Opcode::kReduce, Shape::Array(scalar.type, kept), {x, start},
                                DimensionsAttrs{dimensions});
  reduced->set_called({reducer});
  return reduced;
}

void KeepFloats(const VendorCall& call, VendorCall::Parts& parts) {
  size_t kept = 1;
  while (kept < std::min(parts.size(), call.result_count()) && IsFloat(call.result(kept).type))
    ++kept;
  parts.resize(kept);
}

// The reduction along a dimension, broadcast back over it.
Instruction* VendorCall::Along(Opcode opcode, Instruction* x, int64_t dimension) {
  DimVector kept;
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (d != dimension) kept.push_back(d);
  return r_.Broadcast(Reduced(opcode, x, {dimension}), x->shape().WithDefaultLayout(), kept);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
