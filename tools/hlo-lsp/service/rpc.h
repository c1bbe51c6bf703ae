// JSON-RPC 2.0 over a pair of files, framed as the language server protocol has it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace hlokit {

using Json = nlohmann::json;

// Codes of JSON-RPC and of the protocol.
enum RpcError {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kServerNotInitialized = -32002,
  kRequestCancelled = -32800,
  kRequestFailed = -32803,
};

class RpcStream {
 public:
  RpcStream(int input, int output) : input_(input), output_(output) {}

  // The next message's body. Errors: NotFound at the end of the input, InvalidArgument for a header
  // that cannot be read or a length above 1 GiB.
  absl::StatusOr<std::string> Read();

  // From any thread; false where the other side has gone.
  bool Write(const Json& message);

 private:
  absl::Status Fill();  // buffer_ gets more bytes
  absl::StatusOr<std::string> ReadLine();

  const int input_, output_;
  std::string buffer_;
  size_t used_ = 0;
  std::mutex writing_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
