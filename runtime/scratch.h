// Scratch memory of kernels: one growing block a thread, so that steady runs allocate nothing.
#pragma once

#include <stddef.h>

namespace hlokit {

// `bytes` of uninitialised memory, 64-byte aligned, until the object dies. Objects of one thread
// nest. data() is null if memory is short.
class Scratch {
 public:
  explicit Scratch(size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_;
  bool owned_;   // a block of its own, not part of the thread's
  size_t mark_;  // the thread block's fill before this object
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
