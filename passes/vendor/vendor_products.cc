// Matrix products of cuBLAS, cuBLASLt and oneDNN, with what is fused into them.
//
//   D = activation(alpha * A B + beta * C + bias)
// The dimensions of the product stand in the configuration as those of a dot. The product is a dot
// in the wide type of the result; then each part of the epilogue that is there follows, in this
// order. An epilogue is a name put together of parts: BIAS_GELU_AUX adds a bias, applies gelu, and
// returns the input of gelu as a second result, which the backward pass needs.
// Products of f8 take scales of A and B as further operands and may return the largest magnitude of
// D before its own scaling.
#include <algorithm>
#include <bit>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "ops/dim_lists.h"
#include "ops/vendor/product_config.h"
#include "passes/rewrite/rewriter.h"
#include "passes/vendor/vendor_calls_internal.h"

namespace hlokit {
namespace {

bool FitDims(const Instruction* a, const Instruction* b, const DimVector& a_dims,
             const DimVector& b_dims) {
  if (a_dims.size() != b_dims.size()) return false;
  for (size_t k = 0; k < a_dims.size(); ++k) {
    const int64_t x = a_dims[k], y = b_dims[k];
    if (x < 0 || y < 0 || x >= a->shape().rank() || y >= b->shape().rank() ||
        a->shape().dims[x] != b->shape().dims[y])
      return false;
  }
  return true;
}

// `one` for each batch that `other` has in the dimensions `batch`; null where it has none such.
Instruction* SpreadOverBatches(VendorCall& c, Instruction* one, const Instruction* other,
                               const DimVector& batch) {
  Shape shape = Shape::Array(one->shape().type, {});
  for (const int64_t d : batch) {
    if (d < 0 || d >= other->shape().rank()) return nullptr;
    shape.dims.push_back(other->shape().dims[d]);
  }
  DimVector where;
  for (int64_t d = 0; d < one->shape().rank(); ++d) {
    where.push_back(shape.rank());
    shape.dims.push_back(one->shape().dims[d]);
  }
  return c.rewriter().Broadcast(one, Shape::Array(shape.type, shape.dims).WithDefaultLayout(),
                                where);
}

// The product in the wide type of `result`; null where the dimensions do not fit.
Instruction* Product(VendorCall& c, DotAttrs dims, ElementType result) {
  Instruction *a = c.operand(0), *b = c.operand(1);
  if (const int64_t operand = OperandOfAllBatches(dims); operand >= 0) {
    Instruction*& one = operand == 0 ? a : b;
    one = SpreadOverBatches(c, one, operand == 0 ? b : a,
                            operand == 0 ? dims.rhs_batch_dims : dims.lhs_batch_dims);
    if (one == nullptr) return nullptr;
    dims = WithBatchesInFront(dims, operand);
  }
  if (!FitDims(a, b, dims.lhs_batch_dims, dims.rhs_batch_dims) ||
      !FitDims(a, b, dims.lhs_contracting_dims, dims.rhs_contracting_dims))
    return nullptr;
  ElementType wide = VendorCall::Wide(result);
  // 8-bit integers may be added up into floats.
  if (IsInteger(a->shape().type) && IsFloat(wide)) wide = ElementType::kS32;
  if (IsComplex(wide) && (a->shape().type != wide || b->shape().type != wide)) return nullptr;
  for (Instruction** x : {&a, &b})
    if (IsFloat((*x)->shape().type) && BitWidth((*x)->shape().type) <= 8) *x = c.As(*x, wide);
  Shape shape = Shape::Array(wide, {});
  for (int64_t d : dims.lhs_batch_dims) shape.dims.push_back(a->shape().dims[d]);
  const auto add_free = [&](const Shape& from, const DimVector& batch, const DimVector& summed) {
    for (int64_t d = 0; d < from.rank(); ++d)
      if (!Contains(batch, d) && !Contains(summed, d)) shape.dims.push_back(from.dims[d]);
  };
  add_free(a->shape(), dims.lhs_batch_dims, dims.lhs_contracting_dims);
  add_free(b->shape(), dims.rhs_batch_dims, dims.rhs_contracting_dims);
  shape = Shape::Array(wide, shape.dims);
  Instruction* dot = c.rewriter().Add(Opcode::kDot, shape, {a, b}, dims);
  return c.As(dot, VendorCall::Wide(result));
}

struct Epilogue {
  bool bias = false, keeps_input = false;
  std::string activation;
};

// BIAS_GELU_AUX and its like: bias, activation, and whether its input is kept.
Epilogue ReadEpilogue(const ConfigValue& config) {
  std::string text = config.StringOr("epilogue", "DEFAULT");
  Epilogue e;
  e.bias = absl::StrContains(text, "BIAS");
  e.keeps_input = absl::EndsWith(text, "_AUX");
  e.activation = absl::StrReplaceAll(text, {{"_AUX", ""}, {"BIAS_", ""}, {"BIAS", ""}});
  return e;
}

Instruction* GemmProduct(VendorCall& c, const ConfigValue& config, ElementType result) {
  const absl::StatusOr<DotAttrs> dims = ReadDotDims(c.attrs().target, &config);
  if (!dims.ok() || c.operand_count() < 2 || config.NumberOr("alpha_imag", 0) != 0) return nullptr;
  Instruction* product = Product(c, *dims, result);
  return product == nullptr ? nullptr : c.Scaled(product, config.NumberOr("alpha_real", 1));
}

// Scalars may be arrays of one element.
Instruction* TimesScalar(VendorCall& c, Instruction* x, Instruction* scalar) {
  Rewriter& r = c.rewriter();
  scalar = c.As(scalar, x->shape().type);
  if (scalar->shape().rank() > 0)
    scalar = r.Reshape(scalar, Shape::Scalar(x->shape().type).WithDefaultLayout());
  return c.Do(Opcode::kMultiply, x, r.Broadcast(scalar, x->shape().WithDefaultLayout(), {}));
}

}  // namespace

// D = activation(alpha * A B + beta * C + bias).
VendorCall::Parts ExpandGemm(VendorCall& c) {
  const ConfigValue& config = c.config("gemm_backend_config");
  Instruction* d = GemmProduct(c, config, c.result().type);
  if (d == nullptr) return {};
  const Epilogue epilogue = ReadEpilogue(config);
  const double beta = config.NumberOr("beta", 0);
  int64_t next = 2;
  if (beta != 0 && next < c.operand_count()) d = c.Plus(d, c.operand(next++), beta);
  if (d != nullptr && epilogue.bias && next < c.operand_count()) d = c.Plus(d, c.operand(next++));
  if (d == nullptr) return {};
  Instruction* activated = IsFloat(c.result().type) ? c.Activated(epilogue.activation, d) : d;
  if (!epilogue.keeps_input) return {activated};
  return {activated, d};
}

// Operands: a, b, c where beta is not 0, scales of a and b, then scalars that scale c and d and a
// vector of biases, in any order. An f8 result may be followed by its largest magnitude before
// scaling.
VendorCall::Parts ExpandF8Matmul(VendorCall& c) {
  const ConfigValue& config = c.config("gemm_backend_config");
  Instruction* d = GemmProduct(c, config, ElementType::kF32);
  if (d == nullptr) return {};
  const Epilogue epilogue = ReadEpilogue(config);
  std::vector<Instruction*> scales;
  Instruction *added = nullptr, *bias = nullptr;
  for (int64_t o = 2; o < c.operand_count(); ++o) {
    Instruction* x = c.operand(o);
    if (x->shape().rank() == 0)
      scales.push_back(x);
    else if (o == 2 && config.NumberOr("beta", 0) != 0)
      added = x;
    else
      bias = x;
  }
  for (size_t k = 0; k < 2 && k < scales.size(); ++k) d = TimesScalar(c, d, scales[k]);
  if (added != nullptr) {
    added = c.Scaled(c.As(added, ElementType::kF32), config.NumberOr("beta", 0));
    if (scales.size() > 3) added = TimesScalar(c, added, scales[2]);
    d = c.Plus(d, added);
  }
  if (d != nullptr && bias != nullptr) d = c.Plus(d, bias);
  if (d != nullptr) d = c.Activated(epilogue.activation, d);
  if (d == nullptr || epilogue.keeps_input) return {};
  VendorCall::Parts parts = {d};
  if (c.result_count() > 1 && c.result(1).type == ElementType::kF32 && c.result(1).rank() == 0) {
    DimVector all;
    for (int64_t k = 0; k < d->shape().rank(); ++k) all.push_back(k);
    Instruction* largest = c.Reduced(Opcode::kMaximum, c.Do(Opcode::kAbs, d), all);
    parts.push_back(c.Do(Opcode::kMaximum, largest, c.Number(0, largest->shape())));
  }
  if (scales.size() > 2) parts[0] = TimesScalar(c, d, scales.back());
  return parts;
}

// The last two dimensions are multiplied, those before are batched. The fused operations are done
// one by one, each that needs an operand taking the next.
VendorCall::Parts ExpandOnednnMatmul(VendorCall& c) {
  if (c.operand_count() < 2) return {};
  const ConfigValue& config = c.config("onednn_matmul_config");
  const int64_t a_rank = c.operand(0)->shape().rank(), b_rank = c.operand(1)->shape().rank();
  if (a_rank < 2 || b_rank < 2) return {};
  DotAttrs dims;
  for (int64_t d = 0; d + 2 < std::min(a_rank, b_rank); ++d) {
    dims.lhs_batch_dims.push_back(d);
    dims.rhs_batch_dims.push_back(d);
  }
  dims.lhs_contracting_dims = {a_rank - (config.NumberOr("transpose_a", 0) != 0 ? 2 : 1)};
  dims.rhs_contracting_dims = {b_rank - (config.NumberOr("transpose_b", 0) != 0 ? 1 : 2)};
  Instruction* d = Product(c, dims, c.result().type);
  const ConfigValue* fusions = config.Find("fusions");
  const ConfigValue* ops = fusions == nullptr ? nullptr : fusions->Find("ops");
  int64_t next = 2;
  for (const ConfigValue& op : ops == nullptr ? std::vector<ConfigValue>() : ops->list) {
    if (d == nullptr) return {};
    if (op.string == "LINEAR") {  // the factor is given by its bits
      const auto bits = static_cast<uint32_t>(fusions->NumberOr("alpha_typecast", 0x3f800000));
      d = c.Scaled(d, std::bit_cast<float>(bits));
    } else if (op.string == "BIAS" || op.string == "BINARY_ADD" || op.string == "SUM") {
      d = next < c.operand_count() ? c.Plus(d, c.operand(next++)) : nullptr;
    } else {
      d = c.Activated(op.string, d);
    }
  }
  return {d};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
