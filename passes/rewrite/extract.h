// Cuts parts of a module out into modules that run on their own.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/module.h"

namespace hlokit {

struct ExtractOptions {
  // How far operands come along: 0, the outputs alone; 1, their operands too; and so on. -1: up to
  // the computation's parameters.
  int height = -1;
  // The new entry takes every parameter of the computation, in their order, needed or not.
  bool all_parameters = false;
};

// A part of a module, and what it takes from the rest.
struct Extraction {
  std::unique_ptr<Module> module;
  // Whose values the entry's parameters take, in order: instructions of the module that was cut.
  std::vector<const Instruction*> inputs;
};

// A module whose entry computes `outputs`, instructions of one computation: its result is the one,
// or a tuple of the several. Operands that do not come along become parameters, named as they are;
// constants always come along, starts with their dones, and tokens are made anew. Computations that
// are called come whole. Names, places, layouts and schedules stay; aliases do not. Errors:
// InvalidArgument where there are no outputs or they are of several computations.
absl::StatusOr<Extraction> Extract(absl::Span<const Instruction* const> outputs,
                                   const ExtractOptions& options = {});

// A module whose entry computes these instructions of one computation and no others: what they read
// besides them becomes parameters (constants come along), those that none of them reads are the
// result. Errors: InvalidArgument where there are none or they are of several computations.
absl::StatusOr<Extraction> ExtractOnly(absl::Span<const Instruction* const> kept);

// A module whose entry is a copy of `computation`, all parameters included.
absl::StatusOr<std::unique_ptr<Module>> ExtractComputation(const Computation& computation);

// The instruction of that name, with or without `%`; NotFound names the nearest one.
absl::StatusOr<const Instruction*> FindInstruction(const Module& module, absl::string_view name);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
