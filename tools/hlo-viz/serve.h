// hlo-viz --serve: the explorer of a dump folder or a module over HTTP, on this machine alone.
#pragma once

#include "absl/status/status.h"
#include "tools/hlo-viz/pages.h"

namespace hlokit {

// Answers on 127.0.0.1 until the program is ended: `/` with the page, made anew when the folder or
// file has changed (of what has not changed the last page's part is taken), or, as long as there is
// nothing to show, with a page that waits; `/revision` with the number that pages watch. Port 0
// takes a free one; the address is printed on standard output. Requests that name another host are
// refused, so that no web page can read the dump. options.browser is told the address. Errors:
// InvalidArgument where there is neither folder nor file, FailedPrecondition where the port cannot
// be had.
absl::Status Serve(const VizOptions& options, const SideInputs& side);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
