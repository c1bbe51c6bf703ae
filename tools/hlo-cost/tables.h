// The tables that hlo-cost prints.
#pragma once

#include <string>

#include "analysis/module_cost.h"

namespace hlokit {

struct TableOptions {
  std::string by = "instruction";  // instruction, opcode, computation, op_name, source or loop
  std::string sort = "flops";      // flops, transcendentals or bytes
  int64_t top = 30;                // rows; 0: all
  bool over_time = false;          // temporaries over time and what makes the peak, in groups
};

// A line of totals, then a table of rows with runs, flops, transcendental functions, bytes and
// share of the sorted column; last, peak memory where `peak` is given.
std::string CostText(const ModuleCosts& costs, const PeakMemory* peak, const TableOptions& options);
// What lives over time, and the arrays of the peak by opcode, source line and scope.
std::string MemoryText(const PeakMemory& peak, const TableOptions& options);
// The same as one JSON object: total, rows, loops, peak_memory.
std::string CostJson(const ModuleCosts& costs, const PeakMemory* peak, const TableOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
