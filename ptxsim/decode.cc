// Decoding of programs and functions: PTX's instructions become ops that name columns of a frame,
// and variables get addresses. Decoding is done once per kernel, so that running a warp looks up no
// names. Operands are binder.cc's.
#include "ptxsim/decode.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ptxsim/binder.h"
#include "ptxsim/decoder_internal.h"
#include "ptxsim/memory.h"
#include "support/text.h"

namespace hlokit::ptx {
namespace {

int64_t RoundUp(int64_t value, int64_t align) { return (value + align - 1) / align * align; }

}  // namespace

ProgramDecoder::ProgramDecoder(std::shared_ptr<const Module> module, Diagnostics& out,
                               int64_t image_base)
    : module_(std::move(module)), out_(out), program_(std::make_unique<Program>()) {
  program_->module = module_;
  program_->image_base = image_base;
}

uint32_t ProgramDecoder::IndexOf(const Function& function) {
  const auto next = static_cast<uint32_t>(program_->functions.size());
  const auto [found, added] = function_indices_.emplace(&function, next);
  if (added) {
    program_->functions.push_back(std::make_unique<Code>());
    program_->functions.back()->function = &function;
  }
  return found->second;
}

uint64_t ProgramDecoder::AddressOf(const Function& function) {
  const uint32_t index = IndexOf(function);
  const auto& functions = module_->functions;
  const auto at = std::find_if(functions.begin(), functions.end(),
                               [&](const auto& f) { return f.get() == &function; });
  const auto number = static_cast<size_t>(at - functions.begin());
  program_->by_address.resize(functions.size(), kNoSlot);
  program_->by_address[number] = index;
  return kCodeWindow + 16 * uint64_t{number};
}

const ProgramDecoder::Place* ProgramDecoder::FindVariable(absl::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

// The variable's offset in its space, aligned as it asks.
ProgramDecoder::Place ProgramDecoder::PlaceVariable(const Variable& variable) {
  Place place;
  place.space = variable.space;
  place.element = BytesOf(variable.type) * variable.vector;
  const int64_t size = variable.ByteSize();
  if (variable.space == Space::kShared) {
    if (size == 0) {  // dynamic: behind all others, once those are known
      place.is_dynamic = true;
      return place;
    }
    program_->shared_bytes = RoundUp(program_->shared_bytes, variable.align);
    place.address = static_cast<uint64_t>(program_->shared_bytes);
    program_->shared_bytes += size;
    return place;
  }
  auto& image = program_->global_image;
  const int64_t offset = RoundUp(static_cast<int64_t>(image.size()), std::max(variable.align, 16));
  constexpr int64_t kMaxImage = int64_t{1} << 31;
  if (offset + size > kMaxImage) {
    out_.Error(variable.place, "", "variables of more than ", kMaxImage, " bytes");
    return place;
  }
  image.resize(offset + size);
  program_->globals.push_back({variable.name, offset, size, variable.space == Space::kConst});
  images_.push_back({&variable, offset});
  place.address = kImageWindow + static_cast<uint64_t>(program_->image_base + offset);
  return place;
}

void ProgramDecoder::LayOutModule() {
  for (const Variable& variable : module_->variables) {
    // A declaration beside a definition of the same name stands for it.
    if (variables_.contains(variable.name) && variable.is_extern) continue;
    variables_[variable.name] = PlaceVariable(variable);
  }
}

// Initial values, with the addresses of variables and functions that they name.
void ProgramDecoder::FillImage(const Variable& variable, int64_t offset) {
  for (const Initializer& value : variable.values) {
    if (value.symbol.empty()) {
      std::memcpy(&program_->global_image[offset + value.at], &value.bits,
                  std::min<size_t>(value.size, sizeof(value.bits)));
      continue;
    }
    uint64_t address = 0;
    if (const Place* place = FindVariable(value.symbol); place != nullptr) {
      address = place->address;
      if (value.generic && place->space == Space::kShared) address += kSharedWindow;
    } else if (const Function* function = module_->FindFunction(value.symbol);
               function != nullptr) {
      address = AddressOf(*function);
    } else {
      out_.Error(value.place, "", "`", value.symbol, "` is no variable or function");
      continue;
    }
    address += value.bits;
    std::memcpy(&program_->global_image[offset + value.at], &address,
                std::min<size_t>(value.size, sizeof(address)));
  }
}

void ProgramDecoder::LayOutParameters(const Function& kernel) {
  int64_t at = 0;
  for (const Variable& variable : kernel.parameters) {
    at = RoundUp(at, variable.align);
    const int64_t size = variable.ByteSize();
    program_->parameters.push_back({variable.name, variable.type,
                                    variable.is_array || variable.vector > 1, variable.is_pointer,
                                    at, size});
    at += size;
  }
  program_->parameter_bytes = at;
}

std::unique_ptr<Program> ProgramDecoder::Run(const Function& kernel) {
  LayOutModule();
  LayOutParameters(kernel);
  IndexOf(kernel);
  // Initializers name functions, and functions others: both lists grow while they are walked.
  for (size_t i = 0, filled = 0; i < program_->functions.size(); ++i) {
    const Function& function = *program_->functions[i]->function;
    if (function.is_defined) program_->functions[i] = FunctionDecoder(*this, function).Run();
    for (; filled < images_.size(); ++filled)
      FillImage(*images_[filled].first, images_[filled].second);
  }
  if (!out_.ok()) return nullptr;
  program_->shared_bytes = RoundUp(program_->shared_bytes, 16);
  return std::move(program_);
}

FunctionDecoder::FunctionDecoder(ProgramDecoder& program, const Function& function)
    : program_(program),
      function_(function),
      code_(std::make_unique<Code>()),
      registers_(function.registers.size()) {
  code_->function = &function;
}

uint32_t FunctionDecoder::NewColumn(int bytes) {
  const uint32_t at = code_->frame_bytes;
  code_->frame_bytes += static_cast<uint32_t>(RoundUp(bytes == 0 ? 4 : bytes * kLanes, 64));
  return at;
}

uint32_t FunctionDecoder::Constant(uint64_t bits, uint64_t high, int bytes, bool is_dynamic) {
  if (bytes == 0) bits = bits != 0 ? kAllLanes : 0;
  const std::string key = absl::StrCat(bits, ",", high, ",", bytes, is_dynamic ? "d" : "");
  const auto [found, added] = constants_.emplace(key, 0);
  if (added) {
    found->second = NewColumn(bytes);
    code_->constants.push_back(
        {found->second, static_cast<uint8_t>(bytes), is_dynamic, bits, high});
  }
  return found->second;
}

Slot FunctionDecoder::RegisterColumn(uint32_t index) {
  Slot& slot = registers_[index];
  if (slot.at == kNoSlot) {
    const RegisterInfo& info = function_.registers[index];
    slot.bytes = info.type == Type::kPred ? 0 : static_cast<uint8_t>(BytesOf(info.type));
    slot.at = NewColumn(slot.bytes);
  }
  return slot;
}

uint32_t FunctionDecoder::CarryColumn() {
  if (carry_ == kNoSlot) carry_ = NewColumn(0);
  return carry_;
}

int64_t FunctionDecoder::FormalOffset(absl::string_view name) const {
  const auto found = formals_.find(name);
  return found == formals_.end() ? -1 : found->second;
}

// .local and .param variables lie in the thread's frame; others in the module's memory.
void FunctionDecoder::LayOutLocals() {
  for (const Variable& variable : function_.variables) {
    local_offsets_.push_back(-1);
    places_.emplace_back();
    if (variable.space == Space::kLocal || variable.space == Space::kParam) {
      code_->local_bytes = RoundUp(code_->local_bytes, variable.align);
      local_offsets_.back() = code_->local_bytes;
      code_->local_bytes += variable.ByteSize();
      constexpr int64_t kMaxLocal = 1 << 24;
      if (code_->local_bytes <= kMaxLocal) continue;
      program_.out().Error(variable.place, "", "more than ", kMaxLocal,
                           " bytes of local memory for each thread");
      code_->local_bytes = 0;
    } else {
      places_.back() = program_.PlaceVariable(variable);
    }
  }
}

void FunctionDecoder::LayOutFormals() {
  if (function_.is_entry) return;
  const auto lay_out = [&](const std::vector<Variable>& variables, std::vector<CallValue>& values) {
    for (const Variable& variable : variables) {
      CallValue value;
      value.bytes = variable.ByteSize();
      if (variable.space == Space::kRegister) {
        Symbol storage;
        const Symbol* symbol = Find(variable.name, 0, storage);
        if (symbol != nullptr) value.slot = RegisterColumn(symbol->index);
      } else {
        code_->local_bytes = RoundUp(code_->local_bytes, variable.align);
        value.local = code_->local_bytes;
        formals_[variable.name] = value.local;
        code_->local_bytes += value.bytes;
      }
      values.push_back(value);
    }
  };
  lay_out(function_.parameters, code_->parameters);
  lay_out(function_.results, code_->results);
}

std::unique_ptr<Code> FunctionDecoder::Run() {
  LayOutLocals();
  LayOutFormals();
  for (uint32_t i = 0; i < function_.instructions.size(); ++i) {
    first_op_.push_back(static_cast<uint32_t>(code_->ops.size()));
    DecodeInstruction(i);
    if (program_.out().full()) break;
  }
  // A function ends where its text does.
  first_op_.resize(function_.instructions.size() + 1, static_cast<uint32_t>(code_->ops.size()));
  Op end;
  end.kind = function_.is_entry ? Op::kExit : Op::kReturn;
  end.instruction = static_cast<uint32_t>(std::max<size_t>(1, function_.instructions.size()) - 1);
  code_->ops.push_back(end);
  code_->local_bytes = RoundUp(code_->local_bytes, 16);
  FixTargets();
  ComputeOrder(*code_);
  return std::move(code_);
}

// A branch target, whose place is known once the whole function is decoded (FixTargets).
uint32_t FunctionDecoder::AddTarget(uint32_t label) {
  target_fixups_.push_back({static_cast<uint32_t>(code_->targets.size()), label});
  code_->targets.push_back(0);
  return static_cast<uint32_t>(code_->targets.size() - 1);
}

void FunctionDecoder::FixTargets() {
  for (const auto& [op, label] : fixups_)
    code_->ops[op].target = first_op_[function_.labels[label]];
  for (const auto& [at, label] : target_fixups_)
    code_->targets[at] = first_op_[function_.labels[label]];
}

void FunctionDecoder::DecodeInstruction(uint32_t index) {
  const Instruction& instruction = function_.instructions[index];
  const InstructionRow* row = FindInstruction(instruction.opcode);
  if (row == nullptr) {
    program_.out().Error(instruction.place, "", "instruction `", instruction.opcode,
                         "` is not supported");
    return;
  }
  if (!CheckForm(instruction)) return;
  Binder binder(*this, instruction, index);
  row->bind(binder);
  binder.Finish();
}

std::unique_ptr<Program> DecodeKernel(std::shared_ptr<const Module> module, const Function& kernel,
                                      Diagnostics& out, int64_t image_base) {
  return ProgramDecoder(std::move(module), out, image_base).Run(kernel);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
