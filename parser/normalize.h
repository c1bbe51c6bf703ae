// The one form of attributes that text and messages may say in several ways.
#pragma once

#include "ir/module.h"

namespace hlokit {

// Brings an instruction that has its operands to the form that XLA keeps: a comparison type that is
// the operands' own becomes kDefault, precisions that are all default go, an async-update or
// -done has no attributes of its own, a sharding of a tuple names each leaf, and so on.
void Normalize(Instruction& instruction);

// Sorts the rows by the value lost; of several for one the first stays.
void Normalize(std::vector<OriginRecovery>& table);

// The text of a tuple of original values: places without one are `()` in front of others and left
// out after them; empty where there is no value at all.
std::string OriginTuple(std::vector<std::string> elements);

// Takes `"wait_on_operation_queues":[],` out, which says nothing and which only some versions
// write.
void NormalizeBackendConfig(std::string& config);

// The order of elements of a type, which a compare need not name.
ComparisonType OwnOrder(ElementType type);

// Gives transfers, feeds, after-all and add-dependency the shape that their operands ask for: as in
// XLA what text states does not count, but for the data of recv and infeed. Messages are taken at
// their word.
void SettleShape(Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
