// Rows summed under a key, sorted, and written.
//
//   --by=opcode: dot, 12 runs, 3.2e9 flops, ...     --by=op_name: layer1/attention, ...
// Keys are opcodes, computations, names and source lines of the framework, single instructions, or
// loops. Instructions count as often as they run: trip counts of the loops around them multiply,
// and a guess says so. Rows are sorted by one column, each with its share of the whole.
#include "tools/hlo-cost/tables.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/source_line.h"
#include "nlohmann/json.hpp"
#include "support/text.h"

namespace hlokit {
namespace {

using nlohmann::json;

struct Row {
  std::string key;
  double runs = 0;
  InstructionCost cost;
};

std::string KeyOf(const Instruction& i, const std::string& by) {
  if (by == "opcode") return std::string(Text(i.opcode()));
  if (by == "computation") return i.parent()->name();
  if (by == "op_name") return i.metadata().op_name.empty() ? "(none)" : i.metadata().op_name.str();
  if (by == "source") {
    const std::string line = SourceLine(i);
    return line.empty() ? "(none)" : line;
  }
  return i.parent()->IsEntry() ? i.name() : absl::StrCat(i.parent()->name(), "/", i.name());
}

double Value(const InstructionCost& cost, const std::string& column) {
  if (column == "bytes") return cost.bytes;
  return column == "transcendentals" ? cost.transcendentals : cost.flops;
}

std::vector<Row> LoopRows(const ModuleCosts& costs) {
  std::vector<Row> rows;
  for (const LoopRow& loop : costs.loops)
    rows.push_back(
        {absl::StrCat(loop.loop->name(), " x ", loop.trips, loop.trips_known ? "" : " (guessed)"),
         loop.entered, loop.cost});
  return rows;
}

std::vector<Row> SumRows(const ModuleCosts& costs, const TableOptions& options) {
  std::vector<Row> rows;
  std::map<std::string, size_t> place;
  for (const InstructionRow& one : costs.instructions) {
    const std::string key = KeyOf(*one.instruction, options.by);
    const auto [at, fresh] = place.emplace(key, rows.size());
    if (fresh) rows.push_back({key, 0, {}});
    Row& row = rows[at->second];
    row.runs += one.runs;
    row.cost.flops += one.cost.flops;
    row.cost.transcendentals += one.cost.transcendentals;
    row.cost.bytes += one.cost.bytes;
  }
  return rows;
}

std::vector<Row> Rows(const ModuleCosts& costs, const TableOptions& options) {
  std::vector<Row> rows = options.by == "loop" ? LoopRows(costs) : SumRows(costs, options);
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return Value(a.cost, options.sort) > Value(b.cost, options.sort);
  });
  return rows;
}

double Share(const Row& row, const ModuleCosts& costs, const TableOptions& options) {
  const double whole = Value(costs.total, options.sort);
  return whole > 0 ? Value(row.cost, options.sort) / whole : 0;
}

std::string PeakText(const PeakMemory& peak) {
  std::string text =
      absl::StrCat("\npeak memory: arguments ", peak.arguments, ", results ", peak.results,
                   ", constants ", peak.constants, ", temporaries ", peak.temporaries, " bytes",
                   peak.at_peak.empty() ? "\n" : "; of the latter at the peak:\n");
  constexpr size_t kMax = 10;
  for (size_t k = 0; k < std::min(kMax, peak.at_peak.size()); ++k) {
    const Instruction& maker = *peak.at_peak[k].maker;
    const std::string leaf =
        maker.shape().IsTuple() ? absl::StrCat(" {", peak.at_peak[k].leaf, "}") : "";
    absl::StrAppendFormat(&text, "%14d  %s%s  %s\n", peak.at_peak[k].bytes, maker.name(), leaf,
                          SourceLine(maker));
  }
  return text;
}

json CostObject(const InstructionCost& cost) {
  return {{"flops", cost.flops}, {"transcendentals", cost.transcendentals}, {"bytes", cost.bytes}};
}

}  // namespace

std::string CostText(const ModuleCosts& costs, const PeakMemory* peak,
                     const TableOptions& options) {
  std::string text = absl::StrFormat(
      "%.6g flops, %.6g transcendentals, %.6g bytes\n\n%10s %12s %12s %12s %6s  %s\n",
      costs.total.flops, costs.total.transcendentals, costs.total.bytes, "runs", "flops", "transc.",
      "bytes", "%", options.by);
  const std::vector<Row> rows = Rows(costs, options);
  const size_t shown = options.top > 0 ? std::min<size_t>(options.top, rows.size()) : rows.size();
  for (size_t k = 0; k < shown; ++k)
    absl::StrAppendFormat(&text, "%10.6g %12.6g %12.6g %12.6g %6.2f  %s\n", rows[k].runs,
                          rows[k].cost.flops, rows[k].cost.transcendentals, rows[k].cost.bytes,
                          100 * Share(rows[k], costs, options), rows[k].key);
  if (shown < rows.size()) absl::StrAppend(&text, "... and ", rows.size() - shown, " more\n");
  if (peak == nullptr) return text;
  return absl::StrCat(text, PeakText(*peak), options.over_time ? MemoryText(*peak, options) : "");
}

std::string CostJson(const ModuleCosts& costs, const PeakMemory* peak,
                     const TableOptions& options) {
  json rows = json::array(), loops = json::array();
  for (const Row& row : Rows(costs, options)) {
    json one = CostObject(row.cost);
    one[options.by] = row.key;
    one["runs"] = row.runs;
    one["share"] = Share(row, costs, options);
    rows.push_back(std::move(one));
    if (options.top > 0 && static_cast<int64_t>(rows.size()) == options.top) break;
  }
  for (const LoopRow& loop : costs.loops) {
    json one = CostObject(loop.cost);
    one["name"] = loop.loop->name();
    one["entered"] = loop.entered;
    one["trips"] = loop.trips;
    one["trips_known"] = loop.trips_known;
    loops.push_back(std::move(one));
  }
  json whole = {{"total", CostObject(costs.total)}, {"rows", rows}, {"loops", loops}};
  if (peak != nullptr) {
    json arrays = json::array();
    for (const PeakArray& array : peak->at_peak)
      arrays.push_back({{"name", array.maker->name()},
                        {"bytes", array.bytes},
                        {"opcode", std::string(Text(array.maker->opcode()))},
                        {"scope", OuterScope(*array.maker)},
                        {"source", SourceLine(*array.maker)}});
    whole["peak_memory"] = {{"arguments", peak->arguments},
                            {"results", peak->results},
                            {"constants", peak->constants},
                            {"temporaries", peak->temporaries},
                            {"at_peak", arrays}};
    if (options.over_time)
      for (const PeakArray& moment : peak->over_time)
        whole["peak_memory"]["over_time"].push_back(
            {{"name", moment.maker->name()}, {"bytes", moment.bytes}});
  }
  return whole.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
