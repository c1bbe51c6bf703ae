// Programs of the C API: compiled, described, written and loaded.
//
// hlokit_compile_options begins with its own size. A caller that was compiled against an older
// header passes a shorter struct, and fields beyond its size have their defaults; the size is the
// only version there is. Texts that a program returns (shapes of parameters and of the result) live
// as long as the program.
#include <cstddef>

#include "client/c_api_builder.h"
#include "client/c_api_internal.h"
#include "ffi/registry.h"
#include "parser/parser.h"
#include "printer/printer.h"
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

absl::Status SetLayouts(const hlokit_compile_options& options, ClientCompileOptions& made) {
  if (options.argument_layouts != nullptr) {
    made.argument_layouts.emplace();
    for (size_t i = 0; i < options.argument_layout_count; ++i) {
      ASSIGN_OR_RETURN(Shape shape, ParseShape(options.argument_layouts[i]));
      made.argument_layouts->push_back(std::move(shape));
    }
  }
  if (options.result_layout != nullptr) {
    ASSIGN_OR_RETURN(made.result_layout, ParseShape(options.result_layout));
  }
  return absl::OkStatus();
}

bool AreValid(const hlokit_compile_options& options) {
  return options.struct_size >= kLeastOptionsSize && options.opt_level >= 0 &&
         options.opt_level <= 3 && options.threads >= 0;
}

// Errors: InvalidArgument for values that no options have, and for layouts that are none.
absl::StatusOr<ClientCompileOptions> OptionsOf(const hlokit_compile_options* options) {
  ClientCompileOptions made;
  if (options == nullptr) return made;
  if (!AreValid(*options)) return InvalidArgument("the compile options are not valid");
  made.backend.opt_level = options->opt_level;
  made.backend.threads = options->threads;
  if (options->struct_size > kLeastOptionsSize) made.backend.donate = options->donate != 0;
  const auto size_with_layouts = static_cast<int64_t>(sizeof(hlokit_compile_options));
  if (options->struct_size >= size_with_layouts) RETURN_IF_ERROR(SetLayouts(*options, made));
  if (options->run_passes == 0) made.backend.which_passes = CompileOptions::Passes::kNone;
  return made;
}

}  // namespace
}  // namespace hlokit

using hlokit::Give;
using hlokit::Guarded;
using hlokit::WrapError;

extern "C" {

hlokit_error* hlokit_register_custom_call(const char* target,
                                          hlokit_custom_call_function function) {
  return Guarded(
      {{target != nullptr, "target"}, {function != nullptr, "function"}},
      [&]() -> hlokit_error* { return WrapError(hlokit::RegisterCustomCall(target, function)); });
}
hlokit_error* hlokit_load_custom_calls(const char* path) {
  return Guarded({{path != nullptr, "path"}}, [&]() -> hlokit_error* {
    return WrapError(hlokit::LoadCustomCalls(path).status());
  });
}

hlokit_error* hlokit_compile_text(hlokit_client* client, const char* hlo_text,
                                  const hlokit_compile_options* options, hlokit_program** program) {
  return Guarded({{client != nullptr, "client"},
                  {hlo_text != nullptr, "hlo_text"},
                  {program != nullptr, "program"}},
                 [&]() -> hlokit_error* {
                   const auto made = hlokit::OptionsOf(options);
                   if (!made.ok()) return WrapError(made.status());
                   return Give(client->client->CompileText(hlo_text, *made), client, program);
                 });
}

hlokit_error* hlokit_compile_proto(hlokit_client* client, const void* bytes, size_t size,
                                   const hlokit_compile_options* options,
                                   hlokit_program** program) {
  return Guarded({{client != nullptr, "client"},
                  {bytes != nullptr || size == 0, "bytes"},
                  {program != nullptr, "program"}},
                 [&]() -> hlokit_error* {
                   const auto made = hlokit::OptionsOf(options);
                   if (!made.ok()) return WrapError(made.status());
                   auto file = hlokit::ReadModuleFile({static_cast<const char*>(bytes), size},
                                                      hlokit::ProtoEncoding::kBinary);
                   if (!file.ok()) return WrapError(file.status());
                   const hlokit::XlaComputation computation(std::move(file->module));
                   return Give(client->client->Compile(computation, *made), client, program);
                 });
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
int64_t hlokit_program_device_count(const hlokit_program* program) {
  return program->program->device_count();
}
hlokit_error* hlokit_program_text(const hlokit_program* program, char** text) {
  return Guarded({{program != nullptr, "program"}, {text != nullptr, "text"}},
                 [&]() -> hlokit_error* {
                   *text = hlokit::GiveBytes(hlokit::Print(program->program->module()), nullptr);
                   return nullptr;
                 });
}

hlokit_error* hlokit_program_serialize(hlokit_program* program, char** bytes, size_t* size) {
  return Guarded(
      {{program != nullptr, "program"}, {bytes != nullptr, "bytes"}, {size != nullptr, "size"}},
      [&]() -> hlokit_error* {
        const auto serialized = program->client->SerializeExecutable(*program->program);
        if (!serialized.ok()) return WrapError(serialized.status());
        *bytes = hlokit::GiveBytes(*serialized, size);
        return nullptr;
      });
}
hlokit_error* hlokit_program_load(hlokit_client* client, const void* bytes, size_t size,
                                  hlokit_program** program) {
  return Guarded({{client != nullptr, "client"},
                  {bytes != nullptr || size == 0, "bytes"},
                  {program != nullptr, "program"}},
                 [&]() -> hlokit_error* {
                   return Give(
                       client->client->LoadExecutable({static_cast<const char*>(bytes), size}),
                       client, program);
                 });
}

hlokit_error* hlokit_compile(hlokit_client* client, const hlokit_computation* computation,
                             const hlokit_compile_options* options, hlokit_program** program) {
  return Guarded({{client != nullptr, "client"},
                  {computation != nullptr, "computation"},
                  {program != nullptr, "program"}},
                 [&]() -> hlokit_error* {
                   const auto made = hlokit::OptionsOf(options);
                   if (!made.ok()) return WrapError(made.status());
                   return Give(client->client->Compile(computation->computation, *made), client,
                               program);
                 });
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
