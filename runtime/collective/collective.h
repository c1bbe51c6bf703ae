// What the devices of one run exchange: collectives, and messages from one to another. Each device
// runs in a thread of its own and reads and writes the others' arrays where they lie.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum HlokitCollectiveKind {
  HLOKIT_ALL_REDUCE = 0,
  HLOKIT_ALL_GATHER = 1,
  HLOKIT_REDUCE_SCATTER = 2,
  HLOKIT_ALL_TO_ALL = 3,        // blocks of each array
  HLOKIT_ALL_TO_ALL_TUPLE = 4,  // array m of each member to member m
  HLOKIT_PERMUTE = 5,           // zeros where nobody sends
  HLOKIT_BROADCAST = 6,         // of the group's first; zeros for who is in no group
  HLOKIT_RAGGED_ALL_TO_ALL = 7,
  HLOKIT_SEND = 8,
  HLOKIT_RECEIVE = 9,  // zeros for whom no pair names as a target
};

// Combines `n` elements; sums have 16 bytes each at most, and may be of a wider type than `array`.
// HLOKIT_REDUCER_FIRST: sums = array. NEXT: sums = reducer(sums, array). LAST: array = sums.
typedef void (*HlokitReducer)(int64_t step, void* sums, void* array, int64_t n);
enum { HLOKIT_REDUCER_FIRST = 0, HLOKIT_REDUCER_NEXT = 1, HLOKIT_REDUCER_LAST = 2 };
enum { HLOKIT_REDUCER_SUM_BYTES = 16 };

// An array that a device gives: `rows` rows that lie one behind the other. Rows end where the
// dimension begins along which arrays are joined or split; else there is one.
typedef struct HlokitCollectiveArray {
  int64_t rows, row_bytes;
  int64_t element_bytes;
  int64_t is_signed;      // of integers
  HlokitReducer combine;  // null where nothing is combined
} HlokitCollectiveArray;

// One instruction, as compiled code describes it; all of it is constant.
typedef struct HlokitCollective {
  int64_t kind;      // HlokitCollectiveKind
  int64_t id;        // of the instruction
  const char* name;  // "all-reduce %x", for messages
  int64_t array_count;
  const HlokitCollectiveArray* arrays;
  // By device: where among these numbers its group begins, or 0 for none. A group is its size, then
  // its devices.
  const int64_t* groups;
  int64_t channel;  // of messages
  // Source and target: of a permute as places in the group, of messages as devices.
  int64_t pair_count;
  const int64_t* pairs;
} HlokitCollective;

// Runs one device's part; `operands` and `results` hold a pointer for each array. Returns as soon
// as all of its group have done theirs; at once where the run has failed or was cancelled. Errors
// (in the context): the run has no devices; the device is in no group; devices wait for one another
// for ever; another device ended with an error; pieces of a ragged all-to-all that are out of
// bounds; no memory for a message.
void hlokit_collective(void* ctx, const HlokitCollective* collective, const void* const* operands,
                       void* const* results);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
