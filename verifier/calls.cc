// Fusions and custom calls: aliasing of outputs to operands, layout constraints, fused
// computations.
#include "absl/container/flat_hash_map.h"
#include "ir/op_facts.h"
#include "ops/dim_lists.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

absl::string_view ThreadText(const std::string& thread) {
  return thread.empty() ? absl::string_view("main") : absl::string_view(thread);
}

int64_t SpaceOf(const Shape& shape) {
  return (shape.type == ElementType::kBuffer ? shape.elements[0] : shape).ByteSize();
}

// [OP-c10] output_to_operand_aliasing joins an output and a part of an operand that take the same
// space. A buffer, b(f32[2]), takes the space of its array.
void CheckAliasing(VerifyRun& run, const Instruction& i, const std::vector<OutputAlias>& aliases) {
  for (const OutputAlias& alias : aliases) {
    const Shape* to = SubShape(i.shape(), alias.output);
    const bool has_operand = alias.operand >= 0 && alias.operand < i.operand_count();
    const Shape* from =
        has_operand ? SubShape(i.operand(alias.operand)->shape(), alias.operand_index) : nullptr;
    if (to == nullptr || from == nullptr || SpaceOf(*to) != SpaceOf(*from))
      run.Error(i, absl::StrCat(Text(i.opcode()), "-c10"), "output_to_operand_aliasing: output ",
                ListText(alias.output), " is ", to ? Text(*to) : "missing", ", and operand ",
                alias.operand, " ", ListText(alias.operand_index), " is ",
                from ? Text(*from) : "missing");
  }
}

// [custom-call-c11] operand_layout_constraints has the shape of each operand.
void CheckConstraints(VerifyRun& run, const Instruction& call) {
  const auto& attr = call.attr<CustomCallAttrs>();
  if (!attr.operand_layout_constraints) return;
  const std::vector<Shape>& stated = *attr.operand_layout_constraints;
  if (static_cast<int64_t>(stated.size()) != call.operand_count()) {
    run.Error(call, "custom-call-c11", "operand_layout_constraints has ", stated.size(),
              " shapes, expected ", call.operand_count());
    return;
  }
  for (int64_t n = 0; n < call.operand_count(); ++n)
    if (!Compatible(stated[n], call.operand(n)->shape()))
      run.Error(call, "custom-call-c11", "operand_layout_constraints has ", Text(stated[n]),
                " for operand ", n, ", which is ", Text(call.operand(n)->shape()));
}

// [module-c5] an instruction runs computations of its own thread; async-start those of the thread
// that it names ([async-c3]).
void CheckThreads(VerifyRun& run, const Instruction& i) {
  for (const Computation* called : i.called()) {
    const std::string& thread = called->execution_thread();
    if (i.opcode() == Opcode::kAsyncStart) {
      const std::string& named = i.attr<AsyncAttrs>().async_execution_thread;
      if (!named.empty() && !thread.empty() && named != thread)
        run.Error(i, "async-c3", "it runs on thread ", named, ", but ", called->name(), " on ",
                  thread);
    } else if (!IsAsync(i.opcode()) && thread != i.parent()->execution_thread()) {
      run.Error(i, "module-c5", called->name(), " runs on thread ", ThreadText(thread),
                ", expected ", ThreadText(i.parent()->execution_thread()));
    }
  }
}

}  // namespace

void CheckCalls(VerifyRun& run) {
  absl::flat_hash_map<const Computation*, const Instruction*> fused;
  run.ForEachInstruction([&](const Instruction& i) {
    CheckThreads(run, i);
    if (i.opcode() == Opcode::kCustomCall) {
      CheckAliasing(run, i, i.attr<CustomCallAttrs>().output_to_operand_aliasing);
      CheckConstraints(run, i);
      if (i.attr<CustomCallAttrs>().api_version == CustomCallApiVersion::kUnspecified)
        run.Error(i, "custom-call-c12", "expects a version of the calling convention, found ",
                  Text(i.attr<CustomCallAttrs>().api_version));
    } else if (i.opcode() == Opcode::kFusion) {
      CheckAliasing(run, i, i.attr<FusionAttrs>().output_to_operand_aliasing);
      const auto [other, first] = fused.insert({i.to_apply(), &i});
      if (!first && i.to_apply() != nullptr)
        run.Error(i, "fusion-c11", "computation ", i.to_apply()->name(), " is fused by %",
                  other->second->name(), " as well");
    }
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
