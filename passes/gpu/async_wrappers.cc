// Which instructions run beside the others: single ones as asynchronous pairs.
//   copy(x)  ->  async-done(async-start(x), calls={copy})
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/gpu/async_pairs.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/async_body.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlokit {
namespace {

constexpr absl::string_view kStream = "_xla_stream_annotation";
constexpr absl::string_view kParallelThread = "parallel";

bool IsPlainCopy(const Instruction& i, int64_t bytes) {
  if (i.opcode() != Opcode::kCopy || !i.shape().IsArray()) return false;
  const Shape& from = i.operand(0)->shape();
  return SpaceOf(i.shape()) != kHostSpace && SpaceOf(from) != kHostSpace &&
         i.shape().MinorToMajor() == from.MinorToMajor() && i.shape().ByteSize() >= bytes;
}

// One that calls `wrap` for each instruction of the computations that run on their own and are not
// bodies of asynchronous operations. `wrap` may take the instruction away.
absl::StatusOr<bool> ForEachWrapped(Module& module, const std::function<bool(Instruction*)>& wrap) {
  const std::vector<bool> asynchronous = ComputationsOfStarts(module);
  const std::vector<bool> in_fusions = ComputationsOfFusions(module);
  const std::vector<bool> running = RunningComputations(module);
  bool changed = false;
  std::vector<Computation*> order = module.ComputationsPostOrder();
  for (size_t k = order.size(); k-- > 0;) {  // callers first
    Computation* c = order[k];
    if (asynchronous[c->id()] || in_fusions[c->id()] || !running[c->id()]) continue;
    for (Instruction* i : c->PostOrder()) changed |= wrap(i);
  }
  return changed;
}

class CopyAsyncWrapper final : public Pass {
 public:
  explicit CopyAsyncWrapper(int64_t bytes) : bytes_(bytes) {}
  absl::string_view name() const override { return "gpu-copy-async-wrapper"; }
  absl::StatusOr<bool> Run(Module& module) override {
    if (bytes_ < 0) return false;
    const Shape context = RowMajor(ElementType::kU32, {});
    return ForEachWrapped(module, [&](Instruction* i) {
      if (!IsPlainCopy(*i, bytes_) || !control().Permit(name(), *i, *i)) return false;
      ReplaceByAsyncPair(i, {{&context, 1}, ""});
      return true;
    });
  }

 private:
  int64_t bytes_;
};

// A call of a computation that holds `i` alone, in its place.
Instruction* WrapInCall(Instruction* i) {
  Computation& c = *i->parent();
  Computation* body = BodyHolding(i, "call_computation");
  body->root()->mutable_extras().frontend_attributes.clear();
  Instruction* call = c.Add(Opcode::kCall, i->shape(), i->operands());
  call->set_called({body});
  call->set_metadata(i->shared_metadata());
  call->mutable_extras().frontend_attributes = i->extras().frontend_attributes;
  MoveControlEdges(i, call, call);
  i->ReplaceAllUsesWith(call);
  c.Remove(i);
  return call;
}

bool RunsAsynchronously(const Instruction& i) {
  return HasTrait(i.opcode(), kAsyncStart) || HasTrait(i.opcode(), kAsyncDone) ||
         HasTrait(i.opcode(), kCollective) || i.opcode() == Opcode::kAsyncUpdate;
}

bool WrapAnnotated(Instruction* i) {
  if (FrontendAttribute(*i, kStream).empty() || RunsAsynchronously(*i) || i->IsParameter())
    return false;
  if (i->opcode() != Opcode::kCall) i = WrapInCall(i);
  const auto attributes = i->extras().frontend_attributes;
  i->called(0)->ForEach([](Instruction* inner) {
    DropFrontendAttribute(*inner, kStream);
    DropFrontendAttribute(*inner, kSchedulingGroup);
  });
  DropFrontendAttribute(*i, kStream);
  DropFrontendAttribute(*i, kSchedulingGroup);
  Instruction* done = ReplaceByAsyncPair(i, {});
  done->mutable_extras().frontend_attributes = attributes;
  done->operand(0)->mutable_extras().frontend_attributes = attributes;
  BackendConfig config = BackendConfig::Of(*done);
  config.SetBool("force_earliest_schedule", false);
  config.WriteTo(*done);
  return true;
}

absl::StatusOr<bool> WrapStreams(Module& module) { return ForEachWrapped(module, WrapAnnotated); }

bool WrapByQueue(Instruction* i) {
  if (RunsAsynchronously(*i)) return false;
  const BackendConfig config = BackendConfig::Of(*i);
  const absl::string_view queue = config.Text("operation_queue_id");
  if (queue.empty() || queue == "0") return false;
  Instruction* done = ReplaceByAsyncPair(i, {{}, kParallelThread});
  BackendConfig later = config;
  later.SetBool("force_earliest_schedule", false);
  later.WriteTo(*done);
  return true;
}

absl::StatusOr<bool> WrapQueues(Module& module) { return ForEachWrapped(module, WrapByQueue); }

bool IsSliceFusion(const Instruction& i) {
  if (i.opcode() != Opcode::kFusion) return false;
  const Instruction* root = i.to_apply()->root();
  while (root->opcode() == Opcode::kBitcast) root = root->operand(0);
  return (root->opcode() == Opcode::kDynamicSlice ||
          root->opcode() == Opcode::kDynamicUpdateSlice) &&
         !BackendConfig::Of(*root).Raw("dynamic_slice_config").empty();
}

absl::StatusOr<bool> WrapSliceFusions(Module& module) {
  const Shape context = RowMajor(ElementType::kU32, {});
  auto changed = ForEachWrapped(module, [&](Instruction* i) {
    if (!IsSliceFusion(*i)) return false;
    ReplaceByAsyncPair(i, {{&context, 1}, ""});
    return true;
  });
  if (changed.ok() && *changed) RemoveUncalled(module);
  return changed;
}

class AsyncWrapper final : public Pass {
 public:
  explicit AsyncWrapper(std::vector<std::string> opcodes) : opcodes_(std::move(opcodes)) {}
  absl::string_view name() const override { return "async-wrapper"; }
  absl::StatusOr<bool> Run(Module& module) override {
    return ForEachWrapped(module, [&](Instruction* i) {
      if (RunsAsynchronously(*i)) return false;
      for (const std::string& opcode : opcodes_)
        if (opcode == Text(i->opcode())) {
          ReplaceByAsyncPair(i, {});
          return true;
        }
      return false;
    });
  }

 private:
  std::vector<std::string> opcodes_;
};

}  // namespace

// gpu-copy-async-wrapper: copies between arrays of one layout on the device, of at least
// `min-bytes` bytes, become asynchronous. Option `min-bytes` (-1: none). Exact.
std::unique_ptr<Pass> CreateGpuCopyAsyncWrapper(PassArguments& arguments) {
  return std::make_unique<CopyAsyncWrapper>(
      arguments.Int("min-bytes", -1, "the least copy that becomes asynchronous; -1: none"));
}

// explicit-stream-annotation-async-wrapper: an instruction with the frontend attribute
// _xla_stream_annotation becomes a call if it is none, and the call asynchronous; the attributes
// move to the pair. Collectives, pairs, and what fusions run stay. Exact.
std::unique_ptr<Pass> CreateExplicitStreamAnnotationAsyncWrapper() {
  return MakeModulePass("explicit-stream-annotation-async-wrapper", WrapStreams);
}

// async-stream-attribute-wrapper: an instruction whose backend_config names another operation queue
// than 0 becomes asynchronous, on the thread "parallel". Exact.
std::unique_ptr<Pass> CreateAsyncStreamAttributeWrapper() {
  return MakeModulePass("async-stream-attribute-wrapper", WrapQueues);
}

// dynamic-slice-copy-fusion-async-wrapper: a fusion that does nothing but a dynamic-slice or a
// dynamic-update-slice whose place dynamic-slice-annotator wrote down becomes asynchronous. Exact.
std::unique_ptr<Pass> CreateDynamicSliceCopyFusionAsyncWrapper() {
  return MakeModulePass("dynamic-slice-copy-fusion-async-wrapper", WrapSliceFusions);
}

// async-wrapper: instructions of the opcodes that option `opcodes` names (fusion) become
// asynchronous. Exact.
std::unique_ptr<Pass> CreateAsyncWrapper(PassArguments& arguments) {
  std::vector<std::string> opcodes = arguments.List(
      "opcodes", {"fusion", "call", "custom-call", "copy", "add", "dot", "convolution"},
      "what becomes asynchronous; fusion where none is named");
  if (opcodes.empty()) opcodes = {"fusion"};
  return std::make_unique<AsyncWrapper>(std::move(opcodes));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
