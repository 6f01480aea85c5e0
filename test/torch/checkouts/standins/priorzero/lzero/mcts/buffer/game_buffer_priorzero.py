"""The replay buffer of the stand-in: a batch for the world model, and the segments that it is from."""

import numpy as np
from lzero.mcts.buffer.game_buffer_unizero import UniZeroGameBuffer


class PriorZeroGameBufferOptimized(UniZeroGameBuffer):
    def sample(self, batch_size, policy):
        segments, starts, indices, weights, made = self._sample_orig_data(batch_size)
        steps = self._cfg.num_unroll_steps
        windows = [self._window(segment, start, steps) for segment, start in zip(segments, starts)]
        observations, actions, bootstraps, masks, times = (np.asarray(column) for column in zip(*windows))
        current = [observations, actions, bootstraps, masks, np.asarray(indices), np.asarray(weights), np.asarray(made), times]
        rewards, values = self._compute_target_reward_value(None, policy._target_model, bootstraps, times)
        policies = self._compute_target_policy_non_reanalyzed(None, self.action_space_size)
        return [current, [rewards, values, policies], segments]

    def _window(self, segment, start, steps):
        """Observations of one step more, what is behind the segment's end filled up, and the mask of its own steps."""
        observations = segment.get_unroll_obs(start, num_unroll_steps=steps, padding=True)
        actions = list(segment.action_segment[start : start + steps])
        later = start + self._cfg.td_steps
        mask = [1.0] * len(actions) + [0.0] * (steps + 1 - len(actions))
        times = [start + at for at in range(steps)]
        return observations, filled(actions, steps), filled(list(segment.action_segment[later : later + steps]), steps), mask, times


def filled(actions, steps):
    return actions + [0] * (steps - len(actions))
