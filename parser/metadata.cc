// Reads metadata part by part.
//
//   metadata={op_name="jit(f)/add" source_file="a.py" source_line=3 stack_frame_id=7}
// Names are looked up in two tables, of texts and of numbers; a part of another name is kept as it
// stands, since newer versions of XLA add parts. Texts are shared through a cache: the thousands of
// instructions of one model name few files and functions. Numbers have 32 bits, as in the message.
#include "parser/metadata_internal.h"

#include <algorithm>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "parser/values_internal.h"
#include "support/text.h"

namespace hlokit {
namespace {

struct TextPart {
  absl::string_view name;
  SharedText OpMetadata::*member;
};
struct NumberPart {
  absl::string_view name;
  int64_t OpMetadata::*member;
};
constexpr TextPart kTextParts[] = {{"op_name", &OpMetadata::op_name},
                                   {"op_type", &OpMetadata::op_type},
                                   {"source_file", &OpMetadata::source_file},
                                   {"deduplicated_name", &OpMetadata::deduplicated_name},
                                   {"scheduling_name", &OpMetadata::scheduling_name},
                                   {"metadata_payload", &OpMetadata::metadata_payload}};
constexpr NumberPart kNumberParts[] = {
    {"stack_frame_id", &OpMetadata::stack_frame_id},
    {"source_line", &OpMetadata::source_line},
    {"source_end_line", &OpMetadata::source_end_line},
    {"source_column", &OpMetadata::source_column},
    {"source_end_column", &OpMetadata::source_end_column},
    {"size_of_generated_code_in_bytes", &OpMetadata::size_of_generated_code_in_bytes},
    {"size_of_memory_working_set_in_bytes", &OpMetadata::size_of_memory_working_set_in_bytes}};

constexpr int64_t kMaxProfileType = 3;  // INVALID, WINDOW, FLAG, INTEGER

bool ReadNumber(Reader& r, int64_t& value) {
  const char* at = r.Here();
  if (!r.Int(value)) return false;
  const bool fits =
      value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
  return fits || r.Error(at, "the number does not fit in 32 bits");
}

// `{1}`: kept as text.
bool ReadProfileType(Reader& r, SharedText& text) {
  const char* at = r.Here();
  DimVector types;
  if (!ReadValue(r, types)) return false;
  for (int64_t type : types)
    if (type < 0 || type > kMaxProfileType)
      return r.Error(at, "profile types are 0 to ", kMaxProfileType);
  if (!types.empty()) text = absl::StrCat("{", absl::StrJoin(types, ","), "}");
  return true;
}

enum class Part { kRead, kFailed, kUnknown };  // kUnknown leaves the reader where it is

Part Done(bool ok) { return ok ? Part::kRead : Part::kFailed; }

bool ReadText(Reader& r, SharedTextCache& texts, SharedText& value) {
  absl::string_view text;
  std::string unescaped;
  if (!r.String(text, unescaped)) return false;
  value = texts.Get(text);
  return true;
}

Part ReadPart(Reader& r, SharedTextCache& texts, absl::string_view name, OpMetadata& metadata) {
  for (const TextPart& part : kTextParts)
    if (part.name == name) return Done(ReadText(r, texts, metadata.*part.member));
  for (const NumberPart& part : kNumberParts)
    if (part.name == name) return Done(ReadNumber(r, metadata.*part.member));
  absl::string_view text;
  if (name == "profile_type") return Done(ReadProfileType(r, metadata.profile_type));
  if (name == "preserve_layout") return Done(r.AnyValue(text));
  return Part::kUnknown;
}

std::vector<absl::string_view> KnownNames() {
  std::vector<absl::string_view> names = {"profile_type"};
  for (const TextPart& part : kTextParts) names.push_back(part.name);
  for (const NumberPart& part : kNumberParts) names.push_back(part.name);
  return names;
}

bool KeepUnknown(Reader& r, absl::string_view name, const char* at, OpMetadata& metadata) {
  const char* value = r.Here();
  std::string ignored;
  absl::string_view text;
  int64_t number = 0;
  const bool ok = r.Peek() == '"'        ? r.String(ignored)
                  : r.Peek() == '{'      ? r.Balanced(text)
                  : r.PeekWord().empty() ? r.Int(number)
                                         : !r.Word().empty();
  if (!ok) return false;
  r.diagnostics().Warning(r.PlaceAt(at), "", "unknown metadata '", name, "' is kept as text");
  metadata.others = absl::StrCat(metadata.others.view(), metadata.others.empty() ? "" : " ", name,
                                 "=", absl::string_view(value, r.raw_position() - value));
  return true;
}

}  // namespace

bool ReadMetadata(Reader& r, bool keep_unknown, SharedTextCache& texts, OpMetadata& metadata) {
  if (!r.Eat('{', "before the metadata")) return false;
  absl::InlinedVector<absl::string_view, 16> seen;
  r.TryEat(',');
  while (!r.TryEat('}')) {
    const char* at = r.Here();
    absl::string_view name;
    if (!r.AttributeName(name, "a part of the metadata or '}'")) return false;
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return r.Error(at, "the metadata gives ", name, " twice");
    seen.push_back(name);
    const Part part = ReadPart(r, texts, name, metadata);
    if (part == Part::kFailed) return false;
    if (part == Part::kUnknown && !keep_unknown)
      return r.Error(at, "unknown metadata '", name, "'", DidYouMean(name, KnownNames()),
                     "; --allow-unknown-attributes keeps it");
    if (part == Part::kUnknown && !KeepUnknown(r, name, at, metadata)) return false;
    if (r.TryEat(',') && r.Peek() == '}') return r.Expected("a part of the metadata");
  }
  return true;
}

bool ReadMetadataList(Reader& r, std::vector<OpMetadata>& list) {
  list.clear();
  const char* start = r.Here();
  if (!r.Eat('{', "before the metadata")) return false;
  const bool several = r.Peek() == '{';
  r.MoveTo(start);
  SharedTextCache texts;
  auto read = [&] { return ReadMetadata(r, /*keep_unknown=*/false, texts, list.emplace_back()); };
  return several ? r.List('{', '}', read) : read();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
