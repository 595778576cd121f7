% SPDX-License-Identifier: Apache-2.0
% NLvib's own residual and Jacobian (HB_residual) of the two comparison problems, at solutions of ours.
%
%   octave --no-gui nlvib.m FOLDER POINTS REPEATS      FOLDER: a checkout of NLvib; POINTS: a text file with one line
%   per problem: Om, then the coefficients [Q0; Qc1; Qs1; ...]. One JSON object: per problem the best time, the size of the
%   residual over that of the force, and the largest change of a coefficient in one Newton step.
1;
addpath(fileparts(mfilename("fullpath")));

function text = measure(name, point, model, H, N, repeats)
  X = [point(2:end); point(1)];
  best = Inf;
  for k = 1:repeats
    begin = cputime(); [R, J] = HB_residual(X, model, H, N, "FRF"); best = min(best, cputime() - begin);
  end
  step = J(:, 1:end-1) \ R;
  text = sprintf("\"%s\": {\"seconds\": %.6e, \"residual\": %.3e, \"newton_change\": %.3e, \"unknowns\": %d}", name, best, ...
                 norm(R) / norm(model.Fex1), norm(step) / norm(point(2:end)), numel(R));
end

arguments = argv();
folder = arguments{end-2}; repeats = str2double(arguments{end});
addpath(fullfile(folder, "SRC"));
addpath(fullfile(folder, "SRC", "MechanicalSystems"));
handle = fopen(arguments{end-1});
points = {str2num(fgetl(handle))', str2num(fgetl(handle))'};
fclose(handle);

K = [1, -1; -1, 2];
stop = struct("type", "unilateralSpring", "stiffness", 100, "gap", 1, "force_direction", [1; 0]);
spring = measure("spring", points{1}, MechanicalSystem(eye(2), 0.03 * K, K, {stop}, [0; 0.1]), 21, 1024, repeats);

[M, K] = beam(8, 2, 0.1, 0.3, 185e9, 7830);
W = zeros(16, 1); W(5) = 1;
F = zeros(16, 1); F(15) = 0.2;
pad = struct("type", "tanhDryFriction", "friction_limit_force", 1.5, "eps", 6e-7, "force_direction", W);
tip = measure("beam", points{2}, MechanicalSystem(M, 8.032992955e-05 * K, K, {pad}, F), 7, 128, repeats);

printf("{\"version\": \"%s\", %s, %s}\n", version(), spring, tip);
