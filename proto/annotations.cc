// Statistics and original values, which the IR keeps as text, and the messages of both.
//   origin={({"a"}, {"b" {1}})}   ->   a leaf at {0} of "a", one at {1} of "b" index {1}
// Text is read by a recursive descent of limited depth, messages become a tree that is printed.
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "parser/normalize.h"
#include "proto/metadata_internal.h"
#include "proto/scanner_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

// An original value's tuples are no deeper than this, and all of them have no more places.
constexpr int kDeepestOrigin = 64;
constexpr int64_t kMaxOriginPlaces = int64_t{1} << 20;

bool ScanIndex(Scanner& scanner, google::protobuf::RepeatedField<int64_t>* index) {
  return scanner.List("{", "}", [&] {
    int64_t number = 0;
    if (!scanner.Int(number)) return false;
    index->Add(number);
    return true;
  });
}

// `({"a"}, ({"b" {1}}, {}))`: leaves are given the place at which they stand.
bool ScanOrigin(Scanner& scanner, std::vector<int64_t>& place, pb::OriginalValueProto* out) {
  if (place.size() > kDeepestOrigin) return false;
  if (scanner.Peek() == '(') {
    place.push_back(-1);
    const bool ok = scanner.List("(", ")", [&] {
      ++place.back();
      return ScanOrigin(scanner, place, out);
    });
    place.pop_back();
    return ok;
  }
  if (!scanner.Eat("{")) return false;
  pb::OriginalValueElementProto* element = out->add_elements();
  Assign(place, element->mutable_shape_index());
  if (scanner.Eat("}")) return true;
  pb::OriginalArrayProto* array = element->mutable_original_array();
  if (!scanner.String(*array->mutable_instruction_name())) return false;
  if (scanner.Peek() == '{' && !ScanIndex(scanner, array->mutable_shape_index())) return false;
  return scanner.Eat("}");
}

std::string LeafText(const pb::OriginalArrayProto& array) {
  std::string text = absl::StrCat("{\"", array.instruction_name(), "\"");
  if (array.shape_index_size() > 0)
    absl::StrAppend(&text, " {", absl::StrJoin(array.shape_index(), ","), "}");
  return text + "}";
}

// Original values by their places in a tuple.
struct OriginTree {
  const pb::OriginalValueElementProto* leaf = nullptr;
  std::map<int64_t, OriginTree> elements;
};

// False for a place that no tuple has.
bool AddLeaf(const pb::OriginalValueElementProto& element, OriginTree* tree) {
  if (element.shape_index_size() > kDeepestOrigin) return false;
  for (const int64_t index : element.shape_index()) {
    if (index < 0 || index >= kMaxOriginPlaces) return false;
    tree = &tree->elements[index];
  }
  if (tree->leaf == nullptr) tree->leaf = &element;
  return true;
}

// `places` counts down how many more the text may have.
std::string TreeText(const OriginTree& tree, int64_t& places) {
  if (tree.leaf != nullptr)
    return tree.leaf->has_original_array() ? LeafText(tree.leaf->original_array()) : "{}";
  if (tree.elements.empty()) return "";
  const int64_t size = tree.elements.rbegin()->first + 1;
  if ((places -= size) < 0) return "";
  std::vector<std::string> texts(size);
  for (const auto& [index, element] : tree.elements) texts[index] = TreeText(element, places);
  return OriginTuple(std::move(texts));
}

}  // namespace

absl::Status WriteStatistics(absl::string_view text, pb::StatisticsViz* out) {
  if (text.empty()) return absl::OkStatus();
  Scanner scanner(text);
  const bool ok = scanner.List("{", "}", [&] {
    absl::string_view name;
    double value = 0;
    if (!scanner.Word(name) || !scanner.Eat("=") || !scanner.Double(value)) return false;
    if (name == "visualizing_index") {
      out->set_stat_index_to_visualize(static_cast<int64_t>(value));
    } else {
      pb::Statistic* statistic = out->add_statistics();
      statistic->set_stat_name(name.data(), name.size());
      statistic->set_stat_val(value);
    }
    return true;
  });
  return ok ? absl::OkStatus() : InvalidArgument("no statistics: ", text);
}

std::string StatisticsText(const pb::StatisticsViz& in, Seen& seen) {
  seen.Note(in);
  if (in.statistics_size() == 0) return "";
  std::string text = absl::StrCat("{visualizing_index=", in.stat_index_to_visualize());
  for (const pb::Statistic& statistic : in.statistics()) {
    seen.Note(statistic);
    absl::StrAppend(&text, ",", statistic.stat_name(), "=", statistic.stat_val());
  }
  return text + "}";
}

absl::Status WriteOrigin(absl::string_view text, pb::OriginalValueProto* out) {
  Scanner scanner(text);
  if (scanner.Eat("{[synthetic_call]}")) {
    out->set_is_synthetic_call(true);
    return absl::OkStatus();
  }
  std::vector<int64_t> place;
  const bool ok = scanner.Eat("{") && ScanOrigin(scanner, place, out) && scanner.Eat("}");
  return ok ? absl::OkStatus() : InvalidArgument("no original value: ", text);
}

std::string OriginText(const pb::OriginalValueProto& in, Seen& seen) {
  seen.Note(in);
  if (in.is_synthetic_call()) return "{[synthetic_call]}";
  OriginTree tree;
  for (const pb::OriginalValueElementProto& element : in.elements()) {
    seen.Note(element);
    seen.Note(element.original_array());
    if (!AddLeaf(element, &tree)) seen.NoteUnknown();
  }
  int64_t places = kMaxOriginPlaces;
  const std::string text = TreeText(tree, places);
  return absl::StrCat("{", text.empty() ? "()" : text, "}");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
