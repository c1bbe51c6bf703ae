// A page with both modules side by side: as graphs, then as text. A click on a box chooses it and
// its partner, brings both into sight, and marks their row.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "printer/printer.h"
#include "tools/hlo-diff/folding.h"
#include "tools/hlo-diff/report_internal.h"

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
body.short tr.same, body.folds tr.folded { display: none; }
tr.more td { cursor: pointer; opacity: .8; font-style: italic; } body:not(.folds) tr.more { display: none; }
.graphs { display: flex; gap: 8px; } figure { flex: 1; min-width: 0; margin: 0; } figure > div { overflow: auto; height: 55vh; border: 1px solid #8886; }
svg path { fill: none; stroke: #8889; } .node { cursor: pointer; } .node rect { fill: #8881; stroke: #888; } .node text { fill: currentColor; font: 11px sans-serif; text-anchor: middle; }
.node.removed rect { fill: #f8514955; } .node.added rect { fill: #2ea04355; } .node.changed rect { fill: #d2992255; }
.node.chosen rect { stroke: #0b57d0; stroke-width: 3; } tr.chosen td { outline: 2px solid #0b57d0; }
</style>
<body class="short folds">
)";

constexpr absl::string_view kScript = R"(<script>
function choose(node) {
  document.querySelectorAll('.chosen').forEach((old) => old.classList.remove('chosen'));
  const partner = document.getElementById(node.dataset.partner);
  for (const each of [node, partner])
    if (each) { each.classList.add('chosen'); each.scrollIntoView({block: 'nearest', inline: 'center'}); }
  const row = document.querySelector(`tr[data-before="${node.id}"], tr[data-after="${node.id}"]`);
  if (!row) return;
  if (row.classList.contains('folded')) document.body.classList.remove('folds');
  row.classList.add('chosen');
}
for (const more of document.querySelectorAll('tr.more'))
  more.addEventListener('click', () => document.body.classList.remove('folds'));
for (const node of document.querySelectorAll('.node')) {
  node.addEventListener('click', () => choose(node));
  node.addEventListener('keydown', (event) => event.key === 'Enter' && choose(node));
}
for (const row of document.querySelectorAll('tr[data-before], tr[data-after]'))
  row.addEventListener('click', () => {
    const node = document.getElementById(row.dataset.after) || document.getElementById(row.dataset.before);
    if (node) choose(node);
  });
</script>
)";

// `places`: attributes that name the boxes of a row's instructions.
void AppendRow(std::string& html, absl::string_view kind, absl::string_view before,
               absl::string_view after, absl::string_view title = "",
               absl::string_view places = "") {
  absl::StrAppend(&html, "<tr class=\"", kind, "\"", places);
  if (!title.empty()) absl::StrAppend(&html, " title=\"", title, "\"");
  absl::StrAppend(&html, "><td>", EscapedHtml(before), "</td><td>", EscapedHtml(after),
                  "</td></tr>\n");
}

class Table {
 public:
  Table(const Comparison& c, const Folding& folding) : c_(c), folding_(folding) {
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

  static std::string Places(const Instruction* before, const Instruction* after) {
    return absl::StrCat(
        before != nullptr ? absl::StrCat(" data-before=\"", DiffNodeId(*before, false), "\"") : "",
        after != nullptr ? absl::StrCat(" data-after=\"", DiffNodeId(*after, true), "\"") : "");
  }

  // The second's order; what only the first has, before the next of its own order that has a
  // partner.
  void AppendComputation(std::string& html, const Computation* before,
                         const Computation* after) const {
    const bool folded = (before == nullptr || after == nullptr) &&
                        folding_.IsFolded((before != nullptr ? before : after)->root());
    AppendRow(html, folded ? "computation folded" : "computation", before != nullptr ? before->name() : "",
              after != nullptr ? after->name() : "");
    const std::vector<Instruction*> old =
        before != nullptr ? before->PostOrder() : std::vector<Instruction*>();
    size_t next = 0;
    const auto removed_until = [&](const Instruction* stop) {
      for (; next < old.size() && old[next] != stop; ++next)
        if (c_.match.AfterOf(old[next]) == nullptr)
          AppendFolded(html, "removed", old[next], nullptr, "");
      if (next < old.size()) ++next;
    };
    if (after != nullptr) {
      for (const Instruction* i : after->PostOrder()) {
        const Instruction* partner = c_.match.BeforeOf(i);
        if (partner == nullptr) {
          AppendFolded(html, "added", nullptr, i, "");
          continue;
        }
        if (Later(old, next, partner)) removed_until(partner);
        const uint32_t aspects = c_.match.Aspects(partner) & ~c_.ignored;
        AppendFolded(html, aspects != 0 ? "changed" : "same", partner, i, AspectsText(aspects));
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

  // A row of what differs; after the last one that is shown of its form, how many more there are.
  void AppendFolded(std::string& html, absl::string_view kind, const Instruction* before,
                    const Instruction* after, absl::string_view title) const {
    const Instruction* key = before != nullptr ? before : after;
    AppendRow(html, absl::StrCat(kind, folding_.IsFolded(key) ? " folded" : ""),
              before != nullptr ? Line(before) : "", after != nullptr ? Line(after) : "", title,
              Places(before, after));
    if (const Folding::Form* form = folding_.MoreAfter(key)) {
      const std::string more = Folding::MoreText(*form);
      AppendRow(html, "more", before != nullptr ? more : "", after != nullptr ? more : "");
    }
  }

  const Comparison& c_;
  const Folding& folding_;
  PrintOptions options_;
};

}  // namespace

std::string EscapedHtml(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

std::string HtmlReport(const Comparison& c) {
  const Folding folding(c);
  return absl::StrCat(
      kHead, "<p>", EscapedHtml(c.before_name), " &rarr; ", EscapedHtml(c.after_name), "</p><pre>",
      EscapedHtml(DiffSummary(c)), "</pre>\n", DiffGraphs(c, folding),
      "<p><label><input type=\"checkbox\" "
      "onchange=\"document.body.classList.toggle('short')\"> show what is the same</label> "
      "<label><input type=\"checkbox\" "
      "onchange=\"document.body.classList.toggle('folds')\"> show all that is alike</label></p>\n",
      Table(c, folding).Text(), kScript);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
