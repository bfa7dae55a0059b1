// Trains a two-layer perceptron on images of handwritten digits, and evaluates it on digits that it has not
// seen. Forward pass, loss, gradients and update are the functions of digits.ein.
#include <algorithm>
#include <array>
#include <random>

#include "example.h"

constexpr std::int64_t hidden = 64, classes = 10, batch_size = 100;
constexpr int epochs = 40;

/// Row numbers 0..count in a random order, the same every time.
std::vector<std::int64_t> shuffled(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) order[static_cast<std::size_t>(i)] = i;
  std::mt19937_64 generator(7);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[generator() % i]);
  return order;
}

struct Parameters {
  ek::Tensor w1, b1, w2, b2;
};

void body(const ek::Device& device) {
  const ek::Program program = ek::compile_file(example::path("digits.ein"));
  const auto function = [&](const char* name) { return program[name].on(device); };
  const ek::Function batch = function("batch"), train_step = function("train_step");
  const ek::Tensor images = ek::Tensor::load(example::path("digits/images.npy"), device);
  const ek::Tensor labels = ek::Tensor::load(example::path("digits/labels.npy"), device);
  const std::int64_t count = images.shape()[0], pixels = images.shape()[1];

  // 297 digits are held out, the other 1500 are trained on.
  const ek::Tensor order = ek::Tensor::from(shuffled(count), {count}, ek::i32, device);
  const ek::Tensor trained = order.slice(0, 0, 1500), held_out = order.slice(0, 1500, count);

  const ek::Function initial_weights = function("initial_weights");
  Parameters p = {initial_weights(1, hidden, pixels), ek::Tensor::zeros({hidden}, ek::f32, device),
                  initial_weights(2, classes, hidden), ek::Tensor::zeros({classes}, ek::f32, device)};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    ek::Tensor loss;
    for (std::int64_t at = 0; at < 1500; at += batch_size) {
      const auto [x, t] = batch(images, labels, trained.slice(0, at, at + batch_size)).unpack<2>();
      std::tie(loss, p.w1, p.b1, p.w2, p.b2) =
          std::tuple_cat(train_step(x, t, p.w1, p.b1, p.w2, p.b2, 0.2f).unpack<5>());
    }
    if (epoch % 10 == 9) std::printf("epoch %d: loss of the last batch %.4f\n", epoch + 1, loss.item());
  }

  const auto [x, t] = batch(images, labels, held_out).unpack<2>();
  const ek::Tensor digit = function("classify")(x, p.w1, p.b1, p.w2, p.b2);
  const ek::Tensor accuracy = function("accuracy")(digit, t);
  std::printf("%.1f %% of %lld held-out digits are recognised\n", 100 * accuracy.item(),
              static_cast<long long>(digit.size()));
  if (accuracy.item() < 0.95) throw std::runtime_error("fewer than 95 %");
}

int main(int argc, char** argv) { return example::run(argc, argv, body); }
