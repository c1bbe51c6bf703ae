// The table that a terminal shows.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ir/computation.h"
#include "simulate/report.h"

namespace hlokit {
namespace {

std::string Scaled(double value, absl::Span<const char* const> units, double step) {
  size_t u = 0;
  while (u + 1 < units.size() && std::abs(value) >= step) {
    value /= step;
    ++u;
  }
  return absl::StrFormat("%.4g %s", value, units[u]);
}

double Percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string Extent(const Topology& topology, int64_t devices) {
  std::vector<std::string> levels;
  for (const Link& link : topology.links)
    levels.push_back(absl::StrCat(link.size(), " ", link.name));
  return absl::StrCat(devices, " of ", topology.DeviceCount(), " devices (",
                      absl::StrJoin(levels, " x "), ")");
}

void AddTimes(const SimulationReport& r, const DeviceTimeline& line, std::string& out) {
  const StepPrediction& step = *r.step;
  absl::StrAppendFormat(&out, "step             %s\n", SecondsWithUnit(step.seconds));
  if (r.before != nullptr)
    absl::StrAppendFormat(
        &out, "without changes  %s, %.3f times this (%s)\n", SecondsWithUnit(r.before->seconds),
        step.seconds > 0 ? r.before->seconds / step.seconds : 1, absl::StrJoin(r.changes, ", "));
  absl::StrAppendFormat(&out, "computing        %s, %.1f %%\n", SecondsWithUnit(line.compute),
                        Percent(line.compute, line.seconds));
  absl::StrAppendFormat(&out, "communication    %s, of which %s exposed, %.1f %%\n",
                        SecondsWithUnit(line.communication), SecondsWithUnit(line.exposed),
                        Percent(line.exposed, line.seconds));
  const double rate = step.seconds > 0 ? step.model_flops / step.seconds / 1e12 : 0;
  absl::StrAppendFormat(&out, "model flops      %.4g a device: %.4g TFLOP/s, utilisation %.1f %%",
                        step.model_flops, rate, 100 * ModelFlopsUtilisation(step));
  if (step.product_flops > step.model_flops)
    absl::StrAppendFormat(&out, "; with recomputation %.4g, %.1f %%", step.product_flops,
                          Percent(step.ideal_seconds, step.seconds));
  out += "\n";
}

void AddMemoryRows(const SimulationReport& r, std::string& out) {
  if (r.memory == nullptr) return;
  const double limit = r.topology->device.memory;
  absl::StrAppend(&out, "memory           ", BytesWithUnit(static_cast<double>(r.memory->peak)),
                  " at ", SecondsWithUnit(r.memory->peak_at), " (arguments ",
                  BytesWithUnit(static_cast<double>(r.memory->arguments)), ", results ",
                  BytesWithUnit(static_cast<double>(r.memory->results)), ")");
  if (limit > 0) absl::StrAppend(&out, ", device ", BytesWithUnit(limit));
  if (limit > 0 && static_cast<double>(r.memory->peak) > limit) out += ": DOES NOT FIT";
  out += "\n";
}

void AddLinkRows(const SimulationReport& r, const DeviceTimeline& line, std::string& out) {
  if (r.topology->links.empty()) return;
  absl::StrAppendFormat(&out, "\n%-16s %14s %14s %8s\n", "link", "sent by each", "busy", "busy %");
  for (size_t l = 0; l < r.topology->links.size(); ++l)
    absl::StrAppendFormat(&out, "%-16s %14s %14s %8.1f\n", r.topology->links[l].name,
                          BytesWithUnit(line.sent[l]), SecondsWithUnit(line.busy[l]),
                          Percent(line.busy[l], line.seconds));
}

void AddKinds(const SimulationReport& r, std::string& out) {
  if (r.step->kinds.size() < 2) return;
  absl::StrAppendFormat(&out, "\n%-10s %10s %12s %12s %12s\n", "like device", "devices", "step",
                        "computing", "exposed");
  for (size_t k = 0; k < r.step->kinds.size() && k < 16; ++k) {
    const DeviceTimeline& line = r.step->kinds[k];
    absl::StrAppendFormat(&out, "%-11d %10d %12s %12s %12s\n", line.device, line.devices,
                          SecondsWithUnit(line.seconds), SecondsWithUnit(line.compute),
                          SecondsWithUnit(line.exposed));
  }
  if (r.step->kinds.size() > 16)
    absl::StrAppend(&out, "... and ", r.step->kinds.size() - 16, " more kinds\n");
}

void AddInstructions(const DeviceTimeline& line, int rows, std::string& out) {
  absl::StrAppendFormat(&out, "\n%11s %6s %8s %11s  %-10s %s\n", "time", "%", "runs", "exposed",
                        "bound", "instruction");
  int shown = 0;
  for (const PredictedTime& row : line.instructions) {
    if (shown++ == rows) break;
    const double lost = row.algorithm.empty() ? row.seconds : row.exposed;
    absl::StrAppendFormat(&out, "%11s %6.2f %8.0f %11s  %-10s %s/%s\n",
                          SecondsWithUnit(row.seconds), Percent(lost, line.seconds), row.runs,
                          row.algorithm.empty() ? "" : SecondsWithUnit(row.exposed),
                          row.algorithm.empty() ? std::string(Text(row.bound)) : row.algorithm,
                          row.instruction->parent()->name(), row.instruction->name());
  }
  const auto left = static_cast<int>(line.instructions.size()) - rows;
  if (left > 0) absl::StrAppend(&out, "... and ", left, " more\n");
}

}  // namespace

std::string SecondsWithUnit(double seconds) {
  if (seconds >= 1 || seconds == 0) return absl::StrFormat("%.4g s", seconds);
  return Scaled(seconds * 1e9, {"ns", "us", "ms"}, 1000);
}

std::string BytesWithUnit(double bytes) {
  return Scaled(bytes, {"B", "kB", "MB", "GB", "TB", "PB"}, 1000);
}

double ModelFlopsUtilisation(const StepPrediction& step) {
  return step.seconds > 0 ? step.model_ideal_seconds / step.seconds : 0;
}

std::string SimulationTable(const SimulationReport& r, int rows) {
  const DeviceTimeline& line = r.step->kinds[0];
  std::string out =
      absl::StrCat(r.module, " on ", r.topology->name, ": ", Extent(*r.topology, r.step->devices),
                   ", ", r.step->kinds.size(), r.step->kinds.size() == 1 ? " kind\n" : " kinds\n");
  if (r.step->kinds.size() > 1)
    absl::StrAppend(&out, "below: device ", line.device, " and ", line.devices - 1, " like it\n");
  out += "\n";
  AddTimes(r, line, out);
  AddMemoryRows(r, out);
  if (r.step->guessed_trips) out += "loops without a known number of iterations: see --trips\n";
  AddLinkRows(r, line, out);
  AddKinds(r, out);
  AddInstructions(line, rows, out);
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
