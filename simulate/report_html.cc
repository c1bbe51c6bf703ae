// The page: figures and bars are written here, timelines and memory are drawn by the page's script
// from arrays, so that one can zoom from a step of seconds into a kernel of microseconds.
#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "ir/computation.h"
#include "simulate/report.h"
#include "support/json_value.h"

namespace hlokit {
namespace {

constexpr int kMaxRows = 60;         // of the table of instructions
constexpr size_t kMaxSpans = 40000;  // of one kind's timeline

constexpr char kStyle[] = R"(<style>
body { font: 14px system-ui, sans-serif; margin: 2em; max-width: 1200px; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } td, th { padding: 2px 10px; text-align: right; }
th { border-bottom: 1px solid #888; } td.l, th.l { text-align: left; font-family: monospace; }
.bar { display: flex; height: 34px; margin: 8px 0; } .bar div { overflow: hidden; color: #fff;
font-size: 12px; padding: 2px 0 0 4px; box-sizing: border-box; white-space: nowrap; }
canvas { width: 100%; border: 1px solid #ccc; } #tip { white-space: pre; font-family: monospace;
min-height: 2.6em; } .bad { color: #b00; font-weight: bold; }
</style>)";

// spans: [lane, begin, end, name, class]; class 0 kernel, 1 wait, 2 transfer, 3 further iterations.
constexpr char kScript[] = R"(<script>
const colors = ['#4878a8', '#c8553d', '#5a9e6f', '#9a86b8'];
function view(canvas, spans, lanes, end) {
  let from = 0, to = end;
  const row = 26, ctx = canvas.getContext('2d');
  canvas.height = row * lanes.length + 18;
  function draw() {
    const w = canvas.width = canvas.clientWidth, s = w / (to - from);
    ctx.font = '11px sans-serif';
    for (const [lane, b, e, n, c] of spans) {
      if (e < from || b > to) continue;
      const x = (b - from) * s, width = Math.max(0.5, (e - b) * s);
      ctx.fillStyle = colors[c];
      ctx.fillRect(x, lane * row + 1, width, row - 3);
      if (width > 60) {
        ctx.fillStyle = '#fff';
        ctx.fillText(n, Math.max(x, 0) + 3, lane * row + 16, width - 6);
      }
    }
    ctx.fillStyle = '#222';
    lanes.forEach((n, i) => ctx.fillText(n, w - 90, i * row + 16));
    ctx.fillText(from.toPrecision(4) + ' s', 2, lanes.length * row + 13);
    ctx.fillText(to.toPrecision(4) + ' s', w - 70, lanes.length * row + 13);
  }
  canvas.onwheel = ev => {
    ev.preventDefault();
    const at = from + (to - from) * ev.offsetX / canvas.clientWidth;
    const f = Math.exp(ev.deltaY / 300);
    from = Math.max(0, at - (at - from) * f);
    to = Math.min(end, at + (to - at) * f);
    draw();
  };
  canvas.onmousemove = ev => {
    if (ev.buttons) {
      const d = Math.max(-from, Math.min(end - to, -ev.movementX * (to - from) / canvas.clientWidth));
      from += d; to += d; draw();
    }
    const t = from + (to - from) * ev.offsetX / canvas.clientWidth, lane = Math.floor(ev.offsetY / row);
    const hit = spans.filter(s => s[0] == lane && s[1] <= t && t <= s[2]);
    document.getElementById('tip').textContent = hit.map(
      s => s[3] + '   ' + s[1].toPrecision(6) + ' s, for ' + (s[2] - s[1]).toPrecision(4) + ' s').join('\n');
  };
  draw();
}
function steps(canvas, points, end, limit) {
  const ctx = canvas.getContext('2d'), w = canvas.width = canvas.clientWidth, h = canvas.height = 160;
  const top = Math.max(limit, ...points.map(p => p[1])) * 1.05;
  ctx.fillStyle = '#c9d8e8';
  points.forEach(([t, b], i) => {
    const next = i + 1 < points.length ? points[i + 1][0] : end;
    ctx.fillRect(t / end * w, h - b / top * h, Math.max(0.5, (next - t) / end * w), b / top * h);
  });
  if (limit > 0) { ctx.fillStyle = '#b00'; ctx.fillRect(0, h - limit / top * h, w, 1); }
}
</script>)";

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}
// For scripts: no text ends the element.
std::string ScriptText(absl::string_view text) {
  return absl::StrReplaceAll(JsonQuote(text), {{"<", "\\u003c"}});
}

// What the device's seconds go to: kernels by what bounds them, waiting by collective.
std::vector<std::pair<std::string, double>> Parts(const DeviceTimeline& line) {
  std::map<std::string, double> sums;
  double counted = 0;
  for (const PredictedTime& row : line.instructions) {
    const double seconds = row.algorithm.empty() ? row.seconds : row.exposed;
    const std::string name = row.algorithm.empty()
                                 ? absl::StrCat("kernels bound by ", Text(row.bound))
                                 : absl::StrCat("waiting: ", Text(row.instruction->opcode()));
    sums[name] += seconds;
    counted += seconds;
  }
  if (line.seconds > counted * 1.0001) sums["waiting for other devices"] = line.seconds - counted;
  std::vector<std::pair<std::string, double>> parts(sums.begin(), sums.end());
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  return parts;
}

void AddBar(const DeviceTimeline& line, std::string& out) {
  constexpr const char* kColors[] = {"#4878a8", "#c8553d", "#5a9e6f", "#9a86b8",
                                     "#b08a3e", "#6d6d6d", "#3e9aa8", "#a84878"};
  out += "<div class=bar>";
  size_t n = 0;
  for (const auto& [name, seconds] : Parts(line)) {
    const double percent = line.seconds > 0 ? 100 * seconds / line.seconds : 0;
    if (percent < 0.05) continue;
    absl::StrAppendFormat(&out,
                          "<div style='width:%.3f%%;background:%s' title='%s: %s, %.1f %%'>%s "
                          "%.1f %%</div>",
                          percent, kColors[n++ % std::size(kColors)], Escaped(name),
                          SecondsWithUnit(seconds), percent, Escaped(name), percent);
  }
  out += "</div>\n";
}

void AddFigures(const SimulationReport& r, const DeviceTimeline& line, std::string& out) {
  const StepPrediction& step = *r.step;
  const auto row = [&](absl::string_view name, const std::string& value) {
    absl::StrAppend(&out, "<tr><td class=l>", name, "</td><td>", value, "</td></tr>\n");
  };
  const auto share = [&](double part) {
    return absl::StrFormat("%s (%.1f %%)", SecondsWithUnit(part),
                           line.seconds > 0 ? 100 * part / line.seconds : 0);
  };
  out += "<table>\n";
  row("step", SecondsWithUnit(step.seconds));
  if (r.before != nullptr)
    row(absl::StrCat("step without ", Escaped(absl::StrJoin(r.changes, ", "))),
        SecondsWithUnit(r.before->seconds));
  row("computing", share(line.compute));
  row("communication", share(line.communication));
  row("exposed communication", share(line.exposed));
  row("model flops utilisation", absl::StrFormat("%.1f %%", 100 * ModelFlopsUtilisation(step)));
  row("model TFLOP/s a device",
      absl::StrFormat("%.4g", step.seconds > 0 ? step.model_flops / step.seconds / 1e12 : 0));
  if (r.memory != nullptr) {
    const double limit = r.topology->device.memory;
    const bool fits = limit <= 0 || static_cast<double>(r.memory->peak) <= limit;
    row("peak memory", absl::StrCat(BytesWithUnit(static_cast<double>(r.memory->peak)),
                                    limit > 0 ? absl::StrCat(" of ", BytesWithUnit(limit)) : "",
                                    fits ? "" : " <span class=bad>does not fit</span>"));
  }
  out += "</table>\n";
}

void AddLinks(const SimulationReport& r, const DeviceTimeline& line, std::string& out) {
  out +=
      "<table><tr><th class=l>link</th><th>sent by each device</th><th>busy</th><th>%</th></tr>\n";
  for (size_t l = 0; l < r.topology->links.size(); ++l)
    absl::StrAppendFormat(&out, "<tr><td class=l>%s</td><td>%s</td><td>%s</td><td>%.1f</td></tr>\n",
                          Escaped(r.topology->links[l].name), BytesWithUnit(line.sent[l]),
                          SecondsWithUnit(line.busy[l]),
                          line.seconds > 0 ? 100 * line.busy[l] / line.seconds : 0);
  out += "</table>\n";
}

void AddInstructions(const DeviceTimeline& line, std::string& out) {
  out +=
      "<table><tr><th>time</th><th>%</th><th>runs</th><th>exposed</th><th class=l>bound</th>"
      "<th class=l>instruction</th><th class=l>from</th></tr>\n";
  int shown = 0;
  for (const PredictedTime& row : line.instructions) {
    if (shown++ == kMaxRows) break;
    const bool transfer = !row.algorithm.empty();
    absl::StrAppendFormat(
        &out,
        "<tr><td>%s</td><td>%.2f</td><td>%.0f</td><td>%s</td><td class=l>%s</td><td class=l>%s</td>"
        "<td class=l>%s</td></tr>\n",
        SecondsWithUnit(row.seconds),
        line.seconds > 0 ? 100 * (transfer ? row.exposed : row.seconds) / line.seconds : 0,
        row.runs, transfer ? SecondsWithUnit(row.exposed) : "",
        transfer ? Escaped(row.algorithm) : std::string(Text(row.bound)),
        Escaped(row.instruction->name()),
        Escaped(absl::string_view(row.instruction->metadata().op_name)));
  }
  out += "</table>\n";
}

void AddTimeline(const SimulationReport& r, size_t kind, std::string& out) {
  const DeviceTimeline& line = r.step->kinds[kind];
  std::vector<std::string> lanes = {ScriptText("kernels")}, spans;
  for (const Link& link : r.topology->links) lanes.push_back(ScriptText(link.name));
  for (const TimelineSpan& span : line.spans) {
    if (spans.size() == kMaxSpans) break;
    const int color = span.iterations > 0 ? 3 : span.lane > 0 ? 2 : span.waits ? 1 : 0;
    const std::string name =
        span.iterations > 0
            ? absl::StrFormat("%s: %.0f more iterations", span.instruction->name(), span.iterations)
            : absl::StrCat(span.waits ? "wait: " : "", span.instruction->name());
    spans.push_back(absl::StrFormat("[%d,%.9g,%.9g,%s,%d]", span.lane, span.begin, span.end,
                                    ScriptText(name), color));
  }
  absl::StrAppendFormat(
      &out,
      "<h3>device %d%s</h3><canvas id=t%d></canvas>\n<script>view("
      "document.getElementById('t%d'), [%s], [%s], %.9g);</script>\n",
      line.device, line.devices > 1 ? absl::StrFormat(" and %d like it", line.devices - 1) : "",
      kind, kind, absl::StrJoin(spans, ","), absl::StrJoin(lanes, ","),
      std::max(line.seconds, 1e-12));
}

void AddMemory(const SimulationReport& r, std::string& out) {
  if (r.memory == nullptr) return;
  std::vector<std::string> points;
  for (const MemoryPoint& point : r.memory->points)
    points.push_back(absl::StrFormat("[%.9g,%d]", point.seconds, point.bytes));
  absl::StrAppendFormat(
      &out,
      "<h2>Memory over time</h2><p>A loop's first iteration stands for all; the line is the "
      "device's memory.</p><canvas id=memory></canvas>\n<script>steps(document.getElementById("
      "'memory'), [%s], %.9g, %.9g);</script>\n<table><tr><th>bytes</th><th class=l>at the "
      "peak</th></tr>\n",
      absl::StrJoin(points, ","), std::max(r.step->seconds, 1e-12), r.topology->device.memory);
  for (size_t a = 0; a < r.memory->at_peak.size() && a < 12; ++a)
    absl::StrAppend(
        &out, "<tr><td>", BytesWithUnit(static_cast<double>(r.memory->at_peak[a].bytes)),
        "</td><td class=l>", Escaped(r.memory->at_peak[a].maker->name()), "</td></tr>\n");
  out += "</table>\n";
}

}  // namespace

std::string SimulationHtml(const SimulationReport& r) {
  const DeviceTimeline& line = r.step->kinds[0];
  std::string out = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8><title>", Escaped(r.module), " on ",
      Escaped(r.topology->name), "</title>\n", kStyle, kScript, "\n<h1>", Escaped(r.module), " on ",
      Escaped(r.topology->name), "</h1>\n<p>", r.step->devices, " of ", r.topology->DeviceCount(),
      " devices, ", r.step->kinds.size(),
      " kinds. Predicted, not measured. Figures: ", Escaped(r.topology->source), "</p>\n");
  AddFigures(r, line, out);
  out += "<h2>Where the time goes</h2>\n";
  AddBar(line, out);
  AddInstructions(line, out);
  out += "<h2>Timeline</h2><p>The wheel zooms, dragging moves.</p><div id=tip></div>\n";
  for (size_t k = 0; k < r.step->kinds.size() && k < kMaxDetailed; ++k) AddTimeline(r, k, out);
  out += "<h2>Traffic by link</h2>\n";
  AddLinks(r, line, out);
  AddMemory(r, out);
  return out + "</html>\n";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
