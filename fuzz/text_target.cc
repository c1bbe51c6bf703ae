// Modules as text: reads them strictly and tolerantly, verifies, prints in every form, reads back.
#include <memory>

#include "fuzz/module_checks.h"
#include "fuzz/target.h"
#include "printer/printer.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "verifier/verifier.h"

namespace hlokit {

InputKind KindOf(absl::string_view) { return InputKind::kText; }

bool RunOne(absl::string_view input) {
  std::unique_ptr<Module> module = ReadModule(input, false);
  if (module == nullptr) module = ReadModule(input, true);
  if (module == nullptr) return false;
  Diagnostics diagnostics;
  const absl::Status status = Verify(*module, diagnostics);
  CHECK(status.ok() == diagnostics.ok());
  diagnostics.Render(*module->source());
  for (const PrintOptions& options :
       {PrintOptions::Short(), PrintOptions::Canonical(), PrintOptions::Fingerprint()})
    CHECK(!Print(*module, options).empty());
  CheckFixedPoint(*module);
  CheckFixedPoint(*module->Clone());
  return status.ok();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
