// Programs compiled ahead of time: what hlo-aot writes into an object, and how a program runs it.
// The header that hlo-aot generates with each object wraps this; nothing here needs a compiler,
// or more than this runtime library.
#pragma once

#include <stdint.h>

#include "runtime/context.h"
#include "runtime/queues.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HLOKIT_AOT_VERSION = 4, HLOKIT_AOT_ALIGNMENT = 64 };

/* An argument or a result: an array, or one array of a tuple. */
typedef struct {
  const char* name;  /* the parameter's, or output, with indices into tuples */
  const char* shape; /* HLO text, such as "f32[2,3]{1,0}" */
  int64_t bytes;     /* of all elements; of a dynamic array, at its bounds */
} HlokitAotArray;

/* How much there is of a dynamic dimension: an s32 of the arguments or results, by its number,
 * from 0 to `bound`. The array itself lies at its bounds, whatever the size. */
typedef struct {
  int64_t place;     /* of the size among the arguments or results */
  int64_t array;     /* whose dimension it is, by its number among the same */
  int64_t dimension; /* of that array, from 0 */
  int64_t bound;     /* the most it can be, in elements */
} HlokitAotSize;

/* What the object defines, as NAME_model. */
typedef struct {
  int64_t version;  /* HLOKIT_AOT_VERSION of the compiler */
  const char* name; /* as given to hlo-aot */
  /* The code; hlokit_aot_run calls it. */
  void (*entry)(void* context, char* arena, void* const* table);
  /* Custom calls, infeed and outfeed, by their number; null where there are none. */
  HlokitCallReference call_reference;
  int64_t arena_bytes; /* of temporary memory that a run needs */
  int64_t argument_count, constant_count, result_count;
  const HlokitAotArray* arguments;
  const HlokitAotArray* results;
  const int64_t* constant_offsets; /* in the weights, bytes */
  const int64_t* passed_through;   /* by result: the argument that it is, or -1 */
  const int64_t* donated; /* by result: the argument in whose memory it is computed, or -1 */
  int64_t weights_bytes;
  const char* weights;     /* null: they lie in a file */
  uint64_t weights_digest; /* of that file: FNV-1a of its bytes */
  int64_t argument_size_count;
  const HlokitAotSize* argument_sizes; /* each is its bound until it is set */
  int64_t result_size_count;
  const HlokitAotSize* result_sizes;
  int64_t check_result; /* a pred of its own: whether sizes are in range; -1 where none are set */
  /* Devices are numbered replica * partition_count + partition. */
  int64_t replica_count, partition_count;
  int64_t uses_communicator; /* 1 where devices meet in collectives or send to one another */
} HlokitAotModel;

/* One run after another of a model, with its memory. Several runs of one model, in several threads,
 * are independent. A model of several devices runs on all of them at once, in a thread each, with
 * arguments, results and temporary memory of their own; weights are there once. */
typedef struct HlokitAotRun HlokitAotRun;

/* Null where memory does not suffice or the weights cannot be mapped; `error` (of error_size bytes,
 * may be null) says why. `weights_path` is only needed, and only looked at, where the model's
 * weights lie in a file; the file is mapped, not read, and its digest is not computed. */
HlokitAotRun* hlokit_aot_create(const HlokitAotModel* model, const char* weights_path, char* error,
                                int64_t error_size);
void hlokit_aot_destroy(HlokitAotRun* run);

/* Replicas times partitions. */
int64_t hlokit_aot_device_count(const HlokitAotRun* run);

/* The memory of argument or result `i`, in the array's layout and aligned to HLOKIT_AOT_ALIGNMENT
 * bytes: what was set, else the run's own (zeros at first); types below a byte take a byte an
 * element. A result that is an argument unchanged
 * is that argument's memory unless other memory was set, and so is a result to which the argument
 * was donated: a run leaves the result where the argument was, for the next run to go on from. Null
 * where `i` is out of range or memory does not suffice. */
void* hlokit_aot_argument(HlokitAotRun* run, int64_t i);
void* hlokit_aot_result(HlokitAotRun* run, int64_t i);
/* The same of one device of several; the functions without `device` are of device 0. Null also
 * where there is no such device. */
void* hlokit_aot_device_argument(HlokitAotRun* run, int64_t device, int64_t i);
void* hlokit_aot_device_result(HlokitAotRun* run, int64_t device, int64_t i);

/* Lets the run use the caller's memory, aligned so, which must live until other memory is set; an
 * argument's is only read, unless the argument is donated and its result has no memory of its own.
 * 0 where done, 1 where `i` or the alignment is wrong. */
int hlokit_aot_set_argument(HlokitAotRun* run, int64_t i, const void* data);
int hlokit_aot_set_result(HlokitAotRun* run, int64_t i, void* data);
int hlokit_aot_set_device_argument(HlokitAotRun* run, int64_t device, int64_t i, const void* data);
int hlokit_aot_set_device_result(HlokitAotRun* run, int64_t device, int64_t i, void* data);

/* 0: HLOKIT_NUM_THREADS, OMP_NUM_THREADS or all cores. Results do not depend on it, nor does the
 * number of devices, each of which has one thread in any case. */
void hlokit_aot_set_threads(HlokitAotRun* run, int32_t threads);

/* The infeed and outfeed of the run's program, for the functions of runtime/queues.h, from any
 * thread while a run is under way and between runs. An item's arrays lie in the layouts of the
 * program's shapes; hlokit_aot_run waits for items of infeed that are not there yet. */
HlokitQueues* hlokit_aot_queues(HlokitAotRun* run);
/* Of one device of several; null where there is none such. */
HlokitQueues* hlokit_aot_device_queues(HlokitAotRun* run, int64_t device);

/* 0 where the program ran; else hlokit_aot_error says why not. Where one device fails, those that
 * wait for it end too, and the error is the first one's, with its number where there are several.
 * It is an error that devices wait for one another for ever, and that the system starts no thread
 * for each; then none of them has run. */
int hlokit_aot_run(HlokitAotRun* run);
/* Ends the run that is under way, as an error, soon after: while it waits for infeed or for another
 * device, and at the next of its loops. From any thread. The next hlokit_aot_run runs again. */
void hlokit_aot_cancel(HlokitAotRun* run);
/* Of the last run that failed. */
const char* hlokit_aot_error(const HlokitAotRun* run);

#ifdef __cplusplus
} /* extern "C" */
#endif
// SPDX-License-Identifier: Apache-2.0
