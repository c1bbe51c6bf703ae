// Periods are guessed from how far like items stand apart, then tried along the whole sequence.
#include "tools/hlo-viz/graph/repeats.h"

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_map.h"

namespace hlokit {
namespace {

constexpr int kFewestRepeats = 3, kShortestTogether = 30;
constexpr int kLongAlone = 30;  // items; two of these are enough
constexpr size_t kMaxPeriods = 60;
constexpr double kForgiven = 0.2;  // how much of an earlier difference each like item makes good
constexpr double kMaxDifferent = 0.1;  // of a period, at one place
constexpr double kAboutAsLong = 0.9;
constexpr double kLikeEnough = 0.7;  // of a first or last layer, which often differ a little

using Tokens = absl::Span<const uint64_t>;

// Where items look like those a period later.
struct RepeatWindow {
  int begin, end, period;
  int size() const { return end - begin; }
};

int FewestRepeats(int period) { return period >= kLongAlone ? 2 : kFewestRepeats; }

bool IsWorthwhile(const RepeatWindow& window) {
  return window.size() >= std::max(FewestRepeats(window.period) * window.period, kShortestTogether);
}

// The most frequent distances from an item to the next one like it.
std::vector<int> LikelyPeriods(Tokens tokens) {
  absl::flat_hash_map<uint64_t, int> last;
  absl::flat_hash_map<int, int> how_often;
  for (int k = 0; k < static_cast<int>(tokens.size()); ++k) {
    const auto [it, fresh] = last.try_emplace(tokens[k], k);
    if (!fresh && k - it->second >= kShortestRepeat) ++how_often[k - it->second];
    it->second = k;
  }
  std::vector<std::pair<int, int>> sorted;  // how often, negated; period
  for (const auto& [period, count] : how_often) sorted.push_back({-count, period});
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> periods;
  for (size_t k = 0; k < std::min(sorted.size(), kMaxPeriods); ++k)
    periods.push_back(sorted[k].second);
  return periods;
}

void CollectWindows(Tokens tokens, int period, std::vector<RepeatWindow>& windows) {
  const int last = static_cast<int>(tokens.size()) - period;
  for (int begin = 0; begin < last;) {
    if (tokens[begin] != tokens[begin + period]) {
      ++begin;
      continue;
    }
    double different = 0;
    int end = begin, k = begin;
    for (; k < last && different <= 2 + kMaxDifferent * period; ++k) {
      if (tokens[k] == tokens[k + period]) {
        end = k + 1;
        different = std::max(0.0, different - kForgiven);
      } else {
        ++different;
      }
    }
    if (const RepeatWindow window = {begin, end + period, period}; IsWorthwhile(window))
      windows.push_back(window);
    begin = k;
  }
}

// The longest, or of those about as long in the same place, the one that is repeated most.
RepeatWindow Best(const std::vector<RepeatWindow>& windows) {
  const RepeatWindow longest = *std::max_element(
      windows.begin(), windows.end(), [](const RepeatWindow& a, const RepeatWindow& b) {
        return a.size() < b.size() || (a.size() == b.size() && a.period > b.period);
      });
  RepeatWindow best = longest;
  for (const RepeatWindow& other : windows) {
    const int common = std::min(longest.end, other.end) - std::max(longest.begin, other.begin);
    if (other.period < best.period && common >= kAboutAsLong * longest.size()) best = other;
  }
  return best;
}

// What is left of windows besides the one that was taken.
std::vector<RepeatWindow> Without(const std::vector<RepeatWindow>& windows,
                                  const RepeatWindow& taken) {
  std::vector<RepeatWindow> left;
  for (const RepeatWindow& window : windows) {
    const RepeatWindow before = {window.begin, std::min(window.end, taken.begin), window.period};
    const RepeatWindow after = {std::max(window.begin, taken.end), window.end, window.period};
    if (IsWorthwhile(before)) left.push_back(before);
    if (IsWorthwhile(after)) left.push_back(after);
  }
  return left;
}

// Whole repeats in a window, begun where the fewest values cross on average.
Repeats Aligned(const RepeatWindow& window, absl::Span<const int> crossing) {
  Repeats best;
  double least = 0;
  for (int shift = 0; shift < window.period; ++shift) {
    const int begin = window.begin + shift, count = (window.end - begin) / window.period;
    if (count < FewestRepeats(window.period)) break;
    double sum = 0;
    for (int cut = begin; cut <= begin + count * window.period; cut += window.period)
      if (cut > 0 && cut <= static_cast<int>(crossing.size())) sum += crossing[cut - 1];
    const double mean = sum / (count + 1);
    if (best.count > 0 && mean >= least) continue;
    least = mean;
    best = {begin, window.period, count};
  }
  return best;
}

bool AreAlike(Tokens a, Tokens b) {
  absl::flat_hash_map<uint64_t, int> counts;
  for (uint64_t token : a) ++counts[token];
  int common = 0;
  for (uint64_t token : b) common += counts[token]-- > 0;
  return common >= kLikeEnough * static_cast<double>(a.size());
}

// Takes in a first and a last repeat within [begin, end) that look about like the others.
void Extend(Repeats& repeats, Tokens tokens, int begin, int end) {
  const auto at = [&](int place) { return tokens.subspan(place, repeats.period); };
  const int before = repeats.begin - repeats.period;
  if (before >= begin && AreAlike(at(repeats.begin), at(before))) {
    repeats.begin = before;
    ++repeats.count;
  }
  if (repeats.end() + repeats.period <= end && AreAlike(at(repeats.begin), at(repeats.end())))
    ++repeats.count;
}

}  // namespace

std::vector<Repeats> FindRepeats(Tokens tokens, absl::Span<const int> crossing) {
  std::vector<RepeatWindow> windows;
  for (int period : LikelyPeriods(tokens)) CollectWindows(tokens, period, windows);
  std::vector<Repeats> found;
  while (!windows.empty() && found.size() < static_cast<size_t>(kMaxRepeats)) {
    const RepeatWindow best = Best(windows);
    found.push_back(Aligned(best, crossing));
    windows = Without(windows, best);
  }
  std::sort(found.begin(), found.end(),
            [](const Repeats& a, const Repeats& b) { return a.begin < b.begin; });
  for (size_t k = 0; k < found.size(); ++k)
    Extend(found[k], tokens, k > 0 ? found[k - 1].end() : 0,
           k + 1 < found.size() ? found[k + 1].begin : static_cast<int>(tokens.size()));
  return found;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
