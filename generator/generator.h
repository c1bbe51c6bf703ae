// Random valid modules whose results can be compared: a seed gives a module, the same everywhere.
//
// Values stay in ranges where functions are smooth, and each float carries a bound on how far two
// right executions may be apart; only values that every execution gives bit for bit are compared,
// rounded or sorted. So a difference beyond `tolerances` is a fault.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generator/options.h"
#include "ir/module.h"
#include "types/literal.h"
#include "types/random_literal.h"

namespace hlokit {

struct RandomModule {
  std::unique_ptr<Module> module;
  // For each array of the entry's result, depth first: the largest difference between two right
  // executions; 0 where they must agree bit for bit.
  std::vector<double> tolerances;
  // What inference said of steps that had to be dropped. A fault of the generator, or of inference.
  std::vector<std::string> refusals;
};

RandomModule GenerateModule(const GeneratorOptions& options);

// Arguments for it: what FillRandom makes with its default ranges, on which the bounds rest.
std::vector<Literal> RandomArguments(const Module& module, uint64_t seed);

// Of a module with dynamic_shapes: instructions of such names (kTwinsAgree.1, ...) must be true
// everywhere.
inline constexpr char kTwinsAgree[] = "twins_agree";

// The host's side of a run: random items go in, the same for a seed, and what comes out is kept.
class RandomHost {
 public:
  explicit RandomHost(uint64_t seed) : seed_(seed) {}
  Literal Feed(const Shape& shape);
  void Take(Literal item) { taken_.push_back(std::move(item)); }
  // In order; of which every execution has the same bits.
  const std::vector<Literal>& taken() const { return taken_; }

 private:
  const uint64_t seed_;
  uint64_t fed_ = 0;
  std::vector<Literal> taken_;
};

// The names of recipes.def.
std::vector<std::string> RecipeNames();

// The stages that modules are made of, and what each looks like.
struct StageName {
  std::string name, summary;
};
std::vector<StageName> StageNames();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
