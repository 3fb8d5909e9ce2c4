// Flash attention where blocks matter: scores so large that a softmax without its maximum overflows, and a head's work split into parts.
// (That it is attention at all is OpTest's.) Every instruction set is a test.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "core/rng.hpp"
#include "tables.hpp"

namespace erg::test {
namespace {

struct Problem {
  int64_t sequence, head_size;
  int64_t at(int64_t t, int64_t which) const { return (t * 3 + which) * head_size; }

  std::vector<float> qkv, y, d_y, d_qkv, log_sum;
  Problem(int64_t sequence, int64_t head_size, double size_of_scores) : sequence(sequence), head_size(head_size) {
    const size_t n = size_t(sequence * head_size);
    qkv.resize(3 * n), y.resize(n), d_y.resize(n), d_qkv.resize(3 * n), log_sum.resize(size_t(sequence));
    const double size = std::sqrt(size_of_scores);
    for (size_t i = 0; i < 3 * n; ++i) qkv[i] = random_centered(1, 0, i, i / size_t(head_size) % 3 == 2 ? 1 : size);
    for (size_t i = 0; i < n; ++i) d_y[i] = random_centered(1, 1, i, 1);
  }

  void run(const Tables& tables, int64_t parts) {
    Attention a;
    a.batch = a.heads = 1, a.sequence = sequence, a.head_size = head_size;
    a.qkv = qkv.data(), a.y = y.data(), a.d_y = d_y.data(), a.d_qkv = d_qkv.data(), a.log_sum = log_sum.data();
    a.parts = parts, a.threads = omp_get_max_threads();
    std::vector<char> workspace(
        size_t(std::max(tables.attention_forward->workspace_bytes(a), tables.attention_backward->workspace_bytes(a))) + 64);
    a.workspace = workspace.data() + 64 - reinterpret_cast<uintptr_t>(workspace.data()) % 64;
    tables.attention_forward->run(a);
    tables.attention_backward->run(a);
  }

  // y of query i, and the gradient of its q, in double.
  void truth(int64_t i, std::vector<double>& y_i, std::vector<double>& d_q) const {
    const double scale = 1 / std::sqrt(double(head_size));
    const auto dot = [&](const float* a, const float* b) {
      double sum = 0;
      for (int64_t k = 0; k < head_size; ++k) sum += double(a[k]) * b[k];
      return sum;
    };
    std::vector<double> p(size_t(i + 1)), d_p(p);
    for (int64_t j = 0; j <= i; ++j) p[size_t(j)] = scale * dot(&qkv[size_t(at(i, 0))], &qkv[size_t(at(j, 1))]);
    const double largest = *std::max_element(p.begin(), p.end());
    double sum = 0, mean = 0;
    for (double& v : p) sum += v = std::exp(v - largest);
    for (double& v : p) v /= sum;
    for (int64_t j = 0; j <= i; ++j) mean += p[size_t(j)] * (d_p[size_t(j)] = dot(&d_y[size_t(i * head_size)], &qkv[size_t(at(j, 2))]));
    y_i.assign(size_t(head_size), 0), d_q = y_i;
    for (int64_t j = 0; j <= i; ++j)
      for (int64_t k = 0; k < head_size; ++k) {
        y_i[size_t(k)] += p[size_t(j)] * qkv[size_t(at(j, 2) + k)];
        d_q[size_t(k)] += scale * p[size_t(j)] * (d_p[size_t(j)] - mean) * qkv[size_t(at(j, 1) + k)];
      }
  }
};

class AttentionKernelTest : public testing::TestWithParam<Tables> {};

// Scores of ± 300: their exponentials reach 1e130. They carry an fp32 error of some 300 x 2^-23, which is the relative error of p.
TEST_P(AttentionKernelTest, LargeScores) {
  Problem problem(150, 32, 100);
  problem.run(GetParam(), 1);
  std::vector<double> y, d_q;
  for (const int64_t i : {0, 1, 63, 64, 100, 149}) {
    problem.truth(i, y, d_q);
    double size = 0;
    for (const double v : d_q) size = std::max(size, std::abs(v));
    for (int64_t k = 0; k < problem.head_size; ++k) {
      ASSERT_NEAR(problem.y[size_t(i * problem.head_size + k)], y[size_t(k)], 2e-4) << "query " << i;
      ASSERT_NEAR(problem.d_qkv[size_t(problem.at(i, 0) + k)], d_q[size_t(k)], 1e-3 * (1 + size)) << "query " << i;
    }
  }
}

TEST_P(AttentionKernelTest, PartsGiveTheSame) {
  Problem whole(200, 24, 1), parts(200, 24, 1);
  whole.run(GetParam(), 1);
  parts.run(GetParam(), 3);
  EXPECT_EQ(whole.y, parts.y);
  for (size_t i = 0; i < whole.d_qkv.size(); ++i) ASSERT_NEAR(whole.d_qkv[i], parts.d_qkv[i], 1e-5) << i;
}

INSTANTIATE_TEST_SUITE_P(Isa, AttentionKernelTest, testing::ValuesIn(tables_here()), isa_name);

}  // namespace
}  // namespace erg::test
