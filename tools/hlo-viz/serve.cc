// A small HTTP server: a thread for each connection, which ends with its answer.
//
// It serves one page and its data to browsers on this machine. Requests are GET lines of at most
// kMaxRequest bytes; a client that says nothing for kPatienceSeconds is dropped, and at most
// kMaxAtOnce are served at a time. A request whose Host is not this machine's is refused, so that
// no page from elsewhere can read a module through the user's browser by a name that it has pointed
// here.
#include "tools/hlo-viz/serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "support/status.h"
#include "support/threads.h"
#include "tools/hlo-viz/dump.h"
#include "tools/hlo-viz/open_with.h"

namespace hlokit {
namespace {

constexpr size_t kMaxRequest = 16384;
constexpr int kPatienceSeconds = 5, kMaxAtOnce = 64;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

void Send(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the browser has gone
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void Answer(int fd, absl::string_view status, absl::string_view type, absl::string_view body) {
  Send(fd, absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: ", type,
                        "; charset=utf-8\r\nCache-Control: no-store\r\nConnection: close\r\n"
                        "Content-Length: ",
                        body.size(), "\r\n\r\n"));
  Send(fd, body);
}

std::string ReadRequest(int fd) {
  std::string request;
  char buffer[2048];
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < kMaxRequest) {
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    request.append(buffer, static_cast<size_t>(got));
  }
  return request;
}

// The host that the browser thinks it speaks to, without the port.
bool IsForThisMachine(absl::string_view request) {
  for (absl::string_view line : absl::StrSplit(request, "\r\n")) {
    if (!absl::StartsWithIgnoreCase(line, "host:")) continue;
    absl::string_view host = absl::StripAsciiWhitespace(line.substr(5));
    host = host.substr(0, host.rfind(':'));
    return host == "127.0.0.1" || host == "localhost";
  }
  return false;
}

class Server {
 public:
  Server(const VizOptions& options, const SideInputs& side)
      : options_(options), side_(side), pages_(options, side) {}

  void Handle(int fd) {
    const std::string request = ReadRequest(fd);
    if (request.empty()) return;  // browsers open connections that they may want
    const std::vector<absl::string_view> words =
        absl::StrSplit(absl::string_view(request).substr(0, 1024), ' ');
    if (words.size() < 2 || words[0] != "GET")
      return Answer(fd, "405 Method Not Allowed", "text/plain", "only GET\n");
    if (!IsForThisMachine(request))
      return Answer(fd, "403 Forbidden", "text/plain", "only for this machine\n");
    const absl::string_view path = words[1].substr(0, words[1].find('?'));
    if (path == "/revision")
      return Answer(fd, "200 OK", "text/plain", absl::StrCat(RevisionOf(options_.input)));
    if (path != "/") return Answer(fd, "404 Not Found", "text/plain", "no such page\n");
    Answer(fd, "200 OK", "text/html", *Page());
  }

 private:
  std::shared_ptr<const std::string> Page() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int64_t revision = RevisionOf(options_.input);
    if (page_ != nullptr && revision == revision_) return page_;
    auto page = IsFolder(options_.input) ? pages_.Make(revision) : PageOfFile(revision);
    revision_ = revision;
    page_ = std::make_shared<const std::string>(
        page.ok() ? *std::move(page) : WaitingPage(std::string(page.status().message()), revision));
    return page_;
  }

  absl::StatusOr<std::string> PageOfFile(int64_t revision) const {
    ASSIGN_OR_RETURN(auto source, ReadSource(options_.input));
    ASSIGN_OR_RETURN(const LoadedModule loaded, LoadModule(source, LoadOptionsOf(options_)));
    return ModulePage(*loaded.module, options_, side_, revision);
  }

  const VizOptions& options_;
  const SideInputs& side_;
  std::mutex mutex_;  // of what follows
  DumpPages pages_;
  std::shared_ptr<const std::string> page_;
  int64_t revision_ = -1;
};

// Answers one connection on a thread of its own: one that says nothing holds up no other.
void HandleApart(Server& server, int fd, std::atomic<int>& busy) {
  const timeval patience = {kPatienceSeconds, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  ++busy;
  const auto handle = [&server, fd, &busy] {
    const Descriptor connection(fd);
    server.Handle(fd);
    --busy;
  };
  std::optional<std::thread> thread = StartThread(handle);
  if (thread.has_value())
    thread->detach();
  else
    handle();
}

}  // namespace

absl::Status Serve(const VizOptions& o, const SideInputs& side) {
  if (std::error_code ignored; !std::filesystem::exists(o.input, ignored))
    return InvalidArgument("--serve shows a folder of dumps or a module: there is no '", o.input,
                           "'");
  Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(o.port));
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (bind(listener.get(), generic, size) != 0 || listen(listener.get(), 16) != 0 ||
      getsockname(listener.get(), generic, &size) != 0)
    return FailedPrecondition("cannot listen on port ", o.port, ": ", std::strerror(errno));
  const std::string url = absl::StrCat("http://127.0.0.1:", ntohs(address.sin_port), "/");
  std::printf("%s\n", url.c_str());
  std::fflush(stdout);
  if (!o.browser.empty()) {
    RETURN_IF_ERROR(OpenWith(o.browser, url));
  }
  Server server(o, side);
  std::atomic<int> busy = 0;
  while (true) {
    const int fd = accept(listener.get(), nullptr, nullptr);
    if (fd >= 0 && busy < kMaxAtOnce) {
      HandleApart(server, fd, busy);
    } else if (fd >= 0) {
      close(fd);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // no descriptors are left
    }
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
