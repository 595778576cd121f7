// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/positions_apart.hpp"

#include <algorithm>

namespace stickslip {

namespace {
constexpr Index kPerBody = 6;
constexpr double kRelaxation = 1.4;  // in (0, 2)
constexpr int kMostSweeps = 200;
}  // namespace

void PositionsApart::set_mass(const PinnedFactor& mass, Index coordinates) {
  blocks_.resize(coordinates, kPerBody);
  Vector column(coordinates);
  for (Index c = 0; c < kPerBody; ++c) {  // the same column of all blocks at once
    column.setZero();
    for (Index i = c; i < coordinates; i += kPerBody) column[i] = 1;
    mass.solve(column);
    blocks_.col(c) = column;
  }
}

void PositionsApart::respond(const SparseMatrix& Wt, Index row, std::vector<double>& response) const {
  const int begin = Wt.outerIndexPtr()[row], end = Wt.outerIndexPtr()[row + 1];
  const int* column = Wt.innerIndexPtr();
  response.clear();
  for (int a = begin; a < end; ++a) {
    double sum = 0;
    for (int b = begin; b < end; ++b)
      if (column[a] / kPerBody == column[b] / kPerBody)
        sum += blocks_(column[a], column[b] % kPerBody) * Wt.valuePtr()[b];
    response.push_back(sum);
  }
}

void PositionsApart::solve(const ContactPoints& found, const std::vector<ContactElement>& laws, double enough,
                           Vector& delta) {
  rows_.clear();
  columns_.clear();
  directions_.clear();
  responses_.clear();
  Index from = 0;
  for (const ContactSite& point : found.points) {
    Row row{static_cast<int>(columns_.size()), 0, 0.0, point.gap, 0.0};
    respond(found.Wt, from, response_);
    for (SparseMatrix::InnerIterator entry(found.Wt, from); entry; ++entry) {
      columns_.push_back(static_cast<int>(entry.col()));
      directions_.push_back(entry.value());
      row.mobility += entry.value() * response_[static_cast<std::size_t>(row.count++)];
    }
    responses_.insert(responses_.end(), response_.begin(), response_.end());
    if (row.mobility > 0) rows_.push_back(row);
    from += laws[static_cast<std::size_t>(point.law)].size();
  }
  delta.setZero(blocks_.rows());
  for (int k = 0; k < kMostSweeps && sweep(delta) > enough; ++k) {
  }
}

/// The deepest that a point was when its turn came. [m]
double PositionsApart::sweep(Vector& delta) {
  double deepest = 0;
  for (Row& row : rows_) {
    double gap = row.gap;
    for (int a = row.begin; a < row.begin + row.count; ++a) gap += directions_[a] * delta[columns_[a]];
    deepest = std::max(deepest, -gap);
    const double push = std::max(0.0, row.push - kRelaxation * gap / row.mobility), change = push - row.push;
    if (change == 0) continue;
    row.push = push;
    for (int a = row.begin; a < row.begin + row.count; ++a) delta[columns_[a]] += change * responses_[a];
  }
  return deepest;
}

}  // namespace stickslip
