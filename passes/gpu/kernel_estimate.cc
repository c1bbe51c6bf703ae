// A roofline for kernels; see the header.
//   fusion(x) { exp; reduce }    work: exp for each element of x and a step of the sum; x read once
// Elements are counted from the result up: an operand is computed as often as its readers read it.
#include "passes/gpu/kernel_estimate.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "ir/computation.h"
#include "passes/fusions/fusion_rules.h"
#include "passes/gpu/triton_support.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

constexpr double kLanes = 84 * 128, kLaneHertz = 1.8e9;
constexpr double kMemoryBytes = 768e9, kCacheBytes = 4 * kMemoryBytes;  // a second

double BytesOf(const Shape& shape) { return static_cast<double>(TotalBytes(shape)); }

}  // namespace

const Instruction* LastReduction(const Instruction& kernel) {
  if (kernel.opcode() != Opcode::kFusion)
    return kernel.opcode() == Opcode::kReduce ? &kernel : nullptr;
  const Instruction* i = kernel.to_apply()->root();
  if (i->opcode() == Opcode::kTuple && i->operand_count() > 0) i = i->operand(0);
  while (i->opcode() != Opcode::kReduce) {
    const Instruction* next = nullptr;
    for (const Instruction* x : i->operands())
      if (!x->shape().IsScalar() && !x->IsParameter() && x->opcode() != Opcode::kBroadcast)
        next = next == nullptr ? x : i;  // of several none
    if (next == nullptr || next == i || !(HasTrait(i->opcode(), kElementwise) || IsReshape(*i)))
      return nullptr;
    i = next;
  }
  return i;
}

KernelEstimate::KernelEstimate(const Instruction& kernel) {
  elements_ = static_cast<double>(ResultElements(kernel));
  once_ = IsTritonFusion(kernel);
  threads_ = elements_;
  written_ = BytesOf(kernel.shape());
  if (const Instruction* reduction = LastReduction(kernel)) {
    reduces_ = true;
    threads_ = static_cast<double>(ResultElements(*reduction->operand(0)));
  }
  if (kernel.opcode() == Opcode::kFusion) {
    AddBody(*kernel.to_apply(), kernel);
  } else {
    AddInstruction(kernel, elements_);
    for (int64_t o = 0; o < kernel.operand_count(); ++o)
      AddRead(kernel.operand(o), elements_ * ReadsPerElement(kernel, o));
  }
}

void KernelEstimate::AddBody(const Computation& body, const Instruction& fusion) {
  absl::flat_hash_map<const Instruction*, double> needed;
  const std::vector<Instruction*> order = body.PostOrder();
  for (size_t k = order.size(); k-- > 0;) {
    const Instruction& i = *order[k];
    double elements = needed[&i];
    if (i.IsRoot()) elements = std::max(elements, static_cast<double>(ResultElements(i)));
    if (once_) elements = std::min(elements, static_cast<double>(ResultElements(i)));
    if (i.IsParameter()) {
      AddRead(fusion.operand(i.parameter_number()), elements);
      continue;
    }
    if (i.opcode() != Opcode::kTuple) AddInstruction(i, elements);
    for (int64_t o = 0; o < i.operand_count(); ++o)
      needed[i.operand(o)] += i.opcode() == Opcode::kTuple
                                  ? static_cast<double>(ResultElements(*i.operand(o)))
                                  : elements * ReadsPerElement(i, o);
  }
}

void KernelEstimate::AddInstruction(const Instruction& i, double elements) {
  if (!i.IsConstant()) work_ += elements * WorkPerElement(i);
}

void KernelEstimate::AddRead(const Instruction* operand, double elements) {
  for (Read& read : reads_)
    if (read.operand == operand) {
      read.elements += elements;
      return;
    }
  reads_.push_back({operand, elements});
}

double KernelEstimate::ReadsOf(const Instruction& operand) const {
  for (const Read& read : reads_)
    if (read.operand == &operand) return read.elements;
  return 0;
}

KernelEstimate KernelEstimate::WithFused(const Instruction& producer,
                                         const KernelEstimate& of_producer) const {
  KernelEstimate fused = *this;
  double share = ReadsOf(producer) / of_producer.elements_;
  fused.once_ |= of_producer.once_;
  if (fused.once_) share = std::min(share, 1.0);
  std::erase_if(fused.reads_, [&](const Read& read) { return read.operand == &producer; });
  fused.work_ += share * of_producer.work_;
  for (const Read& read : of_producer.reads_) fused.AddRead(read.operand, share * read.elements);
  if (of_producer.reduces_ && !reduces_) {
    fused.threads_ = of_producer.threads_;
    fused.reduces_ = true;
  }
  return fused;
}

double KernelEstimate::Seconds() const {
  double memory = written_ / kMemoryBytes;
  for (const Read& read : reads_) {
    const double all = BytesOf(read.operand->shape());
    const double bytes = read.elements * all / static_cast<double>(ResultElements(*read.operand));
    memory += std::min(all, bytes) / kMemoryBytes + std::max(0.0, bytes - all) / kCacheBytes;
  }
  return std::max(memory, work_ / (kLaneHertz * std::min(threads_, kLanes)));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
