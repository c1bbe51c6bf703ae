// Splitting at lines.
#include "tools/common/split.h"

#include <algorithm>

namespace hlokit {

std::vector<std::shared_ptr<const SourceFile>> SplitSource(
    const std::shared_ptr<const SourceFile>& source) {
  std::vector<std::shared_ptr<const SourceFile>> pieces;
  const absl::string_view text = source->text();
  std::string blank;  // as many empty lines as stand before the piece
  std::string piece;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    const absl::string_view line = text.substr(start, end - start);
    if (line.substr(0, kSplitLine.size()) == kSplitLine) {
      pieces.push_back(std::make_shared<const SourceFile>(source->name(), blank + piece));
      blank.append(std::count(piece.begin(), piece.end(), '\n') + 1, '\n');
      piece.clear();
    } else {
      piece.append(line.data(), line.size());
    }
    start = end;
  }
  pieces.push_back(std::make_shared<const SourceFile>(source->name(), blank + piece));
  return pieces;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
