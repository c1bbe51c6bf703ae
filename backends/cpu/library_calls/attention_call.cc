// The runtime call of attention: strides of queries, keys, values, mask and result, and the two
// numbers of the softmax.
#include <bit>

#include "analysis/attention_form.h"
#include "backends/cpu/library_calls/library_internal.h"
#include "runtime/attention/attention.h"

namespace hlokit {
namespace {

int64_t BitsOf(double value) { return std::bit_cast<int32_t>(static_cast<float>(value)); }

// The one dimension of an operand of a dot that is neither batch nor contracted.
int64_t FreeDimension(const DimVector& batch, int64_t contracted, int64_t rank) {
  int64_t free = rank * (rank - 1) / 2 - contracted;
  for (const int64_t d : batch) free -= d;
  return free;
}

class AttentionCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override { return FindAttentionFusion(i).has_value(); }

  void Emit(CallSite& site, const Instruction& i) const override {
    const AttentionForm form = *FindAttentionFusion(i);
    const auto number = [](const Instruction* parameter) { return parameter->parameter_number(); };
    const int64_t queries = number(form.scores->operand(0)), keys = number(form.scores->operand(1));
    const int64_t values = number(form.product->operand(1));
    const auto strides = [&](int64_t operand) {
      return LayoutStrides(i.operand(operand)->shape());
    };
    const DimVector q = strides(queries), k = strides(keys), v = strides(values);
    const DimVector out = LayoutStrides(i.shape());
    const auto &s = form.scores->attr<DotAttrs>(), &p = form.product->attr<DotAttrs>();
    const Shape& scores = form.scores->shape();
    const int64_t rank = scores.rank(), rows = rank - 2, last = rank - 1;
    DimVector mask(rank, 0);  // by dimension of the scores
    if (form.mask != nullptr) {
      const DimVector m = strides(number(form.mask));
      for (size_t d = 0; d < m.size(); ++d) mask[form.mask_dims[d]] = m[d];
    }
    const int64_t depth_of_q = s.lhs_contracting_dims[0], depth_of_k = s.rhs_contracting_dims[0];
    const int64_t key_of_v = p.rhs_contracting_dims[0];
    const int64_t column_of_v = FreeDimension(p.rhs_batch_dims, key_of_v, rank);
    std::vector<int64_t> desc = {scores.dims[rows],
                                 scores.dims[last],
                                 i.operand(queries)->shape().dims[depth_of_q],
                                 i.shape().dims[last],
                                 q[FreeDimension(s.lhs_batch_dims, depth_of_q, rank)],
                                 q[depth_of_q],
                                 k[FreeDimension(s.rhs_batch_dims, depth_of_k, rank)],
                                 k[depth_of_k],
                                 v[key_of_v],
                                 v[column_of_v],
                                 mask[rows],
                                 mask[last],
                                 out[rows],
                                 out[last],
                                 BitsOf(form.scale),
                                 BitsOf(form.masked),
                                 rows};
    for (int64_t b = 0; b < rows; ++b) {
      const int64_t d = p.lhs_batch_dims[b];  // of the scores: batch dimension b of the result
      desc.insert(desc.end(), {scores.dims[d], q[s.lhs_batch_dims[d]], k[s.rhs_batch_dims[d]],
                               v[p.rhs_batch_dims[b]], mask[d], out[b]});
    }
    llvm::Value* const seen = form.mask != nullptr ? site.operand(number(form.mask)) : nullptr;
    site.Call("hlokit_attention", {site.context(), site.Words(desc), site.operand(queries),
                                   site.operand(keys), site.operand(values), seen, site.result()});
  }
};

}  // namespace

const LibraryCall* AttentionLibraryCall() {
  static const AttentionCall call;
  return &call;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
