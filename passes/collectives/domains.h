// Which instructions of a computation belong to one domain.
//   a -> domain{exit=X, entry=Y} -> b       a is of domain X, b of domain Y
#pragma once

#include <map>
#include <vector>

#include "ir/computation.h"

namespace hlokit {

// Instructions that reach each other without passing a domain instruction form a region; regions
// with the same sharding on their side of a domain instruction are of one domain. Those that touch
// none are of one domain too.
class Domains {
 public:
  explicit Domains(const Computation& computation);
  // Instructions made since then are of no domain.
  bool Same(const Instruction& a, const Instruction& b) const { return Of(a) == Of(b); }

 private:
  int64_t Of(const Instruction& i) const;

  std::map<int64_t, int64_t> domain_;  // by instruction id; empty where there is no domain
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
