// Every operation of the semantics pages built through the builder: the module verifies, its text
// reads back, and both platforms compute the same.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "absl/strings/str_split.h"
#include "client/op_cases_internal.h"
#include "ffi/registry.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "printer/whole_text.h"
#include "support/file.h"
#include "support/status.h"
#include "types/compare.h"
#include "types/random_literal.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

// Where a list of cases stands, also by the name of its golden file in testdata/builder/.
struct CaseList {
  const char* name;
  std::vector<OpCase> (*cases)();
};
constexpr CaseList kLists[] = {{"elements", ElementCases},
                               {"arrays", ArrayCases},
                               {"computations", ComputationCases},
                               {"devices", DeviceCases}};

Literal RandomValue(const Shape& shape, uint64_t stream) {
  if (!shape.IsTuple()) {
    Literal literal = Literal::Unset(shape);
    FillRandom(literal, stream, {.float_low = 0.25, .float_high = 0.75, .int_high = 1});
    return literal;
  }
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements) elements.push_back(RandomValue(element, ++stream));
  return Literal::Tuple(std::move(elements));
}

// The result, and what the host was given in a tuple with it.
absl::StatusOr<Literal> RunOn(absl::string_view platform, const OpCase& c,
                              const XlaComputation& computation) {
  Client* client = ClientLibrary::ClientLibraryOrDie(platform);
  std::vector<std::unique_ptr<GlobalData>> data;
  std::vector<const GlobalData*> arguments;
  const std::vector<Shape> parameters = computation.GetProgramShape().value().parameters;
  for (size_t p = 0; p < parameters.size(); ++p) {
    data.push_back(std::make_unique<GlobalData>(RandomValue(parameters[p], 100 * p), 0));
    arguments.push_back(data.back().get());
  }
  if (c.host == HostSide::kFeeds)
    RETURN_IF_ERROR(client->TransferToInfeed(RandomValue(F32({3}), 7)));
  absl::StatusOr<Literal> result = client->ExecuteAndTransfer(computation, arguments);
  if (!result.ok() || c.host != HostSide::kIsFed) return result;
  ASSIGN_OR_RETURN(Literal given, client->TransferFromOutfeed(0, /*timeout_s=*/60));
  std::vector<Literal> both;
  both.push_back(*std::move(result));
  both.push_back(std::move(given));
  return Literal::Tuple(std::move(both));
}

// The text, which reads back.
std::string CheckedText(const XlaComputation& computation) {
  Diagnostics diagnostics;
  EXPECT_TRUE(Verify(computation.module(), diagnostics).ok())
      << diagnostics.Render(SourceFile("", ""));
  std::string text = WholeText(computation.module());
  const auto back = ParseModule(text);
  EXPECT_TRUE(back.ok()) << back.status() << "\n" << text;
  if (back.ok()) {
    EXPECT_EQ(WholeText(**back), text);
  }
  return text;
}

void CheckValues(const OpCase& c, const XlaComputation& computation) {
  const absl::StatusOr<Literal> expected = RunOn("interpreter", c, computation);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const absl::StatusOr<Literal> found = RunOn("cpu", c, computation);
  ASSERT_TRUE(found.ok()) << found.status();
  const CompareResult result = Compare(*expected, *found, {.abs_error = 1e-5, .rel_error = 1e-5});
  EXPECT_TRUE(result.equal) << result.Report();
}

// The texts of a list, each under its row's name, are those of the golden file, which
// scripts/xla/builder_text_test.py holds to the real XLA's. HLOKIT_UPDATE_GOLDENS takes them over.
void CheckGolden(const std::string& name, const std::string& texts) {
  const std::string path = absl::StrCat(HLOKIT_SOURCE_DIR "/testdata/builder/", name, ".out");
  if (std::getenv("HLOKIT_UPDATE_GOLDENS") != nullptr) {
    ASSERT_TRUE(AtomicWriteFile(path, texts).ok());
  }
  const absl::StatusOr<std::string> golden = ReadFile(path);
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(texts, *golden) << "HLOKIT_UPDATE_GOLDENS=1 takes it over";
}

class OperationsTest : public testing::TestWithParam<CaseList> {
 protected:
  static void SetUpTestSuite() {
    const absl::Status done = RegisterCustomCall("myfunc", [](hlokit_ffi_call* call) {
      auto* out = static_cast<float*>(call->results[0].data);
      std::fill_n(out, 9, *static_cast<const float*>(call->arguments[1].data));
      return 0;
    });
    ASSERT_TRUE(done.ok()) << done;
  }
};

TEST_P(OperationsTest, EachIsBuiltAndRuns) {
  std::string texts;
  for (const OpCase& c : GetParam().cases()) {
    SCOPED_TRACE(c.row);
    XlaBuilder b("built");
    c.build(b);
    const absl::StatusOr<XlaComputation> built = b.Build();
    ASSERT_TRUE(built.ok()) << built.status();
    absl::StrAppend(&texts, "// ----- ", c.row, "\n", CheckedText(*built));
    CheckValues(c, *built);
  }
  CheckGolden(GetParam().name, texts);
}

INSTANTIATE_TEST_SUITE_P(Lists, OperationsTest, testing::ValuesIn(kLists),
                         [](const auto& info) { return std::string(info.param.name); });

// The rows of the catalogue, where it lies beside the checkout.
TEST(OperationRowsTest, EveryRowOfTheCatalogueHasACase) {
  const auto text = ReadFile(std::string(HLOKIT_SOURCE_DIR) + "/../shared/ops.tsv");
  const auto elsewhere = ReadFile(std::string(HLOKIT_SOURCE_DIR) + "/../../shared/ops.tsv");
  if (!text.ok() && !elsewhere.ok()) GTEST_SKIP() << "shared/ops.tsv is not here";
  std::set<std::string> built;
  for (const CaseList& list : kLists)
    for (const OpCase& c : list.cases()) built.insert(c.row);
  bool header = true;
  for (absl::string_view line :
       absl::StrSplit(text.ok() ? *text : *elsewhere, '\n', absl::SkipEmpty())) {
    const std::string row(line.substr(0, line.find('\t')));
    EXPECT_TRUE(header || built.contains(row)) << row;
    header = false;
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
