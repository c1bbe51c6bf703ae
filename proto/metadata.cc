// Metadata and frontend attributes between the IR and their messages.
#include "proto/metadata_internal.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/scanner_internal.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

// The parts of metadata in the order of the text; each is a member here and a field there.
#define HLOKIT_METADATA_PARTS(TEXT, NUMBER) \
  TEXT(op_type)                             \
  TEXT(op_name)                             \
  TEXT(source_file)                         \
  NUMBER(source_line)                       \
  NUMBER(source_end_line)                   \
  NUMBER(source_column)                     \
  NUMBER(source_end_column)                 \
  TEXT(deduplicated_name)                   \
  TEXT(scheduling_name)                     \
  NUMBER(stack_frame_id)                    \
  NUMBER(size_of_generated_code_in_bytes)   \
  NUMBER(size_of_memory_working_set_in_bytes)

// `{1,2}`.
bool WriteProfileTypes(absl::string_view text, pb::OpMetadata* out) {
  Scanner scanner(text);
  return scanner.List("{", "}", [&] {
    int64_t number = 0;
    if (!scanner.Int(number)) return false;
    out->add_profile_type(static_cast<pb::ProfileType>(number));
    return true;
  });
}

std::string ProfileTypesText(const pb::OpMetadata& in) {
  std::string text;
  for (const int type : in.profile_type()) absl::StrAppend(&text, text.empty() ? "{" : ",", type);
  if (!text.empty()) text += '}';
  return text;
}

bool ScanPart(Scanner& scanner, absl::string_view name, OpMetadata& metadata) {
#define TEXT(member) \
  if (name == #member) return scanner.String(metadata.member);
#define NUMBER(member) \
  if (name == #member) return scanner.Int(metadata.member);
  HLOKIT_METADATA_PARTS(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
  if (name == "metadata_payload") return scanner.String(metadata.metadata_payload);
  absl::string_view types;
  if (name != "profile_type" || !scanner.Balanced(types)) return false;
  metadata.profile_type = std::string(types);
  return true;
}

// `{name="text" name=3}`.
bool ScanMetadata(Scanner& scanner, OpMetadata& metadata) {
  if (!scanner.Eat("{")) return false;
  while (!scanner.Eat("}")) {
    absl::string_view name;
    if (!scanner.Word(name) || !scanner.Eat("=") || !ScanPart(scanner, name, metadata))
      return false;
    scanner.Eat(",");
  }
  return true;
}

std::string MetadataText(const OpMetadata& metadata) {
  std::string text = "{";
  auto start = [&](absl::string_view name) {
    absl::StrAppend(&text, text.size() > 1 ? " " : "", name, "=");
  };
  auto append_text = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    start(name);
    absl::StrAppend(&text, "\"", absl::CEscape(value), "\"");
  };
  auto append_number = [&](const char* name, int64_t value) {
    if (value == 0) return;
    start(name);
    absl::StrAppend(&text, value);
  };
#define TEXT(member) append_text(#member, metadata.member);
#define NUMBER(member) append_number(#member, metadata.member);
  HLOKIT_METADATA_PARTS(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
  return text + "}";
}

}  // namespace

void Write(const OpMetadata& metadata, int64_t stack_frame_id, pb::OpMetadata* out) {
#define TEXT(member) \
  if (!metadata.member.empty()) out->set_##member(metadata.member);
#define NUMBER(member) out->set_##member(metadata.member);
  HLOKIT_METADATA_PARTS(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
  out->set_stack_frame_id(static_cast<int32_t>(stack_frame_id));
  if (!metadata.profile_type.empty()) WriteProfileTypes(metadata.profile_type, out);
  if (!metadata.metadata_payload.empty())
    out->mutable_metadata_payload()->set_value(metadata.metadata_payload);
}

void Read(const pb::OpMetadata& in, Seen& seen, OpMetadata& metadata) {
  seen.Note(in);
  if (in.has_profile_info()) seen.NoteRest();
#define TEXT(member) metadata.member = in.member();
#define NUMBER(member) metadata.member = in.member();
  HLOKIT_METADATA_PARTS(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
  if (in.profile_type_size() > 0) metadata.profile_type = ProfileTypesText(in);
  if (!in.has_metadata_payload()) return;
  seen.Note(in.metadata_payload());
  metadata.metadata_payload = in.metadata_payload().value();
  if (in.metadata_payload().has_id()) seen.NoteRest();
}

absl::Status WriteMetadataList(absl::string_view text,
                               google::protobuf::RepeatedPtrField<pb::OpMetadata>* out) {
  if (text.empty()) return absl::OkStatus();
  Scanner scanner(text);
  auto one = [&] {
    OpMetadata metadata;
    if (!ScanMetadata(scanner, metadata)) return false;
    Write(metadata, metadata.stack_frame_id, out->Add());
    return true;
  };
  const bool is_list = text.substr(0, 2) == "{{";
  const bool ok = is_list ? scanner.List("{", "}", one) : one();
  return ok && scanner.AtEnd() ? absl::OkStatus() : InvalidArgument("no metadata: ", text);
}

std::string MetadataListText(const google::protobuf::RepeatedPtrField<pb::OpMetadata>& in,
                             bool always_list, Seen& seen) {
  if (in.empty()) return "";
  std::string text;
  for (const pb::OpMetadata& message : in) {
    OpMetadata metadata;
    Read(message, seen, metadata);
    absl::StrAppend(&text, text.empty() ? "" : ", ", MetadataText(metadata));
  }
  return always_list || in.size() > 1 ? absl::StrCat("{", text, "}") : text;
}

void Write(const FrontendAttributes& attributes, pb::FrontendAttributes* out) {
  for (const auto& [key, value] : attributes) (*out->mutable_map())[key] = value;
}

void Read(const pb::FrontendAttributes& in, Seen& seen, FrontendAttributes& attributes) {
  seen.Note(in);
  for (const auto& [key, value] : in.map()) attributes.emplace_back(key, value);
  std::sort(attributes.begin(), attributes.end());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
