// The explorer's page as bundled by the build, with @TITLE@, @INDEX@ and @DATA@ to be filled in.
#pragma once

namespace hlokit {
extern const char* const kPageText;
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
