// The text of an instruction's or a sharding's metadata.
//
// Parts that are empty or 0 are left out; the others come in XLA's order, which is not that of the
// message's fields. scheduling_name is quoted without escapes, as XLA writes it. The number of the
// stack frame is the caller's, since frames are renumbered in a module's text.
#include "printer/attribute_text_internal.h"
#include "printer/printer.h"
#include "printer/writer_internal.h"

namespace hlokit {
namespace {

// The start of a part of metadata={...}, `name=`.
void AppendPart(std::string& out, absl::string_view name) {
  if (out.back() != '{') out += ' ';
  out.append(name.data(), name.size());
}

// These three leave out what is empty.
void AppendMetadataText(std::string& out, absl::string_view name, absl::string_view text) {
  if (text.empty()) return;
  AppendPart(out, name);
  AppendQuoted(out, text);
}

void AppendMetadataNumber(std::string& out, absl::string_view name, int64_t value) {
  if (value == 0) return;
  AppendPart(out, name);
  AppendInt(out, value);
}

void AppendMetadataRaw(std::string& out, absl::string_view name, absl::string_view text) {
  if (text.empty()) return;
  AppendPart(out, name);
  out.append(text.data(), text.size());
}

}  // namespace

void AppendMetadataValue(std::string& out, const OpMetadata& m, int64_t frame) {
  out += '{';
  AppendMetadataText(out, "op_type=", m.op_type);
  AppendMetadataText(out, "op_name=", m.op_name);
  AppendMetadataText(out, "source_file=", m.source_file);
  AppendMetadataNumber(out, "source_line=", m.source_line);
  AppendMetadataNumber(out, "source_end_line=", m.source_end_line);
  AppendMetadataNumber(out, "source_column=", m.source_column);
  AppendMetadataNumber(out, "source_end_column=", m.source_end_column);
  AppendMetadataRaw(out, "profile_type=", m.profile_type);
  AppendMetadataText(out, "deduplicated_name=", m.deduplicated_name);
  if (!m.scheduling_name.empty()) {
    AppendPart(out, "scheduling_name=");
    AppendQuotedRaw(out, m.scheduling_name);
  }
  AppendMetadataText(out, "metadata_payload=", m.metadata_payload);
  AppendMetadataNumber(out, "stack_frame_id=", frame);
  AppendMetadataRaw(out, "", m.others);
  out += '}';
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
