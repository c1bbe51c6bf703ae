// Metadata, frontend attributes, statistics and original values between the IR and their messages.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ir/attribute_types.h"
#include "ir/frontend_attributes.h"
#include "proto/messages_internal.h"

namespace hlokit {

// `stack_frame_id` replaces the one in `metadata`, which counts rows of the text's own tables.
void Write(const OpMetadata& metadata, int64_t stack_frame_id, pb::OpMetadata* out);
void Read(const pb::OpMetadata& in, Seen& seen, OpMetadata& metadata);

// What stands in a sharding.
using MetadataMessages = google::protobuf::RepeatedPtrField<pb::OpMetadata>;
void Write(const std::vector<OpMetadata>& list, MetadataMessages* out);
void Read(const MetadataMessages& in, Seen& seen, std::vector<OpMetadata>& list);

void Write(const FrontendAttributes& attributes, pb::FrontendAttributes* out);
void Read(const pb::FrontendAttributes& in, Seen& seen, FrontendAttributes& attributes);

// `{visualizing_index=1,a=1.5}`; no text where there are none.
absl::Status WriteStatistics(absl::string_view text, pb::StatisticsViz* out);
std::string StatisticsText(const pb::StatisticsViz& in, Seen& seen);

// `{{"a" {0}}}`, `{({"a"}, ({"b"}, {}))}`, `{[synthetic_call]}`.
absl::Status WriteOrigin(absl::string_view text, pb::OriginalValueProto* out);
std::string OriginText(const pb::OriginalValueProto& in, Seen& seen);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
