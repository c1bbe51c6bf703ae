// Tokens, the infeed and outfeed of a device, and transfers between computations or with the host.
//
// Infeeds of one computation happen in the order of their calls, as outfeeds do: each takes the
// token that the one before it gives. Forms with a token take it instead. Errors are
// InvalidArgument with the label of the rule (docs/operations.md), kept in the builder.
// Source: XLA Operation Semantics.
#pragma once

#include <string>

#include "builder/op_types.h"
#include "builder/xla_op.h"
#include "types/shape.h"

namespace hlokit {

// A token that waits for nothing, or for all of `tokens`.
XlaOp CreateToken(XlaBuilder* builder, Where where = Where::current());
XlaOp AfterAll(XlaBuilder* builder, OpSpan tokens, Where where = Where::current());
// The operand, once `token` is there.
XlaOp AddDependency(XlaOp operand, XlaOp token, Where where = Where::current());

// The next item of the device's infeed: an array or a flat tuple of them, in the shape's layouts.
XlaOp Infeed(XlaBuilder* builder, const Shape& shape, const std::string& config = "",
             Where where = Where::current());
// (data, token).
XlaOp InfeedWithToken(XlaOp token, const Shape& shape, const std::string& config = "",
                      Where where = Where::current());
// One item for the device's outfeed, in shape_with_layout's layouts. Gives its token.
XlaOp Outfeed(XlaOp operand, const Shape& shape_with_layout, const std::string& config = "",
              Where where = Where::current());
XlaOp OutfeedWithToken(XlaOp operand, XlaOp token, const Shape& shape_with_layout,
                       const std::string& config = "", Where where = Where::current());

// To the Recv of the same channel in another computation: send and send-done; gives the token.
XlaOp Send(XlaOp operand, ChannelHandle channel, Where where = Where::current());
XlaOp SendWithToken(XlaOp operand, XlaOp token, ChannelHandle channel,
                    Where where = Where::current());
// The data of the matching Send: recv and recv-done.
XlaOp Recv(XlaBuilder* builder, const Shape& shape, ChannelHandle channel,
           Where where = Where::current());
// (data, token).
XlaOp RecvWithToken(XlaOp token, const Shape& shape, ChannelHandle channel,
                    Where where = Where::current());
// The same with the host at the other end.
XlaOp SendToHost(XlaOp operand, XlaOp token, const Shape& shape_with_layout, ChannelHandle channel,
                 Where where = Where::current());
XlaOp RecvFromHost(XlaOp token, const Shape& shape, ChannelHandle channel,
                   Where where = Where::current());

// The halves, as dumps have them: (data, u32[], token[]) in flight, then what the other half gives.
XlaOp SendStart(XlaOp operand, XlaOp token, ChannelHandle channel, bool host = false,
                Where where = Where::current());
XlaOp SendDone(XlaOp in_flight, ChannelHandle channel, bool host = false,
               Where where = Where::current());
XlaOp RecvStart(XlaOp token, const Shape& shape, ChannelHandle channel, bool host = false,
                Where where = Where::current());
XlaOp RecvDone(XlaOp in_flight, ChannelHandle channel, bool host = false,
               Where where = Where::current());

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
