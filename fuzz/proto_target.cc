// Protobuf files: read in each encoding, written and read back; and modules as text, whose messages
// must give the same text again.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "fuzz/module_checks.h"
#include "fuzz/target.h"
#include "printer/printer.h"
#include "proto/proto_file.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

// The module that `bytes` hold after being read, or null; says whether they hold literals.
std::unique_ptr<Module> ReadMessages(absl::string_view bytes, ProtoEncoding encoding,
                                     bool& has_literals) {
  has_literals = ReadLiteralFile(bytes, encoding).ok();
  ProtoOptions options;
  options.allow_unknown_fields = true;
  auto file = ReadModuleFile(bytes, encoding, options);
  if (!file.ok()) {
    CHECK(!file.status().message().empty());
    return nullptr;
  }
  return std::move(file->module);
}

template <typename T>
void ForgetNans(Literal& literal) {
  const int64_t count = literal.byte_size() / static_cast<int64_t>(sizeof(T));
  for (T& value : absl::MakeSpan(literal.as<T>(), count))
    if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
}

// Gives each NaN that a message has as a number the payload and sign that `nan` reads as.
void ForgetNanPayloads(Literal& literal) {
  for (Literal& element : literal.elements()) ForgetNanPayloads(element);
  switch (literal.type()) {
    case ElementType::kF32:
    case ElementType::kC64:
      return ForgetNans<float>(literal);
    case ElementType::kF64:
    case ElementType::kC128:
      return ForgetNans<double>(literal);
    default:
      return;
  }
}

// The module as protobuf's text keeps it, which has one NaN (docs/differences.md).
std::unique_ptr<Module> WithPlainNans(const Module& module) {
  std::unique_ptr<Module> plain = module.Clone();
  const auto forget = [](SharedLiteral& literal) {
    if (literal == nullptr) return;
    auto copy = std::make_shared<Literal>(*literal);
    ForgetNanPayloads(*copy);
    literal = std::move(copy);
  };
  for (Computation* computation : plain->Computations())
    computation->ForEach([&](Instruction* i) {
      if (i->IsConstant()) forget(i->mutable_attr<ConstantAttrs>().literal);
      if (i->opcode() == Opcode::kCustomCall) forget(i->mutable_attr<CustomCallAttrs>().literal);
    });
  return plain;
}

// To messages, XLA's too, channel 0 is no channel.
std::string WithoutChannelZero(const std::string& text) {
  return absl::StrReplaceAll(text, {{", channel_id=0, ", ", "}, {", channel_id=0\n", "\n"}});
}

// CHECKs that what `module` writes reads back and prints the same.
void CheckMessages(const Module& module, ProtoEncoding encoding) {
  const auto bytes = WriteModuleProto(module, encoding);
  if (!bytes.ok()) return;  // kept as text, without a form as a message
  const auto again = ReadModuleFile(*bytes, encoding);
  CHECK(again.ok()) << "what was written is refused: " << again.status().ToString();
  const bool is_text = encoding == ProtoEncoding::kText;
  const std::string before = WithoutChannelZero(Print(is_text ? *WithPlainNans(module) : module));
  const std::string after = WithoutChannelZero(Print(*again->module));
  CHECK(before == after) << "written\n" << before << "\nread back, it prints\n" << after;
}

}  // namespace

InputKind KindOf(absl::string_view input) {
  return SniffProto(input) == ProtoEncoding::kBinary ? InputKind::kBinary : InputKind::kText;
}

bool RunOne(absl::string_view input) {
  const std::optional<ProtoEncoding> encoding = SniffProto(input);
  bool has_literals = false;
  const std::unique_ptr<Module> module = encoding.has_value()
                                             ? ReadMessages(input, *encoding, has_literals)
                                             : ReadModule(input, false);
  if (!encoding.has_value()) (void)ReadMessages(input, ProtoEncoding::kBinary, has_literals);
  Diagnostics diagnostics;
  if (module == nullptr || !Verify(*module, diagnostics).ok()) return has_literals;
  CheckMessages(*module, ProtoEncoding::kBinary);
  CheckMessages(*module, ProtoEncoding::kText);
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
