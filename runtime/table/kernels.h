// All entry points of the runtime, for whoever calls or registers them; each header documents its
// own. Common rules: the first parameter is a HlokitRunContext* (as void*, so that descriptors and
// code stay plain C; null is allowed where nothing can fail); sizes and strides count elements, not
// bytes, unless a name ends in _bytes; element types are HlokitType numbers; descriptors hold
// int64_t only. A kernel that fails leaves its results unspecified and sets the error of the
// context. The names stand in kernels.def.
#pragma once

#include "runtime/attention/attention.h"
#include "runtime/collective/collective.h"
#include "runtime/context.h"
#include "runtime/convolution/conv.h"
#include "runtime/dot/dot.h"
#include "runtime/dot/ragged_dot.h"
#include "runtime/element.h"
#include "runtime/fft/fft.h"
#include "runtime/linalg/lapack.h"
#include "runtime/linalg/linalg.h"
#include "runtime/movement/memory.h"
#include "runtime/parallel.h"
#include "runtime/queues.h"
#include "runtime/rng/rng.h"
#include "runtime/sort/sort.h"
// SPDX-License-Identifier: Apache-2.0
