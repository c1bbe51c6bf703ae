// The C API over Client: handles are structs that hold its objects.
#include "client/c_api.h"

#include <cstring>

#include "client/client.h"
#include "parser/parser.h"
#include "proto/proto_file.h"
#include "support/status.h"

struct hlokit_error {
  absl::Status status;
  std::string message;
};
struct hlokit_client {
  std::unique_ptr<hlokit::Client> client;
};
struct hlokit_program {
  hlokit::Client* client;
  hlokit::ProgramHandle program;
  std::vector<std::string> parameter_shapes;
  std::string result_shape;
};
struct hlokit_buffer {
  std::unique_ptr<hlokit::GlobalData> data;
  std::string shape;
};
struct hlokit_pending {
  std::future<hlokit::DataOr> result;
};

namespace hlokit {
namespace {

hlokit_error* Wrap(const absl::Status& status) {
  if (status.ok()) return nullptr;
  std::string message(status.message());
  if (const std::string label = LabelOf(status); !label.empty())
    absl::StrAppend(&message, "  [", label, "]");
  return new hlokit_error{status, std::move(message)};
}

hlokit_error* Refuse(absl::string_view what) { return Wrap(InvalidArgument(what)); }

hlokit_error* Give(DataOr data, hlokit_buffer** out) {
  if (!data.ok()) return Wrap(data.status());
  std::string shape = Text((*data)->shape());
  *out = new hlokit_buffer{*std::move(data), std::move(shape)};
  return nullptr;
}

hlokit_error* Give(absl::StatusOr<ProgramHandle> program, hlokit_client* client,
                   hlokit_program** out) {
  if (!program.ok()) return Wrap(program.status());
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
  if (options->run_passes == 0) made.backend.which_passes = CompileOptions::Passes::kNone;
  return made;
}

bool AreValid(const hlokit_compile_options* options) {
  if (options == nullptr) return true;
  return options->struct_size >= static_cast<int64_t>(sizeof(hlokit_compile_options)) &&
         options->opt_level >= 0 && options->opt_level <= 3 && options->threads >= 0;
}

std::vector<const GlobalData*> DataOf(const hlokit_buffer* const* arguments, size_t count) {
  std::vector<const GlobalData*> data;
  for (size_t i = 0; i < count; ++i)
    data.push_back(arguments[i] == nullptr ? nullptr : arguments[i]->data.get());
  return data;
}

// The shape that `text` says, of an array of `size` bytes.
absl::StatusOr<Shape> ArrayShape(const char* text, size_t size) {
  ASSIGN_OR_RETURN(Shape shape, ParseShape(text));
  if (!shape.IsArray() || shape.HasDynamicDims() || static_cast<size_t>(shape.ByteSize()) != size)
    return InvalidArgument(size, " bytes are not the elements of ", text);
  return shape;
}

}  // namespace
}  // namespace hlokit

using hlokit::Give;
using hlokit::GlobalData;
using hlokit::Literal;
using hlokit::Refuse;
using hlokit::Shape;
using hlokit::Wrap;

extern "C" {

int32_t hlokit_c_api_version(void) { return HLOKIT_C_API_VERSION; }

const char* hlokit_error_message(const hlokit_error* error) { return error->message.c_str(); }
int32_t hlokit_error_code(const hlokit_error* error) {
  return static_cast<int32_t>(error->status.code());
}
void hlokit_error_free(hlokit_error* error) { delete error; }

hlokit_error* hlokit_client_create(const char* platform, hlokit_client** client) {
  auto made = hlokit::Client::Create(platform == nullptr ? "cpu" : platform);
  if (!made.ok()) return Wrap(made.status());
  *client = new hlokit_client{*std::move(made)};
  return nullptr;
}
void hlokit_client_free(hlokit_client* client) { delete client; }
int64_t hlokit_client_device_count(const hlokit_client* client) {
  return client->client->device_count();
}

hlokit_error* hlokit_compile_text(hlokit_client* client, const char* hlo_text,
                                  const hlokit_compile_options* options, hlokit_program** program) {
  if (!hlokit::AreValid(options)) return Refuse("the compile options are not valid");
  return Give(client->client->CompileText(hlo_text, hlokit::OptionsOf(options)), client, program);
}

hlokit_error* hlokit_compile_proto(hlokit_client* client, const void* bytes, size_t size,
                                   const hlokit_compile_options* options,
                                   hlokit_program** program) {
  if (!hlokit::AreValid(options)) return Refuse("the compile options are not valid");
  auto file = hlokit::ReadModuleFile({static_cast<const char*>(bytes), size},
                                     hlokit::ProtoEncoding::kBinary);
  if (!file.ok()) return Wrap(file.status());
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
  if (!serialized.ok()) return Wrap(serialized.status());
  *bytes = new char[serialized->size()];
  std::memcpy(*bytes, serialized->data(), serialized->size());
  *size = serialized->size();
  return nullptr;
}
hlokit_error* hlokit_program_load(hlokit_client* client, const void* bytes, size_t size,
                                  hlokit_program** program) {
  return Give(client->client->LoadExecutable({static_cast<const char*>(bytes), size}), client,
              program);
}
void hlokit_bytes_free(char* bytes) { delete[] bytes; }

hlokit_error* hlokit_buffer_from_host(hlokit_client* client, const char* shape,
                                      const void* elements, size_t size, hlokit_buffer** buffer) {
  const absl::StatusOr<Shape> parsed = hlokit::ArrayShape(shape, size);
  if (!parsed.ok()) return Wrap(parsed.status());
  return Give(client->client->TransferFromHost(*parsed, elements), buffer);
}
hlokit_error* hlokit_buffer_borrow_host(hlokit_client* client, const char* shape,
                                        const void* elements, size_t size, hlokit_release release,
                                        void* user, hlokit_buffer** buffer) {
  const absl::StatusOr<Shape> parsed = hlokit::ArrayShape(shape, size);
  if (!parsed.ok()) return Wrap(parsed.status());
  std::function<void()> released;
  if (release != nullptr) released = [release, user] { release(user); };
  return Give(client->client->BorrowFromHost(*parsed, elements, std::move(released)), buffer);
}
hlokit_error* hlokit_buffer_from_text(hlokit_client* client, const char* literal,
                                      hlokit_buffer** buffer) {
  absl::StatusOr<Literal> parsed = hlokit::ParseLiteral(literal);
  if (!parsed.ok()) return Wrap(parsed.status());
  return Give(client->client->TransferToServer(*std::move(parsed)), buffer);
}
void hlokit_buffer_free(hlokit_buffer* buffer) { delete buffer; }
const char* hlokit_buffer_shape(const hlokit_buffer* buffer) { return buffer->shape.c_str(); }
size_t hlokit_buffer_size(const hlokit_buffer* buffer) {
  const Shape& shape = buffer->data->shape();
  return shape.IsArray() ? static_cast<size_t>(shape.ByteSize()) : 0;
}
const void* hlokit_buffer_data(const hlokit_buffer* buffer) { return buffer->data->elements(); }
int64_t hlokit_buffer_tuple_size(const hlokit_buffer* buffer) {
  const Shape& shape = buffer->data->shape();
  return shape.IsTuple() ? static_cast<int64_t>(shape.elements.size()) : -1;
}
hlokit_error* hlokit_buffer_tuple_element(const hlokit_buffer* buffer, int64_t index,
                                          hlokit_buffer** element) {
  if (index < 0 || index >= hlokit_buffer_tuple_size(buffer))
    return Refuse(absl::StrCat("there is no element ", index, " in ", buffer->shape));
  const auto& whole = buffer->data->shared_literal();
  return Give(
      std::make_unique<GlobalData>(std::shared_ptr<const Literal>(whole, &whole->elements()[index]),
                                   buffer->data->device()),
      element);
}

hlokit_error* hlokit_execute(const hlokit_program* program, const hlokit_buffer* const* arguments,
                             size_t count, hlokit_buffer** result) {
  return Give(program->client->Execute(*program->program, hlokit::DataOf(arguments, count)),
              result);
}
hlokit_error* hlokit_execute_async(const hlokit_program* program,
                                   const hlokit_buffer* const* arguments, size_t count,
                                   hlokit_pending** pending) {
  auto run = [client = program->client, handle = program->program,
              data = hlokit::DataOf(arguments, count)] { return client->Execute(*handle, data); };
  *pending = new hlokit_pending{std::async(std::launch::async, std::move(run))};
  return nullptr;
}
hlokit_error* hlokit_pending_wait(hlokit_pending* pending, hlokit_buffer** result) {
  const std::unique_ptr<hlokit_pending> owned(pending);
  return Give(owned->result.get(), result);
}

hlokit_error* hlokit_transfer_to_infeed(hlokit_client* client, int64_t device,
                                        const hlokit_buffer* item) {
  return Wrap(client->client->TransferToInfeed(item->data->literal(), device));
}
hlokit_error* hlokit_transfer_from_outfeed(hlokit_client* client, int64_t device,
                                           double timeout_seconds, hlokit_buffer** item) {
  absl::StatusOr<Literal> popped = client->client->TransferFromOutfeed(device, timeout_seconds);
  if (!popped.ok()) return Wrap(popped.status());
  return Give(client->client->TransferToServer(*std::move(popped), device), item);
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
