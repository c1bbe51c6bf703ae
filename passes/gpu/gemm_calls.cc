// cublas-gemm-rewriter: matrix products as calls of cuBLAS, with what cuBLAS computes along with
// them.
//   dot(a, b)                 ->  gte(custom-call(a, b), index=0), a workspace behind the result
//   product * 3               ->  the same call with alpha 3
//   product + c               ->  ... with c as an operand and beta 1
//   product + broadcast(row)  ->  ... with the row as an operand, epilogue BIAS
//   maximum(product, 0)       ->  ... epilogue RELU, or BIAS_RELU
//   0.5 x (1 + tanh(0.7978845 (x + 0.044715 x^3))), x the product  ->  ... epilogue GELU; where x
//   has
//                                 other readers GELU_AUX, which gives x as a second result
// Instructions are visited operands first, so each step meets the call that the one before made; a
// call is changed only while nobody else reads it. The calls of cuBLASLt have epilogues, those of
// cuBLAS (option `legacy`) alpha and beta. The result is rounded once, where the operations round
// after each step. Cost: linear in the module.
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

constexpr absl::string_view kPlainGemm = "__cublas$gemm", kLtGemm = "__cublas$lt$matmul",
                            kConfigName = "gemm_backend_config";
constexpr int64_t kWorkspace = int64_t{4} << 20;  // bytes

struct GemmOptions {
  bool legacy = false, bias = true;
  int64_t least = 0;
};

bool IsGemmType(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBF16 || type == ElementType::kF32 ||
         type == ElementType::kF64 || type == ElementType::kC64 || type == ElementType::kC128;
}

std::string QuotedList(const DimVector& dims) {
  return absl::StrCat(
      "[",
      absl::StrJoin(dims, ",",
                    [](std::string* out, int64_t d) { absl::StrAppend(out, "\"", d, "\""); }),
      "]");
}

// ---- products

// Batches of matrices in row-major order, or with rows and columns exchanged.
bool IsMatrices(const Shape& shape, const DimVector& batch) {
  if (shape.rank() > static_cast<int>(batch.size()) + 2 || shape.rank() == 0) return false;
  const DimVector order = shape.MinorToMajor();
  for (const int64_t d : batch)
    if (d == order[0] ||
        (order.size() > 1 && d == order[1] && shape.rank() == static_cast<int>(batch.size()) + 2))
      return false;
  return true;
}

bool IsProduct(const Instruction& i, int64_t least) {
  const auto& dims = i.attr<DotAttrs>();
  const Shape &lhs = i.operand(0)->shape(), &rhs = i.operand(1)->shape(), &result = i.shape();
  if (dims.lhs_contracting_dims.size() != 1 || i.operand_count() != 2 || lhs.HasDynamicDims() ||
      rhs.HasDynamicDims() || lhs.type != rhs.type || !IsGemmType(lhs.type))
    return false;
  const bool widens = (lhs.type == ElementType::kF16 || lhs.type == ElementType::kBF16) &&
                      result.type == ElementType::kF32;
  if (result.type != lhs.type && !widens) return false;
  if (lhs.ElementCount() == 0 || rhs.ElementCount() == 0 || !result.IsRowMajor() ||
      !IsMatrices(lhs, dims.lhs_batch_dims) || !IsMatrices(rhs, dims.rhs_batch_dims))
    return false;
  int64_t batch = 1;
  for (const int64_t d : dims.lhs_batch_dims) batch *= lhs.dims[d];
  const int64_t inner = lhs.dims[dims.lhs_contracting_dims[0]];
  return (lhs.ElementCount() + rhs.ElementCount()) / batch >= least && inner > 0;
}

BackendConfig ProductConfig(const Instruction& dot) {
  const auto& dims = dot.attr<DotAttrs>();
  const auto stride = [](const Shape& shape, const DimVector& batch) {
    int64_t elements = 1;
    for (int64_t d = 0; d < shape.rank(); ++d)
      if (!Contains(batch, d)) elements *= shape.dims[d];
    return elements;
  };
  std::vector<std::string> precisions;
  for (size_t k = 0; k < 2; ++k) {
    const Precision p =
        k < dims.operand_precision.size() ? dims.operand_precision[k] : Precision::kDefault;
    precisions.push_back(absl::StrCat("\"", absl::AsciiStrToUpper(Text(p)), "\""));
  }
  BackendConfig config("");
  config.SetRaw("alpha_real", "1");
  config.SetRaw("beta", "0");
  config.SetRaw(
      "dot_dimension_numbers",
      absl::StrCat("{\"lhs_contracting_dimensions\":", QuotedList(dims.lhs_contracting_dims),
                   ",\"rhs_contracting_dimensions\":", QuotedList(dims.rhs_contracting_dims),
                   ",\"lhs_batch_dimensions\":", QuotedList(dims.lhs_batch_dims),
                   ",\"rhs_batch_dimensions\":", QuotedList(dims.rhs_batch_dims), "}"));
  config.SetRaw("alpha_imag", "0");
  config.SetRaw("precision_config",
                absl::StrCat("{\"operand_precision\":[", absl::StrJoin(precisions, ","), "]}"));
  config.SetText("epilogue", "DEFAULT");
  config.SetInt("lhs_stride", stride(dot.operand(0)->shape(), dims.lhs_batch_dims));
  config.SetInt("rhs_stride", stride(dot.operand(1)->shape(), dims.rhs_batch_dims));
  return config;
}

Instruction* AddGemm(Rewriter& r, absl::string_view target, std::vector<Shape> results,
                     absl::Span<Instruction* const> operands, const BackendConfig& config) {
  results.push_back(RowMajor(ElementType::kS8, {kWorkspace}));
  CustomCallAttrs attrs;
  attrs.target = std::string(target);
  Instruction* call =
      r.Add(Opcode::kCustomCall, Shape::Tuple(std::move(results)), operands, std::move(attrs));
  BackendConfig whole("");
  whole.SetRaw(kConfigName, config.Json());
  whole.WriteTo(*call);
  return call;
}

// ---- what is computed along

// A call of this pass's, found through its result.
struct Gemm {
  Instruction *result = nullptr, *call = nullptr;
  Instruction* renamed = nullptr;  // the bitcast of the result that is read, if one is
  BackendConfig config{""};
  bool IsLt() const { return call->attr<CustomCallAttrs>().target == kLtGemm; }
  absl::string_view epilogue() const { return config.Text("epilogue"); }
  // Its one result is read once, so that what is read may change.
  bool IsAlone() const {
    return result->users().size() == 1 && !result->IsRoot() && call->users().size() == 1 &&
           (renamed == nullptr || (renamed->users().size() == 1 && !renamed->IsRoot()));
  }
};

std::optional<Gemm> GemmOf(Instruction* i) {
  Gemm gemm;
  if (i->opcode() == Opcode::kBitcast && i->shape().type == i->operand(0)->shape().type) {
    gemm.renamed = i;
    i = i->operand(0);
  }
  if (i->opcode() != Opcode::kGetTupleElement || i->tuple_index() != 0) return std::nullopt;
  gemm.result = i;
  gemm.call = i->operand(0);
  if (gemm.call->opcode() != Opcode::kCustomCall) return std::nullopt;
  const std::string& target = gemm.call->attr<CustomCallAttrs>().target;
  if ((target != kPlainGemm && target != kLtGemm) || !gemm.call->shape().IsTuple() ||
      gemm.call->shape().elements.size() != 2)
    return std::nullopt;
  gemm.config = BackendConfig(BackendConfig::Of(*gemm.call).Raw(kConfigName));
  return gemm;
}

// The call with another configuration and perhaps an operand and a result more; in its shape.
Instruction* Changed(const Gemm& gemm, Rewriter& r, Instruction* operand = nullptr,
                     bool keeps_product = false) {
  std::vector<Instruction*> operands(gemm.call->operands().begin(), gemm.call->operands().end());
  if (operand != nullptr) operands.push_back(operand);
  std::vector<Shape> results(keeps_product ? 2 : 1, gemm.result->shape());
  return AddGemm(r, gemm.call->attr<CustomCallAttrs>().target, std::move(results), operands,
                 gemm.config);
}

Instruction* ResultOf(const Gemm& gemm, Instruction* call, Rewriter& r) {
  Instruction* result = HloWriter(r).Part(call, 0);
  return gemm.renamed == nullptr ? result
                                 : r.Add(Opcode::kBitcast, gemm.renamed->shape(), {result});
}

bool HasEpilogues(const Gemm& gemm) {
  const ElementType type = gemm.result->shape().type;
  return gemm.IsLt() && (type == ElementType::kF16 || type == ElementType::kBF16 ||
                         type == ElementType::kF32 || type == ElementType::kF64);
}

// The operand that is not the number, of an operation of two; null where none is.
Instruction* BesideNumber(const Instruction* i, Opcode opcode, double number) {
  if (i->opcode() != opcode) return nullptr;
  for (int k = 0; k < 2; ++k) {
    const Literal* value = SplatValue(i->operand(k));
    if (value != nullptr && IsFloat(value->shape().type) &&
        std::abs(value->GetDouble(0) - number) <= 1e-2 * std::abs(number))
      return i->operand(1 - k);
  }
  return nullptr;
}

// The operand that is not `x`.
Instruction* Beside(const Instruction* i, Opcode opcode, const Instruction* x) {
  if (i == nullptr || i->opcode() != opcode) return nullptr;
  return i->operand(0) == x ? i->operand(1) : i->operand(1) == x ? i->operand(0) : nullptr;
}

bool IsCube(const Instruction* i, const Instruction* x) {
  const Instruction* square = Beside(i, Opcode::kMultiply, x);
  return square != nullptr && Beside(square, Opcode::kMultiply, x) == x;
}

// Whether `i` is x 0.5 (1 + tanh(0.7978845 (x + 0.044715 x^3))).
bool IsGelu(const Instruction* i, const Instruction* x) {
  const Instruction* half = Beside(i, Opcode::kMultiply, x);
  const Instruction* one = half == nullptr ? nullptr : BesideNumber(half, Opcode::kMultiply, 0.5);
  const Instruction* tanh = one == nullptr ? nullptr : BesideNumber(one, Opcode::kAdd, 1);
  if (tanh == nullptr || tanh->opcode() != Opcode::kTanh) return false;
  const Instruction* sum = BesideNumber(tanh->operand(0), Opcode::kMultiply, 0.7978845608);
  const Instruction* scaled = Beside(sum, Opcode::kAdd, x);
  const Instruction* cube =
      scaled == nullptr ? nullptr : BesideNumber(scaled, Opcode::kMultiply, 0.044715);
  return cube != nullptr && IsCube(cube, x);
}

// How often the formula of IsGelu reads x.
constexpr size_t kGeluReads = 5;

Instruction* FuseGelu(Instruction* i, Rewriter& r) {
  for (Instruction* x : i->operands()) {
    std::optional<Gemm> gemm = GemmOf(x);
    if (!gemm || !HasEpilogues(*gemm) || !IsGelu(i, x) ||
        (gemm->epilogue() != "DEFAULT" && gemm->epilogue() != "BIAS"))
      continue;
    size_t reads = 0;
    for (const Instruction* user : x->users())
      for (const Instruction* operand : user->operands()) reads += operand == x;
    const bool alone = reads == kGeluReads && !x->IsRoot() && !gemm->result->IsRoot() &&
                       (gemm->renamed == nullptr || gemm->result->users().size() == 1);
    gemm->config.SetText("epilogue", absl::StrCat(gemm->epilogue() == "BIAS" ? "BIAS_" : "",
                                                  alone ? "GELU" : "GELU_AUX"));
    Instruction* call = Changed(*gemm, r, nullptr, !alone);
    Instruction* made = ResultOf(*gemm, call, r);
    if (!alone) gemm->result->ReplaceAllUsesWith(HloWriter(r).Part(call, 1));
    return made;
  }
  return nullptr;
}

// The product times a constant.
Instruction* FuseFactor(Instruction* i, Rewriter& r) {
  for (int k = 0; k < 2; ++k) {
    const Literal* value = SplatValue(i->operand(1 - k));
    std::optional<Gemm> gemm = GemmOf(i->operand(k));
    if (value == nullptr || !gemm || !gemm->IsAlone() || !IsFloat(value->shape().type) ||
        gemm->epilogue() != "DEFAULT" || gemm->config.Raw("beta") != "0" ||
        gemm->config.Raw("alpha_real") != "1" || !std::isfinite(value->GetDouble(0)))
      continue;
    gemm->config.SetRaw("alpha_real", absl::StrFormat("%.17g", value->GetDouble(0)));
    return ResultOf(*gemm, Changed(*gemm, r), r);
  }
  return nullptr;
}

// Whether `i` repeats one number for each column of the product.
bool IsRow(const Instruction* i) {
  return i->opcode() == Opcode::kBroadcast && i->operand(0)->shape().rank() == 1 &&
         i->attr<BroadcastAttrs>().dimensions[0] == i->shape().rank() - 1 && i->shape().rank() > 1;
}

// The product plus a row or another matrix.
Instruction* FuseSum(Instruction* i, Rewriter& r, const GemmOptions& options) {
  for (int k = 0; k < 2 && options.bias; ++k) {
    std::optional<Gemm> gemm = GemmOf(i->operand(k));
    Instruction* added = i->operand(1 - k);
    if (!gemm || !gemm->IsAlone() || gemm->renamed != nullptr || gemm->epilogue() != "DEFAULT" ||
        added == i->operand(k))
      continue;
    if (IsRow(added) && HasEpilogues(*gemm)) {
      gemm->config.SetText("epilogue", "BIAS");
      return ResultOf(*gemm, Changed(*gemm, r, added->operand(0)), r);
    }
    // cuBLAS writes over the matrix that it adds.
    const bool own = added->users().size() == 1 && !added->IsRoot() && !added->IsParameter();
    if (added->opcode() == Opcode::kBroadcast || added->IsConstant() ||
        gemm->config.Raw("beta") != "0" || (!gemm->IsLt() && !own) ||
        !SameShape(added->shape(), gemm->result->shape()))
      continue;
    gemm->config.SetRaw("beta", "1");
    Instruction* call = Changed(*gemm, r, added);
    if (own)
      call->mutable_attr<CustomCallAttrs>().output_to_operand_aliasing = {
          OutputAlias{ShapeIndex{0}, 2, {}}};
    return ResultOf(*gemm, call, r);
  }
  return nullptr;
}

Instruction* FuseMaximum(Instruction* i, Rewriter& r) {
  for (int k = 0; k < 2; ++k) {
    std::optional<Gemm> gemm = GemmOf(i->operand(k));
    if (!gemm || !gemm->IsAlone() || !HasEpilogues(*gemm) || !IsSplat(i->operand(1 - k), 0) ||
        (gemm->epilogue() != "DEFAULT" && gemm->epilogue() != "BIAS"))
      continue;
    gemm->config.SetText("epilogue", gemm->epilogue() == "BIAS" ? "BIAS_RELU" : "RELU");
    return ResultOf(*gemm, Changed(*gemm, r), r);
  }
  return nullptr;
}

Instruction* FuseProduct(Instruction* i, Rewriter& r) {
  Instruction* made = FuseGelu(i, r);
  return made != nullptr ? made : FuseFactor(i, r);
}

absl::StatusOr<Instruction*> RewriteGemm(Instruction* i, Rewriter& r, const GemmOptions& options) {
  switch (i->opcode()) {
    case Opcode::kDot:
      if (!IsProduct(*i, options.least)) return nullptr;
      return HloWriter(r).Part(AddGemm(r, options.legacy ? kPlainGemm : kLtGemm, {i->shape()},
                                       {i->operand(0), i->operand(1)}, ProductConfig(*i)),
                               0);
    case Opcode::kMultiply:
      return FuseProduct(i, r);
    case Opcode::kAdd:
      return FuseSum(i, r, options);
    case Opcode::kMaximum:
      return FuseMaximum(i, r);
    default:
      return nullptr;
  }
}

}  // namespace

// cublas-gemm-rewriter: see above. Options: `legacy`, calls of cuBLAS instead of cuBLASLt (XLA has
// xla_gpu_enable_cublaslt); `no-bias`, sums stay outside; `min-size`, products of fewer elements in
// both matrices stay (0; XLA's flag has 100). XLA's also has products of f8 and of eight-bit
// integers, swish, and slices between product and epilogue, which this has not.
std::unique_ptr<Pass> CreateCublasGemmRewriter(PassArguments& arguments) {
  GemmOptions options;
  options.legacy = arguments.Flag("legacy", "calls of cuBLAS instead of cuBLASLt");
  options.bias = !arguments.Flag("no-bias", "sums stay outside");
  options.least = arguments.Int("min-size", 0, "products of fewer elements stay");
  return MakeExpander("cublas-gemm-rewriter", [options](Instruction* i, Rewriter& r) {
    return RewriteGemm(i, r, options);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
