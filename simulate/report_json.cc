// The prediction for programs: one JSON object, and the trace events of Chrome's format.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ir/computation.h"
#include "simulate/report.h"
#include "support/json_value.h"
#include "support/text.h"

namespace hlokit {
namespace {

std::string Number(double value) { return std::isfinite(value) ? ShortestText(value) : "null"; }

std::string Links(const SimulationReport& r, const DeviceTimeline& line) {
  std::vector<std::string> rows;
  for (size_t l = 0; l < r.topology->links.size(); ++l)
    rows.push_back(absl::StrCat("{\"name\": ", JsonQuote(r.topology->links[l].name),
                                ", \"sent_bytes\": ", Number(line.sent[l]),
                                ", \"busy_s\": ", Number(line.busy[l]), "}"));
  return absl::StrJoin(rows, ", ");
}

std::string Row(const PredictedTime& row) {
  std::string out = absl::StrCat(
      "{\"computation\": ", JsonQuote(row.instruction->parent()->name()),
      ", \"name\": ", JsonQuote(row.instruction->name()),
      ", \"opcode\": ", JsonQuote(Text(row.instruction->opcode())),
      ", \"op_name\": ", JsonQuote(absl::string_view(row.instruction->metadata().op_name)),
      ", \"runs\": ", Number(row.runs), ", \"seconds\": ", Number(row.seconds));
  if (row.algorithm.empty())
    return absl::StrCat(out, ", \"bound\": ", JsonQuote(Text(row.bound)), "}");
  return absl::StrCat(out, ", \"exposed_s\": ", Number(row.exposed),
                      ", \"algorithm\": ", JsonQuote(row.algorithm),
                      ", \"bytes\": ", Number(row.bytes), "}");
}

std::string Kind(const SimulationReport& r, const DeviceTimeline& line) {
  std::vector<std::string> rows;
  for (const PredictedTime& row : line.instructions) rows.push_back(Row(row));
  return absl::StrCat("{\"device\": ", line.device, ", \"devices\": ", line.devices,
                      ", \"step_s\": ", Number(line.seconds),
                      ", \"compute_s\": ", Number(line.compute),
                      ", \"communication_s\": ", Number(line.communication),
                      ", \"exposed_s\": ", Number(line.exposed), ", \"links\": [", Links(r, line),
                      "], \"instructions\": [\n    ", absl::StrJoin(rows, ",\n    "), "]}");
}

std::string Memory(const MemoryProfile& memory) {
  std::vector<std::string> points, arrays;
  for (const MemoryPoint& point : memory.points)
    points.push_back(absl::StrCat("[", Number(point.seconds), ", ", point.bytes, "]"));
  for (const MemoryProfile::LiveArray& array : memory.at_peak)
    arrays.push_back(absl::StrCat("{\"name\": ", JsonQuote(array.maker->name()),
                                  ", \"bytes\": ", array.bytes, "}"));
  return absl::StrCat("{\"arguments\": ", memory.arguments, ", \"results\": ", memory.results,
                      ", \"constants\": ", memory.constants, ", \"peak\": ", memory.peak,
                      ", \"peak_at_s\": ", Number(memory.peak_at), ", \"over_time\": [",
                      absl::StrJoin(points, ", "), "], \"at_peak\": [", absl::StrJoin(arrays, ", "),
                      "]}");
}

// One event of a track: microseconds, as the format has them.
std::string Event(int process, const TimelineSpan& span) {
  const std::string name =
      span.iterations > 0
          ? absl::StrCat(span.instruction->name(), ": ", Number(span.iterations), " iterations")
      : span.waits ? absl::StrCat("wait for ", span.instruction->name())
                   : span.instruction->name();
  return absl::StrCat(
      "{\"ph\": \"X\", \"pid\": ", process, ", \"tid\": ", span.lane,
      ", \"ts\": ", Number(span.begin * 1e6), ", \"dur\": ", Number((span.end - span.begin) * 1e6),
      ", \"name\": ", JsonQuote(name),
      ", \"cat\": ", JsonQuote(span.waits ? "wait" : Text(span.instruction->opcode())),
      ", \"args\": {\"op_name\": ",
      JsonQuote(absl::string_view(span.instruction->metadata().op_name)), "}}");
}

std::string NameEvent(const char* what, int process, int track, absl::string_view name) {
  return absl::StrCat("{\"ph\": \"M\", \"name\": \"", what, "\", \"pid\": ", process,
                      ", \"tid\": ", track, ", \"args\": {\"name\": ", JsonQuote(name), "}}");
}

}  // namespace

std::string SimulationJson(const SimulationReport& r) {
  const StepPrediction& step = *r.step;
  std::vector<std::string> kinds, changes;
  for (const DeviceTimeline& line : step.kinds) kinds.push_back(Kind(r, line));
  for (const std::string& change : r.changes) changes.push_back(JsonQuote(change));
  std::string out = absl::StrCat(
      "{\"module\": ", JsonQuote(r.module), ", \"topology\": ", JsonQuote(r.topology->name),
      ", \"devices\": ", step.devices, ",\n  \"step_s\": ", Number(step.seconds),
      ", \"model_flops\": ", Number(step.model_flops),
      ", \"product_flops\": ", Number(step.product_flops),
      ", \"model_flops_utilisation\": ", Number(ModelFlopsUtilisation(step)),
      ", \"guessed_trips\": ", step.guessed_trips ? "true" : "false", ",\n");
  if (r.before != nullptr)
    absl::StrAppend(&out, "  \"what_if\": [", absl::StrJoin(changes, ", "),
                    "], \"step_without_s\": ", Number(r.before->seconds), ",\n");
  if (r.memory != nullptr) absl::StrAppend(&out, "  \"memory\": ", Memory(*r.memory), ",\n");
  return absl::StrCat(out, "  \"kinds\": [\n  ", absl::StrJoin(kinds, ",\n  "), "]}\n");
}

std::string SimulationTrace(const SimulationReport& r) {
  std::vector<std::string> events;
  for (size_t k = 0; k < r.step->kinds.size() && k < kMaxDetailed; ++k) {
    const DeviceTimeline& line = r.step->kinds[k];
    const auto process = static_cast<int>(k);
    events.push_back(
        NameEvent("process_name", process, 0,
                  absl::StrCat("device ", line.device, " (", line.devices, " alike)")));
    events.push_back(NameEvent("thread_name", process, 0, "kernels"));
    for (size_t l = 0; l < r.topology->links.size(); ++l)
      events.push_back(
          NameEvent("thread_name", process, static_cast<int>(l) + 1, r.topology->links[l].name));
    for (const TimelineSpan& span : line.spans) events.push_back(Event(process, span));
  }
  if (r.memory != nullptr)
    for (const MemoryPoint& point : r.memory->points)
      events.push_back(absl::StrCat(
          "{\"ph\": \"C\", \"pid\": 0, \"name\": \"memory\", \"ts\": ", Number(point.seconds * 1e6),
          ", \"args\": {\"bytes\": ", point.bytes, "}}"));
  return absl::StrCat("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n",
                      absl::StrJoin(events, ",\n"), "\n]}\n");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
