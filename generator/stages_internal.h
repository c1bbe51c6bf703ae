// The steps that give a finished random module the form of a stage of a compiler. Each keeps the
// values of the entry's results.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "generator/random.h"
#include "ir/module.h"

namespace hlokit {

class GeneratedCode;

using StageStep = void (*)(Module& module, Random& random);
using RecipeFunction = void (*)(GeneratedCode& scope);

struct StageInfo {
  absl::string_view name;
  absl::string_view summary;
  double odd_layouts;  // at least this share of the arrays is generated in an order not row-major
  // What the stage is about: this many steps of these recipes, besides the entry's other steps.
  int extra_steps;
  std::vector<RecipeFunction> recipes;
  // On how many devices: one; several partitions that the program does not know of yet; several
  // replicas and partitions that meet at collectives.
  enum class Devices : uint8_t { kOne, kUnknown, kSeveral } devices;
  std::vector<StageStep> steps;
};
const std::vector<StageInfo>& Stages();
// Null where there is no stage of that name.
const StageInfo* FindStage(absl::string_view name);

// stage_outline.cc: moves connected groups of instructions into fusions of all kinds, nested ones
// too.
void OutlineFusions(Module& module, Random& random);
// The same with calls of command buffers, which GPUs launch as one.
void OutlineCommandBuffers(Module& module, Random& random);
// stage_layouts.cc: gives arrays any order, the same wherever values are passed on without a copy.
void PermuteLayouts(Module& module, Random& random);
// The same, but that calls, loops and branches take and give arrays in other layouts than their
// bodies.
void MixLayouts(Module& module, Random& random);
// As PermuteLayouts, with tiles, memory spaces and element sizes as a TPU's dumps have them.
void TileLayouts(Module& module, Random& random);
// States an entry_computation_layout that may differ from the parameters' own layouts.
void StateEntryLayout(Module& module, Random& random);
// stage_donation.cc: input_output_alias and buffer_donor.
void DonateParameters(Module& module, Random& random);
// stage_async.cc: copies become pairs of copy-start and copy-done, others async-start and
// async-done.
void SplitIntoAsync(Module& module, Random& random);
// stage_schedule.cc: a schedule for each computation that runs, and control edges along it.
void ScheduleAtRandom(Module& module, Random& random);

// stage_copies.cc: copies between instructions, which layouts and memory spaces give a meaning.
void InsertCopies(Module& module, Random& random);
// The same file: bitcast-converts become bitcasts, whose elements may be narrower or wider, packed
// ones too.
void ReadBitsInPlace(Module& module, Random& random);
// stage_shardings.cc: shardings of arrays, before a partitioner.
void ShardAtRandom(Module& module, Random& random);
// stage_gpu.cc: products as calls of cuBLAS; names and configurations of fusions as in a GPU's
// dumps.
void CallLibraries(Module& module, Random& random);
void ConfigureFusions(Module& module, Random& random);

// Computations that run instruction by instruction: the entry, and those that calls, loops,
// branches and asynchronous starts of such run; no bodies of fusions, no reducers.
std::vector<Computation*> ExecutedComputations(const Module& module);
// True for operations of arrays alone that may stand in a fusion.
bool MayBeFused(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
