// What the simulated driver offers beyond CUDA's; a client looks the functions up by name.
#pragma once

extern "C" {

// Why the last call of this thread failed: a kernel's fault with its place, an error in PTX. Empty
// where there is nothing beyond the error's code. Valid until the thread's next call.
const char* hlokitSimLastError();

// Threads of the host that run a grid's blocks; results do not depend on them.
void hlokitSimSetThreads(int threads);

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
