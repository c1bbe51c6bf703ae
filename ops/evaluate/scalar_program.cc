// Compilation of scalar computations (reducers, comparators) to register programs, and their runs:
// a step per instruction, each over many lanes, so that interpreting one instruction costs little
// per element.
//   add(a, multiply(b, c)):  r3 = multiply(r1, r2); r4 = add(r0, r3)
// Calls and fusions are inlined. Where an instruction has no kernel on scalars, CompileValue gives
// null and the computation is evaluated lane by lane.
#include "ops/evaluate/scalar_program.h"

#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int kMaxInlineDepth = 32;

}  // namespace

std::unique_ptr<ScalarProgram> ScalarProgram::CompileValue(const Computation& computation,
                                                           const Instruction& value,
                                                           int64_t lanes) {
  std::unique_ptr<ScalarProgram> program(new ScalarProgram(lanes));
  std::vector<Slots> arguments;
  program->parameter_count_ = static_cast<int>(computation.parameter_count());
  program->values_.resize(program->parameter_count_);
  for (int p = 0; p < program->parameter_count_; ++p) arguments.push_back({p});
  std::optional<Slots> results = program->Add(computation, value, arguments, 0);
  if (!results) return nullptr;
  program->results_ = *std::move(results);
  return program;
}

std::optional<ScalarProgram::Slots> ScalarProgram::Add(const Computation& computation,
                                                       const Instruction& value,
                                                       absl::Span<const Slots> arguments,
                                                       int depth) {
  if (depth > kMaxInlineDepth) return std::nullopt;
  absl::flat_hash_map<const Instruction*, Slots> slots;
  for (const Instruction* instruction : computation.PostOrder()) {
    std::vector<Slots> operands;
    for (const Instruction* operand : instruction->operands()) operands.push_back(slots[operand]);
    std::optional<Slots> made = AddInstruction(*instruction, operands, arguments, depth);
    if (!made) return std::nullopt;
    slots[instruction] = *std::move(made);
  }
  return slots[&value];
}

std::optional<ScalarProgram::Slots> ScalarProgram::AddInstruction(const Instruction& instruction,
                                                                  absl::Span<const Slots> operands,
                                                                  absl::Span<const Slots> arguments,
                                                                  int depth) {
  const Opcode opcode = instruction.opcode();
  if (opcode == Opcode::kTuple) {
    Slots all;
    for (const Slots& s : operands) {
      if (s.size() != 1) return std::nullopt;
      all.push_back(s[0]);
    }
    return all;
  }
  if (opcode == Opcode::kGetTupleElement) return Slots{operands[0][instruction.tuple_index()]};
  if (opcode == Opcode::kCall || opcode == Opcode::kFusion)
    return Add(*instruction.to_apply(), *instruction.to_apply()->root(), operands, depth + 1);
  if (!instruction.shape().IsScalar()) return std::nullopt;
  switch (opcode) {
    case Opcode::kParameter:
      return arguments[instruction.parameter_number()];
    case Opcode::kConstant:
      if (instruction.literal() == nullptr) return std::nullopt;
      return Slots{AddConstant(*instruction.literal())};
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kCopy:
    case Opcode::kOptimizationBarrier:
      if (!instruction.operand(0)->shape().IsScalar()) return std::nullopt;
      return operands[0];
    default:
      break;
  }
  absl::StatusOr<KernelCall> call = FindKernel(instruction);
  if (!call.ok() || operands.size() > 3) return std::nullopt;
  Step step{*call, {0, 0, 0}, NewRegister()};
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!instruction.operand(i)->shape().IsScalar()) return std::nullopt;
    step.in[i] = operands[i][0];
  }
  steps_.push_back(step);
  return Slots{step.out};
}

// A register of `lanes` elements of the widest kind.
int ScalarProgram::NewRegister() {
  registers_.push_back(std::make_unique<Complex[]>(lanes_));
  values_.push_back(registers_.back().get());
  return static_cast<int>(values_.size()) - 1;
}

int ScalarProgram::AddConstant(const Literal& literal) {
  const int slot = NewRegister();
  uint8_t* lanes = reinterpret_cast<uint8_t*>(registers_.back().get());
  const int width = WideBytes(literal.type());
  LoadWide(literal.type(), literal.data(), 1, lanes);
  for (int64_t i = 1; i < lanes_; ++i) std::memcpy(lanes + i * width, lanes, width);
  return slot;
}

// Each step rounds its result to the instruction's type.
void ScalarProgram::Run(absl::Span<const void* const> in, int64_t n) {
  for (int p = 0; p < parameter_count_; ++p) values_[p] = in[p];
  for (const Step& step : steps_) {
    const void* const operands[] = {values_[step.in[0]], values_[step.in[1]], values_[step.in[2]]};
    void* out = const_cast<void*>(values_[step.out]);
    step.call.run(step.call, operands, out, n);
    RoundWide(step.call.out, out, n);
  }
}

LaneFunction::LaneFunction(const Computation& computation, const CallComputation& call,
                           int64_t lanes)
    : computation_(computation),
      call_(call),
      program_(ScalarProgram::Compile(computation, lanes)),
      result_types_(ResultTypes(computation)) {}

absl::Status LaneFunction::Run(absl::Span<const void* const> in, absl::Span<void* const> out,
                               int64_t n) {
  if (program_ == nullptr) return CallEachLane(in, out, n);
  if (program_->result_count() != static_cast<int>(out.size()))
    return InvalidArgument(computation_.name(), ": gives ", program_->result_count(),
                           " results, not ", out.size());
  program_->Run(in, n);
  for (size_t i = 0; i < out.size(); ++i)
    std::memmove(out[i], program_->result(i), n * WideBytes(result_types_[i]));
  return absl::OkStatus();
}

absl::Status LaneFunction::CallEachLane(absl::Span<const void* const> in,
                                        absl::Span<void* const> out, int64_t n) {
  std::vector<Literal> arguments;
  std::vector<const Literal*> pointers;
  for (const Instruction* p : computation_.parameters()) arguments.emplace_back(p->shape());
  for (const Literal& a : arguments) {
    if (!a.shape().IsScalar())
      return InvalidArgument(computation_.name(), ": parameters are not scalars");
    pointers.push_back(&a);
  }
  for (int64_t lane = 0; lane < n; ++lane) {
    for (size_t p = 0; p < arguments.size(); ++p) {
      const ElementType type = arguments[p].type();
      StoreWide(type, static_cast<const uint8_t*>(in[p]) + lane * WideBytes(type), 1,
                arguments[p].data());
    }
    ASSIGN_OR_RETURN(Literal result, call_(computation_, pointers));
    for (size_t i = 0; i < out.size(); ++i) {
      const Literal& part = result.shape().IsTuple() ? result.elements()[i] : result;
      LoadWide(part.type(), part.data(), 1,
               static_cast<uint8_t*>(out[i]) + lane * WideBytes(part.type()));
    }
  }
  return absl::OkStatus();
}

std::optional<int64_t> ReturnedParameter(const Computation& computation) {
  if (!computation.root()->IsParameter()) return std::nullopt;
  return computation.root()->parameter_number();
}

std::vector<ElementType> ResultTypes(const Computation& computation) {
  const Shape& shape = computation.root()->shape();
  if (!shape.IsTuple()) return {shape.type};
  std::vector<ElementType> types;
  for (const Shape& e : shape.elements) types.push_back(e.type);
  return types;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
