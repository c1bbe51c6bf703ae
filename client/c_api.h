// The C API: what other languages build on. A stable ABI of opaque handles, plain integers and
// strings; nothing here needs C++.
//
//   hlokit_client* client = NULL;
//   hlokit_program* program = NULL;
//   hlokit_error* error = hlokit_client_create("cpu", &client);
//   if (error == NULL) error = hlokit_compile_text(client, text, NULL, &program);
//   if (error != NULL) { fprintf(stderr, "%s\n", hlokit_error_message(error)); ... }
//
// Functions that can fail return NULL where all went well, else an error to be freed with
// hlokit_error_free; results are then untouched. Every handle is freed by the function of its name;
// freeing NULL does nothing. Handles may be used from several threads at once, but not freed while
// in use. Programs and buffers must be freed before their client. A pointer that is null where
// nothing is said of it is an error of functions that can fail, and must not be given to others.
// Memory that runs out is an error too. client/c_api_builder.h makes computations, one operation
// after another.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised where functions change; new ones may come without. */
#define HLOKIT_C_API_VERSION 1

/* Handles: an error, a client, a compiled program, a value on a device, a run under way. */
typedef struct hlokit_error hlokit_error;
typedef struct hlokit_client hlokit_client;
typedef struct hlokit_program hlokit_program;
typedef struct hlokit_buffer hlokit_buffer;
typedef struct hlokit_pending hlokit_pending;
typedef struct hlokit_computation hlokit_computation; /* see client/c_api_builder.h */

/* HLOKIT_C_API_VERSION of the library. */
int32_t hlokit_c_api_version(void);

/* Text for people, valid as long as the error; the code is absl's: 3 invalid argument, 5 not found,
 * 12 not implemented, 13 a fault of hlokit's, and so on. */
const char* hlokit_error_message(const hlokit_error* error);
int32_t hlokit_error_code(const hlokit_error* error);
void hlokit_error_free(hlokit_error* error);

/* The names of platforms, by index from 0; NULL past the last. */
const char* hlokit_platform_name(int64_t index);

/* A client of a platform, "cpu" or "interpreter" (NULL: "cpu"). */
hlokit_error* hlokit_client_create(const char* platform, hlokit_client** client);
void hlokit_client_free(hlokit_client* client);
/* How many devices feeds may name. */
int64_t hlokit_client_device_count(const hlokit_client* client);

/* A function of this program for custom calls of that target, for all of the process: `out` is the
 * result's memory, `in` the operands', dense and row-major; a tuple is a table of pointers to its
 * elements. An error where the target has another function. */
typedef void (*hlokit_custom_call_function)(void* out, const void** in);
hlokit_error* hlokit_register_custom_call(const char* target, hlokit_custom_call_function function);
/* The custom calls of a shared library: those that it lists as ffi/hlokit_ffi.h says, and any of
 * its symbols as functions of the form above. */
hlokit_error* hlokit_load_custom_calls(const char* path);

/* What to compile with; begin with HLOKIT_COMPILE_OPTIONS_INIT. */
typedef struct {
  int64_t struct_size; /* sizeof(hlokit_compile_options) */
  int32_t opt_level;   /* 0 to 3, of code generation */
  int32_t threads;     /* 0: one a core */
  int32_t run_passes;  /* 0: the module as it stands, such as a scheduled dump */
  int64_t donate;      /* 1: results may take the memory of arguments: hlokit_execute_donating */
  /* The layouts in which arguments (one a parameter) and result lie in compiled code, as shapes in
   * HLO text, such as "f32[2,3]{0,1}"; NULL: those of the module. */
  const char* const* argument_layouts;
  size_t argument_layout_count;
  const char* result_layout;
} hlokit_compile_options;
/* The defaults: level 2, a thread a core, all passes, no donation, the module's layouts. */
#define HLOKIT_COMPILE_OPTIONS_INIT \
  { (int64_t)sizeof(hlokit_compile_options), 2, 0, 1, 0, NULL, 0, NULL }

/* Compiles HLO text, or a protobuf (HloModuleProto, HloProto or a snapshot); options may be NULL.
 */
hlokit_error* hlokit_compile_text(hlokit_client* client, const char* hlo_text,
                                  const hlokit_compile_options* options, hlokit_program** program);
hlokit_error* hlokit_compile_proto(hlokit_client* client, const void* bytes, size_t size,
                                   const hlokit_compile_options* options, hlokit_program** program);
void hlokit_program_free(hlokit_program* program);
int64_t hlokit_program_parameter_count(const hlokit_program* program);
/* HLO text of shapes, such as "f32[2,3]{1,0}"; valid as long as the program. NULL: no such
 * parameter. */
const char* hlokit_program_parameter_shape(const hlokit_program* program, int64_t number);
const char* hlokit_program_result_shape(const hlokit_program* program);
/* Replicas times partitions. */
int64_t hlokit_program_device_count(const hlokit_program* program);
/* The module as it runs, after passes, as HLO text; `*text` is freed with hlokit_bytes_free. */
hlokit_error* hlokit_program_text(const hlokit_program* program, char** text);
/* The program as bytes, and back. `*bytes` is freed with hlokit_bytes_free. */
hlokit_error* hlokit_program_serialize(hlokit_program* program, char** bytes, size_t* size);
hlokit_error* hlokit_program_load(hlokit_client* client, const void* bytes, size_t size,
                                  hlokit_program** program);
void hlokit_bytes_free(char* bytes);

/* Copies elements into a buffer; `shape` is HLO text, such as "f32[2,3]", the elements lie in its
 * layout (row-major where it has none), `size` is their bytes in all. Element types of less than a
 * byte take a byte an element. */
hlokit_error* hlokit_buffer_from_host(hlokit_client* client, const char* shape,
                                      const void* elements, size_t size, hlokit_buffer** buffer);
/* Uses the elements where they lie; they must stay unchanged until `release` (NULL: nothing to
 * call) is called with `user`: once, by the thread that frees the last buffer that needs them. A
 * program reads them in place where they lie in the layout of its parameter at an address that is a
 * multiple of 64; otherwise, and on the interpreter, each execution copies them. */
typedef void (*hlokit_release)(void* user);
hlokit_error* hlokit_buffer_borrow_host(hlokit_client* client, const char* shape,
                                        const void* elements, size_t size, hlokit_release release,
                                        void* user, hlokit_buffer** buffer);
/* A value written as HLO text, such as "f32[2] {1, 2}" or "(s32[] 1, pred[] true)". */
hlokit_error* hlokit_buffer_from_text(hlokit_client* client, const char* literal,
                                      hlokit_buffer** buffer);
void hlokit_buffer_free(hlokit_buffer* buffer);
/* The shape as HLO text, and an array's bytes; 0 for tuples. */
const char* hlokit_buffer_shape(const hlokit_buffer* buffer);
size_t hlokit_buffer_size(const hlokit_buffer* buffer);
/* The elements of an array in row-major order, where they lie (a result is never copied); valid as
 * long as the buffer. NULL for tuples. */
const void* hlokit_buffer_data(const hlokit_buffer* buffer);
/* Copies an array's elements to `size` bytes of memory, in the layout of `shape` (NULL: row-major).
 */
hlokit_error* hlokit_buffer_to_host(hlokit_client* client, const hlokit_buffer* buffer,
                                    const char* shape, void* elements, size_t size);
/* How many elements a tuple has (-1: an array), and one of them, which shares its memory. */
int64_t hlokit_buffer_tuple_size(const hlokit_buffer* buffer);
hlokit_error* hlokit_buffer_tuple_element(const hlokit_buffer* buffer, int64_t index,
                                          hlokit_buffer** element);

/* Runs on one device; arguments are only read. */
hlokit_error* hlokit_execute(const hlokit_program* program, const hlokit_buffer* const* arguments,
                             size_t count, hlokit_buffer** result);
/* The same with arguments that are given away: all buffers in `arguments` are freed, also after an
 * error, and their places set to NULL. Where the module donates an argument (input_output_alias,
 * buffer_donor), the program was compiled with `donate`, and no other buffer shares the memory, the
 * result is computed in it. */
hlokit_error* hlokit_execute_donating(const hlokit_program* program, hlokit_buffer** arguments,
                                      size_t count, hlokit_buffer** result);
/* Runs on all of the program's devices at once. `arguments` holds `count` for the first device (all
 * of its first replica's partitions before the second's), then as many for the next; `results` has
 * space for one per device. */
hlokit_error* hlokit_execute_replicated(const hlokit_program* program,
                                        const hlokit_buffer* const* arguments, size_t count,
                                        hlokit_buffer** results);
/* As hlokit_execute in the background: program and arguments must live until hlokit_pending_wait,
 * which waits, frees `pending` and gives what hlokit_execute would have given. */
hlokit_error* hlokit_execute_async(const hlokit_program* program,
                                   const hlokit_buffer* const* arguments, size_t count,
                                   hlokit_pending** pending);
hlokit_error* hlokit_pending_wait(hlokit_pending* pending, hlokit_buffer** result);

/* An item for a device's infeed, and the next one of its outfeed within so many seconds (negative:
 * whenever it comes). */
hlokit_error* hlokit_transfer_to_infeed(hlokit_client* client, int64_t device,
                                        const hlokit_buffer* item);
hlokit_error* hlokit_transfer_from_outfeed(hlokit_client* client, int64_t device,
                                           double timeout_seconds, hlokit_buffer** item);

#ifdef __cplusplus
} /* extern "C" */
#endif

// SPDX-License-Identifier: Apache-2.0
