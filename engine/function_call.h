// A call of the face turned into the engine's terms: arguments matched with parameters, types deduced,
// kernels prepared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/face_access.h"

namespace einkern::detail {

/// Arguments in parameter order; nullopt where a default stands in.
using MatchedArguments = std::vector<std::optional<Argument>>;

MatchedArguments match_positional(const dsl::Signature& signature, const std::vector<Argument>& arguments);
MatchedArguments match_named(const dsl::Signature& signature, NamedArguments arguments);

/// A function with its types chosen, and the call in the engine's terms.
struct ResolvedCall {
  std::shared_ptr<FunctionState::Instance> instance;
  engine::Call call;
  Device device;
};

/// Deduces types, checks every argument's kind, type and device, and reads scalars that are tensors, in the
/// order of the stream. Throws UsageError and ShapeError.
ResolvedCall resolve_call(FunctionState& state, const MatchedArguments& arguments,
                          const std::vector<Tensor>& outputs, Stream stream);

/// What becomes of shapes without tuning records.
enum class Unseen {
  tuned_if_asked,  // by EINKERN_TUNE=on
  taken_at_once,   // by the nearest record or the cost model
};
/// The prepared call of these shapes and layouts; made at first use, once.
std::shared_ptr<const engine::PreparedCall> prepared_call(const ResolvedCall& resolved, Stream stream,
                                                          Unseen unseen = Unseen::tuned_if_asked);

/// Checks that the call's memory does not overlap and, if EINKERN_CHECK says so, its data; then launches it.
void launch(const ResolvedCall& resolved, Stream stream);

/// Where the function runs: as `.on` says, else where its first tensor argument lies, else on the best
/// device.
Device device_of(const FunctionState& state, const MatchedArguments& arguments);

}  // namespace einkern::detail
