// Structural hashes: equal for instructions that compute the same from the same, whatever their
// names.
//
// The hash of an instruction covers opcode, shape with layout, attributes, literal, and the hashes
// of its operands and called computations; metadata, names and ids are left out. One pass in post
// order: linear. A collision makes two different instructions look equal with probability about
// 2^-64 a pair; users that cannot accept that compare the instructions.
#include "analysis/structural_hash.h"

#include "absl/hash/hash.h"

namespace hlokit {
namespace {

template <typename T>
constexpr bool kHashable =
    std::is_integral_v<T> || std::is_enum_v<T> || std::is_same_v<T, DimVector> ||
    std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<int64_t>>;

template <typename A>
uint64_t HashOfFields(const A& attributes) {
  uint64_t hash = 0;
  ForEachField<A>([&](const auto& field) {
    using T = std::decay_t<decltype(attributes.*field.member)>;
    if constexpr (kHashable<T>) hash = absl::HashOf(hash, attributes.*field.member);
  });
  return hash;
}

uint64_t HashOfLiteral(const Literal& literal) {
  if (!literal.shape().IsArray()) return literal.shape().elements.size();
  return absl::HashOf(absl::string_view(reinterpret_cast<const char*>(literal.data()),
                                        static_cast<size_t>(literal.byte_size())));
}

uint64_t HashOfShape(const Shape& shape) {
  uint64_t hash = absl::HashOf(shape);
  for (const ShapeLeaf& leaf : Leaves(shape))
    if (leaf.shape->IsArray()) hash = absl::HashOf(hash, leaf.shape->MinorToMajor());
  return hash;
}

// The root, and what else has effects.
uint64_t HashOfComputation(const Computation& computation, const std::vector<uint64_t>& hashes) {
  uint64_t hash = computation.parameter_count();
  if (computation.root() != nullptr) hash = absl::HashOf(hash, hashes[computation.root()->id()]);
  uint64_t effects = 0;  // in no order
  for (const Instruction* i : computation.Instructions())
    if (i->users().empty() && !i->IsRoot() && !i->IsParameter()) effects += hashes[i->id()];
  return absl::HashOf(hash, effects);
}

}  // namespace

uint64_t LocalHash(const Instruction& instruction) {
  uint64_t hash =
      absl::HashOf(static_cast<int>(instruction.opcode()), HashOfShape(instruction.shape()),
                   instruction.operand_count(), instruction.called().size());
  VisitAttributes(instruction.opcode(), instruction.attributes(), [&](const auto& attributes) {
    hash = absl::HashOf(hash, HashOfFields(attributes));
  });
  if (instruction.IsConstant() && instruction.literal() != nullptr)
    hash = absl::HashOf(hash, HashOfLiteral(*instruction.literal()));
  if (instruction.IsParameter()) hash = absl::HashOf(hash, instruction.parameter_number());
  return absl::HashOf(hash, instruction.backend_config());
}

std::vector<uint64_t> StructuralHashes(const Module& module) {
  std::vector<uint64_t> hashes(module.id_bound(), 0);
  std::vector<uint64_t> of_computation(module.computation_id_bound(), 0);
  for (const Computation* computation : module.ComputationsPostOrder()) {
    for (const Instruction* i : computation->PostOrder()) {
      uint64_t hash = LocalHash(*i);
      for (const Instruction* operand : i->operands())
        hash = absl::HashOf(hash, hashes[operand->id()]);
      for (const Computation* called : i->called())
        if (called != nullptr) hash = absl::HashOf(hash, of_computation[called->id()]);
      hashes[i->id()] = hash;
    }
    of_computation[computation->id()] = HashOfComputation(*computation, hashes);
  }
  return hashes;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
