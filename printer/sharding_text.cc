// The text of shardings.
#include "absl/strings/str_cat.h"
#include "printer/attribute_text_internal.h"

namespace hlokit {
namespace {

// What stands inside the braces of a tiled sharding, before the shard group.
void AppendTiles(std::string& out, const Sharding& sharding) {
  out += "devices=";
  AppendBracketed(out, sharding.tile_dims);
  if (sharding.iota) {
    AppendIota(out, sharding.reshape_dims, sharding.transpose_perm);
  } else {
    AppendJoined(out, sharding.devices, ",", [&](int64_t device) { AppendInt(out, device); });
  }
  if (sharding.last_tile_dim_replicate) out += " last_tile_dim_replicate";
  if (sharding.last_tile_dims.empty()) return;
  out += " last_tile_dims=";
  AppendBraced(out, sharding.last_tile_dims, ", ", [&](const std::string& dim) { out += dim; });
}

void AppendKind(std::string& out, const Sharding& sharding) {
  switch (sharding.kind) {
    case Sharding::Kind::kReplicated:
      out += "replicated";
      break;
    case Sharding::Kind::kManual:
      out += "manual";
      break;
    case Sharding::Kind::kUnknown:
      out += "unknown";
      break;
    case Sharding::Kind::kUnreduced:
      out += "unreduced";
      break;
    case Sharding::Kind::kMaximal:
      out += "maximal device=";
      AppendInt(out, sharding.device);
      break;
    case Sharding::Kind::kTiled:
      AppendTiles(out, sharding);
      break;
    case Sharding::Kind::kTuple:
    case Sharding::Kind::kText:
      break;
  }
}

}  // namespace

void AppendSharding(std::string& out, const Sharding& sharding, bool with_metadata) {
  if (sharding.kind == Sharding::Kind::kText) {
    out += sharding.text;
    return;
  }
  out += '{';
  if (sharding.kind == Sharding::Kind::kTuple) {
    for (size_t i = 0; i < sharding.elements.size(); ++i) {
      if (i > 0) out += ", ";
      if (i > 0 && i % 5 == 0) absl::StrAppend(&out, "/*index=", i, "*/");
      AppendSharding(out, sharding.elements[i], with_metadata);
    }
  } else {
    AppendKind(out, sharding);
    if (!sharding.shard_group.empty()) absl::StrAppend(&out, " ", sharding.shard_group);
    if (with_metadata && !sharding.metadata.empty())
      absl::StrAppend(&out, " metadata=", sharding.metadata);
  }
  out += '}';
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
