// Custom calls that JAX exports where sizes are symbols: their sizes are operands.
//
//   custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<4x?xf32>, tensor<i32>) -> ...
//   ->  topk(x), k=3      where the arguments that were given say that k is 3
// dynamic_reduce_window, dynamic_rng_bit_generator and dynamic_approx_top_k likewise. A
// shape_assertion whose predicate is known to hold is left out; one known to be false is an error
// with its own message, in which {0}, {1}, ... are the operands after the predicate.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// What operand `k` holds. Errors: it is known only at run time.
absl::StatusOr<DimVector> KnownOperand(BodyConverter& body, const MlirOperation& op, size_t k,
                                       absl::string_view what) {
  if (k >= op.operands.size()) return InvalidArgument(op.name, ": ", what, " is missing");
  ASSIGN_OR_RETURN(const Instruction* value, body.Value(*op.operands[k]));
  const auto ints = KnownInts(*value);
  if (!ints) return Unimplemented(op.name, ": ", what, " is known only at run time");
  return DimVector(ints->begin(), ints->end());
}

absl::StatusOr<DimVector> KnownSizes(BodyConverter& body, const MlirOperation& op, size_t k,
                                     const MlirType& stated) {
  ASSIGN_OR_RETURN(DimVector sizes, KnownOperand(body, op, k, "a size"));
  bool fits = stated.shape.IsArray() && sizes.size() == stated.shape.dims.size();
  for (size_t d = 0; fits && d < sizes.size(); ++d)
    fits =
        sizes[d] >= 0 && (stated.shape.dims[d] == kUnbounded || stated.shape.dims[d] == sizes[d]);
  if (!fits) return InvalidArgument(op.name, ": sizes do not fit ", Text(stated.shape));
  return sizes;
}

MlirType WithSizes(const MlirType& stated, const DimVector& sizes) {
  MlirType type = stated;
  type.shape = Shape::Array(stated.shape.type, sizes);
  return type;
}

// Converts `stands` and gives its results to `op`.
absl::Status ConvertStanding(BodyConverter& body, const MlirOperation& op,
                             const MlirOperation& stands) {
  RETURN_IF_ERROR(body.ConvertSynthetic(stands));
  for (size_t i = 0; i < op.results.size(); ++i) {
    ASSIGN_OR_RETURN(Instruction * made, body.Value(stands.results[i]));
    body.Set(op.results[i], made);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ConvertAssertion(BodyConverter& body, const MlirOperation& op) {
  if (op.operands.empty() || !op.results.empty()) return false;
  ASSIGN_OR_RETURN(const Instruction* holds, body.Value(*op.operands[0]));
  const auto known = KnownInts(*holds);
  if (!known || known->size() != 1) return false;
  if (known->front() != 0) return true;
  ASSIGN_OR_RETURN(std::string message, OpAttributes(op).Word("error_message", "it does not hold"));
  for (size_t i = 1; i < op.operands.size(); ++i) {
    ASSIGN_OR_RETURN(const Instruction* operand, body.Value(*op.operands[i]));
    if (const auto value = KnownInts(*operand); value && value->size() == 1)
      message = absl::StrReplaceAll(
          message, {{absl::StrCat("{", i - 1, "}"), absl::StrCat(value->front())}});
  }
  return InvalidArgument("shape_assertion: ", message);
}

absl::Status ConvertDynamicTopK(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(const DimVector k, KnownOperand(body, op, 1, "k"));
  if (operands.size() != 2 || op.results.size() != 2 || k.size() != 1 ||
      !operands[0]->shape().IsArray() || operands[0]->shape().rank() == 0 || k[0] < 0 ||
      k[0] > operands[0]->shape().dims.back())
    return InvalidArgument(op.name, ": expected an array, k of at most its last size, two results");
  DimVector dims = operands[0]->shape().dims;
  dims.back() = k[0];
  TopKAttrs top;
  top.k = k[0];
  std::vector<Shape> parts;
  for (const MlirValue& result : op.results)
    parts.push_back(Shape::Array(result.type->shape.type, dims).WithDefaultLayout());
  body.SetResults(
      op, body.Add(Opcode::kTopK, Shape::Tuple(std::move(parts)), {operands[0]}, std::move(top)));
  return absl::OkStatus();
}

absl::Status ConvertDynamicRngBitGenerator(BodyConverter& body, const MlirOperation& op) {
  if (op.operands.size() != 2 || op.results.size() != 2)
    return InvalidArgument(op.name, ": expected two operands and two results");
  ASSIGN_OR_RETURN(const DimVector sizes, KnownSizes(body, op, 1, *op.results[1].type));
  const MlirType type = WithSizes(*op.results[1].type, sizes);
  MlirOperation stands;
  stands.name = "stablehlo.rng_bit_generator";
  stands.operands = {op.operands[0]};
  stands.attributes = op.attributes;
  stands.results.push_back({op.results[0].type});
  stands.results.push_back({&type});
  return ConvertStanding(body, op, stands);
}

// Arrays, as many first values, then sizes, strides, the dilations of base and window, padding.
absl::Status ConvertDynamicReduceWindow(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  const size_t arrays = op.results.size();
  const MlirAttribute* called = op.Find("called_computations");
  if (operands.size() != 2 * arrays + 5 || arrays == 0 || called == nullptr ||
      called->elements.size() != 1)
    return InvalidArgument(op.name, ": expected arrays, first values, five lists and a reducer");
  DimVector lists[5];
  for (size_t i = 0; i < 5; ++i) {
    ASSIGN_OR_RETURN(lists[i], KnownOperand(body, op, 2 * arrays + i, "the window"));
    if (lists[i].size() != lists[0].size() * (i == 4 ? 2 : 1))
      return InvalidArgument(op.name, ": the parts of the window differ in number");
  }
  Window window(lists[0].size());
  for (size_t d = 0; d < window.size(); ++d) {
    window[d].size = lists[0][d];
    window[d].stride = lists[1][d];
    window[d].base_dilation = lists[2][d];
    window[d].window_dilation = lists[3][d];
    window[d].pad_low = lists[4][2 * d];
    window[d].pad_high = lists[4][2 * d + 1];
  }
  ASSIGN_OR_RETURN(Computation * reducer, body.module().Function(called->elements[0]->text));
  Instruction* made =
      body.Add(Opcode::kReduceWindow, body.ShapeOf(op), absl::MakeSpan(operands).first(2 * arrays),
               WindowAttrs{std::move(window)});
  made->set_called({reducer});
  CloseSizes(*made);
  body.SetResults(op, made);
  return absl::OkStatus();
}

// Arrays, as many first values, k, the sizes of each result.
absl::Status ConvertDynamicApproxTopK(BodyConverter& body, const MlirOperation& op) {
  const size_t arrays = op.results.size();
  const MlirAttribute* config = op.Find("mhlo.backend_config");
  if (op.operands.size() != 3 * arrays + 1 || config == nullptr)
    return InvalidArgument(op.name, ": expected arrays, first values, k, sizes of the results");
  ASSIGN_OR_RETURN(const DimVector k, KnownOperand(body, op, 2 * arrays, "k"));
  if (k.size() != 1) return InvalidArgument(op.name, ": k is a scalar");
  MlirAttribute count, with_count = *config;
  count.kind = MlirAttribute::Kind::kInt;
  count.integer = k[0];
  with_count.fields.emplace_back("top_k", &count);
  MlirOperation stands;
  stands.name = op.name;
  stands.operands.assign(op.operands.begin(), op.operands.begin() + 2 * arrays);
  stands.attributes = op.attributes;
  for (auto& [name, value] : stands.attributes)
    if (name == "mhlo.backend_config") value = &with_count;
  std::deque<MlirType> types;
  for (size_t i = 0; i < arrays; ++i) {
    const MlirType& stated = *op.results[i].type;
    ASSIGN_OR_RETURN(const DimVector sizes, KnownSizes(body, op, 2 * arrays + 1 + i, stated));
    stands.results.push_back({&types.emplace_back(WithSizes(stated, sizes))});
  }
  ASSIGN_OR_RETURN(const bool exact, ConvertApproxTopK(body, stands));
  if (!exact) return Unimplemented(op.name, ": only with is_fallback");
  for (size_t i = 0; i < arrays; ++i) {
    ASSIGN_OR_RETURN(Instruction * made, body.Value(stands.results[i]));
    body.Set(op.results[i], made);
  }
  return absl::OkStatus();
}

constexpr struct {
  absl::string_view name;
  ConvertFunction convert;
} kDynamicCalls[] = {
    {"dynamic_approx_top_k", &ConvertDynamicApproxTopK},
    {"dynamic_reduce_window", &ConvertDynamicReduceWindow},
    {"dynamic_rng_bit_generator", &ConvertDynamicRngBitGenerator},
    {"dynamic_top_k", &ConvertDynamicTopK},
};

// The attributes without `indices_of_shape_operands` and without the layouts of those operands;
// `layouts` keeps the list of the others.
MlirAttributes WithoutShapeOperands(const MlirOperation& op, const DimVector& indices,
                                    MlirAttribute& layouts) {
  MlirAttributes kept;
  for (const auto& [name, value] : op.attributes) {
    if (name == "indices_of_shape_operands") continue;
    const bool filters = name == "operand_layouts" && value->elements.size() == op.operands.size();
    kept.emplace_back(name, filters ? &layouts : value);
    if (!filters) continue;
    layouts = *value;
    layouts.elements.clear();
    for (size_t i = 0; i < op.operands.size(); ++i)
      if (std::find(indices.begin(), indices.end(), static_cast<int64_t>(i)) == indices.end())
        layouts.elements.push_back(value->elements[i]);
  }
  return kept;
}

// A call whose operands say the sizes of its results, as the call without those operands: the one
// at indices_of_shape_operands[i] is of result i. False where one is known only at run time.
absl::StatusOr<bool> ConvertWithShapeOperands(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const DimVector indices,
                   OpAttributes(op).OptionalInts("indices_of_shape_operands"));
  if (indices.empty()) return false;
  if (indices.size() != op.results.size())
    return InvalidArgument(op.name, ": indices_of_shape_operands has ", indices.size(),
                           " numbers for ", op.results.size(), " results");
  std::deque<MlirType> types;
  MlirOperation stands;
  stands.name = op.name;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= static_cast<int64_t>(op.operands.size()))
      return InvalidArgument(op.name, ": there is no operand ", indices[i], " to say a shape");
    ASSIGN_OR_RETURN(const Instruction* value, body.Value(*op.operands[indices[i]]));
    if (!KnownInts(*value)) return false;
    const MlirType& stated = *op.results[i].type;
    ASSIGN_OR_RETURN(const DimVector sizes, KnownSizes(body, op, indices[i], stated));
    stands.results.push_back({&types.emplace_back(WithSizes(stated, sizes))});
  }
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (std::find(indices.begin(), indices.end(), static_cast<int64_t>(i)) == indices.end())
      stands.operands.push_back(op.operands[i]);
  MlirAttribute layouts;
  stands.attributes = WithoutShapeOperands(op, indices, layouts);
  RETURN_IF_ERROR(ConvertStanding(body, op, stands));
  return true;
}

}  // namespace

absl::StatusOr<bool> ConvertDynamicCall(BodyConverter& body, const MlirOperation& op,
                                        absl::string_view target) {
  if (target == "shape_assertion") return ConvertAssertion(body, op);
  if (!absl::ConsumePrefix(&target, "stablehlo.")) return ConvertWithShapeOperands(body, op);
  for (const auto& row : kDynamicCalls) {
    if (row.name != target) continue;
    RETURN_IF_ERROR(row.convert(body, op));
    return true;
  }
  return false;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
