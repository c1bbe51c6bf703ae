// What the files of the C API share: the structs behind handles, and errors.
#pragma once

#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "client/c_api.h"
#include "client/client.h"

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
struct hlokit_computation {
  hlokit::XlaComputation computation;
};

namespace hlokit {

// Null where the status is ok.
hlokit_error* WrapError(const absl::Status& status);
// A pointer that a call needs, and its name in messages.
struct NeededPointer {
  bool given;
  const char* name;
};

// InvalidArgument for the first that is null.
absl::Status CheckGiven(std::initializer_list<NeededPointer> needed);

// What `call` gives, unless a pointer that it needs is null. What is thrown on the way, for want of
// memory, becomes an error: no exception is for callers in C.
template <typename Call>
hlokit_error* Guarded(std::initializer_list<NeededPointer> needed, const Call& call) {
  const absl::Status given = CheckGiven(needed);
  if (!given.ok()) return WrapError(given);
  try {
    return call();
  } catch (const std::exception& thrown) {
    return WrapError(absl::ResourceExhaustedError(thrown.what()));
  }
}

// Null, and a buffer of the value in `out`; or the error.
hlokit_error* GiveBuffer(DataOr data, hlokit_buffer** out);
// The values of buffers, null for null.
std::vector<const GlobalData*> DataOf(const hlokit_buffer* const* arguments, size_t count);
// Bytes that hlokit_bytes_free frees, with a zero after them that `size` (may be null) leaves out.
char* GiveBytes(absl::string_view bytes, size_t* size);
// The shape that `text` says, of an array of `size` bytes.
absl::StatusOr<Shape> ShapeOfBytes(const char* text, size_t size);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
