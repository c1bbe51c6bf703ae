// Programs of the C API: compiled, described, written and loaded.
#include <cstddef>

#include "client/c_api_builder.h"
#include "client/c_api_internal.h"
#include "proto/proto_file.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Of the first version of the options, which callers of old may pass.
constexpr int64_t kLeastOptionsSize = offsetof(hlokit_compile_options, donate);

hlokit_error* Give(absl::StatusOr<ProgramHandle> program, hlokit_client* client,
                   hlokit_program** out) {
  if (!program.ok()) return WrapError(program.status());
  auto made = std::make_unique<hlokit_program>();
  made->client = client->client.get();
  made->program = *std::move(program);
  const ProgramShape& shape = made->program->program_shape();
  for (const Shape& parameter : shape.parameters)
    made->parameter_shapes.push_back(Text(parameter, true));
  made->result_shape = Text(shape.result, true);
  *out = made.release();
  return nullptr;
}

ClientCompileOptions OptionsOf(const hlokit_compile_options* options) {
  ClientCompileOptions made;
  if (options == nullptr) return made;
  made.backend.opt_level = options->opt_level;
  made.backend.threads = options->threads;
  if (options->struct_size > kLeastOptionsSize) made.backend.donate = options->donate != 0;
  if (options->run_passes == 0) made.backend.which_passes = CompileOptions::Passes::kNone;
  return made;
}

bool AreValid(const hlokit_compile_options* options) {
  if (options == nullptr) return true;
  return options->struct_size >= kLeastOptionsSize && options->opt_level >= 0 &&
         options->opt_level <= 3 && options->threads >= 0;
}

hlokit_error* RefuseOptions() {
  return WrapError(InvalidArgument("the compile options are not valid"));
}

}  // namespace
}  // namespace hlokit

using hlokit::Give;
using hlokit::WrapError;

extern "C" {

hlokit_error* hlokit_compile_text(hlokit_client* client, const char* hlo_text,
                                  const hlokit_compile_options* options, hlokit_program** program) {
  if (!hlokit::AreValid(options)) return hlokit::RefuseOptions();
  return Give(client->client->CompileText(hlo_text, hlokit::OptionsOf(options)), client, program);
}

hlokit_error* hlokit_compile_proto(hlokit_client* client, const void* bytes, size_t size,
                                   const hlokit_compile_options* options,
                                   hlokit_program** program) {
  if (!hlokit::AreValid(options)) return hlokit::RefuseOptions();
  auto file = hlokit::ReadModuleFile({static_cast<const char*>(bytes), size},
                                     hlokit::ProtoEncoding::kBinary);
  if (!file.ok()) return WrapError(file.status());
  const hlokit::XlaComputation computation(std::move(file->module));
  return Give(client->client->Compile(computation, hlokit::OptionsOf(options)), client, program);
}

void hlokit_program_free(hlokit_program* program) { delete program; }
int64_t hlokit_program_parameter_count(const hlokit_program* program) {
  return static_cast<int64_t>(program->parameter_shapes.size());
}
const char* hlokit_program_parameter_shape(const hlokit_program* program, int64_t number) {
  if (number < 0 || number >= hlokit_program_parameter_count(program)) return nullptr;
  return program->parameter_shapes[number].c_str();
}
const char* hlokit_program_result_shape(const hlokit_program* program) {
  return program->result_shape.c_str();
}

hlokit_error* hlokit_program_serialize(hlokit_program* program, char** bytes, size_t* size) {
  const auto serialized = program->client->SerializeExecutable(*program->program);
  if (!serialized.ok()) return WrapError(serialized.status());
  *bytes = hlokit::GiveBytes(*serialized, size);
  return nullptr;
}
hlokit_error* hlokit_program_load(hlokit_client* client, const void* bytes, size_t size,
                                  hlokit_program** program) {
  return Give(client->client->LoadExecutable({static_cast<const char*>(bytes), size}), client,
              program);
}

hlokit_error* hlokit_compile(hlokit_client* client, const hlokit_computation* computation,
                             const hlokit_compile_options* options, hlokit_program** program) {
  if (!hlokit::AreValid(options)) return hlokit::RefuseOptions();
  return Give(client->client->Compile(computation->computation, hlokit::OptionsOf(options)), client,
              program);
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
