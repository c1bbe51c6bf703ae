// The one registry of platforms, for clients, tools and plugins.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/backend.h"

namespace hlokit {

// All platforms that have a name, those too that this build lacks.
absl::Span<const Platform> Platforms();
// Names of the platforms that this build has, the default one first.
std::vector<absl::string_view> PlatformNames();
// The same, of those with a capability, for messages: `cpu`, or `cpu and cuda`.
std::string PlatformsWith(bool Capabilities::*capability);

// By name or alias, in any case; null where there is none.
const Platform* FindPlatform(absl::string_view name);
// A platform that this build has. Errors: InvalidArgument for a name that is no platform,
// Unimplemented for one that this build lacks; both say which there are.
absl::StatusOr<const Platform*> PlatformNamed(absl::string_view name);
// Its backend. Errors: as PlatformNamed.
absl::StatusOr<std::unique_ptr<Backend>> MakeBackend(absl::string_view name,
                                                     const BackendOptions& options = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
