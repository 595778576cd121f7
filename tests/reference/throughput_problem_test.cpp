// SPDX-License-Identifier: Apache-2.0
// The check values of the throughput problems (reference sheet on friction-contact, section 5): the same scheme in the
// leading peer and in a plain loop gives these positions after 20000 steps.
#include <gtest/gtest.h>

#include "tests/support/chain.hpp"

namespace stickslip::throughput_problem_test {
namespace {

TEST(ThroughputProblem, FirstPositionAfter20000StepsIsThePeers) {
  EXPECT_NEAR(
      simulate(*friction_chain::system(2), friction_chain::initial(2), friction_chain::options(20000)).final.q[0],
      -1.87950737, 6e-9);
  EXPECT_NEAR(
      simulate(*friction_chain::system(10), friction_chain::initial(10), friction_chain::options(20000)).final.q[0],
      -0.6591088688, 6e-11);
}

TEST(ThroughputProblem, BandedSparseAndDenseStorageGiveOneTrajectory) {
  const Index n = 12;
  const auto banded = friction_chain::system(n);
  ASSERT_EQ(banded->linear()->K.storage(), Storage::banded);
  const auto sparse = friction_chain::make(SystemMatrix(banded->linear()->M.to_sparse()),
                                           SystemMatrix(banded->linear()->K.to_sparse()));
  const auto dense =
      friction_chain::make(SystemMatrix(banded->linear()->M.to_dense()), SystemMatrix(banded->linear()->K.to_dense()));
  const Vector a = simulate(*banded, friction_chain::initial(n), friction_chain::options(3000)).final.q;
  EXPECT_LT((a - simulate(*sparse, friction_chain::initial(n), friction_chain::options(3000)).final.q)
                .lpNorm<Eigen::Infinity>(),
            1e-11);
  EXPECT_LT((a - simulate(*dense, friction_chain::initial(n), friction_chain::options(3000)).final.q)
                .lpNorm<Eigen::Infinity>(),
            1e-11);
}

}  // namespace
}  // namespace stickslip::throughput_problem_test
