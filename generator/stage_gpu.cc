// What a GPU's optimized modules have: products as calls of cuBLAS, and fusions with names and
// configurations that choose their emitters.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "generator/stages_internal.h"
#include "ir/attributes.h"
#include "types/literal.h"

namespace hlokit {
namespace {

// ["0","2"]
std::string Numbers(const DimVector& dimensions) {
  return absl::StrCat(
      "[",
      absl::StrJoin(dimensions, ",",
                    [](std::string* out, int64_t d) { absl::StrAppend(out, "\"", d, "\""); }),
      "]");
}

// cuBLAS multiplies matrices, or batches of them, of one type of floats or complex numbers.
bool IsMatrixProduct(const Instruction& i) {
  if (i.opcode() != Opcode::kDot) return false;
  constexpr ElementType kTypes[] = {ElementType::kF32,  ElementType::kF64, ElementType::kF16,
                                    ElementType::kBF16, ElementType::kC64, ElementType::kC128};
  const ElementType type = i.shape().type;
  const DotAttrs& dims = i.attr<DotAttrs>();
  const auto batch = static_cast<int>(dims.lhs_batch_dims.size());
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes) &&
         i.operand(0)->shape().type == type && i.operand(1)->shape().type == type &&
         dims.lhs_contracting_dims.size() == 1 && i.operand(0)->shape().rank() == batch + 2 &&
         i.operand(1)->shape().rank() == batch + 2;
}

std::string GemmConfig(const DotAttrs& dims) {
  return absl::StrCat(
      R"({"operation_queue_id":"0","gemm_backend_config":{)",
      R"("alpha_real":1,"alpha_imag":0,"beta":0,"dot_dimension_numbers":{)",
      R"("lhs_contracting_dimensions":)", Numbers(dims.lhs_contracting_dims),
      R"(,"rhs_contracting_dimensions":)", Numbers(dims.rhs_contracting_dims),
      R"(,"lhs_batch_dimensions":)", Numbers(dims.lhs_batch_dims), R"(,"rhs_batch_dimensions":)",
      Numbers(dims.rhs_batch_dims),
      R"(},"precision_config":{"operand_precision":["DEFAULT","DEFAULT"],"algorithm":"ALG_UNSET"},)",
      R"("epilogue":"DEFAULT"},"force_earliest_schedule":false})");
}

void CallGemm(Computation& c, Instruction* dot, Random& random) {
  const Shape workspace = Shape::Array(ElementType::kS8, {1024}).WithDefaultLayout();
  auto call = std::make_unique<Instruction>(
      Opcode::kCustomCall, Shape::Tuple({dot->shape(), workspace}), dot->operands());
  call->mutable_attr<CustomCallAttrs>().target =
      random.Chance(0.5) ? "__cublas$gemm" : "__cublas$lt$matmul";
  call->mutable_extras().backend_config = GemmConfig(dot->attr<DotAttrs>());
  Instruction* result = c.Add(std::move(call), "cublas-gemm");
  dot->ReplaceAllUsesWith(
      c.Add(Opcode::kGetTupleElement, dot->shape(), {result}, GetTupleElementAttrs{0}));
  c.Remove(dot);
}

const char* ConfiguredKind(FusionKind kind, Random& random) {
  switch (kind) {
    case FusionKind::kCustom:
      return random.OneOf({"__triton", "__triton_gemm", "__dynamic_memcpy"});
    case FusionKind::kOutput:
      return "__triton_nested_gemm_fusion";
    default:
      return "";
  }
}

void Configure(Module& module, Instruction& fusion, Random& random) {
  Computation& body = *fusion.called(0);
  const std::string hero = absl::StrReplaceAll(Text(body.root()->opcode()), {{"-", "_"}});
  const bool single = body.instruction_count() == body.parameter_count() + 1;
  body.set_name(module.UniqueComputationName(
      absl::StrCat(single ? "wrapped_" : "fused_", hero, single ? "_computation" : "")));
  const FusionKind kind = fusion.attr<FusionAttrs>().kind;
  fusion.set_name(module.UniqueName(
      single ? absl::StrCat("wrapped_", hero)
             : absl::StrCat(kind == FusionKind::kInput ? "input_" : "loop_", hero, "_fusion")));
  const absl::string_view configured = ConfiguredKind(kind, random);
  fusion.mutable_extras().backend_config = absl::StrCat(
      R"({"operation_queue_id":"0",)",
      configured.empty() ? ""
                         : absl::StrCat(R"("fusion_backend_config":{"kind":")", configured, "\"},"),
      R"("force_earliest_schedule":false,"reification_cost":[],"device_type":"DEVICE_TYPE_INVALID"})");
}

}  // namespace

void CallLibraries(Module& module, Random& random) {
  for (Computation* c : ExecutedComputations(module))
    for (Instruction* i : c->Instructions())
      if (IsMatrixProduct(*i) && i->control_predecessors().empty() &&
          i->control_successors().empty() && random.Chance(0.7))
        CallGemm(*c, i, random);
}

void ConfigureFusions(Module& module, Random& random) {
  for (Computation* c : ExecutedComputations(module))
    c->ForEach([&](Instruction* i) {
      if (i->opcode() == Opcode::kFusion) Configure(module, *i, random);
    });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
