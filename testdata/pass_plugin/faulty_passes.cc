// Passes that fail in every way a pass can, and plugins that must be refused: for tests.
#include <cstdlib>

#include "passes/plugin.h"

namespace {

using hlokit::Computation;
using hlokit::Instruction;
using hlokit::Module;
using hlokit::Pass;
using hlokit::PassArguments;

[[maybe_unused]] absl::StatusOr<bool> Fail(Module&) {
  return absl::InternalError("a planted fault");
}

[[maybe_unused]] absl::StatusOr<bool> Crash(Module& module) {
  volatile int* nowhere = module.entry() == nullptr ? new int : nullptr;
  return *nowhere == 0;
}

[[maybe_unused]] absl::StatusOr<bool> Abort(Module&) { std::abort(); }

int64_t Deep(int64_t depth) {
  volatile char frame[4096] = {};
  return depth < 0 ? frame[0] : Deep(depth + 1) + frame[1];
}
[[maybe_unused]] absl::StatusOr<bool> Overflow(Module&) { return Deep(1) == 0; }

// Leaves the entry with a root of another type than what it computes.
[[maybe_unused]] absl::StatusOr<bool> Break(Module& module) {
  Instruction* root = module.entry()->root();
  root->set_shape(root->shape().WithType(hlokit::ElementType::kF64));
  return true;
}

// Takes one number for another.
absl::StatusOr<bool> Miscompute(Module& module, hlokit::RewriteControl& control) {
  for (Instruction* i : module.entry()->Instructions()) {
    if (i->opcode() != hlokit::Opcode::kNegate || !control.Permit("no-sign", *i, *i->operand(0)))
      continue;
    i->ReplaceAllUsesWith(i->operand(0));
  }
  return true;
}

// The same, and says nothing of it.
[[maybe_unused]] absl::StatusOr<bool> MiscomputeSilently(Module& module) {
  for (Instruction* i : module.entry()->Instructions())
    if (i->opcode() == hlokit::Opcode::kNegate) i->ReplaceAllUsesWith(i->operand(0));
  return false;
}

[[maybe_unused]] absl::StatusOr<bool> BreakSilently(Module& module) {
  (void)Break(module);
  return false;
}

// Changes no value.
[[maybe_unused]] absl::StatusOr<bool> RenameSilently(Module& module) {
  module.entry()->root()->set_name(module.UniqueName("renamed"));
  return false;
}

// Takes away what a schedule still names.
[[maybe_unused]] absl::StatusOr<bool> RemoveSilently(Module& module) {
  for (Instruction* i : module.entry()->Instructions())
    if (i->opcode() == hlokit::Opcode::kCosine && i->users().empty()) module.entry()->Remove(i);
  return false;
}

[[maybe_unused]] absl::StatusOr<bool> Boast(Module&) { return true; }

template <absl::StatusOr<bool> (*run)(Module&)>
std::unique_ptr<Pass> Make(PassArguments&) {
  return hlokit::MakeModulePass("faulty", run);
}
[[maybe_unused]] std::unique_ptr<Pass> MakeMiscompute(PassArguments&) {
  return hlokit::MakeModulePass("miscompute", Miscompute);
}

}  // namespace

#ifdef FAULTY_UNDEFINED
namespace hlokit {
int NobodyHasThisFunction();
}
const int kMissing = hlokit::NobodyHasThisFunction();
#endif

#ifdef FAULTY_VERSION
extern "C" const hlokit::PassPlugin* hlokit_pass_plugin() {
  static const hlokit::PassPlugin plugin = {FAULTY_VERSION, 0, FAULTY_LAYOUT, "faulty", nullptr};
  return &plugin;
}
#elif defined(FAULTY_CLASH)
HLOKIT_PASS_PLUGIN("faulty", {"new-pass", "Fails.", Make<Fail>}, {"dce", "Fails.", Make<Fail>})
#elif defined(FAULTY_NAME)
HLOKIT_PASS_PLUGIN("faulty", {"a,b", "Fails.", Make<Fail>})
#elif !defined(FAULTY_NO_FUNCTION)
HLOKIT_PASS_PLUGIN("faulty", {"fail", "Fails.", Make<Fail>}, {"crash", "Crashes.", Make<Crash>},
                   {"abort", "Aborts.", Make<Abort>}, {"overflow", "Never ends.", Make<Overflow>},
                   {"break", "Leaves a broken module.", Make<Break>},
                   {"miscompute", "Drops signs.", MakeMiscompute},
                   {"silent-miscompute", "Drops signs.", Make<MiscomputeSilently>},
                   {"silent-break", "Leaves a broken module.", Make<BreakSilently>},
                   {"silent-rename", "Gives the root another name.", Make<RenameSilently>},
                   {"silent-remove", "Removes dead cosines.", Make<RemoveSilently>},
                   {"boast", "Changes nothing.", Make<Boast>})
#endif
// SPDX-License-Identifier: Apache-2.0
