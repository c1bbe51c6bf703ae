// The error slot and the callbacks of a run context.
#include "runtime/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace {

// `failed` goes 0 (clean) -> 2 (one thread writes) -> 1 (readable).
bool ClaimErrorSlot(HlokitRunContext* ctx) {
  int32_t expected = 0;
  return __atomic_compare_exchange_n(&ctx->failed, &expected, 2, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED);
}

}  // namespace

namespace hlokit {

void SetKernelError(void* ctx, const char* format, ...) {
  char message[HLOKIT_ERROR_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof(message), format, args);
  va_end(args);
  hlokit_set_error(ctx, message);
}

}  // namespace hlokit

extern "C" {

// The first error of a run is kept; later ones, of other threads, are dropped.
void hlokit_set_error(void* ctx, const char* message) {
  auto* run = static_cast<HlokitRunContext*>(ctx);
  if (run == nullptr || !ClaimErrorSlot(run)) return;
  snprintf(run->error, sizeof(run->error), "%s", message);
  __atomic_store_n(&run->failed, 1, __ATOMIC_RELEASE);
}

int32_t hlokit_cancelled(const void* ctx) {
  const auto* run = static_cast<const HlokitRunContext*>(ctx);
  if (run == nullptr) return 0;
  return __atomic_load_n(&run->cancelled, __ATOMIC_RELAXED) != 0 ||
         __atomic_load_n(&run->failed, __ATOMIC_RELAXED) != 0;
}

void hlokit_call_reference(void* ctx, int64_t instruction_id, const void** operands,
                           void** results) {
  auto* run = static_cast<HlokitRunContext*>(ctx);
  if (run == nullptr || run->call_reference == nullptr) {
    return hlokit::SetKernelError(ctx, "no reference platform is installed (number %lld)",
                                  static_cast<long long>(instruction_id));
  }
  // A failed run takes nothing more from its host and gives it nothing.
  if (hlokit_cancelled(run)) return;
  run->call_reference(run, instruction_id, operands, results);
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
