// What messages hold beyond what the IR does: unknown fields, and known ones without a place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "proto/messages_internal.h"

namespace hlokit {

class UnknownFields {
 public:
  // Numbers that the messages gave; -1: none. An instruction's is one in its computation.
  int32_t IdOf(const Computation& computation) const { return IdOfComputation(computation.id()); }
  int32_t IdOfInstruction(int64_t id) const { return At(instructions_, id); }
  int32_t IdOfComputation(int64_t id) const { return At(computations_, id); }
  void SetId(const Instruction& instruction, int32_t id) {
    Set(instructions_, instruction.id(), id);
  }
  void SetId(const Computation& computation, int32_t id) {
    Set(computations_, computation.id(), id);
  }

  // Serialized messages that hold what nothing else does (UnknownFieldsOf); empty: nothing.
  const std::string& Of(const Instruction& instruction) const {
    return Find(of_instructions_, instruction.id());
  }
  const std::string& Of(const Computation& computation) const {
    return Find(of_computations_, computation.id());
  }
  const std::string& of_module() const { return of_module_; }
  void Keep(const Instruction& instruction, std::string unknown) {
    if (!unknown.empty()) of_instructions_[instruction.id()] = std::move(unknown);
  }
  void Keep(const Computation& computation, std::string unknown) {
    if (!unknown.empty()) of_computations_[computation.id()] = std::move(unknown);
  }
  void KeepOfModule(std::string unknown) { of_module_ = std::move(unknown); }

 private:
  using FieldsById = absl::flat_hash_map<int64_t, std::string>;
  static int32_t At(const std::vector<int32_t>& ids, int64_t at) {
    return at < static_cast<int64_t>(ids.size()) ? ids[at] : -1;
  }
  static void Set(std::vector<int32_t>& ids, int64_t at, int32_t id) {
    if (at == static_cast<int64_t>(ids.size())) return ids.push_back(id);
    if (at > static_cast<int64_t>(ids.size())) ids.resize(at + 1, -1);
    ids[at] = id;
  }
  static const std::string& Find(const FieldsById& fields, int64_t id) {
    if (fields.empty()) return kNone;
    const auto found = fields.find(id);
    return found == fields.end() ? kNone : found->second;
  }

  static const std::string kNone;

  std::vector<int32_t> instructions_, computations_;  // by id()
  FieldsById of_instructions_, of_computations_;
  std::string of_module_;
};

// What of `full` is missing in `written`, which was made from what the IR took of `full`: unknown
// fields, set fields that are not set there, and the same in messages that both have. Elements of
// lists correspond by position while there are as many. Fields numbered in `without` are left out.
// Empty where nothing is missing.
std::string UnknownFieldsOf(const google::protobuf::Message& full,
                            const google::protobuf::Message& written,
                            absl::Span<const int> without = {});

// Puts unknown fields back; what `out` has by now stays.
void RestoreUnknownFields(const std::string& unknown, google::protobuf::Message* out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
