/* The headers of the C API, to be compiled as C99. */
#include "client/c_api.h"
#include "client/c_api_builder.h"
/* SPDX-License-Identifier: Apache-2.0 */
