// Both modules as graphs, side by side.
//
// Drawn is what differs, of copies of a block the first ones, and what it reads or is read by; all
// of a module that is small. An
// instruction lies one row below its lowest operand, in its row at the mean place of its operands:
//
//        x   w                 x   w
//         \ /                  |   |
//         dot       beside   half other     half, other: added; dot: changed
//                                \ /
//                                dot
// Cost: linear in the instructions drawn, of which there are at most kMaxNodes a side.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "printer/printer.h"
#include "tools/hlo-diff/folding.h"
#include "tools/hlo-diff/report.h"
#include "tools/hlo-diff/report_internal.h"

namespace hlokit {
namespace {

constexpr size_t kMaxNodes = 200;
constexpr int kWidth = 168, kHeight = 36, kGapX = 14, kGapY = 30;  // pixels

// One of the two modules.
class Side {
 public:
  Side(const Comparison& c, const Folding& folding, bool is_after)
      : c_(c), folding_(folding), is_after_(is_after) {
    Choose();
    Place();
  }

  std::string Svg() const {
    std::string edges, boxes;
    for (const Instruction* i : drawn_) {
      for (const Instruction* operand : i->operands())
        if (const auto at = place_.find(operand); at != place_.end())
          AppendEdge(edges, at->second, place_.at(i));
      AppendBox(boxes, *i);
    }
    return absl::StrCat("<svg width=\"", width_, "\" height=\"", height_, "\">", edges, boxes,
                        "</svg>");
  }
  std::string Note() const {
    return total_ == drawn_.size() ? ""
                                   : absl::StrCat(": ", drawn_.size(), " of ", total_,
                                                  " instructions, those that differ and what is "
                                                  "next to them");
  }

 private:
  struct Point {
    int row = 0;
    double x = 0;
  };

  const Module& module() const { return is_after_ ? c_.after : c_.before; }
  const Instruction* Partner(const Instruction* i) const {
    return is_after_ ? c_.match.BeforeOf(i) : c_.match.AfterOf(i);
  }
  absl::string_view KindOf(const Instruction* i) const {
    const Instruction* partner = Partner(i);
    if (partner == nullptr) return is_after_ ? "added" : "removed";
    return (c_.match.Aspects(is_after_ ? partner : i) & ~c_.ignored) != 0 ? "changed" : "same";
  }

  void Choose() {
    std::vector<const Instruction*> all;
    for (const Computation* computation : module().ComputationsPostOrder())
      for (const Instruction* i : computation->PostOrder()) all.push_back(i);
    total_ = all.size();
    if (total_ <= kMaxNodes) {
      drawn_ = all;
      return;
    }
    std::set<const Instruction*> wanted;
    for (const Instruction* i : all) {
      if (KindOf(i) == "same" || folding_.IsFolded(i)) continue;
      if (wanted.size() >= kMaxNodes) break;
      wanted.insert(i);
      wanted.insert(i->operands().begin(), i->operands().end());
      for (const Instruction* user : i->users())
        if (wanted.size() < kMaxNodes) wanted.insert(user);
    }
    for (const Instruction* i : all)
      if (wanted.count(i) != 0) drawn_.push_back(i);
  }

  void Place() {
    std::map<int, std::vector<const Instruction*>> rows;
    for (const Instruction* i : drawn_) {  // operands come before their users
      Point point;
      double sum = 0;
      int operands = 0;
      for (const Instruction* operand : i->operands()) {
        const auto at = place_.find(operand);
        if (at == place_.end()) continue;
        point.row = std::max(point.row, at->second.row + 1);
        sum += at->second.x;
        ++operands;
      }
      const double last = rows[point.row].empty() ? -1 : place_.at(rows[point.row].back()).x;
      point.x = std::max(operands > 0 ? sum / operands : 0, last + 1);
      rows[point.row].push_back(i);
      place_[i] = point;
      width_ = std::max(width_, X(point) + kWidth + kGapX);
      height_ = std::max(height_, Y(point) + kHeight + kGapY);
    }
  }

  static int X(const Point& point) { return kGapX + static_cast<int>(point.x * (kWidth + kGapX)); }
  static int Y(const Point& point) { return kGapY / 2 + point.row * (kHeight + kGapY); }

  static void AppendEdge(std::string& svg, const Point& from, const Point& to) {
    const int x0 = X(from) + kWidth / 2, y0 = Y(from) + kHeight, x1 = X(to) + kWidth / 2,
              y1 = Y(to), bend = (y1 - y0) / 2;
    absl::StrAppendFormat(&svg, "<path d=\"M%d %dC%d %d %d %d %d %d\"/>", x0, y0, x0, y0 + bend, x1,
                          y1 - bend, x1, y1);
  }
  static std::string Cut(absl::string_view text) {
    constexpr size_t kMaxLetters = 24;
    return EscapedHtml(
        text.size() <= kMaxLetters
            ? std::string(text)
            : absl::StrCat(text.substr(0, kMaxLetters - 8), "...", text.substr(text.size() - 5)));
  }
  void AppendBox(std::string& svg, const Instruction& i) const {
    const Point& at = place_.at(&i);
    const Instruction* partner = Partner(&i);
    absl::StrAppend(&svg, "<g class=\"node ", KindOf(&i), "\" tabindex=\"0\" id=\"",
                    DiffNodeId(i, is_after_), "\"");
    if (partner != nullptr)
      absl::StrAppend(&svg, " data-partner=\"", DiffNodeId(*partner, !is_after_), "\"");
    absl::StrAppendFormat(&svg,
                          " transform=\"translate(%d %d)\"><title>%s</title><rect width=\"%d\" "
                          "height=\"%d\" rx=\"5\"/><text x=\"%d\" y=\"15\">%s</text><text "
                          "x=\"%d\" y=\"29\">%s</text></g>",
                          X(at), Y(at), EscapedHtml(Print(i)), kWidth, kHeight, kWidth / 2,
                          Cut(i.name()), kWidth / 2,
                          Cut(absl::StrCat(Text(i.opcode()), " ", Text(i.shape(), false))));
  }

  const Comparison& c_;
  const Folding& folding_;
  const bool is_after_;
  size_t total_ = 0;
  std::vector<const Instruction*> drawn_;  // operands before their users
  std::map<const Instruction*, Point> place_;
  int width_ = 0, height_ = 0;
};

}  // namespace

std::string DiffNodeId(const Instruction& i, bool is_after) {
  return absl::StrCat(is_after ? "a" : "b", i.id());
}

std::string DiffGraphs(const Comparison& c, const Folding& folding) {
  const Side before(c, folding, false), after(c, folding, true);
  return absl::StrCat("<div class=\"graphs\"><figure><figcaption>", EscapedHtml(c.before_name),
                      before.Note(), "</figcaption><div>", before.Svg(),
                      "</div></figure><figure><figcaption>", EscapedHtml(c.after_name),
                      after.Note(), "</figcaption><div>", after.Svg(), "</div></figure></div>\n");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
