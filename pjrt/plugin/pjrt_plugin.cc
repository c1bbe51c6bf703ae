// libpjrt_hlokit.so: the one symbol that frameworks look up.
#include "pjrt/abi/api.h"

extern "C" __attribute__((visibility("default"))) const hlokit::PJRT_Api* GetPjrtApi() {
  return hlokit::PjrtApi();
}
// SPDX-License-Identifier: Apache-2.0
