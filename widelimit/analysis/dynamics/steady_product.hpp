#pragma once

#include "widelimit/machine/gram/dense_gram.hpp"

namespace widelimit {

/// product = K·factors for `columns` row-major columns, by blocks of rows whose size does not depend on the number of
/// threads: a trajectory, which adds up thousands of products, has the same bits on any number of them. Threads take
/// part from 2,048 samples on; below, they would wait for each other.  O(n²·columns).
void steady_multiply(const DenseGram& k, const double* factors, double* product, Index columns, int threads);

}  // namespace widelimit
