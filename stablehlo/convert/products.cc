// Dots, convolutions, transforms and decompositions.
//
//   stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
//   ->  dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},
//       rhs_contracting_dims={1}
// The attributes have the same fields in both worlds; what differs is where they stand. A dot's
// numbers may be a record, or (in vhlo) attributes of the operation itself; a dot algorithm is a
// record of types there and one name in HLO (dot_bf16_bf16_f32_x3). The old `dot` contracts the
// last dimension of its left operand with the first of its right one.
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "parser/parser.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

absl::StatusOr<std::vector<Instruction*>> CountedOperands(BodyConverter& body,
                                                          const MlirOperation& op, size_t count) {
  if (op.operands.size() != count)
    return InvalidArgument(op.name, ": expected ", count, " operands, found ", op.operands.size());
  return body.Operands(op);
}

std::string WordOfType(const MlirAttribute* type) {
  if (type == nullptr) return "";
  if (type->kind != MlirAttribute::Kind::kType) return type->text;
  if (!type->type->HasShape()) return std::string(type->type->text);  // tf32
  const absl::string_view text = Text(type->type->shape.type);
  return std::string(text.data(), text.size());
}

// XLA's name of a dot's algorithm: the types of operands and accumulator, and how many products
// make one: dot_bf16_bf16_f32_x3.
absl::StatusOr<std::string> AlgorithmOf(const MlirOperation& op) {
  ASSIGN_OR_RETURN(const OpAttributes fields, OpAttributes(op).FieldsOrOwn("algorithm"));
  // vhlo has these fields always, of the type none where there is no algorithm.
  const MlirAttribute* sum_type = fields.Find("accumulation_type");
  if (sum_type == nullptr || (sum_type->kind == MlirAttribute::Kind::kType &&
                              sum_type->type->kind == MlirType::Kind::kNone))
    return std::string();
  const std::string lhs = WordOfType(fields.Find("lhs_precision_type"));
  const std::string rhs = WordOfType(fields.Find("rhs_precision_type"));
  const std::string sum = WordOfType(fields.Find("accumulation_type"));
  ASSIGN_OR_RETURN(const int64_t products, fields.Int("num_primitive_operations", 1));
  ASSIGN_OR_RETURN(const bool fast, fields.Bool("allow_imprecise_accumulation", false));
  if (absl::StartsWith(lhs, "f8") && absl::StartsWith(rhs, "f8"))
    return std::string(fast ? "dot_any_f8_any_f8_f32_fast_accum" : "dot_any_f8_any_f8_f32");
  std::string name = absl::StrCat("dot_", lhs, "_", rhs, "_", sum);
  if (products > 1) absl::StrAppend(&name, "_x", products);
  return name;
}

absl::StatusOr<FftType> FftTypeOf(const MlirOperation& op) {
  return OpAttributes(op).Enum<FftType>("fft_type", "FFT");
}

}  // namespace

absl::Status ConvertDotGeneral(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, CountedOperands(body, op, 2));
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const OpAttributes numbers, attributes.FieldsOrOwn("dot_dimension_numbers"));
  DotAttrs dot;
  ASSIGN_OR_RETURN(dot.lhs_batch_dims, numbers.OptionalInts("lhs_batching_dimensions"));
  ASSIGN_OR_RETURN(dot.rhs_batch_dims, numbers.OptionalInts("rhs_batching_dimensions"));
  ASSIGN_OR_RETURN(dot.lhs_contracting_dims, numbers.OptionalInts("lhs_contracting_dimensions"));
  ASSIGN_OR_RETURN(dot.rhs_contracting_dims, numbers.OptionalInts("rhs_contracting_dimensions"));
  ASSIGN_OR_RETURN(dot.operand_precision, attributes.Precisions());
  ASSIGN_OR_RETURN(const std::string algorithm, AlgorithmOf(op));
  if (!algorithm.empty()) {
    ASSIGN_OR_RETURN(dot.algorithm, ParseDotAlgorithm(algorithm));
  }
  body.SetResults(op, body.Add(Opcode::kDot, body.ShapeOf(op), operands, std::move(dot)));
  return absl::OkStatus();
}

// A composite has the numbers as a list of six lists, in the order of the fields; those of mhlo
// have the first four as the numbers of a dot.
absl::Status ConvertRaggedDot(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, CountedOperands(body, op, 3));
  const OpAttributes attributes(op);
  RaggedDotAttrs dot;
  const std::pair<const char*, DimVector*> fields[] = {
      {"lhs_batching_dimensions", &dot.lhs_batch_dims},
      {"rhs_batching_dimensions", &dot.rhs_batch_dims},
      {"lhs_contracting_dimensions", &dot.lhs_contracting_dims},
      {"rhs_contracting_dimensions", &dot.rhs_contracting_dims},
      {"lhs_ragged_dimensions", &dot.lhs_ragged_dims},
      {"rhs_group_dimensions", &dot.rhs_group_dims}};
  const MlirAttribute* all = op.Find("ragged_dot_dimension_numbers");
  const bool listed = all != nullptr && all->kind == MlirAttribute::Kind::kArray;
  if (all == nullptr || (listed && all->elements.size() != std::size(fields)))
    return InvalidArgument(op.name, ": expected ragged_dot_dimension_numbers");
  for (size_t i = 0; i < std::size(fields); ++i) {
    const MlirAttribute* field = listed ? all->elements[i] : all->Field(fields[i].first);
    if (const MlirAttribute* dot_numbers = all->Field("dot_dimension_numbers");
        field == nullptr && dot_numbers != nullptr)
      field = dot_numbers->Field(fields[i].first);
    if (field == nullptr) continue;
    const auto ints = IntsOf(*field);
    if (!ints) return InvalidArgument(op.name, ": expected dimensions in ", fields[i].first);
    fields[i].second->assign(ints->begin(), ints->end());
  }
  ASSIGN_OR_RETURN(dot.operand_precision, attributes.Precisions());
  body.SetResults(op, body.Add(Opcode::kRaggedDot, body.ShapeOf(op), operands, std::move(dot)));
  return absl::OkStatus();
}

// The last dimension of the left by the first of the right.
absl::Status ConvertDot(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, CountedOperands(body, op, 2));
  DotAttrs dot;
  dot.lhs_contracting_dims = {std::max(operands[0]->shape().rank() - 1, 0)};
  dot.rhs_contracting_dims = {0};
  ASSIGN_OR_RETURN(dot.operand_precision, OpAttributes(op).Precisions());
  body.SetResults(op, body.Add(Opcode::kDot, body.ShapeOf(op), operands, std::move(dot)));
  return absl::OkStatus();
}

namespace {

absl::StatusOr<ConvDims> ConvDimsOf(const OpAttributes& numbers) {
  ConvDims dims;
  ASSIGN_OR_RETURN(dims.input_batch, numbers.Int("input_batch_dimension", 0));
  ASSIGN_OR_RETURN(dims.input_feature, numbers.Int("input_feature_dimension", 0));
  ASSIGN_OR_RETURN(dims.input_spatial, numbers.OptionalInts("input_spatial_dimensions"));
  ASSIGN_OR_RETURN(dims.kernel_input_feature, numbers.Int("kernel_input_feature_dimension", 0));
  ASSIGN_OR_RETURN(dims.kernel_output_feature, numbers.Int("kernel_output_feature_dimension", 0));
  ASSIGN_OR_RETURN(dims.kernel_spatial, numbers.OptionalInts("kernel_spatial_dimensions"));
  ASSIGN_OR_RETURN(dims.output_batch, numbers.Int("output_batch_dimension", 0));
  ASSIGN_OR_RETURN(dims.output_feature, numbers.Int("output_feature_dimension", 0));
  ASSIGN_OR_RETURN(dims.output_spatial, numbers.OptionalInts("output_spatial_dimensions"));
  return dims;
}

absl::StatusOr<Window> WindowOf(const MlirOperation& op, const ConvDims& dims,
                                const Shape& kernel) {
  const OpAttributes attributes(op);
  const size_t rank = dims.kernel_spatial.size();
  ASSIGN_OR_RETURN(const DimVector stride, attributes.OptionalInts("window_strides"));
  ASSIGN_OR_RETURN(const DimVector padding, attributes.OptionalInts("padding"));
  ASSIGN_OR_RETURN(const DimVector lhs, attributes.OptionalInts("lhs_dilation"));
  ASSIGN_OR_RETURN(const DimVector rhs, attributes.OptionalInts("rhs_dilation"));
  ASSIGN_OR_RETURN(const DimVector reversal, attributes.OptionalInts("window_reversal"));
  for (const DimVector* part : {&stride, &lhs, &rhs, &reversal})
    if (!part->empty() && part->size() != rank)
      return InvalidArgument(op.name, ": the parts of the window differ in number");
  if (!padding.empty() && padding.size() != 2 * rank)
    return InvalidArgument(op.name, ": expected two numbers of padding a dimension");
  Window window(rank);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t spatial = dims.kernel_spatial[d];
    if (spatial < 0 || spatial >= kernel.rank())
      return InvalidArgument(op.name, ": the kernel has no dimension ", spatial);
    window[d].size = kernel.dims[spatial];
    if (!stride.empty()) window[d].stride = stride[d];
    if (!padding.empty()) window[d].pad_low = padding[2 * d];
    if (!padding.empty()) window[d].pad_high = padding[2 * d + 1];
    if (!lhs.empty()) window[d].base_dilation = lhs[d];
    if (!rhs.empty()) window[d].window_dilation = rhs[d];
    if (!reversal.empty()) window[d].reversal = reversal[d] != 0;
  }
  return window;
}

}  // namespace

absl::Status ConvertConvolution(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, CountedOperands(body, op, 2));
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const OpAttributes numbers, attributes.FieldsOrOwn("dimension_numbers"));
  ConvolutionAttrs convolution;
  ASSIGN_OR_RETURN(convolution.dim_labels, ConvDimsOf(numbers));
  ASSIGN_OR_RETURN(convolution.window, WindowOf(op, convolution.dim_labels, operands[1]->shape()));
  ASSIGN_OR_RETURN(convolution.feature_group_count, attributes.Int("feature_group_count", 1));
  ASSIGN_OR_RETURN(convolution.batch_group_count, attributes.Int("batch_group_count", 1));
  ASSIGN_OR_RETURN(convolution.operand_precision, attributes.Precisions());
  body.SetResults(
      op, body.Add(Opcode::kConvolution, body.ShapeOf(op), operands, std::move(convolution)));
  return absl::OkStatus();
}

absl::Status ConvertFft(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, CountedOperands(body, op, 1));
  FftAttrs fft;
  ASSIGN_OR_RETURN(fft.fft_type, FftTypeOf(op));
  ASSIGN_OR_RETURN(fft.fft_length, OpAttributes(op).Ints("fft_length"));
  body.SetResults(op, body.Add(Opcode::kFft, body.ShapeOf(op), operands, std::move(fft)));
  return absl::OkStatus();
}

absl::Status ConvertCholesky(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, CountedOperands(body, op, 1));
  ASSIGN_OR_RETURN(const bool lower, OpAttributes(op).Bool("lower", false));
  body.SetResults(op,
                  body.Add(Opcode::kCholesky, body.ShapeOf(op), operands, CholeskyAttrs{lower}));
  return absl::OkStatus();
}

absl::Status ConvertTriangularSolve(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, CountedOperands(body, op, 2));
  const OpAttributes attributes(op);
  TriangularSolveAttrs solve;
  ASSIGN_OR_RETURN(solve.left_side, attributes.Bool("left_side", false));
  ASSIGN_OR_RETURN(solve.lower, attributes.Bool("lower", false));
  ASSIGN_OR_RETURN(solve.unit_diagonal, attributes.Bool("unit_diagonal", false));
  ASSIGN_OR_RETURN(solve.transpose_a,
                   attributes.Enum<TriangularTranspose>("transpose_a", "NO_TRANSPOSE"));
  body.SetResults(op, body.Add(Opcode::kTriangularSolve, body.ShapeOf(op), operands, solve));
  return absl::OkStatus();
}

namespace {

absl::Status ConvertBatchNorm(BodyConverter& body, const MlirOperation& op, Opcode opcode) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands,
                   CountedOperands(body, op, Info(opcode).min_operands));
  const OpAttributes attributes(op);
  BatchNormAttrs norm;
  ASSIGN_OR_RETURN(norm.epsilon, attributes.Float("epsilon"));
  ASSIGN_OR_RETURN(norm.feature_index, attributes.Int("feature_index"));
  body.SetResults(op, body.Add(opcode, body.ShapeOf(op), operands, norm));
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertBatchNormGrad(BodyConverter& body, const MlirOperation& op) {
  return ConvertBatchNorm(body, op, Opcode::kBatchNormGrad);
}

absl::Status ConvertBatchNormInference(BodyConverter& body, const MlirOperation& op) {
  return ConvertBatchNorm(body, op, Opcode::kBatchNormInference);
}

absl::Status ConvertBatchNormTraining(BodyConverter& body, const MlirOperation& op) {
  return ConvertBatchNorm(body, op, Opcode::kBatchNormTraining);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
