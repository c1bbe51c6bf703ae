// What a module's own attributes say, as text.
#pragma once

#include <string>

#include "ir/module.h"

namespace hlokit {

// As programs of JAX have them: numbers of partitions and replicas, frontend attributes.
std::string ProgramAttributes(const Module& module);
// As XLA's importer writes them, in which what the HloModule line says of aliases and layouts
// stands too; `flatten`: by the arrays of tuples.
//   mhlo.input_output_alias = [{alias = {kind = "may_alias", ...}, output_index = array<i64: 1>}]
//   mhlo.xla_entry_computation_parameter_layouts = [dense<[0, 1]> : tensor<2xindex>]
std::string ImporterAttributes(const Module& module, bool flatten);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
