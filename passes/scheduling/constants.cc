// literal-canonicalizer, shape-canonicalizer, hlo-constant-splitter,
// optimize_input_output_buffer_alias and alias_passthrough_params: memory of constants, and of
// arguments given away.
//
// Literals shared or split, buffers given back.
#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "analysis/donation.h"
#include "passes/framework/pass.h"

namespace hlokit {
namespace {

uint64_t HashOf(const Literal& literal) {
  const size_t bytes = literal.shape().IsArray() ? literal.byte_size() : 0;
  return absl::HashOf(literal.shape(),
                      absl::string_view(reinterpret_cast<const char*>(literal.data()), bytes));
}

absl::StatusOr<bool> ShareLiterals(Module& module) {
  bool changed = false;
  absl::flat_hash_map<uint64_t, std::vector<SharedLiteral>> seen;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions()) {
      if (!i->IsConstant() || i->literal() == nullptr) continue;
      SharedLiteral& own = i->mutable_attr<ConstantAttrs>().literal;
      std::vector<SharedLiteral>& alike = seen[HashOf(*own)];
      bool found = false;
      for (const SharedLiteral& other : alike) {
        if (other != own && (!(*other == *own) || other->shape() != own->shape())) continue;
        changed |= other != own;
        own = other;
        found = true;
        break;
      }
      if (!found) alike.push_back(own);
    }
  return changed;
}

// One block of memory for all instructions of a shape: texts are read so, passes make shapes anew.
absl::StatusOr<bool> ShareShapes(Module& module) {
  bool changed = false;
  absl::flat_hash_map<Shape, Shared<Shape>> seen;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions()) {
      const Shared<Shape>& shared = seen.try_emplace(i->shape(), i->shared_shape()).first->second;
      if (shared.IsSame(i->shared_shape())) continue;
      i->set_shape(shared);
      changed = true;
    }
  return changed;
}

absl::StatusOr<bool> SplitConstants(Computation& computation) {
  bool changed = false;
  for (Instruction* i : computation.Instructions()) {
    if (!i->IsConstant() || i->users().size() < 2) continue;
    const std::vector<Instruction*> users(i->users().begin(), i->users().end());
    for (size_t k = i->IsRoot() ? 0 : 1; k < users.size(); ++k)
      i->ReplaceUseIn(users[k], computation.Add(i->CloneWith(i->shape(), {})));
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> AliasDonors(Module& module) {
  return MatchDonors(*module.entry(), module.header());
}

// The array result `value`, at `output`, takes its parameter's memory where neither is taken.
bool AliasPassedOn(const Instruction* value, ShapeIndex output, ModuleHeader& header) {
  if (!value->IsParameter() || !value->shape().IsArray()) return false;
  for (const InputOutputAlias& alias : header.aliases)
    if (alias.output == output || alias.parameter == value->parameter_number()) return false;
  header.aliases.push_back({std::move(output), value->parameter_number(), {}});
  // Its memory has a taker now.
  std::erase_if(header.donors, [value](const BufferDonor& donor) {
    return donor.parameter == value->parameter_number();
  });
  return true;
}

absl::StatusOr<bool> AliasPassthrough(Module& module) {
  const Instruction* root = module.entry()->root();
  if (root->opcode() != Opcode::kTuple) return AliasPassedOn(root, {}, module.header());
  bool changed = false;
  for (int64_t k = 0; k < root->operand_count(); ++k)
    changed |= AliasPassedOn(root->operand(k), {k}, module.header());
  return changed;
}

}  // namespace

// literal-canonicalizer. Constants of equal value share one literal in memory. The text stays as it
// is. Cost: linear.
std::unique_ptr<Pass> CreateLiteralCanonicalizer() {
  return MakeModulePass("literal-canonicalizer", ShareLiterals);
}

// shape-canonicalizer. Shapes are values here, with nothing to share: never changes anything. There
// for pipelines that name it.
std::unique_ptr<Pass> CreateShapeCanonicalizer() {
  return MakeModulePass("shape-canonicalizer", ShareShapes);
}

// hlo-constant-splitter. Gives every user of a constant one of its own. Cost: linear.
std::unique_ptr<Pass> CreateHloConstantSplitter() {
  return MakeComputationPass("hlo-constant-splitter", SplitConstants);
}

// optimize_input_output_buffer_alias. Matches arguments that the caller donates and results of the
// same shape that nothing aliases yet; leaves aliases of the two, each donated once. Cost: donors
// times results.
std::unique_ptr<Pass> CreateOptimizeInputOutputBufferAlias() {
  return MakeModulePass("optimize_input_output_buffer_alias", AliasDonors);
}

// alias_passthrough_params. Results that are arguments as they came take their memory; leaves
// aliases, one for each argument. Cost: linear.
std::unique_ptr<Pass> CreateAliasPassthroughParams() {
  return MakeModulePass("alias_passthrough_params", AliasPassthrough);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
