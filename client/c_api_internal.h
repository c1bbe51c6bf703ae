// What the files of the C API share: the structs behind handles, and errors.
#pragma once

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
// Null, and a buffer of the value in `out`; or the error.
hlokit_error* GiveBuffer(DataOr data, hlokit_buffer** out);
// The values of buffers, null for null.
std::vector<const GlobalData*> DataOf(const hlokit_buffer* const* arguments, size_t count);
// Bytes that hlokit_bytes_free frees, with a zero behind them that `size` (may be null) leaves out.
char* GiveBytes(absl::string_view bytes, size_t* size);
// The shape that `text` says, of an array of `size` bytes.
absl::StatusOr<Shape> ShapeOfBytes(const char* text, size_t size);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
