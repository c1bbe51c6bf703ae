// Frames: `Content-Length: N`, an empty line, N bytes.
//
// Reading fills a buffer of 64 KiB and hands out bodies as they are; other headers are skipped, and
// lines may end with \n alone. Writing holds a lock for a
// whole frame: answers and diagnostics come from different threads. Text that is no UTF-8 is
// replaced, since a client could not read the JSON otherwise.
#include "tools/hlo-lsp/service/rpc.h"

#include <unistd.h>

#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "support/status.h"

namespace hlokit {

constexpr size_t kMaxMessage = size_t{1} << 30;

absl::Status RpcStream::Fill() {
  if (used_ > 0) {
    buffer_.erase(0, used_);
    used_ = 0;
  }
  char bytes[1 << 16];
  ssize_t size;
  while ((size = read(input_, bytes, sizeof(bytes))) < 0 && errno == EINTR) {
  }
  if (size <= 0) return NotFound("the input has ended");
  buffer_.append(bytes, static_cast<size_t>(size));
  return absl::OkStatus();
}

absl::StatusOr<std::string> RpcStream::ReadLine() {
  constexpr size_t kMaxLine = 4096;
  for (;;) {
    const size_t end = buffer_.find('\n', used_);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(used_, end - used_);
      used_ = end + 1;
      while (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    if (buffer_.size() - used_ > kMaxLine) return InvalidArgument("a header without an end");
    RETURN_IF_ERROR(Fill());
  }
}

absl::StatusOr<std::string> RpcStream::Read() {
  size_t length = 0;
  bool has_length = false;
  for (;;) {
    ASSIGN_OR_RETURN(const std::string line, ReadLine());
    if (line.empty()) {
      if (has_length) break;
      continue;  // blank lines between messages
    }
    const size_t colon = line.find(':');
    if (colon == std::string::npos ||
        !absl::EqualsIgnoreCase(line.substr(0, colon), "content-length"))
      continue;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(line.substr(colon + 1)), &length) ||
        length > kMaxMessage)
      return InvalidArgument("a message's length that cannot be: ", line);
    has_length = true;
  }
  std::string body;
  body.reserve(length);
  while (body.size() < length) {
    if (used_ == buffer_.size()) RETURN_IF_ERROR(Fill());
    const size_t take = std::min(length - body.size(), buffer_.size() - used_);
    body.append(buffer_, used_, take);
    used_ += take;
  }
  return body;
}

bool RpcStream::Write(const Json& message) {
  const std::string body = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string frame = absl::StrCat("Content-Length: ", body.size(), "\r\n\r\n", body);
  const std::lock_guard<std::mutex> lock(writing_);
  for (size_t done = 0; done < frame.size();) {
    const ssize_t size = write(output_, frame.data() + done, frame.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    done += static_cast<size_t>(size);
  }
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
