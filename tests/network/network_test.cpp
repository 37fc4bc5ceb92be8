#include "widelimit/network/network.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

TEST(CutNetwork, KeepsTheLayersBefore) {
  const Network network = Network::parse("dense(w_std=2) relu dense(b_std=0.1) erf dense");
  EXPECT_EQ(cut_network(network, 0), Network::parse("dense(w_std=2)"));
  EXPECT_EQ(cut_network(network, 1), Network::parse("dense(w_std=2) relu dense(b_std=0.1)"));
  EXPECT_EQ(cut_network(network, 2), network);
  EXPECT_THROW((void)cut_network(network, 3), Error);
}

TEST(CutNetwork, FreezesTheFirstLayers) {
  const Network network = Network::parse("dense relu dense erf dense(frozen=true) relu dense");
  EXPECT_EQ(cut_network(network, 1, 1), Network::parse("dense(frozen=true) relu dense"));
  EXPECT_EQ(cut_network(network, 1, 2), Network::parse("dense(frozen=true) relu dense(frozen=true)"));
  EXPECT_EQ(cut_network(network, 3, 1),
            Network::parse("dense(frozen=true) relu dense erf dense(frozen=true) relu dense"));
  EXPECT_THROW((void)cut_network(network, 1, 3), Error);
}

}  // namespace
}  // namespace widelimit
