// Arguments in one dialect.
#pragma once

#include <string>
#include <vector>

namespace hlokit {

// The arguments after the program's name, with the dialects of a shell user's habits made one:
// underscores in a flag's name become dashes (`--num_partitions=2`), and `-flag` of two letters or
// more becomes `--flag`, and `-f=value` two arguments. Values and what stands after `--` stay as
// they are.
std::vector<std::string> NormalizeArguments(int argc, const char* const* argv);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
