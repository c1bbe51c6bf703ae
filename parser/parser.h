// Reads HLO text: modules of every dialect that XLA has printed, and the shapes, literals,
// shardings and other values in them that also stand alone.
//
// Errors are statuses of code InvalidArgument that carry a place in the text; RenderStatus
// (support/diagnostics.h) shows them as `FILE:LINE:COLUMN: error: ...` with the line and a caret:
//   absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
//   if (!module.ok()) std::cerr << RenderStatus(module.status(), SourceFile("my.hlo", text));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/frontend_attributes.h"
#include "ir/module.h"
#include "parser/parse_options.h"
#include "support/diagnostics.h"
#include "types/literal.h"

namespace hlokit {

// Every error goes into `diagnostics`, with its place; the status is the first one. After an error
// in an instruction reading goes on at the next, so one run names up to Diagnostics::kMaxKept
// errors. Array shapes without a layout get the default one, names are made unique as XLA does, and
// entry_layout is always set. The result is not verified (verifier/verifier.h). support/limits.h
// has the limits.
absl::StatusOr<std::unique_ptr<Module>> ParseModule(std::shared_ptr<const SourceFile> file,
                                                    const ParseOptions& options,
                                                    Diagnostics& diagnostics);
// The same for a text, when the first error is enough. The module keeps a copy of the text.
absl::StatusOr<std::unique_ptr<Module>> ParseModule(absl::string_view text,
                                                    const ParseOptions& options = {});

// Adds the computations in `text`, `name (p: f32[2]) -> f32[2] {..}` or `name {..}`, to `module`
// and returns the last one. They may call those before them and those of the module, by name; a
// name that the module has is an error. ENTRY in front of one makes it the module's entry;
// entry_layout stays as it was. After an error the module is as before.
absl::StatusOr<Computation*> ParseComputation(absl::string_view text, Module& module,
                                              const ParseOptions& options = {});

// What follows reads all of `text` as one value; the printer's and the types' Text() writes it
// back.

// `f32[2,3]{1,0}`, `(s32[], token[])`. Layouts are only where the text has them.
absl::StatusOr<Shape> ParseShape(absl::string_view text);
// `{1,0:T(8,128)S(1)}`; its rank is the count of dimensions named.
absl::StatusOr<Layout> ParseLayout(absl::string_view text);
// `(f32[2]{0}, s32[])->f32[2]{0}`, braces around it or not; array shapes without a layout get the
// default one.
absl::StatusOr<EntryLayout> ParseEntryLayout(absl::string_view text);

// `f32[2] {1, 2}`, `(s32[] 1, f32[1] {2})`. An array with bounded dimensions may say how much of it
// there is, `f32[<=3](2) {1, 2}`: a size for each dimension; without them all are at their bounds.
// Elided values `{...}` are an error.
absl::StatusOr<Literal> ParseLiteral(absl::string_view text);
// `{1, 2}` of a shape that is known; `(2) {1, 2}` of a bounded one.
absl::StatusOr<Literal> ParseLiteral(absl::string_view text, const Shape& shape);

// `{devices=[2,1]<=[2]}`, `{replicated}`, `{{manual}, {maximal device=1}}`, braces included.
absl::StatusOr<Sharding> ParseSharding(absl::string_view text);
// `{{0,1},{2,3}}`, `[2,4]<=[4,2]T(1,0)`, `mesh[..] {..}`.
absl::StatusOr<ReplicaGroups> ParseReplicaGroups(absl::string_view text);
// `dot_bf16_bf16_f32_x3`: a word that is none of XLA's is an error.
absl::StatusOr<RawText> ParseDotAlgorithm(absl::string_view text);
// `{{0,1},{1,0}}`, as source_target_pairs has it.
absl::StatusOr<IntPairs> ParseSourceTargetPairs(absl::string_view text);

// `size=3x3 stride=2x2 pad=0_1x0_1`, in braces or not.
absl::StatusOr<Window> ParseWindow(absl::string_view text);
// `b01f_01io->b01f`.
absl::StatusOr<ConvDims> ParseConvolutionDimensionNumbers(absl::string_view text);
// `0_1x2_2_1`: low_high[_interior] for each dimension.
absl::StatusOr<PaddingConfig> ParsePaddingConfig(absl::string_view text);
// `{[0:2], [1:9:2]}`.
absl::StatusOr<SliceSpec> ParseSlice(absl::string_view text);
// `{0,1}`.
absl::StatusOr<ShapeIndex> ParseShapeIndex(absl::string_view text);
// `{{0}: (1, {})}`, as output_to_operand_aliasing has it.
absl::StatusOr<std::vector<OutputAlias>> ParseOutputAliases(absl::string_view text);
// `{{1}: (0, {}, may-alias)}`, as the module's line has input_output_alias; sorted by output.
absl::StatusOr<std::vector<InputOutputAlias>> ParseInputOutputAliases(absl::string_view text);
// `{(1, {0})}`, as the module's line has buffer_donor; sorted.
absl::StatusOr<std::vector<BufferDonor>> ParseBufferDonors(absl::string_view text);
// `{true,false}`, or a single one without braces.
absl::StatusOr<std::vector<bool>> ParseBooleans(absl::string_view text);

// `{kind="sharding", entry={replicated}, exit={maximal device=0}}`.
absl::StatusOr<Domain> ParseDomain(absl::string_view text);
// `{mode=highest}`, `{tolerance={atol=0,rtol=0.001,ulps=2}}`.
absl::StatusOr<ResultAccuracy> ParseResultAccuracy(absl::string_view text);

// `{lhs={sparsity=2x4 dimension=1 stride=1}}`, as convolutions have sparsity_config.
absl::StatusOr<SparsityConfig> ParseSparsityConfig(absl::string_view text);

// `{visualizing_index=0,name=1.5}` and `{{"a" {0}}}`, which the IR keeps as text: checked, and
// in XLA's spelling. No text for statistics without a value.
absl::StatusOr<std::string> ParseStatistics(absl::string_view text);
absl::StatusOr<std::string> ParseOrigin(absl::string_view text);

// `{op_name="a" source_line=3}`, braces included.
absl::StatusOr<OpMetadata> ParseMetadata(absl::string_view text, const ParseOptions& options = {});
// `{a="b",c={d}}`, braces included; sorted by name.
absl::StatusOr<FrontendAttributes> ParseFrontendAttributes(absl::string_view text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
