// Tokens, feeds and transfers.
#include "builder/communication.h"

#include "builder/control.h"
#include "builder/emit_internal.h"

namespace hlokit {
namespace {

// The token of the last infeed (outfeed) of the builder, or a new one.
XlaOp OrderingToken(XlaBuilder* builder, XlaOp last, const Where& where) {
  return builder->orders_feeds() && last.valid() ? last : CreateToken(builder, where);
}

SendRecvAttrs Transfer(ChannelHandle channel, bool host) { return {channel.handle, host}; }

}  // namespace

XlaOp CreateToken(XlaBuilder* builder, Where where) { return AfterAll(builder, {}, where); }

XlaOp AfterAll(XlaBuilder* builder, OpSpan tokens, Where where) {
  return EmitIn(builder, where, Opcode::kAfterAll, tokens);
}

XlaOp AddDependency(XlaOp operand, XlaOp token, Where where) {
  return Emit(where, Opcode::kAddDependency, {operand, token});
}

XlaOp InfeedWithToken(XlaOp token, const Shape& shape, const std::string& config, Where where) {
  return Emit(where, Opcode::kInfeed, {token}, InfeedAttrs{config},
              {Shape::Tuple({shape, Shape::Token()})});
}

XlaOp Infeed(XlaBuilder* builder, const Shape& shape, const std::string& config, Where where) {
  if (builder == nullptr) return XlaOp();
  const XlaOp token = OrderingToken(builder, builder->infeed_token(), where);
  const XlaOp both = InfeedWithToken(token, shape, config, where);
  if (builder->orders_feeds()) builder->infeed_token() = GetTupleElement(both, 1, where);
  return GetTupleElement(both, 0, where);
}

XlaOp OutfeedWithToken(XlaOp operand, XlaOp token, const Shape& shape_with_layout,
                       const std::string& config, Where where) {
  Shape shape = shape_with_layout;
  if (shape.IsArray() && !shape.has_layout) shape = shape.WithDefaultLayout();
  return Emit(where, Opcode::kOutfeed, {operand, token}, OutfeedAttrs{shape, config});
}

XlaOp Outfeed(XlaOp operand, const Shape& shape_with_layout, const std::string& config,
              Where where) {
  XlaBuilder* builder = operand.builder();
  if (builder == nullptr) return XlaOp();
  const XlaOp token = OrderingToken(builder, builder->outfeed_token(), where);
  const XlaOp after = OutfeedWithToken(operand, token, shape_with_layout, config, where);
  builder->outfeed_token() = after;
  return after;
}

XlaOp SendStart(XlaOp operand, XlaOp token, ChannelHandle channel, bool host, Where where) {
  return Emit(where, Opcode::kSend, {operand, token}, Transfer(channel, host));
}

XlaOp SendDone(XlaOp in_flight, ChannelHandle channel, bool host, Where where) {
  return Emit(where, Opcode::kSendDone, {in_flight}, Transfer(channel, host));
}

XlaOp RecvStart(XlaOp token, const Shape& shape, ChannelHandle channel, bool host, Where where) {
  const Shape in_flight = Shape::Tuple({shape, Shape::Scalar(ElementType::kU32), Shape::Token()});
  return Emit(where, Opcode::kRecv, {token}, Transfer(channel, host), {in_flight});
}

XlaOp RecvDone(XlaOp in_flight, ChannelHandle channel, bool host, Where where) {
  return Emit(where, Opcode::kRecvDone, {in_flight}, Transfer(channel, host));
}

XlaOp SendWithToken(XlaOp operand, XlaOp token, ChannelHandle channel, Where where) {
  return SendDone(SendStart(operand, token, channel, false, where), channel, false, where);
}

XlaOp Send(XlaOp operand, ChannelHandle channel, Where where) {
  return SendWithToken(operand, CreateToken(operand.builder(), where), channel, where);
}

XlaOp RecvWithToken(XlaOp token, const Shape& shape, ChannelHandle channel, Where where) {
  return RecvDone(RecvStart(token, shape, channel, false, where), channel, false, where);
}

XlaOp Recv(XlaBuilder* builder, const Shape& shape, ChannelHandle channel, Where where) {
  return GetTupleElement(RecvWithToken(CreateToken(builder, where), shape, channel, where), 0,
                         where);
}

XlaOp SendToHost(XlaOp operand, XlaOp token, const Shape& shape_with_layout, ChannelHandle channel,
                 Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    if (!Compatible(s[0], shape_with_layout))
      return InvalidArgument("send: the operand is ", Text(s[0]), ", but ", Text(shape_with_layout),
                             " is to be sent");
    return SendDone(SendStart(operand, token, channel, true, where), channel, true, where);
  });
}

XlaOp RecvFromHost(XlaOp token, const Shape& shape, ChannelHandle channel, Where where) {
  return RecvDone(RecvStart(token, shape, channel, true, where), channel, true, where);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
