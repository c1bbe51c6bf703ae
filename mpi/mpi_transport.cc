// Non-blocking sends and receives of two communicators: streams have one, posted messages the
// other, so that neither can take the other's. Where the library does not let several threads in at
// once, a mutex does.
//
// A stream's request is an MPI request that the caller tests; nothing here ever blocks, so a wait
// can look for cancellation and for other processes' ends. Posted messages are received whenever
// somebody polls; their sends are kept until MPI has taken the bytes (ReapPosted).
// A process that ends because others failed leaves MPI without MPI_Finalize, which would wait for
// them.
#include "mpi/mpi_transport.h"

#include <string.h>

#include <atomic>
#include <climits>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mpi/mpi_library.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Handle = MpiLibrary::Handle;

constexpr int kPostTag = 0;
std::atomic<bool> leave_open{false};

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(const MpiLibrary& mpi) : mpi_(mpi) {}
  ~MpiTransport() override {
    if (!leave_open.load() && Error().empty()) {
      while (!posted_.empty()) ReapPosted();
      mpi_.MPI_Finalize();
    }
  }

  absl::Status Start() {
    int provided = 0;
    RETURN_IF_ERROR(
        Check(mpi_.MPI_Init_thread(nullptr, nullptr, MpiLibrary::kThreadMultiple, &provided),
              "MPI_Init"));
    if (provided < MpiLibrary::kThreadSerialized)
      return absl::UnavailableError("this MPI library does not allow threads");
    serialized_ = provided < MpiLibrary::kThreadMultiple;
    RETURN_IF_ERROR(Check(mpi_.MPI_Comm_rank(mpi_.comm_world, &rank_), "MPI_Comm_rank"));
    RETURN_IF_ERROR(Check(mpi_.MPI_Comm_size(mpi_.comm_world, &size_), "MPI_Comm_size"));
    for (Handle* comm : {&streams_, &messages_}) {
      RETURN_IF_ERROR(Check(mpi_.MPI_Comm_dup(mpi_.comm_world, comm), "MPI_Comm_dup"));
      RETURN_IF_ERROR(Check(mpi_.MPI_Comm_set_errhandler(*comm, mpi_.errors_return),
                            "MPI_Comm_set_errhandler"));
    }
    return absl::OkStatus();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Request StartSend(int target, int tag, const void* data, int64_t bytes) override {
    auto request = std::make_unique<Handle>(0);
    const Lock lock(*this);
    Note(mpi_.MPI_Isend(data, static_cast<int>(bytes), mpi_.byte, target, tag, streams_,
                        request.get()),
         "MPI_Isend");
    return request.release();
  }
  Request StartReceive(int source, int tag, void* data, int64_t bytes) override {
    auto request = std::make_unique<Handle>(0);
    const Lock lock(*this);
    Note(mpi_.MPI_Irecv(data, static_cast<int>(bytes), mpi_.byte, source, tag, streams_,
                        request.get()),
         "MPI_Irecv");
    return request.release();
  }
  bool Test(Request request) override {
    const Lock lock(*this);
    if (!Done(*static_cast<Handle*>(request))) return false;
    delete static_cast<Handle*>(request);
    return true;
  }
  void Abandon(Request request) override {
    const Lock lock(*this);
    auto* const handle = static_cast<Handle*>(request);
    mpi_.MPI_Cancel(handle);
    mpi_.MPI_Request_free(handle);
    delete handle;
    leave_open.store(true);  // the other side may never come
  }

  void Post(int target, std::vector<char> message) override {
    std::lock_guard<std::mutex> posted(posted_mutex_);
    if (message.size() > INT_MAX) return SetError("a message to a device of more than 2 GiB");
    Posted& own = posted_.emplace_back();
    own.message = std::move(message);
    const Lock lock(*this);
    Note(mpi_.MPI_Isend(own.message.data(), static_cast<int>(own.message.size()), mpi_.byte, target,
                        kPostTag, messages_, &own.request),
         "MPI_Isend");
  }
  bool Poll(int& source, std::vector<char>& message) override {
    ReapPosted();
    const Lock lock(*this);
    int there = 0, bytes = 0;
    Handle handle = 0;
    alignas(16) char status[MpiLibrary::kStatusBytes] = {};
    if (!Note(mpi_.MPI_Improbe(mpi_.any_source, kPostTag, messages_, &there, &handle, status),
              "MPI_Improbe") ||
        there == 0)
      return false;
    int from = 0;
    memcpy(&from, status + mpi_.source_offset, sizeof from);
    mpi_.MPI_Get_count(status, mpi_.byte, &bytes);
    message.resize(static_cast<size_t>(bytes));
    source = from;
    return Note(mpi_.MPI_Mrecv(message.data(), bytes, mpi_.byte, &handle, mpi_.status_ignore),
                "MPI_Mrecv");
  }

  std::string Error() const override {
    std::lock_guard<std::mutex> lock(error_mutex_);
    return error_;
  }

 private:
  struct Posted {
    std::vector<char> message;
    Handle request = 0;
  };
  struct Lock {
    explicit Lock(MpiTransport& transport) {
      if (transport.serialized_) lock = std::unique_lock<std::mutex>(transport.calls_);
    }
    std::unique_lock<std::mutex> lock;
  };

  absl::Status Check(int code, const char* call) const {
    if (code == 0) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat(call, ": ", mpi_.ErrorText(code)));
  }
  bool Note(int code, const char* call) {
    if (code != 0) SetError(absl::StrCat(call, ": ", mpi_.ErrorText(code)));
    return code == 0;
  }
  void SetError(const std::string& error) {
    std::lock_guard<std::mutex> lock(error_mutex_);
    if (error_.empty()) error_ = error;
  }
  bool Done(Handle& request) {
    int done = 0;
    return Note(mpi_.MPI_Test(&request, &done, mpi_.status_ignore), "MPI_Test") && done != 0;
  }
  void ReapPosted() {
    std::lock_guard<std::mutex> posted(posted_mutex_);
    const Lock lock(*this);
    for (auto it = posted_.begin(); it != posted_.end();)
      it = Done(it->request) || !Error().empty() ? posted_.erase(it) : std::next(it);
  }

  const MpiLibrary& mpi_;
  bool serialized_ = false;
  int rank_ = 0, size_ = 1;
  Handle streams_ = 0, messages_ = 0;
  std::mutex calls_, posted_mutex_;
  std::list<Posted> posted_;
  mutable std::mutex error_mutex_;
  std::string error_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> StartMpi() {
  ASSIGN_OR_RETURN(const MpiLibrary* const mpi, MpiLibrary::Load());
  auto transport = std::make_unique<MpiTransport>(*mpi);
  RETURN_IF_ERROR(transport->Start());
  return transport;
}

void LeaveMpiOpen() { leave_open.store(true); }

std::string MpiHostName() {
  const auto mpi = MpiLibrary::Load();
  if (!mpi.ok()) return "";
  char name[1024] = "";
  int length = 0;
  return (*mpi)->MPI_Get_processor_name(name, &length) == 0
             ? std::string(name, static_cast<size_t>(length))
             : "";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
