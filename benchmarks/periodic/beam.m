% SPDX-License-Identifier: Apache-2.0
% Mass and stiffness of a clamped beam in bending, Euler-Bernoulli elements with cubic shapes.
function [M, K] = beam(elements, len, height, thickness, E, density)
  l = len / elements; EI = E * thickness * height^3 / 12; mu = density * thickness * height * l / 420;
  k = EI / l^3 * [12, 6*l, -12, 6*l; 6*l, 4*l^2, -6*l, 2*l^2; -12, -6*l, 12, -6*l; 6*l, 2*l^2, -6*l, 4*l^2];
  m = mu * [156, 22*l, 54, -13*l; 22*l, 4*l^2, 13*l, -3*l^2; 54, 13*l, 156, -22*l; -13*l, -3*l^2, -22*l, 4*l^2];
  M = zeros(2 * elements + 2); K = M;
  for e = 1:elements
    i = 2 * e - 1 + (0:3);
    M(i, i) += m; K(i, i) += k;
  end
  M = M(3:end, 3:end); K = K(3:end, 3:end);
end
