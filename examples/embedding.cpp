// A gather of rows; tokens outside the vocabulary give zeros.
#include "example.h"

void body(const ek::Device& device) {
  const ek::Program program = ek::compile_file(example::path("embedding.ein"));
  const std::vector<std::int64_t> tokens = {3, 0, 49, -1, 50, 3};
  const ek::Tensor indices = ek::Tensor::from(tokens, {6}, ek::i32, device);
  const ek::Tensor table = ek::Tensor::random({50, 24}, ek::f16, device, 1);
  const ek::Tensor e = program["embedding"].on(device)(indices, table);
  const example::Values rows(table);
  example::check("e", e, 0, [&](const example::Index& at) {
    const std::int64_t token = tokens[static_cast<std::size_t>(at[0])];
    return token < 0 || token >= 50 ? 0 : rows(token, at[1]);
  });
}

int main(int argc, char** argv) { return example::run(argc, argv, body); }
