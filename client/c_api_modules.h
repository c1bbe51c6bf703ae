// The C API of modules: read in any form, printed, verified, changed by passes.
/* Beside client/c_api.h, which compiles and runs; the same rules of errors and ownership hold. */
#pragma once

#include "client/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hlokit_module hlokit_module;

/* HLO text, a protobuf (HloModuleProto, HloProto, a snapshot) or StableHLO in any form, told apart by
 * content. `name` stands before places in messages: "model.hlo:3:7: error: ...". */
hlokit_error* hlokit_module_read(const char* bytes, size_t size, const char* name,
                                 hlokit_module** module);
void hlokit_module_free(hlokit_module* module);
/* A module of its own. */
hlokit_error* hlokit_module_clone(const hlokit_module* module, hlokit_module** copy);
/* HLO text as XLA prints it; freed with hlokit_bytes_free. */
hlokit_error* hlokit_module_text(const hlokit_module* module, char** text);
/* An error that lists what does not verify, each with its place. */
hlokit_error* hlokit_module_verify(const hlokit_module* module);
/* Runs passes by names, "dce,cse,algsimp{exact}", in place, and verifies after each. `*changed` is 1
 * where one changed the module. After an error the module is of no use but to be freed. */
hlokit_error* hlokit_module_run_passes(hlokit_module* module, const char* passes, int32_t* changed);

#ifdef __cplusplus
}
#endif
// SPDX-License-Identifier: Apache-2.0
