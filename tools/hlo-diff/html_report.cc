// A page with both modules side by side.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "printer/printer.h"
#include "tools/hlo-diff/report.h"

namespace hlokit {
namespace {

constexpr absl::string_view kHead = R"(<!doctype html>
<meta charset="utf-8"><title>hlo-diff</title>
<style>
:root { color-scheme: light dark; }
body { font: 13px/1.5 ui-monospace, monospace; margin: 1em; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
td { vertical-align: top; padding: 0 .5em; white-space: pre-wrap; overflow-wrap: anywhere; }
tr.removed td:first-child { background: #f8514933; }
tr.added td:last-child { background: #2ea04333; }
tr.changed td { background: #d2992233; }
tr.computation td { font-weight: bold; padding-top: 1em; }
tr.same td { opacity: .7; }
body.short tr.same { display: none; }
</style>
<body class="short">
)";

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

void AppendRow(std::string& html, absl::string_view kind, absl::string_view before,
               absl::string_view after, absl::string_view title = "") {
  absl::StrAppend(&html, "<tr class=\"", kind, "\"");
  if (!title.empty()) absl::StrAppend(&html, " title=\"", title, "\"");
  absl::StrAppend(&html, "><td>", Escaped(before), "</td><td>", Escaped(after), "</td></tr>\n");
}

class Table {
 public:
  explicit Table(const Comparison& c) : c_(c) {
    options_.metadata = (c.ignored & kMetadataAspect) == 0;
  }

  std::string Text() {
    std::string html = "<table>\n";
    for (const std::string& line : c_.difference.header) AppendRow(html, "changed", line, line);
    for (const Computation* after : c_.after.ComputationsPostOrder())
      AppendComputation(html, c_.match.BeforeOf(after), after);
    for (const Computation* before : c_.before.ComputationsPostOrder())
      if (c_.match.AfterOf(before) == nullptr) AppendComputation(html, before, nullptr);
    return html + "</table>\n";
  }

 private:
  std::string Line(const Instruction* i) const { return Print(*i, options_); }

  // The second's order; what only the first has, before the next of its own order that has a
  // partner.
  void AppendComputation(std::string& html, const Computation* before,
                         const Computation* after) const {
    AppendRow(html, "computation", before != nullptr ? before->name() : "",
              after != nullptr ? after->name() : "");
    const std::vector<Instruction*> old =
        before != nullptr ? before->PostOrder() : std::vector<Instruction*>();
    size_t next = 0;
    const auto removed_until = [&](const Instruction* stop) {
      for (; next < old.size() && old[next] != stop; ++next)
        if (c_.match.AfterOf(old[next]) == nullptr) AppendRow(html, "removed", Line(old[next]), "");
      if (next < old.size()) ++next;
    };
    if (after != nullptr) {
      for (const Instruction* i : after->PostOrder()) {
        const Instruction* partner = c_.match.BeforeOf(i);
        if (partner == nullptr) {
          AppendRow(html, "added", "", Line(i));
          continue;
        }
        if (Later(old, next, partner)) removed_until(partner);
        const uint32_t aspects = c_.match.Aspects(partner) & ~c_.ignored;
        AppendRow(html, aspects != 0 ? "changed" : "same", Line(partner), Line(i),
                  AspectsText(aspects));
      }
    }
    removed_until(nullptr);
  }

  // Looks only a little ahead: orders that differ widely must not cost quadratic time.
  static bool Later(const std::vector<Instruction*>& old, size_t next, const Instruction* i) {
    constexpr size_t kReach = 64;
    for (size_t k = next; k < old.size() && k < next + kReach; ++k)
      if (old[k] == i) return true;
    return false;
  }

  const Comparison& c_;
  PrintOptions options_;
};

}  // namespace

std::string HtmlReport(const Comparison& c) {
  const ModuleDifference& d = c.difference;
  return absl::StrCat(
      kHead, "<p>", Escaped(c.before_name), " &rarr; ", Escaped(c.after_name), ": ", d.same,
      " the same, ", d.changed.size(), " changed, ", d.removed.size(), " removed, ", d.added.size(),
      " added. <label><input type=\"checkbox\" "
      "onchange=\"document.body.classList.toggle('short')\"> show what is the same</label></p>\n",
      Table(c).Text());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
