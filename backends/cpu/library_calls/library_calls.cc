// Which instructions the runtime library computes, and the descriptors it wants.
//
// Each LibraryCall matches one form of an instruction and writes a call: pointers to operands and
// results, and a constant array of numbers (sizes, strides in elements, types) that describes them.
//   transpose f32[100,200]  ->  hlokit_copy_strided(context, {4, 2, 200,1,200, 100,200,1}, x, y)
// Strides come from layouts, so that one function serves every layout. The calls stand in a list;
// the first that matches is used, and an instruction that none matches goes to the reference
// evaluator (EmitReferenceCall). Descriptors are global constants of the module: a call costs
// nothing to prepare at run time.
#include <algorithm>

#include "analysis/in_place.h"
#include "backends/cpu/library_calls/call_site.h"
#include "backends/cpu/library_calls/library_internal.h"
#include "codegen/element_emitter.h"
#include "ops/evaluate/topk.h"

namespace hlokit {

std::vector<int64_t> ConvolutionDescriptor(const Instruction& i) {
  const auto& a = i.attr<ConvolutionAttrs>();
  const ConvDims& d = a.dim_labels;
  const Shape &lhs = i.operand(0)->shape(), &rhs = i.operand(1)->shape(), &out = i.shape();
  const DimVector l = LayoutStrides(lhs), r = LayoutStrides(rhs), o = LayoutStrides(out);
  std::vector<int64_t> desc = {static_cast<int64_t>(lhs.type),
                               static_cast<int64_t>(rhs.type),
                               static_cast<int64_t>(out.type),
                               lhs.dims[d.input_batch],
                               lhs.dims[d.input_feature],
                               out.dims[d.output_feature],
                               a.feature_group_count,
                               a.batch_group_count,
                               l[d.input_batch],
                               l[d.input_feature],
                               r[d.kernel_input_feature],
                               r[d.kernel_output_feature],
                               o[d.output_batch],
                               o[d.output_feature],
                               static_cast<int64_t>(d.input_spatial.size())};
  for (size_t k = 0; k < d.input_spatial.size(); ++k) {
    const WindowDim w = k < a.window.size() ? a.window[k] : WindowDim();
    const int64_t x = d.input_spatial[k], y = d.kernel_spatial[k], z = d.output_spatial[k];
    desc.insert(desc.end(), {lhs.dims[x], rhs.dims[y], out.dims[z], l[x], r[y], o[z], w.stride,
                             w.pad_low, w.base_dilation, w.window_dilation, w.reversal ? 1 : 0});
  }
  return desc;
}

namespace {

class ConvolutionCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    return i.opcode() == Opcode::kConvolution && StaticArrays(i) && i.shape().ElementCount() > 0 &&
           i.attr<ConvolutionAttrs>().window.size() <= 16 &&
           ProductTypes(i.operand(0)->shape().type, i.operand(1)->shape().type, i.shape().type);
  }

  void Emit(CallSite& site, const Instruction& i) const override {
    site.Call("hlokit_conv", {site.context(), site.Words(ConvolutionDescriptor(i)), site.operand(0),
                              site.operand(1), site.result()});
  }
};

// Transposes and changes of layout of some size: blocked copies.
class StridedCopyCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    if (i.opcode() != Opcode::kTranspose && i.opcode() != Opcode::kCopy) return false;
    return StaticArrays(i) && i.shape().IsArray() && i.shape().ElementCount() >= 1024 &&
           i.shape().rank() <= 32 && !IsPassThrough(i);
  }
  void Emit(CallSite& site, const Instruction& i) const override {
    const Shape& from = i.operand(0)->shape();
    const DimVector f = LayoutStrides(from), t = LayoutStrides(i.shape());
    std::vector<int64_t> desc = {ByteWidth(from.type), i.shape().rank()};
    for (int64_t d = 0; d < i.shape().rank(); ++d) {
      const int64_t source =
          i.opcode() == Opcode::kTranspose ? i.attr<DimensionsAttrs>().dimensions[d] : d;
      desc.insert(desc.end(), {i.shape().dims[d], f[source], t[d]});
    }
    site.Call("hlokit_copy_strided",
              {site.context(), site.Words(desc), site.operand(0), site.result()});
  }
};

class RngBitsCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    if (i.opcode() != Opcode::kRngBitGenerator || !i.shape().IsTuple()) return false;
    const Shape& out = i.shape().elements[1];
    const Shape& state = i.operand(0)->shape();
    return IsInteger(out.type) && !IsSubByte(out.type) && out.IsRowMajor() && out.rank() <= 32 &&
           state.type == ElementType::kU64 && state.rank() == 1 &&
           (state.dims[0] == 2 || state.dims[0] == 3) && out.ElementCount() > 0;
  }
  void Emit(CallSite& site, const Instruction& i) const override {
    const Shape& out = i.shape().elements[1];
    std::vector<int64_t> desc = {static_cast<int64_t>(i.attr<RngBitGeneratorAttrs>().algorithm),
                                 i.operand(0)->shape().dims[0], ByteWidth(out.type), out.rank()};
    desc.insert(desc.end(), out.dims.begin(), out.dims.end());
    site.Call("hlokit_rng_bits",
              {site.context(), site.Words(desc), site.operand(0), site.result(0), site.result(1)});
  }
};

class RngCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    return i.opcode() == Opcode::kRng && i.operand_count() == 2 && IsKernelType(i.shape().type) &&
           !IsComplex(i.shape().type) && i.shape().ElementCount() > 0 &&
           (i.attr<RngAttrs>().distribution == RngDistribution::kUniform ||
            IsFloat(i.shape().type));
  }
  void Emit(CallSite& site, const Instruction& i) const override {
    Builder& b = site.builder();
    const bool normal = i.attr<RngAttrs>().distribution == RngDistribution::kNormal;
    site.Call("hlokit_rng", {site.context(), b.getInt64(normal ? 1 : 0),
                             b.getInt64(Number(i.shape())), b.getInt64(i.shape().ElementCount()),
                             site.operand(0), site.operand(1), site.result()});
  }
};

class RngStateCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    return i.opcode() == Opcode::kRngGetAndUpdateState && i.shape().type == ElementType::kU64 &&
           i.shape().ElementCount() == 2;
  }
  void Emit(CallSite& site, const Instruction& i) const override {
    const int64_t delta = i.attr<RngStateAttrs>().delta;
    site.Call(
        "hlokit_rng_get_and_update_state",
        {site.context(), site.builder().getInt64(static_cast<uint64_t>(delta)), site.result()});
  }
};

class TopKCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    const bool custom =
        i.opcode() == Opcode::kCustomCall && IsTopKTarget(i.attr<CustomCallAttrs>().target);
    if (!custom && i.opcode() != Opcode::kTopK) return false;
    if (i.operand_count() < 1 || !i.shape().IsTuple() || i.shape().elements.size() != 2)
      return false;
    const Shape& from = i.operand(0)->shape();
    const Shape& values = i.shape().elements[0];
    return from.IsArray() && from.rank() >= 1 && values.rank() == from.rank() &&
           IsKernelType(from.type) && !IsComplex(from.type) && from.IsRowMajor() &&
           values.IsRowMajor() && i.shape().elements[1].IsRowMajor() &&
           i.shape().elements[1].type == ElementType::kS32 && values.ElementCount() > 0 &&
           !from.HasDynamicDims();
  }
  void Emit(CallSite& site, const Instruction& i) const override {
    const Shape& from = i.operand(0)->shape();
    const int64_t k = i.shape().elements[0].dims.back();
    const bool smallest = i.opcode() == Opcode::kTopK && !i.attr<TopKAttrs>().largest;
    const std::vector<int64_t> desc = {Number(from), from.ElementCount() / from.dims.back(),
                                       from.dims.back(), k, smallest ? 1 : 0};
    site.Call("hlokit_topk",
              {site.context(), site.Words(desc), site.operand(0), site.result(0), site.result(1)});
  }
};

const LibraryCall* Find(const Instruction& i) {
  static const ConvolutionCall convolution;
  static const StridedCopyCall copy;
  static const RngBitsCall rng_bits;
  static const RngCall rng;
  static const RngStateCall rng_state;
  static const TopKCall topk;
  static const auto* const calls = [] {
    auto* all = new std::vector<const LibraryCall*>{
        &convolution,         &copy, &rng_bits,         &rng,
        &rng_state,           &topk, SortLibraryCall(), AttentionLibraryCall(),
        FinishedProductCall()};
    for (const auto& more : {DotCalls(), LinearAlgebraCalls()})
      all->insert(all->end(), more.begin(), more.end());
    return all;
  }();
  for (const LibraryCall* call : *calls)
    if (call->Matches(i)) return call;
  return nullptr;
}

}  // namespace

bool HasLibraryCall(const Instruction& i) { return Find(i) != nullptr; }

bool EmitLibraryCall(CallSite& site, const Instruction& i) {
  const LibraryCall* call = Find(i);
  if (call != nullptr) call->Emit(site, i);
  return call != nullptr;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
