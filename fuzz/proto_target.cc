// Protobuf files: read in each encoding, written and read back; and modules as text, whose messages
// must give the same text again.
#include <memory>
#include <string>

#include "fuzz/module_checks.h"
#include "fuzz/target.h"
#include "printer/printer.h"
#include "proto/proto_file.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

// The module that `bytes` hold after being read, or null.
std::unique_ptr<Module> ReadMessages(absl::string_view bytes, ProtoEncoding encoding) {
  (void)ReadLiteralFile(bytes, encoding);
  ProtoOptions options;
  options.allow_unknown_fields = true;
  auto file = ReadModuleFile(bytes, encoding, options);
  if (!file.ok()) {
    CHECK(!file.status().message().empty());
    return nullptr;
  }
  return std::move(file->module);
}

// CHECKs that what `module` writes reads back and prints the same.
void CheckMessages(const Module& module, ProtoEncoding encoding) {
  const auto bytes = WriteModuleProto(module, encoding);
  if (!bytes.ok()) return;  // kept as text, without a form as a message
  const auto again = ReadModuleFile(*bytes, encoding);
  CHECK(again.ok()) << "what was written is refused: " << again.status().ToString();
  const std::string before = Print(module), after = Print(*again->module);
  CHECK(before == after) << "written\n" << before << "\nread back, it prints\n" << after;
}

}  // namespace

InputKind KindOf(absl::string_view input) {
  return SniffProto(input) == ProtoEncoding::kBinary ? InputKind::kBinary : InputKind::kText;
}

void RunOne(absl::string_view input) {
  const std::optional<ProtoEncoding> encoding = SniffProto(input);
  const std::unique_ptr<Module> module =
      encoding.has_value() ? ReadMessages(input, *encoding) : ReadModule(input, false);
  if (!encoding.has_value()) (void)ReadMessages(input, ProtoEncoding::kBinary);
  Diagnostics diagnostics;
  if (module == nullptr || !Verify(*module, diagnostics).ok()) return;
  CheckMessages(*module, ProtoEncoding::kBinary);
  CheckMessages(*module, ProtoEncoding::kText);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
