#include "autotune/messages.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "core/version.h"

namespace einkern::autotune {
namespace {

using Json = nlohmann::json;

constexpr int protocol_version = 2;  // grows with every change of a message

core::Error malformed(const std::string& what) {
  return {core::ErrorKind::internal, fmt::format("a malformed message between tuner and worker: {}", what)};
}

// --- framing: u32 bytes of the header, the header, the rest ---

std::string framed(const Json& header, std::string_view binary = {}) {
  const std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto length = static_cast<std::uint32_t>(text.size());
  std::string message(sizeof length, '\0');
  std::memcpy(message.data(), &length, sizeof length);  // both ends run on one machine
  return message.append(text).append(binary);
}

struct Frame {
  Json header;
  std::string_view binary;
};

core::Result<Frame> unframed(std::string_view message) {
  std::uint32_t length = 0;
  if (message.size() < sizeof length) return malformed("too short");
  std::memcpy(&length, message.data(), sizeof length);
  message.remove_prefix(sizeof length);
  if (length > message.size()) return malformed("the header is cut");
  Json header = Json::parse(message.substr(0, length), nullptr, false);
  if (!header.is_object()) return malformed("the header is no JSON object");
  return Frame{std::move(header), message.substr(length)};
}

// --- the parts ---

Json written(const ProblemTensor& tensor) {
  return {{"name", tensor.name},
          {"dtype", static_cast<int>(tensor.dtype)},
          {"kind", static_cast<int>(tensor.kind)},
          {"shape", tensor.shape},
          {"strides", tensor.strides},
          {"first_byte", tensor.first_byte},
          {"index_limit", tensor.index_limit},
          {"seed", tensor.seed},
          {"relative", tensor.relative},
          {"absolute", tensor.absolute}};
}

ProblemTensor read_tensor(const Json& value) {
  return {.name = value.at("name").get<std::string>(),
          .dtype = static_cast<DType>(value.at("dtype").get<int>()),
          .kind = static_cast<core::BufferKind>(value.at("kind").get<int>()),
          .shape = value.at("shape").get<std::vector<std::int64_t>>(),
          .strides = value.at("strides").get<std::vector<std::int64_t>>(),
          .first_byte = value.at("first_byte").get<std::int64_t>(),
          .index_limit = value.at("index_limit").get<std::int64_t>(),
          .seed = value.at("seed").get<std::uint64_t>(),
          .relative = value.at("relative").get<double>(),
          .absolute = value.at("absolute").get<double>()};
}

Json written(const Problem& problem) {
  Json tensors = Json::array();
  for (const ProblemTensor& tensor : problem.tensors) tensors.push_back(written(tensor));
  Json symbols = Json::object();
  for (const auto& [name, value] : problem.symbols) symbols[name] = value;
  const Sampling& sampling = problem.sampling;
  return {{"tensors", tensors},
          {"scalars", problem.scalars},
          {"symbols", symbols},
          {"sampling", {{"name", sampling.name}, {"extents", sampling.extents}, {"seed", sampling.seed}}}};
}

Problem read_problem(const Json& value) {
  Problem problem;
  for (const Json& tensor : value.at("tensors")) problem.tensors.push_back(read_tensor(tensor));
  problem.scalars = value.at("scalars").get<std::map<std::string, std::uint64_t>>();
  for (const auto& [name, symbol] : value.at("symbols").items())
    problem.symbols[name] = symbol.get<std::int64_t>();
  const Json& sampling = value.at("sampling");
  problem.sampling = {.name = sampling.at("name").get<std::string>(),
                      .extents = sampling.at("extents").get<std::vector<std::int64_t>>(),
                      .seed = sampling.at("seed").get<std::uint64_t>()};
  return problem;
}

Json written(const std::map<std::string, core::EntryResources>& entries) {
  Json all = Json::object();
  for (const auto& [name, used] : entries)
    all[name] = {used.registers, used.stack_bytes, used.spill_store_bytes, used.spill_load_bytes,
                 used.shared_bytes};
  return all;
}

std::map<std::string, core::EntryResources> read_entries(const Json& value) {
  std::map<std::string, core::EntryResources> entries;
  for (const auto& [name, used] : value.items())
    entries[name] = {used.at(0).get<int>(), used.at(1).get<int>(), used.at(2).get<int>(),
                     used.at(3).get<int>(), used.at(4).get<std::int64_t>()};
  return entries;
}

/// Without the code, which follows the header.
Json written(const core::Artifact& artifact) {
  return {{"format", static_cast<int>(artifact.format)}, {"entries", written(artifact.entries)}};
}

core::Artifact read_artifact(const Json& header, std::string_view code) {
  core::Artifact artifact;
  artifact.format = static_cast<core::CodeFormat>(header.at("format").get<int>());
  artifact.entries = read_entries(header.at("entries"));
  artifact.code = code;
  return artifact;
}

std::string encoded(const OpenDevice& request) {
  return framed({{"ask", "open"}, {"device", request.device}, {"build", request.build}});
}
std::string encoded(const UseChecks& request) {
  Json header = written(request.artifact);
  header["ask"] = "checks";
  return framed(header, request.artifact.code);
}
std::string encoded(const SetProblem& request) {
  return framed({{"ask", "problem"}, {"problem", written(request.problem)}});
}
std::string encoded(const Load& request) {
  Json header = written(request.artifact);
  header["ask"] = "load";
  header["kernel"] = request.kernel;
  header["launch"] = request.launch.to_json();
  return framed(header, request.artifact.code);
}
std::string encoded(const UseFlush& request) {
  return framed({{"ask", "flush"}, {"kernel", request.kernel}});
}
std::string encoded(const RunReference& request) {
  return framed({{"ask", "reference"}, {"kernel", request.kernel}});
}
std::string encoded(const Check& request) {
  return framed({{"ask", "check"}, {"kernel", request.kernel}, {"runs", request.runs}});
}
std::string encoded(const Time& request) {
  return framed(
      {{"ask", "time"}, {"kernels", request.kernels}, {"rounds", request.rounds}, {"seed", request.seed}});
}

core::Result<Request> read_load(const Json& header, std::string_view binary) {
  EINKERN_TRY(core::LaunchPlan launch, core::LaunchPlan::from_json(header.at("launch").get<std::string>()));
  return Request(Load{header.at("kernel").get<int>(), std::move(launch), read_artifact(header, binary)});
}

core::Result<Request> read_request(const Json& header, std::string_view binary) {
  const auto ask = header.at("ask").get<std::string>();
  const auto kernel = [&] { return header.at("kernel").get<int>(); };
  if (ask == "open")
    return Request(OpenDevice{header.at("device").get<std::string>(), header.at("build").get<std::string>()});
  if (ask == "checks") return Request(UseChecks{read_artifact(header, binary)});
  if (ask == "problem") return Request(SetProblem{read_problem(header.at("problem"))});
  if (ask == "load") return read_load(header, binary);
  if (ask == "flush") return Request(UseFlush{kernel()});
  if (ask == "reference") return Request(RunReference{kernel()});
  if (ask == "check") return Request(Check{kernel(), header.at("runs").get<int>()});
  if (ask == "time")
    return Request(Time{header.at("kernels").get<std::vector<int>>(), header.at("rounds").get<int>(),
                        header.at("seed").get<std::uint64_t>()});
  return malformed(fmt::format("\"{}\" is no request", ask));
}

}  // namespace

std::string build_identity() { return fmt::format("{} protocol {}", core::version, protocol_version); }

std::string encode(const Request& request) {
  return std::visit([](const auto& one) { return encoded(one); }, request);
}

core::Result<Request> decode_request(std::string_view message) {
  EINKERN_TRY(const Frame frame, unframed(message));
  try {
    return read_request(frame.header, frame.binary);
  } catch (const Json::exception& fault) {
    return malformed(fault.what());
  }
}

std::string encode(const Reply& reply) {
  return framed({{"failure", reply.failure},
                 {"broken", reply.broken},
                 {"seconds", reply.seconds},
                 {"error", reply.error},
                 {"samples", reply.samples}});
}

core::Result<Reply> decode_reply(std::string_view message) {
  EINKERN_TRY(const Frame frame, unframed(message));
  try {
    const Json& header = frame.header;
    return Reply{.failure = header.at("failure").get<std::string>(),
                 .broken = header.at("broken").get<bool>(),
                 .seconds = header.at("seconds").get<double>(),
                 .error = header.at("error").get<double>(),
                 .samples = header.at("samples").get<std::vector<std::vector<double>>>()};
  } catch (const Json::exception& fault) {
    return malformed(fault.what());
  }
}

}  // namespace einkern::autotune
