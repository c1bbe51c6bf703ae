// The C API over Client. Handles are structs that hold its objects; each call checks its pointers,
// and returns null or an error that the caller frees. No exception crosses the boundary (Guarded).
#include "client/c_api.h"

#include <cstring>
#include <utility>

#include "client/c_api_internal.h"
#include "parser/parser.h"
#include "support/status.h"

struct hlokit_pending {
  std::future<hlokit::DataOr> result;
};

namespace hlokit {
namespace {

hlokit_error* Refuse(absl::string_view what) { return WrapError(InvalidArgument(what)); }

}  // namespace

hlokit_error* WrapError(const absl::Status& status) {
  if (status.ok()) return nullptr;
  std::string message(status.message());
  if (const std::string label = LabelOf(status); !label.empty())
    absl::StrAppend(&message, "  [", label, "]");
  return new hlokit_error{status, std::move(message)};
}

absl::Status CheckGiven(std::initializer_list<NeededPointer> needed) {
  for (const NeededPointer& pointer : needed)
    if (!pointer.given) return InvalidArgument(pointer.name, " is null");
  return absl::OkStatus();
}

// The caller owns the buffer; its shape's text lives as long as it does.
hlokit_error* GiveBuffer(DataOr data, hlokit_buffer** out) {
  if (!data.ok()) return WrapError(data.status());
  std::string shape = Text((*data)->shape());
  *out = new hlokit_buffer{*std::move(data), std::move(shape)};
  return nullptr;
}

std::vector<const GlobalData*> DataOf(const hlokit_buffer* const* arguments, size_t count) {
  std::vector<const GlobalData*> data;
  for (size_t i = 0; i < count; ++i)
    data.push_back(arguments[i] == nullptr ? nullptr : arguments[i]->data.get());
  return data;
}

// A copy that the caller frees with hlokit_bytes_free; a zero byte follows it, so that text is a C
// string.
char* GiveBytes(absl::string_view bytes, size_t* size) {
  char* given = new char[bytes.size() + 1];
  std::memcpy(given, bytes.data(), bytes.size());
  given[bytes.size()] = 0;
  if (size != nullptr) *size = bytes.size();
  return given;
}

// A static array shape whose elements take exactly `size` bytes.
absl::StatusOr<Shape> ShapeOfBytes(const char* text, size_t size) {
  ASSIGN_OR_RETURN(Shape shape, ParseShape(text));
  if (!shape.IsArray() || shape.HasDynamicDims() || static_cast<size_t>(shape.ByteSize()) != size)
    return InvalidArgument(size, " bytes are not the elements of ", text);
  return shape;
}

// The buffer that make(shape) gives of elements on the host.
template <typename Make>
hlokit_error* GiveHostBuffer(hlokit_client* client, const char* shape, const void* elements,
                             size_t size, hlokit_buffer** buffer, const Make& make) {
  return Guarded({{client != nullptr, "client"},
                  {shape != nullptr, "shape"},
                  {elements != nullptr || size == 0, "elements"},
                  {buffer != nullptr, "buffer"}},
                 [&]() -> hlokit_error* {
                   const absl::StatusOr<Shape> parsed = ShapeOfBytes(shape, size);
                   if (!parsed.ok()) return WrapError(parsed.status());
                   return GiveBuffer(make(*parsed), buffer);
                 });
}

}  // namespace hlokit

using hlokit::GiveBuffer;
using hlokit::GlobalData;
using hlokit::Guarded;
using hlokit::Literal;
using hlokit::Refuse;
using hlokit::Shape;
using hlokit::WrapError;

extern "C" {

int32_t hlokit_c_api_version(void) { return HLOKIT_C_API_VERSION; }

const char* hlokit_error_message(const hlokit_error* error) { return error->message.c_str(); }
int32_t hlokit_error_code(const hlokit_error* error) {
  return static_cast<int32_t>(error->status.code());
}
void hlokit_error_free(hlokit_error* error) { delete error; }

hlokit_error* hlokit_client_create(const char* platform, hlokit_client** client) {
  return Guarded({{client != nullptr, "client"}}, [&]() -> hlokit_error* {
    auto made = hlokit::Client::Create(platform == nullptr ? "cpu" : platform);
    if (!made.ok()) return WrapError(made.status());
    *client = new hlokit_client{*std::move(made)};
    return nullptr;
  });
}
const char* hlokit_platform_name(int64_t index) {
  static const auto* const names = new std::vector<std::string>(hlokit::Client::Platforms());
  if (index < 0 || index >= static_cast<int64_t>(names->size())) return nullptr;
  return (*names)[static_cast<size_t>(index)].c_str();
}
void hlokit_client_free(hlokit_client* client) { delete client; }
int64_t hlokit_client_device_count(const hlokit_client* client) {
  return client->client->device_count();
}

void hlokit_bytes_free(char* bytes) { delete[] bytes; }

hlokit_error* hlokit_buffer_from_host(hlokit_client* client, const char* shape,
                                      const void* elements, size_t size, hlokit_buffer** buffer) {
  return hlokit::GiveHostBuffer(client, shape, elements, size, buffer, [&](const Shape& parsed) {
    return client->client->TransferFromHost(parsed, elements);
  });
}
hlokit_error* hlokit_buffer_borrow_host(hlokit_client* client, const char* shape,
                                        const void* elements, size_t size, hlokit_release release,
                                        void* user, hlokit_buffer** buffer) {
  return hlokit::GiveHostBuffer(client, shape, elements, size, buffer, [&](const Shape& parsed) {
    std::function<void()> released;
    if (release != nullptr) released = [release, user] { release(user); };
    return client->client->BorrowFromHost(parsed, elements, std::move(released));
  });
}
hlokit_error* hlokit_buffer_from_text(hlokit_client* client, const char* literal,
                                      hlokit_buffer** buffer) {
  return Guarded({{client != nullptr, "client"},
                  {literal != nullptr, "literal"},
                  {buffer != nullptr, "buffer"}},
                 [&]() -> hlokit_error* {
                   absl::StatusOr<Literal> parsed = hlokit::ParseLiteral(literal);
                   if (!parsed.ok()) return WrapError(parsed.status());
                   return GiveBuffer(client->client->TransferToServer(*std::move(parsed)), buffer);
                 });
}
void hlokit_buffer_free(hlokit_buffer* buffer) { delete buffer; }
const char* hlokit_buffer_shape(const hlokit_buffer* buffer) { return buffer->shape.c_str(); }
size_t hlokit_buffer_size(const hlokit_buffer* buffer) {
  const Shape& shape = buffer->data->shape();
  return shape.IsArray() ? static_cast<size_t>(shape.ByteSize()) : 0;
}
hlokit_error* hlokit_buffer_to_host(hlokit_client* client, const hlokit_buffer* buffer,
                                    const char* shape, void* elements, size_t size) {
  return Guarded(
      {{client != nullptr, "client"},
       {buffer != nullptr, "buffer"},
       {elements != nullptr || size == 0, "elements"}},
      [&]() -> hlokit_error* {
        const absl::StatusOr<Shape> parsed =
            hlokit::ShapeOfBytes(shape == nullptr ? buffer->shape.c_str() : shape, size);
        if (!parsed.ok()) return WrapError(parsed.status());
        return WrapError(client->client->TransferToHost(*buffer->data, *parsed, elements));
      });
}
const void* hlokit_buffer_data(const hlokit_buffer* buffer) { return buffer->data->elements(); }
int64_t hlokit_buffer_tuple_size(const hlokit_buffer* buffer) {
  const Shape& shape = buffer->data->shape();
  return shape.IsTuple() ? static_cast<int64_t>(shape.elements.size()) : -1;
}
hlokit_error* hlokit_buffer_tuple_element(const hlokit_buffer* buffer, int64_t index,
                                          hlokit_buffer** element) {
  return Guarded(
      {{buffer != nullptr, "buffer"}, {element != nullptr, "element"}}, [&]() -> hlokit_error* {
        if (index < 0 || index >= hlokit_buffer_tuple_size(buffer))
          return Refuse(absl::StrCat("there is no element ", index, " in ", buffer->shape));
        return GiveBuffer(
            std::make_unique<GlobalData>(buffer->data->value().Element(static_cast<size_t>(index)),
                                         buffer->data->device()),
            element);
      });
}

hlokit_error* hlokit_execute(const hlokit_program* program, const hlokit_buffer* const* arguments,
                             size_t count, hlokit_buffer** result) {
  return Guarded(
      {{program != nullptr, "program"},
       {arguments != nullptr || count == 0, "arguments"},
       {result != nullptr, "result"}},
      [&]() -> hlokit_error* {
        return GiveBuffer(
            program->client->Execute(*program->program, hlokit::DataOf(arguments, count)), result);
      });
}
hlokit_error* hlokit_execute_donating(const hlokit_program* program, hlokit_buffer** arguments,
                                      size_t count, hlokit_buffer** result) {
  return Guarded(
      {{program != nullptr, "program"},
       {arguments != nullptr || count == 0, "arguments"},
       {result != nullptr, "result"}},
      [&]() -> hlokit_error* {
        std::vector<std::unique_ptr<GlobalData>> given;
        for (size_t i = 0; i < count; ++i) {
          const std::unique_ptr<hlokit_buffer> buffer(std::exchange(arguments[i], nullptr));
          given.push_back(buffer == nullptr ? nullptr : std::move(buffer->data));
        }
        return GiveBuffer(program->client->ExecuteDonating(*program->program, std::move(given)),
                          result);
      });
}
hlokit_error* hlokit_execute_replicated(const hlokit_program* program,
                                        const hlokit_buffer* const* arguments, size_t count,
                                        hlokit_buffer** results) {
  return Guarded(
      {{program != nullptr, "program"},
       {arguments != nullptr || count == 0, "arguments"},
       {results != nullptr, "results"}},
      [&]() -> hlokit_error* {
        std::vector<std::vector<const GlobalData*>> lists;
        for (int64_t device = 0; device < program->program->device_count(); ++device)
          lists.push_back(hlokit::DataOf(arguments + static_cast<size_t>(device) * count, count));
        auto made = program->client->ExecuteReplicated(*program->program, lists);
        if (!made.ok()) return WrapError(made.status());
        for (size_t d = 0; d < made->size(); ++d) GiveBuffer(std::move((*made)[d]), &results[d]);
        return nullptr;
      });
}
hlokit_error* hlokit_execute_async(const hlokit_program* program,
                                   const hlokit_buffer* const* arguments, size_t count,
                                   hlokit_pending** pending) {
  return Guarded({{program != nullptr, "program"},
                  {arguments != nullptr || count == 0, "arguments"},
                  {pending != nullptr, "pending"}},
                 [&]() -> hlokit_error* {
                   *pending = new hlokit_pending{program->client->ExecuteAsync(
                       program->program, hlokit::DataOf(arguments, count))};
                   return nullptr;
                 });
}
hlokit_error* hlokit_pending_wait(hlokit_pending* pending, hlokit_buffer** result) {
  return Guarded({{pending != nullptr, "pending"}, {result != nullptr, "result"}},
                 [&]() -> hlokit_error* {
                   const std::unique_ptr<hlokit_pending> owned(pending);
                   return GiveBuffer(owned->result.get(), result);
                 });
}

hlokit_error* hlokit_transfer_to_infeed(hlokit_client* client, int64_t device,
                                        const hlokit_buffer* item) {
  return Guarded(
      {{client != nullptr, "client"}, {item != nullptr, "item"}}, [&]() -> hlokit_error* {
        return WrapError(client->client->TransferToInfeed(item->data->literal(), device));
      });
}
hlokit_error* hlokit_transfer_from_outfeed(hlokit_client* client, int64_t device,
                                           double timeout_seconds, hlokit_buffer** item) {
  return Guarded(
      {{client != nullptr, "client"}, {item != nullptr, "item"}}, [&]() -> hlokit_error* {
        absl::StatusOr<Literal> popped =
            client->client->TransferFromOutfeed(device, timeout_seconds);
        if (!popped.ok()) return WrapError(popped.status());
        return GiveBuffer(client->client->TransferToServer(*std::move(popped), device), item);
      });
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
