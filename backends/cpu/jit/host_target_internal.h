// The machine that we run on, as LLVM sees it, or as much of it as HLOKIT_MAX_ISA leaves; target
// machines, kept for their next use.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "llvm/Target/TargetMachine.h"

namespace hlokit {

struct HostDescription {
  std::string triple;
  std::string cpu;
  std::string features;  // only where the machine differs from what `cpu` implies
  std::string data_layout;
};

// Found once a process: asking the processor is slow under virtualisation. Errors: Unimplemented
// where this LLVM has no code for the machine.
const absl::StatusOr<HostDescription>& Host();

// Gives the machine back to the pool: the next module finds its subtarget tables made.
struct ReleaseMachine {
  int opt_level = 0;
  void operator()(llvm::TargetMachine* machine) const;
};
using PooledMachine = std::unique_ptr<llvm::TargetMachine, ReleaseMachine>;

// A target machine for one thread at a time. opt_level: 0 to 3. Errors: as Host.
absl::StatusOr<PooledMachine> AcquireMachine(int opt_level);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
