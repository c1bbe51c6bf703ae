// The text of an instruction's or a sharding's metadata.
#include "absl/strings/str_cat.h"
#include "printer/attribute_text_internal.h"
#include "printer/writer_internal.h"

namespace hlokit {
namespace {

// `name="text"` inside metadata={...}, where the text is not empty.
void AppendMetadataText(std::string& out, const char* name, absl::string_view text) {
  if (text.empty()) return;
  absl::StrAppend(&out, out.back() == '{' ? "" : " ", name, "=");
  AppendQuoted(out, text);
}

void AppendMetadataNumber(std::string& out, const char* name, int64_t value) {
  if (value == 0) return;
  absl::StrAppend(&out, out.back() == '{' ? "" : " ", name, "=", value);
}

void AppendMetadataRaw(std::string& out, const char* name, absl::string_view text) {
  if (!text.empty()) absl::StrAppend(&out, out.back() == '{' ? "" : " ", name, text);
}

}  // namespace

void AppendMetadataValue(std::string& out, const OpMetadata& m, int64_t frame) {
  out += '{';
  AppendMetadataText(out, "op_type", m.op_type);
  AppendMetadataText(out, "op_name", m.op_name);
  AppendMetadataText(out, "source_file", m.source_file);
  AppendMetadataNumber(out, "source_line", m.source_line);
  AppendMetadataNumber(out, "source_end_line", m.source_end_line);
  AppendMetadataNumber(out, "source_column", m.source_column);
  AppendMetadataNumber(out, "source_end_column", m.source_end_column);
  AppendMetadataRaw(out, "profile_type=", m.profile_type);
  AppendMetadataText(out, "deduplicated_name", m.deduplicated_name);
  AppendMetadataText(out, "scheduling_name", m.scheduling_name);
  AppendMetadataText(out, "metadata_payload", m.metadata_payload);
  AppendMetadataNumber(out, "stack_frame_id", frame);
  AppendMetadataRaw(out, "", m.others);
  out += '}';
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
