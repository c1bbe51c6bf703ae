// Checks in emitted code: each load and store against the array it belongs to, index arithmetic
// against what it claims.
#pragma once

#include "backends/cpu/host_program/module_emitter.h"
#include "backends/cpu/sanitizer/sanitizer_internal.h"

namespace hlokit {

// Where checks are added: to what the emitters wrote, before anything else changes it, or to what
// LLVM's passes made of that, whose own faults show there alone.
enum class SanitizeStage : uint8_t { kEmitted, kOptimized };

// Adds checks to code that has notes (EmitOptions::notes); what they find goes to `sanitizer`,
// which must outlive the code and has its arrays. Safe for several modules at a time. Checked:
// - loads, stores, masked ones, gathers and scatters, block copies: within the array that the
//   pointer comes from (an array of the module, a table of constants, or the stack); what is read
//   was written, by code of the same array; addresses have the alignment claimed;
// - what the runtime reads is written; results are complete;
// - of emitted code: nsw and nuw arithmetic, and divisions. LLVM moves both to where nothing uses
//   their results.
// An access out of bounds is not done: zeros are read, nothing is written. Prefetches may go
// anywhere.
void SanitizeCode(llvm::Module& module, Sanitizer& sanitizer, SanitizeStage stage);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
