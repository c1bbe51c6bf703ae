// The choice among a target's strategies, for each part of a fusion: the first in the list that
// accepts the expression adds its kernels. The order of the list is the priority, and the last
// strategy of a target accepts everything that elements can be emitted for. A fusion of several
// parts (analysis/fusion_parts) gets a choice for each part.
#include "codegen/kernel_strategies.h"

#include "analysis/fusion_parts.h"

namespace hlokit {
namespace {

// The arrays of an instruction as one part of it sees them, which counts its results from 0.
class PartArrays final : public KernelArrays {
 public:
  PartArrays(KernelArrays& whole, const std::vector<int64_t>& results)
      : whole_(whole), results_(results) {}
  ~PartArrays() override {
    if (unsupported != nullptr) whole_.unsupported = unsupported;
  }
  ArrayRef operand(int64_t o) override { return whole_.operand(o); }
  ArrayRef result(int64_t leaf) override { return whole_.result(results_[leaf]); }
  std::optional<std::vector<ScalarValue>> known(int64_t o) override { return whole_.known(o); }

 private:
  KernelArrays& whole_;
  const std::vector<int64_t>& results_;
};

std::vector<Kernel> KernelsOf(const KernelRequest& request,
                              absl::Span<const KernelStrategy> strategies) {
  std::vector<Kernel> out;
  for (const KernelStrategy& strategy : strategies)
    if (strategy.add_kernels(request, out)) break;
  const int index_bits = IndexBitsOf(request.expression, request.target);
  for (Kernel& kernel : out) kernel.index_bits = index_bits;
  return out;
}

}  // namespace

std::vector<Kernel> MakeKernels(const Instruction& i, const InPlace& in_place,
                                const TargetInfo& target,
                                absl::Span<const KernelStrategy> strategies) {
  if (target.merges_scalars && i.opcode() == Opcode::kFusion && i.shape().IsTuple() &&
      IsOfScalars(i)) {
    std::vector<Kernel> together;
    const KernelRequest request{Expression::Of(&i), in_place, target};
    if (AddElementKernels(request, together)) {
      for (Kernel& kernel : together) kernel.index_bits = IndexBitsOf(request.expression, target);
      return together;
    }
  }
  const std::vector<ExpressionPart> parts = PartsOf(Expression::Of(&i));
  if (parts.size() == 1) return KernelsOf({parts[0].expression, in_place, target}, strategies);
  std::vector<Kernel> out;
  for (const ExpressionPart& part : parts) {
    const InPlace own_place = [&](int64_t o, int64_t leaf) {
      return in_place(o, part.results[leaf]);
    };
    std::vector<Kernel> kernels = KernelsOf({part.expression, own_place, target}, strategies);
    for (Kernel& kernel : kernels) {
      for (const Expression::Leaf& leaf : part.expression.leaves)
        kernel.operands.push_back(leaf.operand);
      kernel.results = part.results;
      kernel.whole_part = kernels.size() == 1;
      kernel.emit = [emit = std::move(kernel.emit), results = part.results](
                        Builder& b, KernelArrays& whole, llvm::Value* begin, llvm::Value* end) {
        PartArrays arrays(whole, results);
        emit(b, arrays, begin, end);
      };
      out.push_back(std::move(kernel));
    }
  }
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
