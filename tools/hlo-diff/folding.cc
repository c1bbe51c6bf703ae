// Copies of a repeated block, told once: 32 layers that changed alike are three rows and a count.
//
// Alike are instructions of one computation, or of such as are alike as a whole, that differ in the same way and whose texts are equal
// but for names and metadata, as are their partners':
//   - a0 = f32[8] tanh(x0)   - a1 = f32[8] tanh(x1)   ...   and 17 more like %a3
// Cost: the text of each instruction that differs, once.
#include "tools/hlo-diff/folding.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "printer/printer.h"

namespace hlokit {
namespace {

std::string FormOf(const Instruction& i) {
  PrintOptions options;
  options.metadata = false;
  const std::string text = Print(i, options);
  std::string form;
  for (size_t k = 0; k < text.size(); ++k) {
    form += text[k];
    if (text[k] != '%') continue;
    while (k + 1 < text.size() && text.find_first_of(" ,)", k + 1) != k + 1) ++k;
  }
  return form;
}

// The first computation of each form among those without partner, of one module: there are as many
// reducers of one kind as reductions.
class FirstsOfForm {
 public:
  const Computation* Of(const Computation* computation) {
    const auto [known, fresh] = first_.emplace(computation, computation);
    if (!fresh) return known->second;
    std::string form;
    for (const Instruction* i : computation->Instructions())
      absl::StrAppend(&form, FormOf(*i), "\n");
    return known->second = by_form_.emplace(std::move(form), computation).first->second;
  }

 private:
  std::map<const Computation*, const Computation*> first_;
  std::map<std::string, const Computation*> by_form_;
};

}  // namespace

Folding::Folding(const Comparison& c) {
  using Key = std::tuple<int, const Computation*, std::string>;  // kind, place, form
  std::map<Key, size_t> number;
  FirstsOfForm removed, added;
  const auto place = [&](const Computation* computation, int kind) {
    if (kind == 0 && c.match.AfterOf(computation) == nullptr) return removed.Of(computation);
    if (kind == 1 && c.match.BeforeOf(computation) == nullptr) return added.Of(computation);
    return computation;
  };
  const auto add = [&](int kind, const Instruction* i, std::string form) {
    const auto [at, fresh] =
        number.emplace(Key(kind, place(i->parent(), kind), std::move(form)), forms_.size());
    if (fresh) forms_.emplace_back();
    forms_[at->second].push_back(i);
  };
  for (const Instruction* i : c.difference.removed) add(0, i, FormOf(*i));
  for (const Instruction* i : c.difference.added) add(1, i, FormOf(*i));
  for (const Instruction* i : c.difference.changed)
    add(2, i,
        absl::StrCat(c.match.Aspects(i) & ~c.ignored, " ", FormOf(*i), "\n",
                     FormOf(*c.match.AfterOf(i))));
  for (const Form& form : forms_)
    for (size_t k = 0; k < form.size(); ++k) {
      place_[form[k]] = {&form, k};
      if (const Instruction* partner = c.match.AfterOf(form[k])) place_[partner] = {&form, k};
    }
}

bool Folding::IsFolded(const Instruction* i) const {
  const auto at = place_.find(i);
  return at != place_.end() && at->second.second >= kShown;
}

const Folding::Form* Folding::MoreAfter(const Instruction* i) const {
  const auto at = place_.find(i);
  if (at == place_.end() || at->second.second + 1 != kShown) return nullptr;
  return at->second.first->size() > kShown ? at->second.first : nullptr;
}

std::string Folding::MoreText(const Form& form) {
  return absl::StrCat("and ", form.size() - kShown, " more like %", form[kShown]->name());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
