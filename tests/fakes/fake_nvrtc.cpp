#include "tests/fakes/fake_nvrtc.h"

#include <algorithm>
#include <cstring>

#include "runtime/cuda/nvrtc.h"

using einkern::fakes::FakeNvrtcState;
using einkern::runtime::cuda::NvrtcStatus;
using einkern::runtime::cuda::ProgramHandle;

#define EXPORTED __attribute__((visibility("default")))
extern "C" {
#define F(member, symbol, since, parameters) EXPORTED NvrtcStatus symbol parameters;
#include "runtime/cuda/nvrtc_functions.def"
#undef F
EXPORTED FakeNvrtcState* fake_nvrtc_state() {
  static FakeNvrtcState state;
  return &state;
}
}

namespace {

struct FakeProgram {
  std::string source, code;
};

FakeProgram& program_of(ProgramHandle handle) { return *reinterpret_cast<FakeProgram*>(handle); }
FakeNvrtcState& state() { return *fake_nvrtc_state(); }

}  // namespace

NvrtcStatus nvrtcVersion(int* major, int* minor) {
  *major = state().major;
  *minor = state().minor;
  return 0;
}
NvrtcStatus nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(state().architectures.size());
  return 0;
}
NvrtcStatus nvrtcGetSupportedArchs(int* architectures) {
  std::copy(state().architectures.begin(), state().architectures.end(), architectures);
  return 0;
}
NvrtcStatus nvrtcCreateProgram(ProgramHandle* program, const char* source, const char*, int,
                               const char* const*, const char* const*) {
  *program = reinterpret_cast<ProgramHandle>(new FakeProgram{source, ""});
  return 0;
}
NvrtcStatus nvrtcDestroyProgram(ProgramHandle* program) {
  delete &program_of(*program);
  *program = nullptr;
  return 0;
}
NvrtcStatus nvrtcCompileProgram(ProgramHandle program, int count, const char* const* options) {
  for (int i = 0; i < count; ++i) program_of(program).code += std::string(options[i]) + "\n";
  program_of(program).code += program_of(program).source;
  return state().compile_status;
}
NvrtcStatus nvrtcGetProgramLogSize(ProgramHandle, std::size_t* bytes) {
  *bytes = state().log.size() + 1;
  return 0;
}
NvrtcStatus nvrtcGetProgramLog(ProgramHandle, char* log) {
  std::strcpy(log, state().log.c_str());
  return 0;
}
NvrtcStatus nvrtcGetCUBINSize(ProgramHandle program, std::size_t* bytes) {
  const std::string& code = program_of(program).code;
  *bytes = code.find("compute_") == std::string::npos ? code.size() : 0;
  return 0;
}
NvrtcStatus nvrtcGetCUBIN(ProgramHandle program, char* cubin) {
  std::memcpy(cubin, program_of(program).code.data(), program_of(program).code.size());
  return 0;
}
NvrtcStatus nvrtcGetPTXSize(ProgramHandle program, std::size_t* bytes) {
  *bytes = program_of(program).code.size();
  return 0;
}
NvrtcStatus nvrtcGetPTX(ProgramHandle program, char* ptx) { return nvrtcGetCUBIN(program, ptx); }
