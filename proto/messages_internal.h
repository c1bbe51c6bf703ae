// The generated messages, and what goes along while they are read.
#pragma once

#include <utility>

#include "proto/hlo.pb.h"
#include "proto/xla_data.pb.h"

namespace hlokit {

// Whether a message holds unknown fields. Reflection would say so too, once it has built what it
// knows of all messages, which takes longer than reading a module of 100 KB.
class UnknownFieldProbe : private google::protobuf::MessageLite {
 public:
  static bool In(const google::protobuf::MessageLite& message) {
    return (message.*(&UnknownFieldProbe::_internal_metadata_)).have_unknown_fields();
  }
};

// Collects facts about the messages that a reader has seen.
class Seen {
 public:
  // Every reader of a message notes it, so that no unknown field is lost unseen.
  void Note(const google::protobuf::MessageLite& message) {
    unknown_ |= UnknownFieldProbe::In(message);
  }
  // A known field that the module has no place for.
  void NoteUnknown() { unknown_ = true; }
  // True if something noted since the last call belongs into UnknownFields.
  bool TakeUnknown() { return std::exchange(unknown_, false); }

 private:
  bool unknown_ = false;
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
