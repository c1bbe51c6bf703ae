// Faults of emitters for sanitizer_test.cc: modules, and what a wrong emitter would have written.
#pragma once

#include <functional>
#include <ostream>
#include <vector>

#include "backends/cpu/host_program/module_emitter.h"

namespace hlokit {

// Changes the code; false where it has nothing of the form that the fault is about.
using FaultPlanter = std::function<bool(EmittedModule&)>;

struct PlantedFault {
  const char* name;
  const char* text;  // of a module
  FaultPlanter plant;
  const char* finding;      // words of its finding
  const char* instruction;  // which that names
};

std::vector<PlantedFault> PlantedFaults();
// For messages of tests.
void PrintTo(const PlantedFault& fault, std::ostream* out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
