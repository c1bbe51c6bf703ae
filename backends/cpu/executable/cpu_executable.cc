// What an executable of the CPU holds: its code, and its constants in the layouts of the code.
#include "backends/cpu/executable/cpu_executable.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/sanitizer/sanitizer_internal.h"
#include "ffi/surroundings.h"
#include "support/status.h"
#include "types/literal_leaves.h"

namespace hlokit {

CpuExecutable::CpuExecutable(std::unique_ptr<Module> module, BufferAssignment buffers,
                             std::unique_ptr<JitCode> code, CompileStats stats, int threads)
    : module_(std::move(module)),
      buffers_(std::move(buffers)),
      code_(std::move(code)),
      stats_(std::move(stats)),
      threads_(threads) {
  reference_options_.ffi_states = std::make_shared<FfiStates>();
  by_id_.resize(module_->id_bound());
  for (const Computation* c : module_->Computations())
    for (const Instruction* i : c->Instructions()) by_id_[i->id()] = i;
}

CpuExecutable::~CpuExecutable() = default;

void CpuExecutable::set_sanitizer(std::unique_ptr<Sanitizer> sanitizer) {
  sanitizer_ = std::move(sanitizer);
}

void CpuExecutable::set_frozen(absl::Span<const int64_t> parameters) {
  const Computation& entry = *module_->entry();
  for (int64_t p = 0; p < entry.parameter_count(); ++p) {
    const bool frozen = std::find(parameters.begin(), parameters.end(), p) != parameters.end();
    frozen_.resize(frozen_.size() + Leaves(entry.parameter(p)->shape()).size(), frozen);
  }
  may_freeze_ = frozen_;
  may_freeze_.flip();
  for (const Donation& donation : buffers_.donations())
    frozen_[donation.parameter] = may_freeze_[donation.parameter] = false;
  if (std::find(frozen_.begin(), frozen_.end(), true) == frozen_.end()) frozen_.clear();
}

absl::Status CpuExecutable::BindConstants() {
  for (const Instruction* i : buffers_.constants()) {
    const Literal* literal = i->literal();
    if (literal == nullptr)
      return InvalidArgument("constant %", i->name(),
                             " was left out of the text: `constant({...})`");
    if (i->shape().IsRowMajor()) {
      constants_.push_back(literal->data());
      continue;
    }
    ASSIGN_OR_RETURN(Bytes bytes, AllocateBytes(i->shape().ByteSize()));
    if (bytes) ToLayout(*literal, i->shape(), reinterpret_cast<uint8_t*>(bytes.get()));
    constants_.push_back(bytes.get());
    converted_.push_back(std::move(bytes));
  }
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
