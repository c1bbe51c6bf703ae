// propagate-call-metadata and add-original-value: where values come from.
//
// Names of operations and of first values.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

bool PrependName(Computation& callee, const std::string& prefix) {
  bool changed = false;
  for (Instruction* i : callee.Instructions()) {
    if (i->IsParameter()) continue;
    const std::string own = i->metadata().op_name.str();
    if (own == prefix || absl::StartsWith(own, absl::StrCat(prefix, "/"))) continue;
    i->mutable_metadata().op_name = own.empty() ? prefix : absl::StrCat(prefix, "/", own);
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> PropagateMetadata(Module& module) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  const std::vector<Computation*> order = module.ComputationsPostOrder();
  for (size_t k = order.size(); k-- > 0;)  // callers first: names add up on the way down
    for (const Instruction* i : order[k]->Instructions())
      if (i->opcode() == Opcode::kCall && !i->metadata().op_name.empty() &&
          callers[i->to_apply()->id()] == 1)
        changed |= PrependName(*i->to_apply(), i->metadata().op_name.str());
  return changed;
}

void AppendOrigin(const Shape& shape, const std::string& name, ShapeIndex& index,
                  std::string& out) {
  if (!shape.IsTuple()) {
    absl::StrAppend(&out, "{\"", name, "\"");
    if (!index.empty()) absl::StrAppend(&out, " {", absl::StrJoin(index, ","), "}");
    out += '}';
    return;
  }
  out += '(';
  for (size_t k = 0; k < shape.elements.size(); ++k) {
    if (k > 0) out += ", ";
    index.push_back(static_cast<int64_t>(k));
    AppendOrigin(shape.elements[k], name, index, out);
    index.pop_back();
  }
  out += ')';
}

absl::StatusOr<bool> AddOrigins(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions()) {
      if (!i->extras().origin.empty()) continue;
      std::string origin = "{";
      ShapeIndex index;
      AppendOrigin(i->shape(), i->name(), index, origin);
      i->mutable_extras().origin = origin + "}";
      changed = true;
    }
  return changed;
}

}  // namespace

// propagate-call-metadata. Instructions of a computation that one call runs get the call's op_name
// before their own. Cost: linear.
std::unique_ptr<Pass> CreatePropagateCallMetadata() {
  return MakeModulePass("propagate-call-metadata", PropagateMetadata);
}

// add-original-value. Instructions without origin={...} get one that names themselves, leaf by
// leaf. Cost: linear.
std::unique_ptr<Pass> CreateAddOriginalValue() {
  return MakeModulePass("add-original-value", AddOrigins);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
