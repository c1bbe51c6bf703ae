// How the processes of a job reach one another: messages between ranks. process_group.h and
// process_communicator.h stand on it; mpi/ implements it.
#pragma once

#include <stdint.h>

#include <string>
#include <vector>

namespace hlokit {

// All functions may be called from several threads at once. What goes wrong is told by Error().
class Transport {
 public:
  virtual ~Transport() = default;

  // This process, and how many there are; processes are numbered from 0.
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Streams of bytes whose receiver knows their size. What is sent with one tag (from 0 to
  // kMaxTag) from one rank to another is received in the order in which it was started. The memory
  // must stay until Test has said that the request is done.
  using Request = void*;
  static constexpr int kMaxTag = (1 << 30) - 1;
  virtual Request StartSend(int target, int tag, const void* data, int64_t bytes) = 0;
  virtual Request StartReceive(int source, int tag, void* data, int64_t bytes) = 0;
  // Whether it is done; if so the request is gone.
  virtual bool Test(Request request) = 0;
  // Gives up a request that never will be done.
  virtual void Abandon(Request request) = 0;

  // Messages of any size. Never waits.
  virtual void Post(int target, std::vector<char> message) = 0;
  // The next message that has come to this process; false where there is none.
  virtual bool Poll(int& source, std::vector<char>& message) = 0;

  // What went wrong first; empty where nothing did.
  virtual std::string Error() const = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
