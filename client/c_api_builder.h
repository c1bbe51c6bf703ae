// The C API's builder: computations made one operation after another, for other languages to build
// on. What every opcode of HLO text takes can be said; shapes are inferred and checked at each
// call.
//
//   hlokit_builder* b = hlokit_builder_create("axpy");
//   hlokit_value a = hlokit_builder_parameter(b, 0, "f32[]", "a");
//   hlokit_value x = hlokit_builder_parameter(b, 1, "f32[10]", "x");
//   hlokit_value y = hlokit_builder_parameter(b, 2, "f32[10]", "y");
//   hlokit_value ax = hlokit_builder_binary(b, "multiply", a, x, NULL, 0, NULL);
//   hlokit_builder_binary(b, "add", ax, y, NULL, 0, NULL);
//   hlokit_computation* axpy = NULL;
//   hlokit_error* error = hlokit_builder_build(b, HLOKIT_NO_VALUE, &axpy);
//
// A builder is not for several threads at once. Its first error is kept (a pointer that is null
// where nothing is said of it is one), operations after it do nothing, and hlokit_builder_build
// gives it. Computations are immutable, and live on their own.
#pragma once

#include "client/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A computation under construction. */
typedef struct hlokit_builder hlokit_builder;

/* A value of one builder: its number there, from 0. */
typedef int64_t hlokit_value;
/* What an operation gives that failed. */
#define HLOKIT_NO_VALUE ((hlokit_value)-1)

/* `name` (NULL: "computation") becomes that of the module and of its entry computation. Gives never
 * NULL. */
hlokit_builder* hlokit_builder_create(const char* name);
void hlokit_builder_free(hlokit_builder* builder);

/* Parameter `number`, from 0; `shape` is HLO text, such as "f32[2,3]" or "(s32[], f32[4])". */
hlokit_value hlokit_builder_parameter(hlokit_builder* builder, int64_t number, const char* shape,
                                      const char* name);
/* A constant array of elements that are copied, as hlokit_buffer_from_host has them. */
hlokit_value hlokit_builder_constant(hlokit_builder* builder, const char* shape,
                                     const void* elements, size_t size);
/* A constant written as HLO text, such as "f32[2] {1, 2}". */
hlokit_value hlokit_builder_constant_text(hlokit_builder* builder, const char* literal);

/* An elementwise function of two arrays, such as "add", "maximum" or "compare", with XLA's implicit
 * broadcasting: scalars and sizes of 1 stretch; an operand of lower rank names in
 * `broadcast_dimensions` (`count` of them, or NULL and 0) the dimension of the other one for each
 * of its own. `attributes` as in hlokit_builder_operation: "direction=LT" of a compare, else NULL.
 */
hlokit_value hlokit_builder_binary(hlokit_builder* builder, const char* opcode, hlokit_value lhs,
                                   hlokit_value rhs, const int64_t* broadcast_dimensions,
                                   size_t count, const char* attributes);

/* What one operation takes; begin with HLOKIT_OPERATION_INIT. Pointers are only read by the call.
 */
typedef struct {
  int64_t struct_size; /* sizeof(hlokit_operation) */
  const char* opcode;  /* as HLO text spells it: "dot", "reduce", "while", "dynamic-slice", ... */
  /* Values of this builder, and how many. */
  const hlokit_value* operands;
  size_t operand_count;
  /* As HLO text has them behind the operands, without called computations: "dimensions={1}" or
   * "lhs_contracting_dims={1}, rhs_contracting_dims={0}"; metadata, sharding, frontend_attributes
   * and backend_config too. NULL: none. */
  const char* attributes;
  /* Called computations in the order of HLO text: the reducer; condition, then body; branches; ...
   */
  const hlokit_computation* const* computations;
  size_t computation_count;
  /* The result's shape where operands and attributes do not tell it (reshape, convert, iota,
   * custom-call, infeed, ...), or to give it a layout. NULL: inferred. */
  const char* shape;
} hlokit_operation;
/* Nothing of all. */
#define HLOKIT_OPERATION_INIT \
  { (int64_t)sizeof(hlokit_operation), NULL, NULL, 0, NULL, NULL, 0, NULL }

/* Any operation but parameter and constant. Operands must have the shapes that HLO wants: nothing
 * is broadcast. */
hlokit_value hlokit_builder_operation(hlokit_builder* builder, const hlokit_operation* operation);

/* The shape of a value as HLO text with its layout, valid as long as the builder; NULL where it is
 * none of this builder's. */
const char* hlokit_builder_shape(hlokit_builder* builder, hlokit_value value);
/* The first error so far, to be freed; NULL: none. */
hlokit_error* hlokit_builder_error(const hlokit_builder* builder);
/* The computation so far, which returns `root`, or the last operation for HLOKIT_NO_VALUE. The
 * builder can go on, and build again. */
hlokit_error* hlokit_builder_build(hlokit_builder* builder, hlokit_value root,
                                   hlokit_computation** computation);

/* (T, T) -> T of an opcode and an element type, such as "add" and "f32": what reducers mostly are.
 */
hlokit_error* hlokit_computation_scalar(const char* opcode, const char* element_type,
                                        hlokit_computation** computation);
/* The entry computation of a module in HLO text, with all that it calls. */
hlokit_error* hlokit_computation_from_text(const char* hlo_text, hlokit_computation** computation);
/* The module as HLO text; `*text` is freed with hlokit_bytes_free. */
hlokit_error* hlokit_computation_text(const hlokit_computation* computation, char** text);
void hlokit_computation_free(hlokit_computation* computation);

/* Parameters and result as HLO text, such as "(x: f32[2]) -> f32[]"; `*text` is freed with
 * hlokit_bytes_free. */
hlokit_error* hlokit_computation_shape(const hlokit_computation* computation, char** text);
/* What one execution takes, told from shapes; loops count once. */
typedef struct {
  int64_t struct_size;         /* sizeof(hlokit_computation_stats) */
  double flop_count;           /* multiplications and additions, and other elementwise steps */
  double transcendental_count; /* elements of exp, log, tanh, ... */
  double bytes_accessed;       /* read and written, each array once */
  int64_t instruction_count;   /* in all computations */
} hlokit_computation_stats;
/* Nothing counted yet. */
#define HLOKIT_COMPUTATION_STATS_INIT \
  { (int64_t)sizeof(hlokit_computation_stats), 0, 0, 0, 0 }
/* Fills `stats`, whose struct_size is set. */
hlokit_error* hlokit_computation_get_stats(const hlokit_computation* computation,
                                           hlokit_computation_stats* stats);

/* Runs, and gives computation, arguments and result as an HloSnapshot, which hlo-run replays;
 * `*bytes` is freed with hlokit_bytes_free. */
hlokit_error* hlokit_snapshot_execution(hlokit_client* client,
                                        const hlokit_computation* computation,
                                        const hlokit_buffer* const* arguments, size_t count,
                                        char** bytes, size_t* size);
/* What a snapshot holds: its computation, the arguments as the elements of a tuple, and the result;
 * `*result` becomes NULL where none was recorded. */
hlokit_error* hlokit_snapshot_load(hlokit_client* client, const void* bytes, size_t size,
                                   hlokit_computation** computation, hlokit_buffer** arguments,
                                   hlokit_buffer** result);

/* Compiles a computation; options may be NULL. */
hlokit_error* hlokit_compile(hlokit_client* client, const hlokit_computation* computation,
                             const hlokit_compile_options* options, hlokit_program** program);

#ifdef __cplusplus
} /* extern "C" */
#endif

// SPDX-License-Identifier: Apache-2.0
