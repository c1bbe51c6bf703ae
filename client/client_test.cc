// Clients: the seeds' tutorial, data, feeds, many threads, snapshots and executables as bytes.
#include "client/client.h"

#include <thread>

#include "builder/builder.h"
#include "client/computation_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

using ::testing::HasSubstr;

constexpr ElementType kF32 = ElementType::kF32;
Shape F32(std::initializer_list<int64_t> dims) { return Shape::Array(kF32, dims); }

Literal Count(int64_t n) {
  Literal literal(F32({n}));
  for (int64_t i = 0; i < n; ++i) literal.as<float>()[i] = static_cast<float>(i);
  return literal;
}

// alpha * x + y of n elements.
XlaComputation Axpy(int64_t n) {
  XlaBuilder b("axpy");
  const XlaOp alpha = Parameter(&b, 0, F32({}), "alpha");
  const XlaOp x = Parameter(&b, 1, F32({n}), "x");
  alpha* x + Parameter(&b, 2, F32({n}), "y");
  return b.Build().value();
}

class ClientTest : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<GlobalData> Data(Literal literal) {
    return client_->TransferToServer(std::move(literal)).value();
  }
  std::string Run(const XlaComputation& computation, std::vector<Literal> arguments) {
    std::vector<std::unique_ptr<GlobalData>> data;
    std::vector<const GlobalData*> pointers;
    for (Literal& argument : arguments) data.push_back(Data(std::move(argument)));
    for (const auto& d : data) pointers.push_back(d.get());
    const auto result = client_->ExecuteAndTransfer(computation, pointers);
    return result.ok() ? Text(*result) : result.status().ToString();
  }
  std::unique_ptr<Client> client_ = Client::Create(GetParam()).value();
};

INSTANTIATE_TEST_SUITE_P(Platforms, ClientTest, testing::Values("cpu", "interpreter"));

TEST_P(ClientTest, TutorialWithParameters) {
  ComputationBuilder builder(client_.get(), "axpy");
  const auto alpha = builder.Parameter(0, F32({}), "alpha");
  const auto x = builder.Parameter(1, F32({10}), "x");
  const auto y = builder.Parameter(2, F32({10}), "y");
  builder.Add(builder.Mul(alpha, x), y);
  const std::unique_ptr<XlaComputation> axpy = builder.Build().value();
  Literal ones(F32({10}));
  std::fill_n(ones.as<float>(), 10, 1.0F);
  EXPECT_EQ(Run(*axpy, {Literal::R0<float>(2.5), Count(10), ones}),
            "{1, 3.5, 6, 8.5, 11, 13.5, 16, 18.5, 21, 23.5}");
}

TEST_P(ClientTest, TutorialWithConstants) {
  ComputationBuilder builder(client_.get(), "axpy");
  const auto x = builder.ConstantR1<float>({1, 2, 3});
  builder.Add(builder.Mul(builder.ConstantR0<float>(2), x), builder.ConstantR1<float>(3, 1.0F));
  EXPECT_EQ(Run(*builder.Build().value(), {}), "{3, 5, 7}");
}

TEST_P(ClientTest, RunsAgainWithoutCompiling) {
  const XlaComputation axpy = Axpy(4);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(Run(axpy, {Literal::R0<float>(2), Count(4), Count(4)}), "{0, 3, 6, 9}");
  EXPECT_EQ(client_->compile_count(), 1);
}

// A step that adds 1 to its state, which the caller donates.
constexpr char kStep[] = R"(HloModule step, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  state = f32[1024]{0} parameter(0)
  one = f32[] constant(1)
  ones = f32[1024]{0} broadcast(one), dimensions={}
  ROOT next = f32[1024]{0} add(state, ones)
})";

TEST_P(ClientTest, DonatedStateIsUpdatedWhereItLies) {
  ClientCompileOptions options;
  options.backend.donate = true;
  const ProgramHandle step = client_->CompileText(kStep, options).value();
  std::unique_ptr<GlobalData> state = Data(Count(1024));
  const void* const place = state->literal().data();
  for (int i = 0; i < 3; ++i) {
    std::vector<std::unique_ptr<GlobalData>> arguments;
    arguments.push_back(std::move(state));
    state = client_->ExecuteDonating(*step, std::move(arguments)).value();
  }
  EXPECT_EQ(state->literal().as<float>()[7], 10);
  EXPECT_TRUE(!client_->capabilities().donates || state->literal().data() == place);
}

TEST_P(ClientTest, WhatOthersHoldIsNotWrittenOver) {
  ClientCompileOptions options;
  options.backend.donate = true;
  const ProgramHandle step = client_->CompileText(kStep, options).value();
  std::unique_ptr<GlobalData> state = Data(Count(1024));
  const std::shared_ptr<const Literal> held = state->shared_literal();
  const GlobalData* const borrowed = state.get();
  EXPECT_EQ(client_->Execute(*step, {borrowed}).value()->literal().as<float>()[7], 8);
  std::vector<std::unique_ptr<GlobalData>> arguments;
  arguments.push_back(std::move(state));
  EXPECT_EQ(client_->ExecuteDonating(*step, std::move(arguments)).value()->literal().as<float>()[7],
            8);
  EXPECT_EQ(held->as<float>()[7], 7);
}

TEST_P(ClientTest, WhatDoesNotFitIntoMemoryIsAnError) {
  XlaBuilder b("large");
  const Shape large = Shape::Array(ElementType::kF32, {int64_t{1} << 43});
  Neg(Broadcast(Parameter(&b, 0, Shape::Scalar(ElementType::kF32), "x"), large.dims));
  const XlaComputation computation = b.Build().value();
  const std::unique_ptr<GlobalData> x = Data(Literal::R0<float>(1));
  EXPECT_EQ(client_->ExecuteAndTransfer(computation, {x.get()}).status().code(),
            absl::StatusCode::kResourceExhausted);
  const float one = 1;
  EXPECT_EQ(client_->TransferFromHost(large, &one).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_P(ClientTest, WrongArgumentsAreErrors) {
  const XlaComputation axpy = Axpy(4);
  EXPECT_THAT(Run(axpy, {}), HasSubstr("takes 3 arguments"));
  EXPECT_THAT(Run(axpy, {Literal::R0<float>(2), Count(5), Count(4)}), HasSubstr("argument 1"));
  const GlobalData* null = nullptr;
  EXPECT_FALSE(client_->Execute(axpy, {null, null, null}).ok());
  EXPECT_FALSE(client_->Execute(XlaComputation(), {}).ok());
  EXPECT_FALSE(client_->TransferToServer(Count(3), 1000).ok());
  EXPECT_FALSE(client_->CompileText("HloModule x").ok());
}

TEST_P(ClientTest, DataKeepsItsBitsInEveryLayout) {
  const Shape columns = Shape::ArrayWithLayout(kF32, {2, 3}, {0, 1});
  const float memory[] = {1, 4, 2, 5, 3, 6};
  const auto data = client_->TransferFromHost(columns, memory).value();
  EXPECT_EQ(Text(data->literal()), "{ { 1, 2, 3 }, { 4, 5, 6 } }");
  float back[6] = {};
  ASSERT_TRUE(client_->TransferToHost(*data, columns, back).ok());
  EXPECT_TRUE(std::equal(back, back + 6, memory));
  EXPECT_EQ(Text(client_->Transfer(*data, &columns)->shape(), true), "f32[2,3]{0,1}");
  EXPECT_FALSE(client_->TransferToHost(*data, F32({3, 2}), back).ok());
}

TEST_P(ClientTest, EveryElementTypeComesBack) {
  for (int number = 0; number < 40; ++number) {
    const auto type = static_cast<ElementType>(number);
    if (!IsArrayType(type)) continue;
    Literal literal(Shape::Array(type, {2, 1, 3}));
    for (int64_t i = 0; i < literal.byte_size(); ++i)
      literal.data()[i] = static_cast<uint8_t>(IsPred(type) || IsSubByte(type) ? i % 2 : i * 37);
    const auto data = client_->TransferToServer(literal).value();
    EXPECT_TRUE(client_->Transfer(*data).value() == literal) << Text(type);
  }
}

TEST_P(ClientTest, MovedAndSharedValuesAreNotCopied) {
  Literal literal = Count(1000);
  const uint8_t* memory = literal.data();
  const auto moved = client_->TransferToServer(std::move(literal)).value();
  EXPECT_EQ(moved->literal().data(), memory);
  const auto shared = client_->TransferInProcess(moved->shared_literal());
  EXPECT_EQ(shared->literal().data(), memory);
}

// Elements at an address that compiled code can read, or beside one.
struct HostFloats {
  alignas(64) float elements[7];
};

TEST_P(ClientTest, BorrowedArraysAreReadWhereTheyLie) {
  HostFloats host = {{1, 2, 3, 4, 5, 6, 7}};
  XlaBuilder b("negated");
  Neg(Parameter(&b, 0, F32({2, 3}), "x"));
  const XlaComputation negated = b.Build().value();
  int released = 0;
  auto lent = client_->BorrowFromHost(F32({2, 3}), host.elements, [&] { ++released; }).value();
  EXPECT_EQ(lent->elements(), host.elements);
  EXPECT_EQ(Text(client_->ExecuteAndTransfer(negated, {lent.get()}).value()),
            "{ { -1, -2, -3 }, { -4, -5, -6 } }");
  host.elements[0] = 8;  // nothing runs: the next execution sees it
  EXPECT_EQ(Text(client_->ExecuteAndTransfer(negated, {lent.get()}).value()),
            "{ { -8, -2, -3 }, { -4, -5, -6 } }");
  EXPECT_EQ(released, 0);
  lent.reset();
  EXPECT_EQ(released, 1);
  const auto beside = client_->BorrowFromHost(F32({2, 3}), host.elements + 1).value();
  EXPECT_EQ(Text(client_->ExecuteAndTransfer(negated, {beside.get()}).value()),
            "{ { -2, -3, -4 }, { -5, -6, -7 } }");
  EXPECT_EQ(Text(beside->literal()), "{ { 2, 3, 4 }, { 5, 6, 7 } }");
}

TEST_P(ClientTest, BorrowedArraysOfOtherLayouts) {
  const HostFloats host = {{1, 4, 2, 5, 3, 6}};
  const Shape columns = Shape::ArrayWithLayout(kF32, {2, 3}, {0, 1});
  const auto lent = client_->BorrowFromHost(columns, host.elements).value();
  XlaBuilder b("negated");
  Neg(Parameter(&b, 0, F32({2, 3}), "x"));
  const XlaComputation negated = b.Build().value();
  for (const Shape& wanted : {F32({2, 3}), columns}) {
    ClientCompileOptions options;
    options.argument_layouts = {wanted};
    const ProgramHandle program = client_->Compile(negated, options).value();
    EXPECT_EQ(Text(client_->Execute(*program, {lent.get()}).value()->literal()),
              "{ { -1, -2, -3 }, { -4, -5, -6 } }");
  }
  EXPECT_EQ(Text(client_->Transfer(*lent).value()), "{ { 1, 2, 3 }, { 4, 5, 6 } }");
  EXPECT_NE(lent->elements(), host.elements);
  EXPECT_EQ(static_cast<const float*>(lent->elements())[1], 2);
}

TEST_P(ClientTest, NothingIsReleasedThatWasNotBorrowed) {
  int released = 0;
  const auto release = [&] { ++released; };
  EXPECT_FALSE(client_->BorrowFromHost(F32({2}), nullptr, release).ok());
  EXPECT_FALSE(client_->BorrowFromHost(Shape::Token(), &released, release).ok());
  EXPECT_FALSE(client_->BorrowFromHost(F32({2}), &released, release, 1000).ok());
  EXPECT_EQ(released, 0);
  EXPECT_TRUE(client_->BorrowFromHost(F32({0}), nullptr, release).ok());
  EXPECT_EQ(released, 1);
}

TEST_P(ClientTest, TuplesAreTakenApart) {
  XlaBuilder b("pair");
  const XlaOp x = Parameter(&b, 0, F32({2}), "x");
  Tuple(&b, {Neg(x), Exp(x - x)});
  const auto x_data = Data(Count(2));
  const auto pair = client_->Execute(b.Build().value(), {x_data.get()}).value();
  const auto parts = client_->DeconstructTuple(*pair).value();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(Text(parts[0]->literal()), "{-0, -1}");
  EXPECT_EQ(Text(parts[1]->literal()), "{1, 1}");
  EXPECT_EQ(parts[1]->literal().data(), pair->literal().elements()[1].data());
  EXPECT_FALSE(client_->DeconstructTuple(*x_data).ok());
}

TEST_P(ClientTest, InfeedAndOutfeedPassItemsInOrder) {
  XlaBuilder b("feeds");
  const XlaOp first = Infeed(&b, F32({2}));
  const XlaOp second = Infeed(&b, F32({2}));
  Outfeed(first, F32({2}));
  Outfeed(first - second, F32({2}));
  ASSERT_TRUE(b.SetReturnValue(second).ok());
  auto running = client_->ExecuteAsync(b.Build().value(), {});
  ASSERT_TRUE(client_->TransferToInfeed(Literal::R1<float>({1, 2})).ok());
  ASSERT_TRUE(client_->TransferToInfeed(Literal::R1<float>({10, 20})).ok());
  EXPECT_EQ(Text(client_->TransferFromOutfeed().value()), "{1, 2}");
  EXPECT_EQ(Text(client_->TransferFromOutfeed().value()), "{-9, -18}");
  EXPECT_EQ(Text(running.get().value()->literal()), "{10, 20}");
  EXPECT_EQ(client_->TransferFromOutfeed(0, 0.01).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_P(ClientTest, WrongInfeedItemFailsTheRun) {
  XlaBuilder b("feeds");
  Infeed(&b, F32({2}));
  ASSERT_TRUE(client_->TransferToInfeed(Literal::R1<float>({1, 2, 3})).ok());
  EXPECT_FALSE(client_->Execute(b.Build().value(), {}).ok());
}

TEST_P(ClientTest, SeveralRunAtTheSameTime) {
  const auto alpha = Data(Literal::R0<float>(3)), x = Data(Count(4));
  std::vector<ComputationInstance> instances;
  for (int i = 0; i < 4; ++i) instances.push_back({Axpy(4), {alpha.get(), x.get(), x.get()}});
  const auto results = client_->ExecuteParallel(instances).value();
  ASSERT_EQ(results.size(), 4u);
  for (const auto& result : results) EXPECT_EQ(Text(result->literal()), "{0, 4, 8, 12}");
  instances[2].arguments.pop_back();
  EXPECT_FALSE(client_->ExecuteParallel(instances).ok());
}

TEST_P(ClientTest, SixtyFourThreadsCompileAndRun) {
  const XlaComputation shared = Axpy(8);
  const auto alpha = Data(Literal::R0<float>(2)), x = Data(Count(8));
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 64; ++t)
    threads.emplace_back([&, t] {
      const auto common = client_->ExecuteAndTransfer(shared, {alpha.get(), x.get(), x.get()});
      XlaBuilder b("own");
      Parameter(&b, 0, F32({8}), "x") + ConstantR0<float>(&b, static_cast<float>(t));
      const auto own = client_->ExecuteAndTransfer(b.Build().value(), {x.get()});
      right += common.ok() && own.ok() && common->as<float>()[7] == 21 &&
               own->as<float>()[1] == static_cast<float>(t + 1);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 64);
  EXPECT_EQ(client_->compile_count(), 65);
}

TEST_P(ClientTest, SnapshotsRunAgain) {
  const auto alpha = Data(Literal::R0<float>(2)), x = Data(Count(3));
  const std::string bytes =
      client_->SnapshotExecution(Axpy(3), {alpha.get(), x.get(), x.get()}).value();
  Snapshot snapshot = Client::LoadSnapshot(bytes).value();
  EXPECT_EQ(snapshot.arguments.size(), 3u);
  EXPECT_EQ(Text(*snapshot.result), "{0, 3, 6}");
  EXPECT_EQ(Run(snapshot.computation, std::move(snapshot.arguments)), "{0, 3, 6}");
  EXPECT_FALSE(Client::LoadSnapshot("no snapshot").ok());
}

TEST_P(ClientTest, ExecutablesAreWrittenAndLoaded) {
  const ProgramHandle program = client_->Compile(Axpy(3)).value();
  const std::string bytes = client_->SerializeExecutable(*program).value();
  const std::unique_ptr<Client> other = Client::Create(GetParam()).value();
  const ProgramHandle loaded = other->LoadExecutable(bytes).value();
  EXPECT_EQ(loaded->stats().cached_objects, loaded->stats().objects);
  const auto alpha = Data(Literal::R0<float>(2)), x = Data(Count(3));
  const auto result = other->Execute(*loaded, {alpha.get(), x.get(), x.get()}).value();
  EXPECT_EQ(Text(result->literal()), "{0, 3, 6}");
  for (size_t cut = 0; cut < bytes.size(); cut += 97)
    EXPECT_FALSE(other->LoadExecutable(absl::string_view(bytes).substr(0, cut)).ok());
}

TEST_P(ClientTest, LayoutsMayBeChosen) {
  ClientCompileOptions options;
  XlaBuilder b("transposed");
  Neg(Parameter(&b, 0, F32({2, 3}), "x"));
  const XlaComputation computation = b.Build().value();
  options.argument_layouts = {Shape::ArrayWithLayout(kF32, {2, 3}, {0, 1})};
  options.result_layout = Shape::ArrayWithLayout(kF32, {2, 3}, {0, 1});
  const ProgramHandle program = client_->Compile(computation, options).value();
  const float memory[] = {1, 4, 2, 5, 3, 6};
  const auto x = client_->TransferFromHost(options.argument_layouts->front(), memory).value();
  const auto result = client_->Execute(*program, {x.get()}).value();
  EXPECT_EQ(Text(result->literal()), "{ { -1, -2, -3 }, { -4, -5, -6 } }");
  options.argument_layouts = {F32({7})};
  EXPECT_FALSE(client_->Compile(computation, options).ok());
}

TEST_P(ClientTest, TraceLogsOnceAndChangesNothing) {
  XlaBuilder b("traced");
  Neg(Trace("here", Parameter(&b, 0, F32({2}), "x")));
  testing::internal::CaptureStderr();
  EXPECT_EQ(Run(b.Build().value(), {Count(2)}), "{-0, -1}");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "hlokit.trace here: f32[2] {0, 1}\n");
}

TEST_P(ClientTest, TellsOfComputations) {
  const XlaComputation axpy = Axpy(16);
  EXPECT_EQ(Text(client_->GetComputationShape(axpy)->result), "f32[16]");
  const ComputationStats stats = client_->GetComputationStats(axpy).value();
  EXPECT_GE(stats.flop_count, 32);
  EXPECT_EQ(stats.transcendental_count, 0);
  EXPECT_EQ(stats.instruction_count, 6);
}

TEST(ClientLibraryTest, OneClientAPlatform) {
  EXPECT_EQ(ClientLibrary::ClientLibraryOrDie(), ClientLibrary::ClientLibraryOrDie("cpu"));
  EXPECT_EQ(ClientLibrary::GetOrCreateClient("abacus").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_DEATH(ClientLibrary::ClientLibraryOrDie("abacus"), "no platform abacus");
}

TEST(ClientArraysTest, TheShortWayRunsArraysOnOneDevice) {
  const auto client = Client::Create("cpu").value();
  const auto program = client
                           ->CompileText(R"(
HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  c = f32[3] constant({10, 20, 30})
  s = f32[3] add(x, y)
  d = f32[3] multiply(s, c)
  ROOT t = (f32[3], f32[3]) tuple(s, d)
})")
                           .value();
  ASSERT_TRUE(program->executable().RunsArrays());
  const Literal x = Count(3);
  const std::vector<const void*> arguments = {x.data(), x.data()};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const auto results = client->ExecuteArrays(*program, arguments).value();
        ASSERT_EQ(results.size(), 2u);
        EXPECT_EQ(Text(results[0]->literal()), "{0, 2, 4}");
        EXPECT_EQ(Text(results[1]->literal()), "{0, 40, 120}");
      }
    });
  for (std::thread& thread : threads) thread.join();
}

// A result becomes a value when one is asked for; its elements stay where they were, whoever asks.
TEST(ClientArraysTest, ResultsBecomeValuesOnce) {
  const auto client = Client::Create("cpu").value();
  const auto program = client
                           ->CompileText(
                               "HloModule m\nENTRY e { x = f32[3] parameter(0) "
                               "ROOT d = f32[3] add(x, x) }")
                           .value();
  ASSERT_TRUE(program->executable().RunsArrays());
  const Literal x = Count(3);
  for (int round = 0; round < 20; ++round) {
    const auto results = client->ExecuteArrays(*program, {x.data()}).value();
    const GlobalData& result = *results[0];
    const void* const elements = result.elements();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        EXPECT_EQ(Text(result.shape()), "f32[3]");
        EXPECT_EQ(result.value().leaves()[0].memory->host_address(), elements);
        EXPECT_EQ(result.elements(), elements);
        EXPECT_EQ(Text(result.literal()), "{0, 2, 4}");
      });
    for (std::thread& thread : threads) thread.join();
    const auto again = client->Execute(*program, {&result}).value();
    EXPECT_EQ(Text(again->literal()), "{0, 4, 8}");
  }
}

// Each needs what only Prepare does.
TEST(ClientArraysTest, TheShortWayLeavesOutTheRest) {
  const auto client = Client::Create("cpu").value();
  for (const char* text :
       {"HloModule a\nENTRY e { x = (f32[2]) parameter(0) ROOT r = f32[2] get-tuple-element(x), "
        "index=0 }",
        "HloModule b, replica_count=2\nENTRY e { ROOT r = u32[] replica-id() }",
        "HloModule c, entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{1,0}}\n"
        "ENTRY e { x = f32[2,3]{0,1} parameter(0) ROOT r = f32[2,3]{1,0} copy(x) }",
        "HloModule d\nENTRY e { x = f32[<=4] parameter(0) ROOT r = f32[<=4] negate(x) }",
        "HloModule f\nENTRY e { ROOT t = token[] after-all() }"}) {
    const auto program = client->CompileText(text);
    ASSERT_TRUE(program.ok()) << text << program.status();
    EXPECT_FALSE((*program)->executable().RunsArrays()) << text;
  }
  const auto interpreted = Client::Create("interpreter").value();
  const auto program =
      interpreted->CompileText("HloModule g\nENTRY e { ROOT x = f32[] parameter(0) }").value();
  EXPECT_FALSE(interpreted->ExecuteArrays(*program, {nullptr}).ok());
}

class ClientReplicasTest : public testing::TestWithParam<const char*> {};

TEST_P(ClientReplicasTest, RunsSeveralDevices) {
  const auto client = Client::Create(GetParam()).value();
  const auto program = client
                           ->CompileText(R"(
HloModule ids, replica_count=4
ENTRY e { ROOT r = u32[] replica-id() })")
                           .value();
  const std::vector<std::vector<const GlobalData*>> none(4);
  const auto results = client->ExecuteReplicated(*program, none).value();
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(Text(results[3]->literal()), "3");
  EXPECT_FALSE(client->Execute(*program, {}).ok());
}

// Devices that exchange nothing run one after the other while that is short, else on a thread a
// core; the second run knows how long the first one took.
TEST_P(ClientReplicasTest, RunsDevicesThatExchangeNothing) {
  const auto client = Client::Create(GetParam()).value();
  const auto program = client
                           ->CompileText(R"(
HloModule loops, replica_count=5
step {
  s = (u32[], u32[]) parameter(0)
  i = u32[] get-tuple-element(s), index=0
  x = u32[] get-tuple-element(s), index=1
  one = u32[] constant(1)
  i1 = u32[] add(i, one)
  x1 = u32[] add(x, i)
  ROOT r = (u32[], u32[]) tuple(i1, x1)
}
more {
  s = (u32[], u32[]) parameter(0)
  i = u32[] get-tuple-element(s), index=0
  n = u32[] constant(20000)
  ROOT r = pred[] compare(i, n), direction=LT
}
ENTRY e {
  zero = u32[] constant(0)
  id = u32[] replica-id()
  first = (u32[], u32[]) tuple(zero, id)
  last = (u32[], u32[]) while(first), condition=more, body=step
  ROOT r = u32[] get-tuple-element(last), index=1
})")
                           .value();
  const std::vector<std::vector<const GlobalData*>> none(5);
  for (int run = 0; run < 3; ++run) {
    const auto results = client->ExecuteReplicated(*program, none).value();
    ASSERT_EQ(results.size(), 5u);
    for (int device = 0; device < 5; ++device)
      EXPECT_EQ(Text(results[static_cast<size_t>(device)]->literal()),
                std::to_string(199990000 + device));
  }
}

INSTANTIATE_TEST_SUITE_P(Platforms, ClientReplicasTest, testing::Values("interpreter", "cpu"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
