// What typed custom calls see of the program and of the run that they are part of.
//
// An executable owns an FfiStates, a run an FfiRun; both reach the handlers through FfiCaller,
// which stands behind hlokit_ffi_call::caller:
//   executable  FfiStates   what instantiate handlers made, by call site
//   run         FfiRun      the run's number, and the objects that its caller lends to handlers
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// Objects that the caller of a run lends to its handlers, by the number of their type.
class FfiUserData {
 public:
  FfiUserData() = default;
  ~FfiUserData();
  FfiUserData(const FfiUserData&) = delete;
  FfiUserData& operator=(const FfiUserData&) = delete;
  // `deleter` may be null; it is called when this is destroyed. Errors: AlreadyExists where there
  // is an object of that type; nothing is taken over then.
  absl::Status Add(int64_t type, void* data, void (*deleter)(void* data));
  // Errors: NotFound.
  absl::StatusOr<void*> Find(int64_t type) const;

 private:
  struct Object {
    void* data;
    void (*deleter)(void* data);
  };
  mutable std::mutex mutex_;
  std::map<int64_t, Object> objects_;
};

// One run of a program, on all its devices.
struct FfiRun {
  explicit FfiRun(std::shared_ptr<const FfiUserData> lent = nullptr);
  const int64_t id;                                    // no other run's in this process
  const std::shared_ptr<const FfiUserData> user_data;  // null: none
};

// States that instantiate handlers keep for the call sites of one program; freed with it.
class FfiStates {
 public:
  struct Site;
  FfiStates();
  ~FfiStates();
  FfiStates(const FfiStates&) = delete;
  FfiStates& operator=(const FfiStates&) = delete;
  // The site of that name, made at its first call.
  Site& At(absl::string_view name);

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Site>, std::less<>> sites_;
};

// What hlokit puts behind hlokit_ffi_call::caller.
struct FfiCaller {
  std::string error;            // what set_error was told
  std::string site;             // which instruction of the program calls
  FfiStates* states = nullptr;  // null: states live as long as the call
  const FfiRun* run = nullptr;  // null: a run of its own
  int64_t device = 0;           // of the run's devices
  // The kind of the error; functions that tell none fail as XLA's first interface has it.
  absl::StatusCode code = absl::StatusCode::kInternal;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
