// The text of shardings and domains.
//
//   {devices=[2,2]<=[4] last_tile_dim_replicate metadata={op_name="a"}}
//   {{replicated}, {maximal device=1}}
// Metadata of one row stands in one pair of braces, of several rows in two; shardings over meshes
// always have two and a comma before. These differences are XLA's, and reading accepts each.
#include "absl/strings/str_cat.h"
#include "printer/attribute_text_internal.h"
#include "printer/printer.h"
#include "printer/writer_internal.h"

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
    case Sharding::Kind::kText:
      out += sharding.text;
      break;
    case Sharding::Kind::kTuple:
      break;
  }
}

void AppendShardingMetadata(std::string& out, const Sharding& sharding) {
  const bool named = sharding.kind == Sharding::Kind::kText;
  const bool list = named || sharding.metadata.size() > 1;
  out += named ? ", metadata=" : " metadata=";
  if (list) out += '{';
  AppendJoined(out, sharding.metadata, ", ", [&](const OpMetadata& metadata) {
    AppendMetadataValue(out, metadata, metadata.stack_frame_id);
  });
  if (list) out += '}';
}

}  // namespace

void AppendSharding(std::string& out, const Sharding& sharding, bool with_metadata) {
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
    if (with_metadata && !sharding.metadata.empty()) AppendShardingMetadata(out, sharding);
  }
  out += '}';
}

void AppendValue(std::string& out, const Domain& domain) {
  out += "{kind=\"sharding\", entry=";
  AppendSharding(out, domain.entry, /*with_metadata=*/false);
  out += ", exit=";
  AppendSharding(out, domain.exit, /*with_metadata=*/false);
  out += '}';
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
