// Compiles and runs modules from C, of text and built one operation after another, at once and in
// the background, on memory of the program's own, and shows how errors come.
#include <stdio.h>

#include "client/c_api.h"
#include "client/c_api_builder.h"

static const char kText[] =
    "HloModule scale\n"
    "ENTRY e {\n"
    "  a = f32[] parameter(0)\n"
    "  x = f32[3] parameter(1)\n"
    "  s = f32[3] broadcast(a), dimensions={}\n"
    "  ROOT r = f32[3] multiply(s, x)\n"
    "}\n";

/* 1 after a message where there is an error. */
static int Failed(hlokit_error* error) {
  if (error == NULL) return 0;
  fprintf(stderr, "error %d: %s\n", hlokit_error_code(error), hlokit_error_message(error));
  hlokit_error_free(error);
  return 1;
}

static int Run(hlokit_client* client, hlokit_program* program) {
  const float elements[3] = {1, 2, 3};
  const hlokit_buffer* arguments[2];
  hlokit_buffer *a = NULL, *x = NULL, *now = NULL, *later = NULL;
  hlokit_pending* pending = NULL;
  int failed = Failed(hlokit_buffer_from_text(client, "f32[] 2.5", &a)) ||
               Failed(hlokit_buffer_from_host(client, "f32[3]", elements, sizeof(elements), &x));
  if (!failed) {
    arguments[0] = a;
    arguments[1] = x;
    failed = Failed(hlokit_execute(program, arguments, 2, &now)) ||
             Failed(hlokit_execute_async(program, arguments, 2, &pending)) ||
             Failed(hlokit_pending_wait(pending, &later));
  }
  if (!failed) {
    const float* values = (const float*)hlokit_buffer_data(now);
    const float* again = (const float*)hlokit_buffer_data(later);
    printf("%s: %g %g %g\n", hlokit_buffer_shape(now), values[0], values[1], values[2]);
    failed = values[0] != 2.5F || values[2] != 7.5F || again[1] != 5;
  }
  hlokit_buffer_free(a);
  hlokit_buffer_free(x);
  hlokit_buffer_free(now);
  hlokit_buffer_free(later);
  return failed;
}

/* The sum of squares of each row of a 2 by 3 matrix. */
static hlokit_error* BuildSums(hlokit_computation** sums) {
  hlokit_builder* b = hlokit_builder_create("sums");
  hlokit_computation* add = NULL;
  hlokit_error* error = hlokit_computation_scalar("add", "f32", &add);
  if (error == NULL) {
    hlokit_value operands[2];
    hlokit_operation reduce = HLOKIT_OPERATION_INIT;
    const hlokit_computation* called = add;
    hlokit_value x = hlokit_builder_parameter(b, 0, "f32[2,3]", "x");
    operands[0] = hlokit_builder_binary(b, "multiply", x, x, NULL, 0, NULL);
    operands[1] = hlokit_builder_constant_text(b, "f32[] 0");
    reduce.opcode = "reduce";
    reduce.operands = operands;
    reduce.operand_count = 2;
    reduce.attributes = "dimensions={1}";
    reduce.computations = &called;
    reduce.computation_count = 1;
    hlokit_builder_operation(b, &reduce);
    error = hlokit_builder_build(b, HLOKIT_NO_VALUE, sums);
  }
  hlokit_computation_free(add);
  hlokit_builder_free(b);
  return error;
}

static void CountRelease(void* user) { ++*(int*)user; }

static int RunSums(hlokit_client* client) {
  static _Alignas(64) const float matrix[6] = {1, 2, 3, 4, 5, 6};
  hlokit_computation* sums = NULL;
  hlokit_program* program = NULL;
  hlokit_buffer *x = NULL, *result = NULL;
  int released = 0;
  int failed = Failed(BuildSums(&sums)) || Failed(hlokit_compile(client, sums, NULL, &program)) ||
               Failed(hlokit_buffer_borrow_host(client, "f32[2,3]", matrix, sizeof(matrix),
                                                CountRelease, &released, &x));
  if (!failed) {
    const hlokit_buffer* argument = x;
    failed = Failed(hlokit_execute(program, &argument, 1, &result));
  }
  if (!failed) {
    const float* values = (const float*)hlokit_buffer_data(result);
    printf("sums of squares: %g %g\n", values[0], values[1]);
    failed = values[0] != 14 || values[1] != 77;
  }
  hlokit_buffer_free(result);
  hlokit_buffer_free(x);
  hlokit_program_free(program);
  hlokit_computation_free(sums);
  return failed || released != 1;
}

int main(void) {
  hlokit_client* client = NULL;
  hlokit_program* program = NULL;
  if (hlokit_c_api_version() != HLOKIT_C_API_VERSION) return 1;
  if (Failed(hlokit_client_create("cpu", &client))) return 1;
  int failed = Failed(hlokit_compile_text(client, kText, NULL, &program)) || Run(client, program) ||
               RunSums(client);
  hlokit_program* none = NULL;
  hlokit_error* error =
      hlokit_compile_text(client, "ENTRY e { ROOT r = f32[] sqrt() }", NULL, &none);
  if (error == NULL || none != NULL) failed = 1;
  if (error != NULL) printf("as it should: %s\n", hlokit_error_message(error));
  hlokit_error_free(error);
  hlokit_program_free(program);
  hlokit_client_free(client);
  return failed;
}
// SPDX-License-Identifier: Apache-2.0
