// What stands in for the host of infeed and outfeed: items read from files one after the other
// (begun again at their end), or random ones; outfed items are kept by device. Random items depend
// on the seed, their number and the device alone, so that two platforms see the same.
#include "tools/hlo-run/host_queues.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "parser/parser.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/hlo-run/outputs.h"
#include "types/random_literal.h"

namespace hlokit {
namespace {

std::vector<const Shape*> ArraysOf(const Shape& shape) {
  std::vector<const Shape*> arrays;
  for (const ShapeLeaf& leaf : Leaves(shape)) arrays.push_back(leaf.shape);
  return arrays;
}

// A value of `shape` from its leaves in order.
Literal Assemble(const Shape& shape, std::vector<Literal>& leaves, size_t& next) {
  if (!shape.IsTuple()) return std::move(leaves[next++]);
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements) elements.push_back(Assemble(element, leaves, next));
  return Literal::Tuple(std::move(elements));
}

}  // namespace

absl::StatusOr<std::unique_ptr<HostFeeds>> HostFeeds::Open(const RunOptions& options) {
  std::unique_ptr<HostFeeds> feeds(new HostFeeds(options));
  for (const std::string& path : options.infeed) {
    if (absl::EndsWithIgnoreCase(path, ".npz")) {
      ASSIGN_OR_RETURN(NpzFile archive, NpzFile::Open(path));
      feeds->archives_.push_back(std::move(archive));
    } else if (absl::EndsWithIgnoreCase(path, ".txt")) {
      ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
      for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace()))
        feeds->texts_.emplace_back(line);
    } else {
      return InvalidArgument(path,
                             ": an infeed is .npz (item0, item1, ...) or .txt (a literal a line)");
    }
  }
  for (const NpzFile& archive : feeds->archives_)
    while (archive.Contains(absl::StrCat("item", feeds->archive_items_)) ||
           archive.Contains(absl::StrCat("item", feeds->archive_items_, ".0")))
      ++feeds->archive_items_;
  if (!options.infeed.empty() && feeds->archive_items_ + feeds->texts_.size() == 0)
    return InvalidArgument(options.infeed[0], " holds no items");
  return feeds;
}

// Callbacks that hold a pointer to this object, which must outlive the run.
HostQueues HostFeeds::Queues() {
  HostQueues queues;
  queues.infeed = [this](int64_t device, const Shape& shape) { return Next(device, shape); };
  queues.outfeed = [this](int64_t device, const Literal& item) {
    std::lock_guard<std::mutex> lock(mutex_);
    outfed_[device].push_back(item);
    return absl::OkStatus();
  };
  return queues;
}

absl::StatusOr<Literal> HostFeeds::Next(int64_t device, const Shape& shape) {
  std::lock_guard<std::mutex> lock(mutex_);
  const int64_t number = taken_[device]++;
  return options_.infeed.empty() ? Random(number, device, shape) : FromFiles(number, shape);
}

Literal HostFeeds::Random(int64_t number, int64_t device, const Shape& shape) const {
  std::vector<Literal> leaves;
  for (const Shape* array : ArraysOf(shape)) {
    leaves.push_back(Literal::Unset(*array));
    const uint64_t which = (number * 0x1001 + device) * 0x101 + leaves.size();
    FillRandom(leaves.back(), options_.seed * 0x10001 + 0x5eed + which,
               {options_.float_range[0], options_.float_range[1], options_.int_range[0],
                options_.int_range[1]});
  }
  size_t next = 0;
  return Assemble(shape, leaves, next);
}

absl::StatusOr<Literal> HostFeeds::FromFiles(int64_t number, const Shape& shape) const {
  number %= archive_items_ + static_cast<int64_t>(texts_.size());
  if (number >= archive_items_) return ParseLiteral(texts_[number - archive_items_], shape);
  std::vector<Literal> leaves;
  const std::vector<const Shape*> arrays = ArraysOf(shape);
  for (size_t i = 0; i < arrays.size(); ++i) {
    std::string name = absl::StrCat("item", number);
    if (shape.IsTuple()) absl::StrAppend(&name, ".", i);
    bool found = false;
    for (const NpzFile& archive : archives_) {
      if (found || !archive.Contains(name)) continue;
      ASSIGN_OR_RETURN(const NumpyArray array, archive.Read(name));
      ASSIGN_OR_RETURN(Literal leaf, ToLiteral(array, *arrays[i], absl::StrCat("infeed ", name)));
      leaves.push_back(std::move(leaf));
      found = true;
    }
    if (!found)
      return InvalidArgument("infeed: expected ", Text(*arrays[i]), ", but there is no ", name);
  }
  size_t next = 0;
  return Assemble(shape, leaves, next);
}

// Names of arrays: item0, item1.0 for elements of tuples, .dN for device N where there are several.
absl::Status HostFeeds::Write(const std::string& path, int64_t devices) const {
  std::vector<NamedLiteral> named;
  for (const auto& [device, items] : outfed_)
    for (size_t i = 0; i < items.size(); ++i)
      for (NamedLiteral leaf : NameLeaves(items[i], absl::StrCat("item", i, "."))) {
        if (!items[i].shape().IsTuple()) leaf.name = absl::StrCat("item", i);
        if (devices > 1) absl::StrAppend(&leaf.name, ".d", device);
        named.push_back(std::move(leaf));
      }
  return WriteNpz(path, named);
}

std::string HostFeeds::Describe(int64_t devices) const {
  std::string text;
  for (const auto& [device, items] : outfed_) {
    for (size_t i = 0; i < items.size(); ++i) {
      absl::StrAppend(&text, "outfeed", i);
      if (devices > 1) absl::StrAppend(&text, ".d", device);
      text += DescribeItem(items[i]);
    }
  }
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
