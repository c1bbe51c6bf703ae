// priority-fusion: producers are computed inside of all of their consumers, those first that save
// most time.
//   s = square(p); e = exp(s), l = log(s)   ->   e = fusion(p) [square, exp], l = fusion(p) [...]
// The time that a fusion saves is that of the producer's kernel and launch, less what its consumers
// take longer (kernel_estimate.h). The best producer is taken in and goes; what it read and what
// took it in are judged anew, until none saves time. Bitcasts and what costs nothing are taken
// first; scalar constants at the end. A conversion to a wider type that a bitcast reads too stays
// for it.
// What a kernel cannot do bounds this: one reduction only, which elementwise steps may follow; no
// reduction of a concatenation or a transpose; no more than 96 arrays; nothing into what a scatter
// or dynamic-update-slice writes over. Fusions for Triton take in what its emitter has, and tiles
// of the result's shape are kept. Exact but for sums in other orders.
// Cost: n log n for n instructions, and for each producer the size of the kernels around it.
#include <algorithm>
#include <limits>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/fusions/fused_producer.h"
#include "passes/fusions/fusion_rules.h"
#include "passes/gpu/kernel_estimate.h"
#include "passes/gpu/small_fusions.h"
#include "passes/gpu/triton_support.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxKernelArrays = 96;
constexpr size_t kMaxKernelSize = 500;  // instructions
constexpr int64_t kTileElements = 1024;
constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kFirst = std::numeric_limits<double>::infinity();

bool WritesOver(const Instruction& i) {
  return i.opcode() == Opcode::kScatter || i.opcode() == Opcode::kDynamicUpdateSlice;
}

// What a kernel is made of: the instruction, or a fusion's body.
template <typename Is>
bool AnyPart(const Instruction& kernel, Is is) {
  if (kernel.opcode() != Opcode::kFusion) return is(kernel);
  bool any = false;
  kernel.to_apply()->ForEach([&](const Instruction* part) { any |= is(*part); });
  return any;
}

bool Reduces(const Instruction& kernel) {
  return AnyPart(kernel, [](const Instruction& i) { return i.opcode() == Opcode::kReduce; });
}

size_t SizeOf(const Instruction& kernel) {
  return kernel.opcode() == Opcode::kFusion ? kernel.to_apply()->instruction_count() : 1;
}

const Instruction& LastPart(const Instruction& kernel) {
  return kernel.opcode() == Opcode::kFusion ? *kernel.to_apply()->root() : kernel;
}

bool IsKernel(const Instruction& i) {
  if (HasControlEdges(i) || i.IsConstant() || i.IsParameter()) return false;
  if (i.opcode() != Opcode::kFusion)
    return i.shape().IsArray() && (CanFuse(i) || (i.opcode() == Opcode::kScatter && IsPlain(i)));
  if (!i.attr<FusionAttrs>().output_to_operand_aliasing.empty()) return false;
  return i.attr<FusionAttrs>().kind != FusionKind::kCustom || IsTritonFusion(i);
}

// Whether the kernel's last part writes over what stands where it reads `x`.
bool UpdatesOperand(const Instruction& kernel, const Instruction& x) {
  const Instruction& last = LastPart(kernel);
  if (!WritesOver(last)) return false;
  const int64_t updated = last.opcode() == Opcode::kScatter ? last.operand_count() / 2 : 1;
  for (int64_t o = 0; o < updated; ++o) {
    const Instruction* operand = last.operand(o);
    while (operand->opcode() == Opcode::kBitcast) operand = operand->operand(0);
    if (operand == &x || (operand->IsParameter() && kernel.opcode() == Opcode::kFusion &&
                          kernel.operand(operand->parameter_number()) == &x))
      return true;
  }
  return false;
}

// Whether a reduction waits for one of arrays of another shape: no tile of the result has the rows
// of both.
bool ReducesOtherRows(const Instruction& kernel) {
  if (kernel.opcode() != Opcode::kFusion) return false;
  absl::flat_hash_map<const Instruction*, const Shape*> behind;  // the last reduction's operand
  for (const Instruction* i : kernel.to_apply()->PostOrder()) {
    const Shape* seen = nullptr;
    for (const Instruction* x : i->operands())
      if (const Shape* rows = behind[x]) seen = rows;
    if (i->opcode() == Opcode::kReduce) {
      if (seen != nullptr && !SameDims(*seen, i->operand(0)->shape())) return true;
      seen = &i->operand(0)->shape();
    }
    behind[i] = seen;
  }
  return false;
}

bool TritonHasKernel(const Instruction& kernel) {
  return kernel.opcode() == Opcode::kFusion ? TritonHas(*kernel.to_apply()) : TritonHas(kernel);
}

bool IsWidening(const Instruction& i) {
  return i.opcode() == Opcode::kConvert &&
         BitWidth(i.shape().type) > BitWidth(i.operand(0)->shape().type);
}

class PriorityFuser {
 public:
  PriorityFuser(Computation& c, bool triton, RewriteControl& control)
      : c_(c), triton_(triton), control_(control) {}

  bool Run() {
    for (Instruction* i : c_.PostOrder()) Judge(i);
    bool changed = false;
    while (!queue_.empty()) {
      Instruction* producer = queue_.begin()->second.second;
      Forget(producer);
      changed |= Fuse(producer);
    }
    changed |= TakeInConstants();
    if (triton_) changed |= TileLoops();
    return changed;
  }

 private:
  using Entry = std::pair<double, std::pair<int64_t, Instruction*>>;  // the best comes first

  const KernelEstimate& Estimate(const Instruction* i) {
    return estimates_.try_emplace(i, *i).first->second;
  }

  void Forget(Instruction* i) {
    const auto found = entries_.find(i);
    if (found == entries_.end()) return;
    queue_.erase(found->second);
    entries_.erase(found);
  }

  void Judge(Instruction* i) {
    Forget(i);
    const double saved = SecondsSaved(i);
    if (saved < 0) return;
    entries_[i] = {-saved, {i->id(), i}};
    queue_.insert(entries_[i]);
  }

  // What computing `i` inside of all of its consumers saves; kNever where it cannot be.
  double SecondsSaved(Instruction* i) {
    if (i->IsRoot() || !i->shape().IsArray() || i->users().empty() || !IsKernel(*i) ||
        WritesOver(LastPart(*i)))
      return kNever;
    const std::vector<Instruction*> consumers = Consumers(i);
    if (consumers.empty()) return kNever;
    if (IsFree(*i) || IsReshape(*i) || IsWidening(*i)) return kFirst;
    double saved = kLaunchSeconds + Estimate(i).Seconds();
    for (const Instruction* consumer : consumers)
      saved +=
          Estimate(consumer).Seconds() - Estimate(consumer).WithFused(*i, Estimate(i)).Seconds();
    return saved;
  }

  // The consumers that would compute `i`; none where one of them cannot, unless it is a bitcast of
  // a conversion, for which that stays.
  std::vector<Instruction*> Consumers(Instruction* i) {
    std::vector<Instruction*> consumers;
    for (Instruction* user : i->users()) {
      if (IsWidening(*i) && user->opcode() == Opcode::kBitcast) continue;
      if (!MayTakeIn(*i, *user)) return {};
      if (std::find(consumers.begin(), consumers.end(), user) == consumers.end())
        consumers.push_back(user);
    }
    return consumers;
  }

  bool MayTakeIn(const Instruction& producer, const Instruction& consumer) {
    if (producer.operand_count() + consumer.operand_count() > kMaxKernelArrays ||
        !IsKernel(consumer) || consumer.opcode() == Opcode::kBitcast ||
        UpdatesOperand(consumer, producer) || SizeOf(producer) + SizeOf(consumer) > kMaxKernelSize)
      return false;
    if (IsTritonFusion(producer) || IsTritonFusion(consumer))
      return consumer.shape().IsArray() && TritonHasKernel(producer) && TritonHasKernel(consumer) &&
             !ReducesOtherRows(consumer) && !ReducesOtherRows(producer) &&
             !(Reduces(producer) && Reduces(consumer));
    const bool reduces = Reduces(consumer);
    if (Reduces(producer))
      return !reduces && !WritesOver(LastPart(consumer)) &&
             Estimate(&consumer).ReadsOf(producer) <=
                 static_cast<double>(ResultElements(producer)) &&
             ResultElements(consumer) == ResultElements(producer);
    return !reduces || !AnyPart(producer, [](const Instruction& i) {
      return i.opcode() == Opcode::kConcatenate || IsStridedTranspose(i);
    });
  }

  bool Fuse(Instruction* producer) {
    bool changed = false;
    const std::vector<Instruction*> read(producer->operands().begin(), producer->operands().end());
    for (Instruction* consumer : Consumers(producer)) {
      if (!control_.Permit("priority-fusion", *producer, *consumer)) continue;
      changed = true;
      FuseInto(producer, consumer);
    }
    if (!changed) return false;
    if (producer->users().empty()) {
      Drop(producer);
      c_.RemoveIfDead(producer);
    }
    for (Instruction* x : read) Judge(x);
    return true;
  }

  void Drop(Instruction* i) {
    Forget(i);
    estimates_.erase(i);
  }

  void FuseInto(Instruction* producer, Instruction* consumer) {
    const bool tiled = IsTritonFusion(*producer) || IsTritonFusion(*consumer);
    const bool keeps = IsTritonFusion(*consumer);
    const SharedText config =
        keeps ? consumer->extras().backend_config : producer->extras().backend_config;
    const bool same = SameDims(producer->shape(), consumer->shape());
    Drop(consumer);
    for (const Instruction* user : consumer->users()) estimates_.erase(user);  // they name it
    Instruction* fusion = fuser_.Fuse(producer, consumer);
    if (tiled) {
      if (keeps || same)
        fusion->mutable_extras().backend_config = config;
      else
        WriteTiles(*fusion, {TileOf(fusion->shape(), kTileElements)});
    }
    fusion->mutable_attr<FusionAttrs>().kind = KindOf(*fusion, tiled);
    for (Instruction* x : fusion->operands()) Judge(x);
    Judge(fusion);
  }

  static FusionKind KindOf(const Instruction& fusion, bool tiled) {
    if (tiled) return FusionKind::kCustom;
    const bool input = LastReduction(fusion) != nullptr ||
                       LastPart(fusion).opcode() == Opcode::kScatter ||
                       AnyPart(fusion, [](const Instruction& i) { return IsStridedTranspose(i); });
    return input ? FusionKind::kInput : FusionKind::kLoop;
  }

  // Scalar constants of all kernels; what is no fusion becomes one for that.
  bool TakeInConstants() {
    bool changed = false;
    for (Instruction* i : c_.PostOrder()) {
      if (!IsKernel(*i) || IsReshape(*i)) continue;
      const auto operands = i->operands();
      if (std::none_of(operands.begin(), operands.end(), [](const Instruction* x) {
            return x->IsConstant() && x->shape().IsScalar() && x->literal() != nullptr;
          }))
        continue;
      if (!control_.Permit("priority-fusion", *i, *i)) continue;
      Instruction* fusion = i;
      if (i->opcode() != Opcode::kFusion) {
        fusion = fuser_.Fuse(nullptr, i);
        fusion->mutable_attr<FusionAttrs>().kind = KindOf(*fusion, /*tiled=*/false);
      }
      changed |= SinkScalarConstants(fusion);
    }
    return changed;
  }

  bool TileLoops() {
    bool changed = false;
    for (Instruction* i : c_.PostOrder()) {
      if (i->opcode() != Opcode::kFusion || !i->shape().IsArray() || !IsKernel(*i) ||
          IsTritonFusion(*i) || !TritonHasKernel(*i) || ReducesOtherRows(*i) ||
          !control_.Permit("priority-fusion", *i, *i))
        continue;
      i->mutable_attr<FusionAttrs>().kind = FusionKind::kCustom;
      WriteTiles(*i, {TileOf(i->shape(), kTileElements)});
      changed = true;
    }
    return changed;
  }

  Computation& c_;
  bool triton_;
  RewriteControl& control_;
  ProducerFuser fuser_;
  std::set<Entry> queue_;
  absl::flat_hash_map<const Instruction*, Entry> entries_;
  absl::node_hash_map<const Instruction*, KernelEstimate> estimates_;
};

class PriorityFusion final : public ComputationPass {
 public:
  explicit PriorityFusion(bool triton) : triton_(triton) {}
  absl::string_view name() const override { return "priority-fusion"; }
  absl::StatusOr<bool> Run(Module& module) override {
    ASSIGN_OR_RETURN(const bool changed, ComputationPass::Run(module));
    if (changed) RemoveUncalled(module);
    return changed;
  }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    return PriorityFuser(c, triton_, control()).Run();
  }

 private:
  bool triton_;
};

}  // namespace

// priority-fusion: see above. Option `triton`: fusions of what Triton's emitter has become its, as
// in XLA under xla_gpu_experimental_enable_triton_heroless_priority_fusion. Times are those of an
// RTX A6000; XLA's cost model knows more of coalescing and occupancy.
std::unique_ptr<Pass> CreatePriorityFusion(PassArguments& arguments) {
  return std::make_unique<PriorityFusion>(
      arguments.Flag("triton", "fusions of what Triton's emitter has become its"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
