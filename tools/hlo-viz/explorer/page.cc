// The page: one HTML file with a script and, for each stage, its data as gzipped JSON in base64,
// which the browser unpacks when the stage is shown. Texts from modules are escaped as JSON or
// HTML; "<" never appears in data, so that nothing in a module can end the script.
#include "tools/hlo-viz/explorer/page.h"

#include <zlib.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "support/status.h"
#include "tools/hlo-viz/explorer/json_internal.h"
#include "tools/hlo-viz/explorer/page_text_internal.h"
#include "tools/hlo-viz/graph/describe.h"

namespace hlokit {
namespace {

absl::StatusOr<std::string> Gzip(absl::string_view text) {
  constexpr int kLevel = 5, kGzipWindow = 15 + 16, kMemory = 8;
  z_stream stream = {};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    return Internal("zlib cannot start");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) return Internal("zlib cannot pack ", text.size(), " bytes");
  return packed;
}

// Replaces the one `placeholder` in `page`.
void FillIn(std::string& page, absl::string_view placeholder, absl::string_view text) {
  const size_t at = page.find(placeholder.data(), 0, placeholder.size());
  CHECK(at != std::string::npos) << "the page lacks " << placeholder;
  page.replace(at, placeholder.size(), text.data(), text.size());
}

std::string HtmlText(absl::string_view text) {
  std::string out;
  for (char c : Shown(text, 400)) {
    if (c == '<' || c == '&' || c == '>') {
      absl::StrAppend(&out, "&#", static_cast<int>(c), ";");
    } else {
      out += c;
    }
  }
  return out;
}

absl::StatusOr<std::string> PackText(absl::string_view json) {
  constexpr size_t kMaxBytes = size_t{1} << 31;
  if (json.size() > kMaxBytes) return ResourceExhausted("more than 2 GiB of data for one page");
  ASSIGN_OR_RETURN(const std::string packed, Gzip(json));
  return absl::Base64Escape(packed);
}

constexpr absl::string_view kWaiting = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>hlo-viz: waiting</title><link rel="icon" href="data:,">
<style>body{font:15px/1.5 system-ui,sans-serif;margin:4em auto;max-width:44em;color-scheme:light dark}</style>
</head><body><h1>Nothing to show yet</h1><p>@TEXT@</p><p>This page looks again every second.</p><script>
setInterval(async () => {
  const answer = await fetch('revision').catch(() => null);
  if (answer && answer.ok && (await answer.text()) !== '@REVISION@') location.reload();
}, 1000);
</script></body></html>
)";

}  // namespace

absl::StatusOr<PackedVersion> Pack(std::string label, const ChangeCounts& counts,
                                   absl::string_view data, absl::string_view memory) {
  PackedVersion version{std::move(label), counts, "", ""};
  ASSIGN_OR_RETURN(version.data, PackText(data));
  if (!memory.empty()) {
    ASSIGN_OR_RETURN(version.memory, PackText(memory));
  }
  return version;
}

void PageBuilder::AddModule(absl::string_view name) {
  absl::StrAppend(&index_, index_.empty() ? "" : "]},", "{\"name\":");
  AppendJsonText(index_, name);
  index_ += ",\"versions\":[";
  module_has_version_ = false;
}

void PageBuilder::AddNote(absl::string_view note) {
  if (!notes_.empty()) notes_ += ',';
  AppendJsonText(notes_, Shown(note, 400));
}

void PageBuilder::AddData(absl::string_view id, absl::string_view packed) {
  absl::StrAppend(&data_, "<script type=\"text/plain\" id=\"", id, "\">", packed, "</script>\n");
}

void PageBuilder::AddVersion(const PackedVersion& version) {
  const std::string id = absl::StrCat("data-", versions_++);
  AddData(id, version.data);
  absl::StrAppend(&index_, module_has_version_ ? "," : "", "{\"id\":\"", id, "\",\"label\":");
  module_has_version_ = true;
  AppendJsonText(index_, version.label);
  if (version.counts.added >= 0)
    absl::StrAppend(&index_, ",\"added\":", version.counts.added,
                    ",\"removed\":", version.counts.removed,
                    ",\"changed\":", version.counts.changed);
  if (!version.memory.empty()) {
    AddData(id + "-memory", version.memory);
    absl::StrAppend(&index_, ",\"memory\":\"", id, "-memory\"");
  }
  index_ += '}';
}

void PageBuilder::AddPlainText(absl::string_view text) {
  constexpr size_t kMaxBytes = size_t{1} << 18;
  absl::StrAppend(&data_, "<noscript><pre>",
                  absl::StrReplaceAll(text.substr(0, kMaxBytes), {{"&", "&amp;"}, {"<", "&lt;"}}),
                  text.size() > kMaxBytes ? "\n..." : "", "</pre></noscript>\n");
}

std::string PageBuilder::Html(absl::string_view title, int64_t revision,
                              absl::string_view start) const {
  std::string index = "{\"title\":";
  AppendJsonText(index, title);
  if (revision >= 0) absl::StrAppend(&index, ",\"revision\":", revision);
  if (!start.empty()) {
    index += ",\"start\":";
    AppendJsonText(index, start);
  }
  absl::StrAppend(&index, ",\"notes\":[", notes_, "],\"modules\":[", index_, "]}]}");
  std::string page = kPageText;
  FillIn(page, "@TITLE@", HtmlText(title));
  FillIn(page, "@INDEX@", index);
  FillIn(page, "@DATA@", data_);
  return page;
}

std::string WaitingPage(absl::string_view text, int64_t revision) {
  std::string page(kWaiting);
  FillIn(page, "@TEXT@", HtmlText(text));
  FillIn(page, "@REVISION@", absl::StrCat(revision));
  return page;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
