// A producer computed inside of its consumer.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "ir/module.h"

namespace hlokit {

// Computes producers inside of their consumers, of one computation. The bodies that it makes are
// its own: taking another producer into one of its fusions costs the producer's size alone.
class ProducerFuser {
 public:
  // Puts a fusion in the place of `consumer`, an instruction or a fusion, that computes `producer`
  // (likewise, and an array) itself; a fusion made here before takes it in and stays. Operands are
  // the consumer's but for the producer, then the producer's, each once; backend_config and
  // metadata are the consumer's, the kind kLoop. The producer stays for its other users, a consumer
  // that gave way goes. A null producer: a fusion of the consumer alone.
  Instruction* Fuse(Instruction* producer, Instruction* consumer);
  // What computes the producer in the fusion that took it in last; null where that is a new one.
  const Instruction* taken() const { return taken_; }

 private:
  const Instruction* taken_ = nullptr;
  absl::flat_hash_set<const Computation*> bodies_;
};

// Fuses each producer that `may_fuse` with the loop that alone reads it (OnlyLoopOf in
// fusion_rules.h) into that loop; one that has no users then goes. True if there were any.
bool FuseIntoOnlyLoops(
    Computation& c,
    absl::FunctionRef<bool(const Instruction& producer, const Instruction& loop)> may_fuse);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
