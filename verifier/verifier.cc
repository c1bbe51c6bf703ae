// The order of the verifier's phases.
#include "verifier/verifier.h"

#include "verifier/verifier_internal.h"

namespace hlokit {

VerifyRun::VerifyRun(const Module& m, const VerifyOptions& o, Diagnostics& d)
    : module(m), options(o), out(d) {
  for (const Computation* computation : m.Computations())
    bodies.push_back({computation, computation->Instructions()});
}

void VerifyRun::Error(const Instruction& at, const absl::Status& status) {
  out.Error(at.place(),
            at.place().valid() ? status : Annotate(status, absl::StrCat("%", at.name())));
}

std::string VerifyRun::NameOf(const Instruction& at) {
  return at.place().valid() ? "" : absl::StrCat(" (%", at.name(), ")");
}

absl::Status Verify(const Module& module, Diagnostics& out, const VerifyOptions& options) {
  const int errors_before = out.error_count();
  VerifyRun run(module, options, out);
  CheckStructure(run);
  if (out.error_count() == errors_before) CheckCycles(run);
  if (out.error_count() > errors_before) return out.ToStatus();
  for (auto* phase : {CheckShapes, CheckHeader, CheckSchedules, CheckCalls, CheckAttributes,
                      CheckCollectives, CheckAsync, CheckShardings}) {
    if (out.full()) break;
    phase(run);
  }
  return out.ToStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
