// One part of each kind that occurs.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "analysis/module_size.h"
#include "passes/rewrite/extract.h"
#include "printer/printer.h"
#include "tools/hlo-reduce/edits.h"

namespace hlokit {
namespace {

// A part with more instructions, those of bodies counted, is no small one.
constexpr int64_t kMaxInstructions = 200;

// What the instruction does, without names: its opcode, shapes, attributes.
size_t KindOf(const Instruction& i) {
  PrintOptions options = PrintOptions::Canonical();
  options.operand_names = false;
  options.operand_shapes = true;
  options.metadata = options.backend_config = false;
  return absl::HashOf(Print(i, options));
}

bool IsWorthCutting(const Instruction& i) {
  return !IsFiller(i) && i.opcode() != Opcode::kGetTupleElement && i.opcode() != Opcode::kTuple;
}

std::unique_ptr<Module> Cut(const Instruction* i, int height) {
  ExtractOptions options;
  options.height = height;
  auto cut = Extract({i}, options);
  if (!cut.ok() || InstructionCount(*cut->module) > kMaxInstructions) return nullptr;
  cut->module->header().replica_count = i->module()->header().replica_count;
  cut->module->header().num_partitions = i->module()->header().num_partitions;
  return WithLeastShapes(std::move(cut->module));
}

}  // namespace

std::vector<Candidate> Cuts(const Module& module, int height) {
  std::vector<Candidate> candidates;
  absl::flat_hash_set<size_t> seen;
  for (const Computation* c : module.ComputationsPostOrder()) {
    const std::vector<Instruction*> order = c->PostOrder();
    absl::flat_hash_map<const Instruction*, size_t> kinds;
    for (const Instruction* i : order) kinds[i] = KindOf(*i);
    for (int level = 0; level < height; ++level) {
      absl::flat_hash_map<const Instruction*, size_t> deeper;
      for (const Instruction* i : order) {
        size_t kind = kinds[i];
        for (const Instruction* operand : i->operands()) kind = absl::HashOf(kind, kinds[operand]);
        deeper[i] = kind;
      }
      kinds = std::move(deeper);
    }
    for (const Instruction* i : order)
      if (IsWorthCutting(*i) && seen.insert(kinds[i]).second)
        candidates.push_back([i, height] { return Cut(i, height); });
  }
  return candidates;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
