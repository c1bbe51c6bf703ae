// What the host computes: marks, calls, asynchronous calls.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// annotate-host-compute-offload: instructions of computations that a marked instruction calls get
// its mark, the frontend attribute `_xla_compute_type="host"`. Values stay as they were.
std::unique_ptr<Pass> CreateAnnotateHostComputeOffload();

// hlo_host_device_type_call_wrapper: marked instructions, with those marked that only they need,
// become calls of computations of their own; the call keeps the mark. Not calls, parameters,
// constants, tuples and their parts, and collectives. Exact.
std::unique_ptr<Pass> CreateHostDeviceTypeCallWrapper();

// host_compute_asyncifier: marked calls become async-start and async-done on the thread `host`.
// Calls of computations that others call too get a copy of their own. Exact.
std::unique_ptr<Pass> CreateHostComputeAsyncifier();

// host-offloading-prepare-convert-to-custom-call: what async-start runs on the thread `host`
// becomes one custom call HostExecute of the computation it was, so that nothing looks into it.
// Exact.
std::unique_ptr<Pass> CreateHostOffloadingPrepareConvertToCustomCall();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
