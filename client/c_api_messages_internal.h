// What tests of the C API share.
#pragma once

#include <string>

#include "client/c_api.h"

namespace hlokit {

// The message, or nothing; frees the error.
inline std::string Message(hlokit_error* error) {
  if (error == nullptr) return "";
  std::string message = hlokit_error_message(error);
  hlokit_error_free(error);
  return message;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
