// Custom calls that only mark something, and names.
//
// Marks and names.
#include <algorithm>

#include "absl/strings/str_replace.h"
#include "ir/frontend_attributes.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/memory_spaces.h"
#include "support/status.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

bool IsCallOf(const Instruction* i, absl::string_view target) {
  return i->opcode() == Opcode::kCustomCall && i->attr<CustomCallAttrs>().target == target;
}

absl::StatusOr<bool> RewriteControlDeps(Computation& c) {
  bool changed = false;
  for (Instruction* i : c.Instructions()) {
    if (!IsCallOf(i, "control_dep") || i->operand_count() != 2 || !i->users().empty() ||
        i->IsRoot())
      continue;
    Instruction *first = i->operand(0), *second = i->operand(1);
    if (Needs(first, {second}))
      return InvalidArgument(i->name(), " orders ", first->name(), " before ", second->name(),
                             ", which it needs");
    i->DropControlEdges();
    c.Remove(i);
    second->AddControlPredecessor(first);
    changed = true;
  }
  return changed;
}

constexpr absl::string_view kPlacement = "annotate_device_placement";

absl::StatusOr<Instruction*> StripPlacement(Instruction* i, Rewriter&) {
  return IsCallOf(i, kPlacement) && i->operand_count() == 1 &&
                 SameShape(i->shape(), i->operand(0)->shape())
             ? i->operand(0)
             : nullptr;
}

absl::StatusOr<Instruction*> ConvertPlacement(Instruction* i, Rewriter& r) {
  if (!IsCallOf(i, kPlacement) || i->operand_count() != 1) return nullptr;
  const absl::string_view placement = FrontendAttribute(*i, "_xla_buffer_placement");
  const bool host = placement == "pinned_host" || placement == "unpinned_host";
  const bool fast = placement == "vmem";
  if (!host && !fast && placement != "device") return nullptr;
  CustomCallAttrs attrs;
  attrs.target = std::string(host ? kMoveToHost : fast ? "PinToDeviceSram" : kMoveToDevice);
  Instruction* made = r.Add(Opcode::kCustomCall, i->shape(), {i->operand(0)}, std::move(attrs));
  auto& marks = made->mutable_extras().frontend_attributes;
  std::erase_if(marks, [](const auto& mark) { return mark.first == "_xla_buffer_placement"; });
  return made;
}

// Gives arrays of `shape` the memory spaces that those of `like` have; true if any differed.
bool NeedsSpaces(const Shape& shape, const Shape& like) {
  if (shape.IsTuple() != like.IsTuple() || shape.elements.size() != like.elements.size())
    return false;
  for (size_t k = 0; k < shape.elements.size(); ++k)
    if (NeedsSpaces(shape.elements[k], like.elements[k])) return true;
  return shape.IsArray() && shape.has_layout &&
         shape.layout.memory_space() != like.layout.memory_space();
}

Shape WithSpaces(Shape shape, const Shape& like) {
  for (size_t k = 0; k < shape.elements.size(); ++k)
    shape.elements[k] = WithSpaces(std::move(shape.elements[k]), like.elements[k]);
  if (!NeedsSpaces(shape, like) || !shape.IsArray()) return shape;
  return InSpace(std::move(shape), SpaceOf(like));
}

bool PutInto(Instruction* inside, const Shape& like) {
  if (!NeedsSpaces(inside->shape(), like)) return false;
  inside->set_shape(WithSpaces(inside->shape(), like));
  if (inside->opcode() == Opcode::kTuple)
    for (int64_t k = 0; k < inside->operand_count(); ++k)
      PutInto(inside->operand(k), like.elements[k]);
  return true;
}

absl::StatusOr<bool> PropagateSpaces(Computation& c) {
  bool changed = false;
  for (Instruction* i : c.Instructions()) {
    if (i->opcode() != Opcode::kFusion) continue;
    for (int64_t k = 0; k < i->operand_count(); ++k)
      changed |= PutInto(i->to_apply()->parameter(k), i->operand(k)->shape());
    changed |= PutInto(i->to_apply()->root(), i->shape());
  }
  return changed;
}

absl::StatusOr<bool> SanitizeNames(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions()) {
      if (!i->IsConstant()) continue;
      std::string name = absl::StrReplaceAll(i->name(), {{".", "_"}, {"-", "_"}});
      if (name == i->name()) continue;
      i->set_name(module.UniqueName(name));
      changed = true;
    }
  return changed;
}

bool Rename(Module& module, absl::string_view from, absl::string_view to) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions()) {
      if (i->name() != from) continue;
      i->set_name(module.UniqueName(to));
      changed = true;
    }
  return changed;
}
absl::StatusOr<bool> FooToBar(Module& module) { return Rename(module, "foo", "bar"); }
absl::StatusOr<bool> BarToHello(Module& module) { return Rename(module, "bar", "hello"); }

absl::StatusOr<bool> CheckModule(Module& module) {
  Diagnostics diagnostics;
  RETURN_IF_ERROR(Verify(module, diagnostics));
  return false;
}

}  // namespace

// control-dep-rewriter: custom calls of "control_dep" with two operands become a control edge from
// the first to the second. Errors: InvalidArgument where the first needs the second.
std::unique_ptr<Pass> CreateControlDepRewriter() {
  return MakeComputationPass("control-dep-rewriter", RewriteControlDeps);
}

// strip-memory-placement-annotations: custom calls of "annotate_device_placement" go.
std::unique_ptr<Pass> CreateStripMemoryPlacementAnnotations() {
  return MakeExpander("strip-memory-placement-annotations", StripPlacement);
}

// convert-memory-placement-to-internal-annotations: the same calls become MoveToHost or
// MoveToDevice, by their _xla_buffer_placement (pinned_host, unpinned_host; device), or
// PinToDeviceSram (vmem); others stay.
std::unique_ptr<Pass> CreateConvertMemoryPlacement() {
  return MakeExpander("convert-memory-placement-to-internal-annotations", ConvertPlacement);
}

// memory-space-propagation: parameters and roots of fusions lie in the memory spaces of what the
// fusions read and give.
std::unique_ptr<Pass> CreateMemorySpacePropagation() {
  return MakeComputationPass("memory-space-propagation", PropagateSpaces);
}

// sanitize-constant-names: '.' and '-' in the names of constants become '_'.
std::unique_ptr<Pass> CreateSanitizeConstantNames() {
  return MakeModulePass("sanitize-constant-names", SanitizeNames);
}

// test-only-foo2bar, test-only-bar2hello: instructions named foo are renamed bar, those named bar
// hello. For tests of lists of passes.
std::unique_ptr<Pass> CreateTestOnlyFoo2Bar() {
  return MakeModulePass("test-only-foo2bar", FooToBar);
}
std::unique_ptr<Pass> CreateTestOnlyBar2Hello() {
  return MakeModulePass("test-only-bar2hello", BarToHello);
}

// hlo-verifier: checks the module and changes nothing. Errors: what the verifier finds first.
std::unique_ptr<Pass> CreateHloVerifier() { return MakeModulePass("hlo-verifier", CheckModule); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
