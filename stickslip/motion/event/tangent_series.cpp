// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/tangent_series.hpp"

namespace stickslip {

TangentSeries::TangentSeries(ModeNeighbourhood& neighbourhood, const std::vector<double>& breakpoints, TimeSpan span)
    : neighbourhood_(neighbourhood), response_(neighbourhood.center(), breakpoints, span) {
  const SystemInfo& info = neighbourhood.center().system().info();
  for (Index j = 0; j < neighbourhood.unknowns(); ++j) {
    auto& flows = beside_.emplace_back();
    for (ModeNeighbourhood::Beside& next : neighbourhood.beside(j))
      flows.push_back(std::make_unique<TaylorFlow>(*next.dynamics, next.breakpoints, span));
    series_.push_back(DenseMatrix::Zero(info.nq() + info.nv(), TaylorFlow::kOrder + 1));
  }
}

void TangentSeries::begin(double t0, double h, const Vector& q, const Vector& v, const std::vector<Mode>& modes,
                          const DenseMatrix& X) {
  t0_ = t0;
  h_ = h;
  const Index n = q.size();
  neighbourhood_.center().place(neighbourhood_.clamped(t0), q, v);
  response_.load_forces(t0, h);
  const DenseMatrix force = response_.force_series(), surface = response_.surface_series();
  for (Index j = 0; j < X.cols(); ++j) {
    const double shift = neighbourhood_.warp_rate(j, neighbourhood_.clamped(t0));
    DenseMatrix df = DenseMatrix::Zero(force.rows(), force.cols()),
                dw = DenseMatrix::Zero(surface.rows(), surface.cols());
    for (Index k = 0; shift != 0 && k + 1 < force.cols(); ++k) {
      df.col(k) = -shift * static_cast<double>(k + 1) / h * force.col(k + 1);
      dw.col(k) = -shift * static_cast<double>(k + 1) / h * surface.col(k + 1);
    }
    response_.respond(h, X.col(j).head(n), X.col(j).tail(n), df, dw, modes);
    DenseMatrix& sum = series_[static_cast<std::size_t>(j)];
    sum.topRows(n) = response_.position_series();
    sum.bottomRows(n) = response_.velocity_series();
    auto& flows = beside_[static_cast<std::size_t>(j)];
    for (std::size_t k = 0; k < flows.size(); ++k) {
      ModeNeighbourhood::Beside& next = neighbourhood_.beside(j)[k];
      const double start = next.warp(neighbourhood_.clamped(t0));
      next.dynamics->place(start, q, v);
      flows[k]->expand_from(start, h, q, v, modes);
      sum.topRows(n).rightCols(TaylorFlow::kOrder) +=
          next.weight * flows[k]->position_series().rightCols(TaylorFlow::kOrder);
      sum.bottomRows(n).rightCols(TaylorFlow::kOrder) +=
          next.weight * flows[k]->velocity_series().rightCols(TaylorFlow::kOrder);
    }
  }
}

void TangentSeries::evaluate(double t, DenseMatrix& X) const {
  const double s = (t - t0_) / h_;
  for (Index j = 0; j < X.cols(); ++j) {
    const DenseMatrix& series = series_[static_cast<std::size_t>(j)];
    X.col(j) = series.col(TaylorFlow::kOrder);
    for (int k = TaylorFlow::kOrder - 1; k >= 0; --k) X.col(j) = s * X.col(j) + series.col(k);
  }
}

}  // namespace stickslip
