// What code that checks itself finds: sites that are checked, and the first findings of each.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "analysis/buffer_assignment.h"
#include "codegen/code_notes.h"

namespace hlokit {

// A place in the code that is checked.
struct CheckedSite {
  enum class Kind : uint8_t { kRead, kWrite, kResult, kArithmetic };
  Kind kind = Kind::kRead;
  const Instruction* instruction = nullptr;  // whose code it is; may be null
  int64_t array = -1;     // in Sanitizer::arrays(); -1: none, or not of the module
  int64_t bytes = 0;      // of one access
  int64_t alignment = 1;  // that the code claims
  std::string what;       // of arithmetic: the operation; of memory outside arrays: its name
};

// Of one executable. The code refers to it by its address; its runs may be on several threads.
class Sanitizer {
 public:
  static constexpr size_t kMaxFindings = 20;

  Sanitizer(std::vector<ArrayNote> arrays, BufferAssignment buffers)
      : arrays_(std::move(arrays)), buffers_(std::move(buffers)) {}
  Sanitizer(const Sanitizer&) = delete;
  Sanitizer& operator=(const Sanitizer&) = delete;

  const std::vector<ArrayNote>& arrays() const { return arrays_; }
  // Returns the number by which the code names it. From any thread, while nothing runs.
  int64_t AddSite(CheckedSite site);
  // Accesses whose array is not known, which are not checked.
  void CountUnchecked() { ++unchecked_; }
  int64_t unchecked() const { return unchecked_; }

  // The state of bytes that an array's own code wrote: the same for all uses of one slice, and
  // another for most others.
  static uint8_t TagOf(const Slice& slice);

  // Whether its instruction's code may write an array: its results, and what control flow copies.
  bool MayWrite(const ArrayNote& note) const;

  // What one access touches: `bytes` at `address` of an array of `size` bytes at `base`. tag: of
  // its bytes; 0 where they have no state.
  struct Access {
    int64_t site;
    const char* base;
    char* address;
    int64_t size, bytes;
    uint8_t tag;
  };
  // Reports what is wrong with it, and marks what it writes. False if it is outside of the array,
  // and must not be done.
  bool Check(const Access& access);
  // Reports an argument that does not have the alignment of the site.
  void CheckAlignment(int64_t site, const char* address);
  // The array begins; is complete.
  void Begin(char* array, int64_t size);
  void End(int64_t site, char* array, int64_t size, uint8_t tag);
  // Arithmetic that the code says cannot overflow.
  void ReportOverflow(int64_t site, int64_t a, int64_t b);

  // Adds what was found without running; OK adds nothing.
  void AddStatic(const absl::Status& finding);
  // One status a site, with the place of its instruction; the first kMaxFindings of all runs.
  std::vector<absl::Status> Findings() const;

 private:
  void Add(int64_t site, std::string text);
  std::string Subject(const CheckedSite& site) const;
  // "element 64 (bytes 256 to 260) of operand 0, f32[64] ..."
  std::string PlaceText(const CheckedSite& site, int64_t offset, int64_t bytes) const;
  void ReportState(const Access& access);

  const std::vector<ArrayNote> arrays_;
  const BufferAssignment buffers_;
  std::deque<CheckedSite> sites_;
  std::atomic<int64_t> unchecked_ = 0;
  mutable std::mutex mutex_;
  std::vector<bool> reported_;  // by site
  std::vector<absl::Status> findings_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
