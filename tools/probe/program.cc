// Modules cut out so that inner values are results.
#include "tools/probe/program.h"

#include "passes/rewrite/extract.h"
#include "support/status.h"

namespace hlokit {

LiteralPointers PointersTo(absl::Span<const Literal> literals) {
  LiteralPointers pointers;
  for (const Literal& literal : literals) pointers.push_back(&literal);
  return pointers;
}

absl::StatusOr<CompiledModule> CompiledModule::Make(const Side& side,
                                                    std::unique_ptr<Module> module) {
  CompiledModule program;
  ClientCompileOptions options;
  options.backend = side.options;
  options.verify = options.serializable = options.client_queues = false;
  auto compiled = side.client->CompileModule(std::move(module), options);
  if (!compiled.ok()) return Annotate(compiled.status(), side.name);
  program.program_ = *std::move(compiled);
  return program;
}

absl::StatusOr<Literal> CompiledModule::Run(absl::Span<const Literal* const> arguments) const {
  const DeviceArguments device(arguments.begin(), arguments.end());
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedRun> run,
                   program_->executable().Prepare({device}));
  RETURN_IF_ERROR(run->Run());
  ASSIGN_OR_RETURN(std::vector<Literal> results, run->TakeResults());
  return std::move(results.front());
}

absl::StatusOr<Probe> Probe::Make(const Side& side, absl::Span<const Instruction* const> wanted) {
  ASSIGN_OR_RETURN(Extraction cut, Extract(wanted));
  ASSIGN_OR_RETURN(CompiledModule program, CompiledModule::Make(side, std::move(cut.module)));
  Probe probe(std::move(program), wanted.size());
  for (const Instruction* parameter : cut.inputs)
    probe.parameters_.push_back(parameter->parameter_number());
  return probe;
}

absl::StatusOr<std::vector<Literal>> Probe::Run(absl::Span<const Literal* const> arguments) const {
  LiteralPointers inputs;
  for (int64_t parameter : parameters_) inputs.push_back(arguments[parameter]);
  ASSIGN_OR_RETURN(Literal result, program_.Run(inputs));
  if (count_ > 1) return std::move(result.elements());
  std::vector<Literal> values;
  values.push_back(std::move(result));
  return values;
}

absl::StatusOr<std::vector<Literal>> ValuesOf(const Side& side,
                                              absl::Span<const Instruction* const> wanted,
                                              absl::Span<const Literal* const> arguments) {
  if (wanted.empty()) return std::vector<Literal>();
  ASSIGN_OR_RETURN(const Probe probe, Probe::Make(side, wanted));
  return probe.Run(arguments);
}

absl::StatusOr<std::vector<Literal>> OperandValues(const Side& side, const Instruction& instruction,
                                                   absl::Span<const Literal* const> arguments) {
  const std::vector<const Instruction*> operands(instruction.operands().begin(),
                                                 instruction.operands().end());
  return ValuesOf(side, operands, arguments);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
