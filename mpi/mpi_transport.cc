// Non-blocking sends and receives of two communicators: streams have one, posted messages the
// other, so that neither can take the other's. Where the library does not let several threads in at
// once, a mutex does. Short messages of streams to processes of the same machine go through memory
// that these share (shared_rings.h), which MPI_Win_allocate_shared gives.
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
#include "mpi/shared_rings.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Handle = MpiLibrary::Handle;

constexpr int kPostTag = 0;
// On machines with more processes short messages go as the others.
constexpr int kMaxNeighbours = 64;
std::atomic<bool> leave_open{false};

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(const MpiLibrary& mpi) : mpi_(mpi) {}
  ~MpiTransport() override {
    if (!leave_open.load() && Error().empty()) {
      while (!posted_.empty()) ReapPosted();
      if (window_ != 0) mpi_.MPI_Win_free(&window_);
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
    return StartRings();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Request StartSend(int target, int tag, const void* data, int64_t bytes) override {
    auto request = std::make_unique<Started>();
    if (const int neighbour = NeighbourFor(target, bytes); neighbour >= 0) {
      request->Share(neighbour, tag, data, nullptr, bytes);
      rings_->Send(request->shared);
      return request.release();
    }
    const Lock lock(*this);
    Note(mpi_.MPI_Isend(data, static_cast<int>(bytes), mpi_.byte, target, tag, streams_,
                        &request->handle),
         "MPI_Isend");
    return request.release();
  }
  Request StartReceive(int source, int tag, void* data, int64_t bytes) override {
    auto request = std::make_unique<Started>();
    if (const int neighbour = NeighbourFor(source, bytes); neighbour >= 0) {
      request->Share(neighbour, tag, nullptr, data, bytes);
      rings_->Receive(request->shared);
      return request.release();
    }
    const Lock lock(*this);
    Note(mpi_.MPI_Irecv(data, static_cast<int>(bytes), mpi_.byte, source, tag, streams_,
                        &request->handle),
         "MPI_Irecv");
    return request.release();
  }
  bool Test(Request request) override {
    auto* const started = static_cast<Started*>(request);
    if (started->is_shared) {
      if (!rings_->Test(started->shared)) return false;
      if (rings_->mismatched()) SetError("a message to a device has not the size it should have");
    } else {
      const Lock lock(*this);
      if (!Done(started->handle)) return false;
    }
    delete started;
    return true;
  }
  void Abandon(Request request) override {
    const std::unique_ptr<Started> started(static_cast<Started*>(request));
    leave_open.store(true);  // the other side may never come
    if (started->is_shared) return rings_->Abandon(started->shared);
    const Lock lock(*this);
    mpi_.MPI_Cancel(&started->handle);
    mpi_.MPI_Request_free(&started->handle);
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
  // What a stream's request points at: an MPI request, or one of the rings.
  struct Started {
    void Share(int peer, int tag, const void* from, void* to, int64_t bytes) {
      is_shared = true;
      shared.peer = peer;
      shared.tag = tag;
      shared.from = from;
      shared.to = to;
      shared.bytes = bytes;
    }
    bool is_shared = false;
    Handle handle = 0;
    SharedRings::Request shared;
  };
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

  // Maps memory with the processes of this machine. Where that fails everywhere alike, there are no
  // rings.
  absl::Status StartRings() {
    Handle node = 0;
    RETURN_IF_ERROR(
        Check(mpi_.MPI_Comm_split_type(mpi_.comm_world, mpi_.type_shared, 0, mpi_.info_null, &node),
              "MPI_Comm_split_type"));
    RETURN_IF_ERROR(
        Check(mpi_.MPI_Comm_set_errhandler(node, mpi_.errors_return), "MPI_Comm_set_errhandler"));
    int own = 0, count = 1;
    RETURN_IF_ERROR(Check(mpi_.MPI_Comm_rank(node, &own), "MPI_Comm_rank"));
    RETURN_IF_ERROR(Check(mpi_.MPI_Comm_size(node, &count), "MPI_Comm_size"));
    if (count == 1 || count > kMaxNeighbours) return absl::OkStatus();
    std::vector<char*> inboxes(static_cast<size_t>(count));
    bool mapped =
        mpi_.MPI_Win_allocate_shared(SharedRings::InboxBytes(count), 1, mpi_.info_null, node,
                                     &inboxes[static_cast<size_t>(own)], &window_) == 0;
    for (int other = 0; other < count && mapped; ++other) {
      intptr_t bytes = 0;
      int unit = 0;
      mapped = mpi_.MPI_Win_shared_query(window_, other, &bytes, &unit,
                                         &inboxes[static_cast<size_t>(other)]) == 0 &&
               bytes >= SharedRings::InboxBytes(count);
    }
    if (mapped) rings_ = std::make_unique<SharedRings>(own, inboxes);
    // Also the barrier after which all rings are there.
    const struct { int rank, mapped; } told{rank_, mapped ? 1 : 0};
    std::vector<int> all(2 * static_cast<size_t>(count));
    RETURN_IF_ERROR(Check(
        mpi_.MPI_Allgather(&told, sizeof told, mpi_.byte, all.data(), sizeof told, mpi_.byte, node),
        "MPI_Allgather"));
    neighbours_.assign(static_cast<size_t>(size_), -1);
    for (int other = 0; other < count; ++other) {
      const size_t at = 2 * static_cast<size_t>(other);
      if (all[at + 1] == 0) rings_ = nullptr;
      if (all[at] != rank_) neighbours_[static_cast<size_t>(all[at])] = other;
    }
    return absl::OkStatus();
  }
  // The number in the rings of a process to which so many bytes go that way; -1: they do not.
  int NeighbourFor(int other, int64_t bytes) const {
    return rings_ != nullptr && bytes <= SharedRings::kMaxBytes
               ? neighbours_[static_cast<size_t>(other)]
               : -1;
  }

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
  Handle streams_ = 0, messages_ = 0, window_ = 0;
  std::unique_ptr<SharedRings> rings_;
  std::vector<int> neighbours_;  // by rank: its number among this machine's, -1 elsewhere
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
