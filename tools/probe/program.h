// A way to execute modules, and the values that instructions have in it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/client.h"
#include "ir/module.h"
#include "types/literal.h"

namespace hlokit {

// A platform, and how it compiles. Two sides may be one platform with different passes.
struct Side {
  Client* client = nullptr;
  CompileOptions options;
  std::string name;
};

using LiteralPointers = std::vector<const Literal*>;
LiteralPointers PointersTo(absl::Span<const Literal> literals);

// A module on a side, compiled once and run as often as one likes, on one device.
class CompiledModule {
 public:
  static absl::StatusOr<CompiledModule> Make(const Side& side, std::unique_ptr<Module> module);
  absl::StatusOr<Literal> Run(absl::Span<const Literal* const> arguments) const;

 private:
  ProgramHandle program_;
};

// The values that instructions of one computation have when it runs on some arguments: a module is
// cut out whose results they are. (So a compiler may treat them otherwise than where they are not
// results: a fault in how it joins instructions can vanish.)
class Probe {
 public:
  static absl::StatusOr<Probe> Make(const Side& side, absl::Span<const Instruction* const> wanted);
  // In the order of `wanted`. `arguments` are the computation's.
  absl::StatusOr<std::vector<Literal>> Run(absl::Span<const Literal* const> arguments) const;

 private:
  Probe(CompiledModule program, size_t count) : program_(std::move(program)), count_(count) {}
  CompiledModule program_;
  size_t count_;  // of results
  std::vector<int64_t> parameters_;
};

// A probe for one run.
absl::StatusOr<std::vector<Literal>> ValuesOf(const Side& side,
                                              absl::Span<const Instruction* const> wanted,
                                              absl::Span<const Literal* const> arguments);

// Those of an instruction's operands.
absl::StatusOr<std::vector<Literal>> OperandValues(const Side& side, const Instruction& instruction,
                                                   absl::Span<const Literal* const> arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
