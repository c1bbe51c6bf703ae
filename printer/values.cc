// The text of values that also stand alone.
#include "absl/strings/str_cat.h"
#include "printer/attribute_text_internal.h"
#include "printer/printer.h"
#include "printer/writer_internal.h"

namespace hlokit {
namespace {

template <typename T>
std::string ValueText(const T& value) {
  std::string out;
  AppendValue(out, value);
  return out;
}

template <typename T>
std::string InBraces(const T& list, void (*append)(std::string&, const T&)) {
  std::string out = "{";
  append(out, list);
  return out + "}";
}

}  // namespace

void AppendAliases(std::string& out, const std::vector<InputOutputAlias>& aliases) {
  for (size_t i = 0; i < aliases.size(); ++i) {
    if (i > 0) out += ", ";
    AppendIndex(out, aliases[i].output);
    absl::StrAppend(&out, ": (", aliases[i].parameter, ", ");
    AppendIndex(out, aliases[i].parameter_index);
    out += aliases[i].must_alias ? ", must-alias)" : ", may-alias)";
  }
}

void AppendDonors(std::string& out, const std::vector<BufferDonor>& donors) {
  for (size_t i = 0; i < donors.size(); ++i) {
    absl::StrAppend(&out, i > 0 ? ", (" : "(", donors[i].parameter, ", ");
    AppendIndex(out, donors[i].index);
    out += ')';
  }
}

std::string Text(const Layout& layout) {
  std::string out;
  AppendText(out, layout);
  return out.empty() ? "{}" : out;  // a scalar's
}

std::string Text(const Sharding& sharding) {
  std::string out;
  AppendSharding(out, sharding);
  return out;
}

std::string Text(const ReplicaGroups& groups) { return ValueText(groups); }
std::string Text(const IntPairs& pairs) { return ValueText(pairs); }
std::string Text(const Window& window) { return ValueText(window); }
std::string Text(const ConvDims& dims) { return ValueText(dims); }
std::string Text(const PaddingConfig& padding) { return ValueText(padding); }
std::string Text(const SliceSpec& slice) { return ValueText(slice); }
std::string Text(const ShapeIndex& index) { return ValueText(absl::Span<const int64_t>(index)); }
std::string Text(const std::vector<OutputAlias>& aliases) { return ValueText(aliases); }
std::string Text(const std::vector<InputOutputAlias>& aliases) {
  return InBraces(aliases, AppendAliases);
}
std::string Text(const std::vector<BufferDonor>& donors) { return InBraces(donors, AppendDonors); }
std::string Text(const SparsityConfig& sparsity) { return ValueText(sparsity); }
std::string Text(const std::vector<bool>& values) { return ValueText(values); }
std::string Text(const Domain& domain) { return ValueText(domain); }
std::string Text(const ResultAccuracy& accuracy) { return ValueText(accuracy); }

std::string Text(const EntryLayout& layout) {
  std::string out = Text(Shape::Tuple(layout.parameters), /*with_layout=*/true);
  out += "->";
  AppendText(out, layout.result, /*with_layout=*/true);
  return out;
}

std::string Text(const FrontendAttributes& attributes) {
  std::string out;
  const PrintOptions options;
  Writer(out, options).AppendFrontendAttributes(attributes);
  return out;
}

std::string Text(const OpMetadata& metadata) {
  std::string out;
  AppendMetadataValue(out, metadata, metadata.stack_frame_id);
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
