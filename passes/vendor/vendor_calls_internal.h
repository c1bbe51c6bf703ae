// What the expansions of vendors' custom calls share.
#pragma once

#include <vector>

#include "ops/vendor/call_config.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {

// One custom call while operations are written for it. Arithmetic is done in types that lose
// nothing that the libraries keep: f32 for narrower floats.
class VendorCall {
 public:
  // The parts of the result in front that the expansion gives; none: it leaves the call as it is.
  using Parts = std::vector<Instruction*>;

  VendorCall(Instruction* call, ConfigValue config, Rewriter& r)
      : call_(call), config_(std::move(config)), r_(r) {}

  const CustomCallAttrs& attrs() const { return call_->attr<CustomCallAttrs>(); }
  // The object of this name inside the config, else the config itself.
  const ConfigValue& config(absl::string_view name) const;
  const ConfigValue& config() const { return config_; }
  // The operands' shapes, which live as long as they.
  std::vector<const Shape*> operand_shapes() const;
  int64_t operand_count() const { return call_->operand_count(); }
  Instruction* operand(int64_t o) const { return call_->operand(o); }
  const Shape& result(size_t leaf = 0) const;
  size_t result_count() const;
  Rewriter& rewriter() { return r_; }

  static ElementType Wide(ElementType type);
  Instruction* As(Instruction* x, ElementType type);
  // `x` where it has the type and layout of `shape`, else converted or copied.
  Instruction* As(Instruction* x, const Shape& shape);
  // Elementwise; both of one shape.
  Instruction* Do(Opcode opcode, Instruction* a, Instruction* b);
  Instruction* Do(Opcode opcode, Instruction* a);
  Instruction* Number(double value, const Shape& shape);
  Instruction* Scaled(Instruction* x, double factor);
  // x + y, where y may lack dimensions in front; null where it does not fit.
  Instruction* Plus(Instruction* x, Instruction* y, double factor = 1);
  // An activation by any vendor's name; null for one that is not known.
  Instruction* Activated(absl::string_view name, Instruction* x);
  // The sum (kAdd) or the largest (kMaximum) over dimensions.
  Instruction* Reduced(Opcode opcode, Instruction* x, const DimVector& dimensions);
  // The same along one dimension, spread over it again.
  Instruction* Along(Opcode opcode, Instruction* x, int64_t dimension);

 private:
  Instruction* call_;
  ConfigValue config_;
  Rewriter& r_;
};

// Drops of at least one part those that the call does not give: its floats, of which the first is
// always there, stand before its workspace.
void KeepFloats(const VendorCall& call, VendorCall::Parts& parts);

// The families.
VendorCall::Parts ExpandGemm(VendorCall& call);
VendorCall::Parts ExpandF8Matmul(VendorCall& call);
VendorCall::Parts ExpandGroupedMatmul(VendorCall& call);
VendorCall::Parts ExpandMxMatmul(VendorCall& call);
VendorCall::Parts ExpandBlockScaledDot(VendorCall& call);
VendorCall::Parts ExpandDequantize(VendorCall& call);
VendorCall::Parts ExpandQuantize(VendorCall& call);
VendorCall::Parts ExpandOnednnMatmul(VendorCall& call);
VendorCall::Parts ExpandConvolution(VendorCall& call);
VendorCall::Parts ExpandCusolver(VendorCall& call);
VendorCall::Parts ExpandLuDecomposition(VendorCall& call);
VendorCall::Parts ExpandLegacyLapack(VendorCall& call);
VendorCall::Parts ExpandCubSort(VendorCall& call);
VendorCall::Parts ExpandCubScan(VendorCall& call);
VendorCall::Parts ExpandThreefry(VendorCall& call);
VendorCall::Parts ExpandSoftmax(VendorCall& call);
VendorCall::Parts ExpandLayerNorm(VendorCall& call);
VendorCall::Parts ExpandAttention(VendorCall& call);
VendorCall::Parts ExpandCudnnNorm(VendorCall& call);
VendorCall::Parts ExpandTriangularSolve(VendorCall& call);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
