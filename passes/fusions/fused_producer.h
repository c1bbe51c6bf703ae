// A producer computed inside of its consumer.
#pragma once

#include "ir/module.h"

namespace hlokit {

// Puts a fusion in the place of `consumer`, an instruction or a fusion, that computes `producer`
// (likewise, and an array) itself. Operands are the consumer's but for the producer, then the
// producer's, each once; backend_config and metadata are the consumer's, the kind kLoop. The
// producer stays for its other users, the consumer goes. A null producer: a fusion of the consumer
// alone.
Instruction* FuseProducer(Instruction* producer, Instruction* consumer);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
