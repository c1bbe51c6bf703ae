// Infeed and outfeed: queues between a running program and its host.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HlokitQueues
    HlokitQueues;  // one infeed and one outfeed; a context's `queues` points at it

// Empty queues, to be destroyed once no run uses them (null: nothing to destroy).
HlokitQueues* hlokit_queues_create(void);
void hlokit_queues_destroy(HlokitQueues* queues);

// Host side. An item is a list of `count` arrays of bytes[i] bytes (a flattened tuple), copied in
// or out.
void hlokit_infeed_push(HlokitQueues* queues, int64_t count, const void* const* arrays,
                        const int64_t* bytes);
// Takes the oldest item of the outfeed: 1, or 0 if none came within `timeout_ms` or its sizes are
// not `bytes` (then it stays).
int32_t hlokit_outfeed_pop(HlokitQueues* queues, int64_t count, void* const* arrays,
                           const int64_t* bytes, int64_t timeout_ms);
// The number of arrays in the oldest item of the outfeed and their sizes, up to `capacity` of them;
// -1 if there is none.
int64_t hlokit_outfeed_front(HlokitQueues* queues, int64_t capacity, int64_t* bytes);

// Program side: infeed waits for an item, outfeed never waits. Errors (in the context): no queues;
// an item of other sizes than the instruction's, which is dropped; the run was cancelled while it
// waited.
void hlokit_infeed(void* ctx, int64_t count, void* const* results, const int64_t* bytes);
void hlokit_outfeed(void* ctx, int64_t count, const void* const* operands, const int64_t* bytes);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
