// The run context: what a compiled program carries through one run, and how its kernels report an
// error.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct HlokitRunContext;

// Computes one instruction by the reference interpreter; installed by the client for what has no
// native code. `operands` and `results` are dense buffers in the layouts of the instruction's
// shapes, tuples flattened depth first.
typedef void (*HlokitCallReference)(struct HlokitRunContext* ctx, int64_t instruction_id,
                                    const void** operands, void** results);

enum { HLOKIT_ERROR_SIZE = 512 };

// One per run and device. Zero bytes (with struct_size set) are a valid context: default threads,
// no callbacks. Compiled code may read the fields of the first block by offset, so they never move.
struct HlokitRunContext {
  int64_t struct_size;  // sizeof(HlokitRunContext) of the program that made it
  int32_t cancelled;    // set to 1 from any thread to stop the run; read it with hlokit_cancelled
  int32_t failed;       // 1 once `error` holds a message; the first message stays
  int32_t num_threads;  // 0: HLOKIT_NUM_THREADS, OMP_NUM_THREADS or all cores
  int32_t device_ordinal;  // from 0
  int32_t replica_id;      // what replica-id gives
  int32_t partition_id;    // what partition-id gives
  uint64_t rng_state[2];   // of rng, which has no state operand (128 bits, see rng.cc)
  int64_t steps_left;      // of code that counts its steps: below 0 its loops end

  char error[HLOKIT_ERROR_SIZE];       // the message where `failed` is 1
  HlokitCallReference call_reference;  // null: such an instruction is an error
  void* user;                          // the owner's own data
  void* queues;  // HlokitQueues of infeed and outfeed, see queues.h; may be null
  // hlokit::Communicator of the run, see communicator.h; null: collectives and messages are errors
  void* communicator;
  // hlokit::FrozenArrays of the run, see dot/frozen_arrays.h; null: none
  void* frozen;
};

// Sets the error of a run; the first one wins. Any thread may call it. `message` is copied (and cut
// at 511 bytes).
void hlokit_set_error(void* ctx, const char* message);

// 1 if the run failed or was cancelled: loops of compiled code test it now and then.
int32_t hlokit_cancelled(const void* ctx);

// Compiled code calls these for what it has no code for; without a callback they set an error. A
// run that failed or was cancelled makes no more calls of reference kernels.
void hlokit_call_reference(void* ctx, int64_t instruction_id, const void** operands,
                           void** results);

#ifdef __cplusplus
}  // extern "C"

namespace hlokit {

// printf into the error slot, for kernels.
void SetKernelError(void* ctx, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace hlokit
#endif
// SPDX-License-Identifier: Apache-2.0
