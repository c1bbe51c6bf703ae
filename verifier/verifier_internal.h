// The phases of verification and what they share.
#pragma once

#include <vector>

#include "ops/rules.h"
#include "support/dense_map.h"
#include "support/status.h"
#include "verifier/verifier.h"

namespace hlokit {

// One run over one module. The instruction lists are snapshots, in source order.
struct VerifyRun {
  struct Body {
    const Computation* computation;
    std::vector<Instruction*> instructions;
  };

  VerifyRun(const Module& m, const VerifyOptions& o, Diagnostics& d);

  // An error about an instruction; one without a place in text is named in the message.
  template <typename... Parts>
  Diagnostics::Handle Error(const Instruction& at, absl::string_view label, const Parts&... parts) {
    DCHECK(FindRule(label) != nullptr);
    return out.Error(at.place(), label, Text(at.opcode()), ": ", parts..., NameOf(at));
  }
  void Error(const Instruction& at, const absl::Status& status);

  // Calls fn(const Instruction&) for each instruction not in `broken`, until there are enough
  // errors.
  template <typename Fn>
  void ForEachInstruction(Fn fn) {
    for (const Body& body : bodies)
      for (const Instruction* i : body.instructions) {
        if (out.full()) return;
        if (!broken.at(i->id())) fn(*i);
      }
  }

  const Module& module;
  const VerifyOptions& options;
  Diagnostics& out;
  std::vector<Body> bodies;
  DenseMap<uint8_t> broken;  // instructions whose inference failed: other rules could misread them

 private:
  static std::string NameOf(const Instruction& at);
};

void CheckStructure(VerifyRun& run);    // structure.cc; the others need it to hold
void CheckCycles(VerifyRun& run);       // cycles.cc; so does this
void CheckShapes(VerifyRun& run);       // shapes.cc
void CheckHeader(VerifyRun& run);       // header.cc
void CheckSchedules(VerifyRun& run);    // schedule.cc
void CheckCalls(VerifyRun& run);        // calls.cc
void CheckAttributes(VerifyRun& run);   // attributes.cc
void CheckCollectives(VerifyRun& run);  // collectives.cc
void CheckAsync(VerifyRun& run);        // async.cc
void CheckShardings(VerifyRun& run);    // sharding.cc

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
