// The generated messages, and what goes along while they are read.
#pragma once

#include <utility>

#include "proto/hlo.pb.h"
#include "proto/xla_data.pb.h"

namespace hlokit {

// Collects facts about the messages that a reader has seen.
class Seen {
 public:
  // Every reader of a message notes it, so that no unknown field is lost unseen.
  template <typename M>
  void Note(const M& message) {
    static const google::protobuf::Reflection* const reflection = message.GetReflection();
    rest_ |= !reflection->GetUnknownFields(message).empty();
  }
  // A known field that the module has no place for.
  void NoteRest() { rest_ = true; }
  // True if something noted since the last call wants a Rest (rest_internal.h).
  bool TakeRest() { return std::exchange(rest_, false); }

 private:
  bool rest_ = false;
};

// A repeated field from a list of numbers.
template <typename Numbers, typename T>
void Assign(const Numbers& from, google::protobuf::RepeatedField<T>* to) {
  to->Assign(from.begin(), from.end());
}

// A list of numbers from a repeated field.
template <typename Numbers, typename T>
void Assign(const google::protobuf::RepeatedField<T>& from, Numbers& to) {
  to.assign(from.begin(), from.end());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
