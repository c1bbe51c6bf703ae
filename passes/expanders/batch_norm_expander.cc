// Expands batch-norm-training, -inference and -grad into reduces and elementwise operations.
//   training: mean = sum(x)/n; var = sum((x - mean)^2)/n;
//             y = (x - mean) / sqrt(var + epsilon) * scale + offset
// The variance is computed around the mean (two passes): the one-pass form sum(x^2)/n - mean^2
// cancels. Source: XLA Operation Semantics, "BatchNormTraining".
#include "passes/expanders/batch_norm_expander.h"

#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

// Arithmetic on an array and on what each of its features has.
class FeatureWriter {
 public:
  FeatureWriter(HloWriter& w, const Instruction& i, const Shape& shape,
                const BatchNormExtent& extent)
      : w_(w),
        extent_(extent),
        shape_(shape),
        feature_(i.attr<BatchNormAttrs>().feature_index),
        epsilon_(i.attr<BatchNormAttrs>().epsilon),
        type_(BitWidth(shape_.type) < 32 ? ElementType::kF32 : shape_.type) {
    for (int64_t d = 0; d < shape_.rank(); ++d)
      if (d != feature_) others_.push_back(d);
    count_ = 1;
    for (int64_t d : others_) count_ *= shape_.dims[d];
    module_ = i.module();
  }

  Instruction* Wide(Instruction* x) { return w_.Convert(x, type_); }
  Instruction* Spread(Instruction* per_feature) {
    return w_.Broadcast(per_feature, shape_.dims, {feature_});
  }
  Instruction* Sum(Instruction* x) {
    if (add_ == nullptr) add_ = MakeReducer(*module_, Opcode::kAdd, type_);
    if (extent_.inside != nullptr) x = w_.Select(extent_.inside, x, w_.FillNumber(x->shape(), 0));
    return w_.Reduce(x, w_.Number(type_, 0), others_, add_);
  }
  Instruction* Mean(Instruction* sum) {
    if (extent_.count != nullptr)
      return w_.Binary(Opcode::kDivide, sum,
                       w_.Fill(sum->shape(), w_.Convert(extent_.count, type_)));
    return w_.WithNumber(Opcode::kDivide, sum, static_cast<double>(count_));
  }
  // 1 / sqrt(variance + epsilon)
  Instruction* Scale(Instruction* variance) {
    return w_.Unary(Opcode::kRsqrt, w_.WithNumber(Opcode::kAdd, variance, epsilon_));
  }
  Instruction* Sub(Instruction* x, Instruction* y) { return w_.Binary(Opcode::kSubtract, x, y); }
  Instruction* Mul(Instruction* x, Instruction* y) { return w_.Binary(Opcode::kMultiply, x, y); }
  Instruction* Add(Instruction* x, Instruction* y) { return w_.Binary(Opcode::kAdd, x, y); }

  // (x - mean) / sqrt(variance + epsilon) * scale + offset
  Instruction* Normalize(Instruction* x, Instruction* scale, Instruction* offset, Instruction* mean,
                         Instruction* variance) {
    Instruction* factor = Mul(Scale(variance), scale);
    return Add(Mul(Sub(x, Spread(mean)), Spread(factor)), Spread(offset));
  }

 private:
  HloWriter& w_;
  const BatchNormExtent extent_;
  const Shape shape_;
  int64_t feature_;
  double epsilon_;
  ElementType type_;
  DimVector others_;
  int64_t count_;
  Module* module_;
  Computation* add_ = nullptr;
};

std::vector<Instruction*> Training(FeatureWriter& f, absl::Span<Instruction* const> in) {
  Instruction* mean = f.Mean(f.Sum(in[0]));
  Instruction* centred = f.Sub(in[0], f.Spread(mean));
  Instruction* variance = f.Mean(f.Sum(f.Mul(centred, centred)));
  return {f.Normalize(in[0], in[1], in[2], mean, variance), mean, variance};
}

std::vector<Instruction*> Grad(FeatureWriter& f, absl::Span<Instruction* const> in) {
  Instruction* scale = f.Scale(in[3]);
  Instruction* centred = f.Sub(in[0], f.Spread(in[2]));
  Instruction* offset_grad = f.Sum(in[4]);
  Instruction* products = f.Sum(f.Mul(in[4], centred));
  Instruction* slope = f.Mul(f.Mean(products), f.Mul(scale, scale));
  Instruction* rest =
      f.Sub(f.Sub(in[4], f.Spread(f.Mean(offset_grad))), f.Mul(centred, f.Spread(slope)));
  Instruction* grad = f.Mul(rest, f.Spread(f.Mul(in[1], scale)));
  return {grad, f.Mul(products, scale), offset_grad};
}

absl::StatusOr<Instruction*> ExpandBatchNorm(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kBatchNormInference && i->opcode() != Opcode::kBatchNormTraining &&
      i->opcode() != Opcode::kBatchNormGrad)
    return nullptr;
  if (i->operand(0)->shape().HasDynamicDims()) return nullptr;
  HloWriter w(r);
  const std::vector<Instruction*> parts = WriteBatchNorm(w, *i, i->operands());
  return i->shape().IsTuple() ? w.Tuple(parts) : parts[0];
}

}  // namespace

std::vector<Instruction*> WriteBatchNorm(HloWriter& w, const Instruction& i,
                                         absl::Span<Instruction* const> operands,
                                         const BatchNormExtent& extent) {
  FeatureWriter f(w, i, operands[0]->shape(), extent);
  std::vector<Instruction*> in;
  for (Instruction* operand : operands) in.push_back(f.Wide(operand));
  if (i.opcode() == Opcode::kBatchNormInference)
    return {w.Convert(f.Normalize(in[0], in[1], in[2], in[3], in[4]), i.shape().type)};
  std::vector<Instruction*> parts =
      i.opcode() == Opcode::kBatchNormTraining ? Training(f, in) : Grad(f, in);
  for (size_t k = 0; k < parts.size(); ++k)
    parts[k] = w.Convert(parts[k], i.shape().elements[k].type);
  return parts;
}

std::unique_ptr<Pass> CreateBatchNormExpander() {
  return MakeExpander("batchnorm_expander", ExpandBatchNorm);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
