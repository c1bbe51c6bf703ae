// All that making computations needs: XlaBuilder and every operation.
#pragma once

#include "builder/collectives.h"
#include "builder/communication.h"
#include "builder/constants.h"
#include "builder/control.h"
#include "builder/dump_ops.h"
#include "builder/elementwise.h"
#include "builder/movement.h"
#include "builder/products.h"
#include "builder/random.h"
#include "builder/reductions.h"
#include "builder/xla_builder.h"
// SPDX-License-Identifier: Apache-2.0
