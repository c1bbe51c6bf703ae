// Stretches are cut until they are short: along what repeats itself, else where few values cross.
#include "tools/hlo-viz/graph/parts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/hlo-viz/graph/repeats.h"

namespace hlokit {
namespace {

constexpr int kAtAGlance = 12;   // parts that can be seen at once
constexpr double kMuch = 0.3;    // of a stretch; smaller blocks are found in its parts
constexpr int kWorthNoPart = 2;  // items between blocks that stand beside them instead

// A, B, ..., Z, A2, ...
std::string LetterOf(int k) {
  return absl::StrCat(std::string(1, static_cast<char>('A' + k % 26)),
                      k < 26 ? "" : absl::StrCat(k / 26 + 1));
}

class Cutter {
 public:
  explicit Cutter(const PartsInput& input) : input_(input) {}

  std::vector<ScopePart> Run() {
    parts_.push_back({-1, "", {}});
    open_.push_back({0, 0, static_cast<int>(input_.tokens.size())});
    while (!open_.empty()) {
      const Stretch stretch = open_.back();
      open_.pop_back();
      if (stretch.size() > kMaxChildren) {
        Cut(stretch);
      } else if (stretch.size() > 0) {
        parts_[stretch.part].items.push_back({stretch.begin, stretch.end});
      }
    }
    return std::move(parts_);
  }

 private:
  struct Stretch {
    int part, begin, end;
    int size() const { return end - begin; }
  };
  using Bounds = std::vector<int>;  // of blocks that follow each other: one more than blocks

  int NewPart(int parent, std::string label) {
    parts_.push_back({parent, std::move(label), {}});
    return static_cast<int>(parts_.size()) - 1;
  }

  void Cut(const Stretch& stretch) {
    const std::vector<Bounds> repeated = Repeated(stretch);
    int covered = 0;
    for (const Bounds& bounds : repeated) covered += bounds.back() - bounds.front();
    if (covered < kMuch * stretch.size()) return CutEvenly(stretch);
    std::vector<Stretch> between;
    int begin = stretch.begin;
    for (const Bounds& bounds : repeated) {
      between.push_back({stretch.part, begin, bounds.front()});
      begin = bounds.back();
    }
    between.push_back({stretch.part, begin, stretch.end});
    AddInOrder(stretch.part, repeated, between);
  }

  void AddInOrder(int part, const std::vector<Bounds>& repeated, std::vector<Stretch>& between) {
    const auto is_part = [](const Stretch& each) { return each.size() > kWorthNoPart; };
    const auto count = std::count_if(between.begin(), between.end(), is_part);
    for (size_t k = 0, made = 0; k < between.size(); ++k) {
      if (is_part(between[k]))
        between[k].part =
            NewPart(part, count == 1 ? "the rest" : absl::StrCat("part ", ++made, " of ", count));
      open_.push_back(between[k]);
      if (k < repeated.size()) {
        const std::string name = "block " + LetterOf(letters_++);
        const int blocks = static_cast<int>(repeated[k].size()) - 1;
        const int group = NewPart(part, absl::StrCat(name, ", ", blocks, " times"));
        parts_[group].repeats = true;
        AddBlocks(group, name, repeated[k], 0, blocks);
      }
    }
  }

  // Blocks [first, last) of those between `bounds`; many of them in groups.
  void AddBlocks(int part, const std::string& name, const Bounds& bounds, int first, int last) {
    const size_t all = bounds.size() - 1;
    const int each =
        last - first <= kMaxChildren ? 1 : (last - first + kAtAGlance - 1) / kAtAGlance;
    for (int from = first; from < last; from += each) {
      const int to = std::min(from + each, last);
      if (each == 1) {
        const int block = NewPart(part, absl::StrCat(name, ", ", from + 1, " of ", all));
        open_.push_back({block, bounds[from], bounds[to]});
      } else {
        const int group =
            NewPart(part, absl::StrCat(name, ", ", from + 1, " to ", to, " of ", all));
        AddBlocks(group, name, bounds, from, to);
      }
    }
  }

  // Items that tell nothing, such as parameters, come with the next that does.
  std::vector<Bounds> Repeated(const Stretch& stretch) const {
    std::vector<uint64_t> tokens;
    std::vector<int> crossing, ends;
    for (int k = stretch.begin; k < stretch.end; ++k) {
      if (input_.tokens[k] == 0) continue;
      tokens.push_back(input_.tokens[k]);
      crossing.push_back(input_.crossing[k]);
      ends.push_back(k + 1);
    }
    std::vector<Bounds> repeated;
    for (const Repeats& found : FindRepeats(tokens, crossing)) {
      Bounds& bounds = repeated.emplace_back();
      for (int k = found.begin; k <= found.end(); k += found.period)
        bounds.push_back(k == 0 ? stretch.begin : ends[k - 1]);
    }
    return repeated;
  }

  void CutEvenly(const Stretch& stretch) {
    const int target = std::max(kMaxChildren / 2, stretch.size() / kAtAGlance);
    const std::vector<int> counts = CutWhereFewCross(
        absl::MakeSpan(input_.crossing).subspan(stretch.begin, stretch.size() - 1), target);
    int begin = stretch.begin;
    for (size_t k = 0; k < counts.size(); ++k) {
      const int part = NewPart(stretch.part, absl::StrCat("part ", k + 1, " of ", counts.size()));
      open_.push_back({part, begin, begin + counts[k]});
      begin += counts[k];
    }
  }

  const PartsInput& input_;
  std::vector<ScopePart> parts_;
  std::vector<Stretch> open_;
  int letters_ = 0;
};

}  // namespace

std::vector<int> CutWhereFewCross(absl::Span<const int> crossing, int target) {
  const int items = static_cast<int>(crossing.size()) + 1;
  std::vector<int> counts;
  int start = 0;
  while (items - start > target * 3 / 2) {
    int best = start + target;
    for (int cut = start + target / 2; cut < start + target * 3 / 2; ++cut)
      if (crossing[cut - 1] < crossing[best - 1]) best = cut;
    counts.push_back(best - start);
    start = best;
  }
  counts.push_back(items - start);
  return counts;
}

std::vector<ScopePart> CutIntoParts(const PartsInput& input) { return Cutter(input).Run(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
