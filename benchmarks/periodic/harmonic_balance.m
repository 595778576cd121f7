% SPDX-License-Identifier: Apache-2.0
% The peer: harmonic balance with the alternating frequency-time scheme as it is usually written in Octave, vectorised
% over the samples, with analytic Jacobians and all coordinates as unknowns (no condensation).
%
%   octave --no-gui harmonic_balance.m REPEATS     one JSON object: best time of residual with Jacobian per problem
1;
addpath(fileparts(mfilename("fullpath")));

function [R, J] = spring_residual(X, Om, p)
  % X = [Q0; Qc1; Qs1; ...], n numbers each; spring force k max(q1 - gap, 0) on the first coordinate
  [R, J] = linear_part(X, Om, p);
  q = p.E * X(1:p.n:end);                       % samples of coordinate 1
  touch = q > p.gap;
  f = p.k * (q - p.gap) .* touch;
  df = p.k * touch;
  R(1:p.n:end) += p.T * f;
  J(1:p.n:end, 1:p.n:end) += p.T * (df .* p.E);
end

function [R, J] = beam_residual(X, Om, p)
  [R, J] = linear_part(X, Om, p);
  v = Om * (p.dE * X(p.c:p.n:end));             % velocity of the rubbing coordinate
  f = p.limit * tanh(v / p.width);
  df = p.limit / p.width * (1 - tanh(v / p.width).^2);
  R(p.c:p.n:end) += p.T * f;
  J(p.c:p.n:end, p.c:p.n:end) += p.T * ((Om * df) .* p.dE);
end

function [R, J] = linear_part(X, Om, p)
  n = p.n; H = p.H;
  J = zeros(n * (2 * H + 1));
  J(1:n, 1:n) = p.K;
  for h = 1:H
    c = n * (2 * h - 1) + (1:n); s = c + n;
    A = p.K - (h * Om)^2 * p.M; B = h * Om * p.D;
    J(c, c) = A; J(c, s) = B; J(s, c) = -B; J(s, s) = A;
  end
  R = J * X;
  R(n + (1:n)) -= p.F;
end

function p = transforms(p)
  t = 2 * pi * (0:p.N-1)' / p.N;
  p.E = ones(p.N, 1); p.dE = zeros(p.N, 1);
  for h = 1:p.H
    p.E = [p.E, cos(h * t), sin(h * t)];
    p.dE = [p.dE, -h * sin(h * t), h * cos(h * t)];
  end
  p.T = 2 / p.N * p.E'; p.T(1, :) /= 2;
end

function best = time_of(residual, X, Om, p, repeats)
  best = Inf;
  for k = 1:repeats
    begin = cputime(); [R, J] = residual(X, Om, p); best = min(best, cputime() - begin);
  end
end

repeats = 100;
arguments = argv();
if numel(arguments) > 0 && ! isnan(str2double(arguments{end})), repeats = str2double(arguments{end}); end

p = struct("n", 2, "H", 21, "N", 1024, "M", eye(2), "K", [1, -1; -1, 2], "D", 0.03 * [1, -1; -1, 2], "F", [0; 0.1], ...
           "k", 100, "gap", 1);
p = transforms(p);
Om = 0.7;
[R, J] = spring_residual(zeros(2 * 43, 1), Om, p);
X = -3 * (J \ R);
spring = time_of(@spring_residual, X, Om, p, repeats);

[M, K] = beam(8, 2, 0.1, 0.3, 185e9, 7830);
F = zeros(16, 1); F(15) = 0.2;
p = struct("n", 16, "H", 7, "N", 128, "M", M, "K", K, "D", 8.032992955e-05 * K, "F", F, "limit", 1.5, "width", 6e-7, "c", 5);
p = transforms(p);
Om = 195;
[R, J] = beam_residual(zeros(16 * 15, 1), Om, p);
X = -3 * (J \ R);
beam_time = time_of(@beam_residual, X, Om, p, repeats);

printf("{\"version\": \"%s\", \"spring\": %.6e, \"beam\": %.6e}\n", version(), spring, beam_time);
