// Convolutions with other batches and kernels.
//
// Operands swapped, space split.
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/swapped_convolution.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsPlainConvolution(const Instruction* i) {
  return i->opcode() == Opcode::kConvolution && !i->shape().HasDynamicDims() &&
         i->shape().ElementCount() > 0 && i->attr<ConvolutionAttrs>().batch_group_count == 1 &&
         i->attr<ConvolutionAttrs>().sparsity_config == SparsityConfig();
}

// How the outputs along spatial dimension `s` are cut into stretches of `length`.
struct Stretches {
  size_t s;
  int64_t count, length;
};

class SpaceToBatch {
 public:
  SpaceToBatch(Instruction* i, Rewriter& r, const Stretches& cut)
      : i_(i), r_(r), w_(r), attrs_(i->attr<ConvolutionAttrs>()), cut_(cut) {}

  Instruction* Make() {
    WindowDim& d = attrs_.window[cut_.s];
    const ConvDims& labels = attrs_.dim_labels;
    const int64_t space = labels.input_spatial[cut_.s];
    const int64_t reach = (d.size - 1) * d.window_dilation + 1;
    Instruction* padded = Padded(space, d, (cut_.count * cut_.length - 1) * d.stride + reach);
    std::vector<Instruction*> pieces;
    for (int64_t k = 0; k < cut_.count; ++k) {
      const int64_t start = k * cut_.length * d.stride;
      pieces.push_back(
          w_.SliceOf(padded, space, start, start + (cut_.length - 1) * d.stride + reach));
    }
    Instruction* images = w_.Concatenate(pieces, labels.input_batch);
    Shape shape = RowMajor(i_->shape().type, i_->shape().dims);
    shape.dims[labels.output_batch] *= cut_.count;
    shape.dims[labels.output_spatial[cut_.s]] = cut_.length;
    d.pad_low = d.pad_high = 0;
    Instruction* made = r_.Clone(i_, shape, {images, i_->operand(1)});
    made->mutable_attr<ConvolutionAttrs>() = attrs_;
    return Joined(made);
  }

 private:
  Instruction* Padded(int64_t space, const WindowDim& d, int64_t length) {
    Instruction* input = i_->operand(0);
    PaddingConfig padding(input->shape().rank());
    padding[space] = {d.pad_low, length - d.pad_low - input->shape().dims[space], 0};
    return w_.Pad(input, w_.Integer(input->shape().type, 0), padding);
  }
  // The stretches one after the other again.
  Instruction* Joined(Instruction* made) {
    const int64_t batch = attrs_.dim_labels.output_batch, each = i_->shape().dims[batch];
    const int64_t space = attrs_.dim_labels.output_spatial[cut_.s];
    std::vector<Instruction*> pieces;
    for (int64_t k = 0; k < cut_.count; ++k)
      pieces.push_back(w_.SliceOf(made, batch, k * each, (k + 1) * each));
    return w_.SliceOf(w_.Concatenate(pieces, space), space, 0, i_->shape().dims[space]);
  }

  Instruction* i_;
  Rewriter& r_;
  HloWriter w_;
  ConvolutionAttrs attrs_;
  Stretches cut_;
};

constexpr int64_t kShortestStretch = 4;  // outputs

Made SplitSpace(Instruction* i, Rewriter& r, int64_t batch, int64_t splits) {
  if (!IsPlainConvolution(i) || splits < 2) return nullptr;
  const auto& attrs = i->attr<ConvolutionAttrs>();
  const ConvDims& labels = attrs.dim_labels;
  if (i->operand(0)->shape().dims[labels.input_batch] > batch) return nullptr;
  Stretches cut{0, 0, 0};
  for (size_t s = 0; s < attrs.window.size(); ++s) {
    const int64_t outputs = i->shape().dims[labels.output_spatial[s]];
    const int64_t length = (outputs + splits - 1) / splits;
    if (attrs.window[s].base_dilation == 1 && length > cut.length)
      cut = {s, (outputs + length - 1) / length, length};
  }
  if (cut.length < kShortestStretch || cut.count < 2) return nullptr;
  Instruction* made = SpaceToBatch(i, r, cut).Make();
  return SameShape(made->shape(), i->shape()) ? made : r.Add(Opcode::kCopy, i->shape(), {made});
}

}  // namespace

// conv-operand-swapper. Matches convolutions without groups whose kernel is larger in space than
// their input: the kernel, reversed, becomes the input and the input the kernel. Reassociates.
std::unique_ptr<Pass> CreateConvOperandSwapper() {
  return MakeExpander("conv-operand-swapper",
                      [](Instruction* i, Rewriter& r) -> Made { return SwappedConvolution(i, r); });
}

// space-to-batch-converter. Matches convolutions of few images (option `batch`: at most so many, 1)
// with a long dimension: `splits` (8) stretches of it, with what neighbours share in both, become
// images of their own. Zeros that were padding are multiplied then, so an infinite kernel gives NaN
// there; else exact.
std::unique_ptr<Pass> CreateSpaceToBatchConverter(PassArguments& arguments) {
  const int64_t batch = arguments.Int("batch", 1, "convolve at most so many images otherwise");
  const int64_t splits = arguments.Int("splits", 8, "stretches of the longest dimension");
  return MakeExpander("space-to-batch-converter",
                      [=](Instruction* i, Rewriter& r) { return SplitSpace(i, r, batch, splits); });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
