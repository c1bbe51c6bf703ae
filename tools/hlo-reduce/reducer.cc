// Reduces a module to the smallest one that still shows a fault: delta debugging (ddmin, Zeller and
// Hildebrandt 2002) over the instructions of each computation, then single edits.
//
// ddmin: the instructions are cut into n parts. If one part alone shows the fault, it becomes the
// module; if the rest without a part does, that does; else n doubles. Instructions that are left
// out but needed become parameters or constants. Before that a called computation, such as a loop's
// body, becomes the module where it shows the fault by itself; after it calls are inlined, loops
// carry fewer values, instructions give way to their operands, shapes shrink and annotations go.
// All steps repeat until none helps. Each candidate costs a run of the test; options.jobs
// candidates run at a time. About n log n runs at best, n^2 at worst.
#include "tools/hlo-reduce/reducer.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "printer/whole_text.h"
#include "support/clock.h"
#include "support/status.h"
#include "support/threads.h"
#include "tools/hlo-reduce/edits.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

using Places = std::vector<int64_t>;
using Keep = std::function<std::unique_ptr<Module>(const Module&, absl::Span<const int64_t>)>;

// `places` in n parts of nearly equal size.
std::vector<Places> Parts(const Places& places, size_t n) {
  std::vector<Places> parts(n);
  for (size_t k = 0; k < n; ++k)
    parts[k].assign(places.begin() + places.size() * k / n,
                    places.begin() + places.size() * (k + 1) / n);
  return parts;
}

Places Without(const Places& places, const Places& part) {
  Places rest;
  std::set_difference(places.begin(), places.end(), part.begin(), part.end(),
                      std::back_inserter(rest));
  return rest;
}

class Reducer {
 public:
  Reducer(std::unique_ptr<Module> module, Interest& interest, const ReduceOptions& options)
      : best_(std::move(module)),
        best_text_(WholeText(*best_)),
        interest_(interest),
        options_(options) {}

  absl::StatusOr<std::unique_ptr<Module>> Run() {
    for (bool progress = true; progress && !OutOfTime();) {
      progress = false;
      for (absl::StatusOr<bool> (Reducer::*step)() :
           {&Reducer::Peel, &Reducer::Entry, &Reducer::Inline, &Reducer::Loops, &Reducer::Called,
            &Reducer::Bypass, &Reducer::Shapes, &Reducer::Strip}) {
        ASSIGN_OR_RETURN(const bool here, (this->*step)());
        progress |= here;
      }
    }
    return std::move(best_);
  }

  // Takes over the first interesting part of the module; false where there is none.
  absl::StatusOr<bool> TakePart() {
    constexpr int kDeepest = 2;
    for (int height = 0; height <= kDeepest; ++height) {
      ASSIGN_OR_RETURN(const std::optional<size_t> found, First(Cuts(*best_, height), "parts"));
      if (found) return true;
    }
    return false;
  }

 private:
  bool OutOfTime() const { return SteadySeconds() - start_ > options_.time_limit_s; }

  absl::StatusOr<bool> Entry() {
    return ReducePlaces(
        [](const Module& m, absl::Span<const int64_t> kept) { return KeepInEntry(m, kept); },
        [](const Module& m) { return m.entry(); }, "entry");
  }

  absl::StatusOr<bool> Called() {
    bool progress = false;
    for (int64_t c = static_cast<int64_t>(best_->Computations().size()) - 1; c >= 0; --c) {
      if (c >= static_cast<int64_t>(best_->Computations().size())) continue;
      const Computation* computation = best_->Computations()[c];
      if (computation->IsEntry() || OutOfTime()) continue;
      const std::string name = computation->name();
      const auto place = [name](const Module& m) -> int64_t {
        const auto all = m.Computations();
        return std::find_if(all.begin(), all.end(),
                            [&](const Computation* x) { return x->name() == name; }) -
               all.begin();
      };
      ASSIGN_OR_RETURN(const bool here,
                       ReducePlaces(
                           [place](const Module& m, absl::Span<const int64_t> kept) {
                             return KeepInComputation(m, place(m), kept);
                           },
                           [place](const Module& m) -> const Computation* {
                             const int64_t at = place(m);
                             const auto all = m.Computations();
                             return at < static_cast<int64_t>(all.size()) ? all[at] : nullptr;
                           },
                           name));
      progress |= here;
    }
    return progress;
  }

  absl::StatusOr<bool> Peel() {
    return Greedy([this] { return Bodies(*best_); }, "bodies", /*anew=*/true);
  }
  absl::StatusOr<bool> Loops() {
    return Greedy([this] { return FewerCarried(*best_); }, "loops", /*anew=*/true);
  }
  absl::StatusOr<bool> Inline() {
    return Greedy([this] { return Inlinings(*best_); }, "inlining");
  }
  absl::StatusOr<bool> Bypass() {
    return Greedy([this] { return Bypasses(*best_); }, "operands");
  }
  absl::StatusOr<bool> Shapes() {
    return Greedy([this] { return SmallerShapes(*best_); }, "shapes");
  }
  absl::StatusOr<bool> Strip() {
    if (stripped_) return false;
    stripped_ = true;
    return Greedy([this] { return Strippings(*best_); }, "annotations");
  }

  // Instructions of one computation that delta debugging may leave out.
  static Places PlacesOf(const Computation& computation) {
    Places places;
    const std::vector<Instruction*> order = computation.PostOrder();
    for (size_t k = 0; k < order.size(); ++k)
      if (!IsFiller(*order[k])) places.push_back(static_cast<int64_t>(k));
    return places;
  }

  template <typename Find>
  absl::StatusOr<bool> ReducePlaces(const Keep& keep, Find find, absl::string_view what) {
    bool progress = false;
    for (size_t n = 2; !OutOfTime();) {
      const Computation* computation = find(*best_);
      if (computation == nullptr) return progress;
      const Places places = PlacesOf(*computation);
      if (places.size() < 2 && computation->IsEntry()) return progress;
      if (places.empty()) return progress;
      n = std::min(n, places.size());
      const std::vector<Places> parts = Parts(places, n);
      std::vector<Candidate> candidates;
      if (n > 1)
        for (const Places& part : parts)
          candidates.push_back([&, this] { return keep(*best_, part); });
      if (n > 2 || !computation->IsEntry())
        for (const Places& part : parts)
          candidates.push_back([&, this] { return keep(*best_, Without(places, part)); });
      const size_t alone = n > 1 ? n : 0;  // candidates that keep one part only
      ASSIGN_OR_RETURN(const std::optional<size_t> found, First(candidates, what));
      if (found) {
        progress = true;
        n = *found < alone ? 2 : std::max<size_t>(n - 1, 2);
      } else if (n >= places.size()) {
        return progress;
      } else {
        n *= 2;
      }
    }
    return progress;
  }

  // `anew`: after each that helps, all are tried again.
  template <typename List>
  absl::StatusOr<bool> Greedy(List list, absl::string_view what, bool anew = false) {
    bool progress = false;
    size_t from = 0;  // candidates before this one were tried on a larger module in vain
    while (!OutOfTime()) {
      std::vector<Candidate> candidates = list();
      if (from >= candidates.size()) return progress;
      candidates.erase(candidates.begin(), candidates.begin() + from);
      ASSIGN_OR_RETURN(const std::optional<size_t> found, First(candidates, what));
      if (!found) return progress;
      progress = true;
      if (!anew) from += *found;
    }
    return progress;
  }

  // Tries candidates, some at a time; takes over the first that is smaller, valid and interesting.
  absl::StatusOr<std::optional<size_t>> First(const std::vector<Candidate>& candidates,
                                              absl::string_view what) {
    const size_t width = std::max(options_.jobs, 1);
    for (size_t k = 0; k < candidates.size() && !OutOfTime(); k += width) {
      const size_t count = std::min(width, candidates.size() - k);
      std::vector<Attempt> made(count);
      std::vector<absl::StatusOr<bool>> holds(count, false);
      const auto tries = static_cast<int64_t>(count);
      RunOnThreads(tries, tries, [&](int64_t number) {
        const auto j = static_cast<size_t>(number);
        holds[j] = Try(candidates[k + j], made[j]);
      });
      for (size_t j = 0; j < count; ++j) {
        RETURN_IF_ERROR(holds[j].status());
        if (!*holds[j]) continue;
        best_ = std::move(made[j].module);
        best_text_ = std::move(made[j].text);
        if (options_.smaller) RETURN_IF_ERROR(options_.smaller(*best_, what));
        return std::optional<size_t>(k + j);
      }
    }
    return std::optional<size_t>();
  }

  struct Attempt {
    std::unique_ptr<Module> module;
    std::string text;
  };

  absl::StatusOr<bool> Try(const Candidate& candidate, Attempt& made) const {
    made.module = candidate();
    if (made.module == nullptr) return false;
    made.text = WholeText(*made.module);
    if (made.text == best_text_) return false;
    Diagnostics diagnostics;
    if (!Verify(*made.module, diagnostics).ok()) return false;
    return interest_.Holds(*made.module, made.text);
  }

  std::unique_ptr<Module> best_;
  std::string best_text_;
  Interest& interest_;
  const ReduceOptions& options_;
  const double start_ = SteadySeconds();
  bool stripped_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> Reduce(std::unique_ptr<Module> module, Interest& interest,
                                               const ReduceOptions& options) {
  return Reducer(std::move(module), interest, options).Run();
}

absl::StatusOr<std::unique_ptr<Module>> ReduceParts(std::unique_ptr<Module> module,
                                                    Interest& interest,
                                                    const ReduceOptions& options) {
  Reducer reducer(std::move(module), interest, options);
  ASSIGN_OR_RETURN(const bool found, reducer.TakePart());
  if (!found) return nullptr;
  return reducer.Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
