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

}  // namespace

void Write(const OpMetadata& metadata, int64_t stack_frame_id, pb::OpMetadata* out) {
#define TEXT(member) \
  if (!metadata.member.empty()) out->set_##member(metadata.member.str());
#define NUMBER(member) out->set_##member(metadata.member);
  HLOKIT_METADATA_PARTS(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
  out->set_stack_frame_id(static_cast<int32_t>(stack_frame_id));
  if (!metadata.profile_type.empty()) WriteProfileTypes(metadata.profile_type, out);
  if (!metadata.metadata_payload.empty())
    out->mutable_metadata_payload()->set_value(metadata.metadata_payload.str());
}

void Read(const pb::OpMetadata& in, Seen& seen, OpMetadata& metadata) {
  seen.Note(in);
  if (in.has_profile_info()) seen.NoteUnknown();
#define TEXT(member) metadata.member = in.member();
#define NUMBER(member) metadata.member = in.member();
  HLOKIT_METADATA_PARTS(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
  if (in.profile_type_size() > 0) metadata.profile_type = ProfileTypesText(in);
  if (!in.has_metadata_payload()) return;
  seen.Note(in.metadata_payload());
  metadata.metadata_payload = in.metadata_payload().value();
  if (in.metadata_payload().has_id()) seen.NoteUnknown();
}

void Write(const std::vector<OpMetadata>& list, MetadataMessages* out) {
  for (const OpMetadata& metadata : list) Write(metadata, metadata.stack_frame_id, out->Add());
}

void Read(const MetadataMessages& in, Seen& seen, std::vector<OpMetadata>& list) {
  for (const pb::OpMetadata& message : in) Read(message, seen, list.emplace_back());
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
