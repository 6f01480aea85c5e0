// Completions: their lengths, whether they end, and whether their tools answer.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat, followed } from './values.ts';

const { noisy } = drawn(13);

export const COMPLETIONS: Readonly<Record<string, Cases>> = {
  'monitor/length-stuck-at-one': {
    breaking: [
      {
        what: 'one token',
        series: { 'completions/mean_length': followed(noisy(9, 40), 1, 1, 1, 1) },
        onset: 9,
      },
    ],
    holding: [
      {
        what: 'one token is the task',
        series: { 'completions/mean_length': flat(9, 1) },
        declared: { max_completion_length: 2 },
        silent: true,
      },
      { what: 'short answers', series: { 'response_length/mean': noisy(30, 3) } },
    ],
  },
  'monitor/length-stuck-at-limit': {
    breaking: [
      {
        what: 'nothing stops',
        series: { 'completions/mean_length': flat(20, 256) },
        declared: { max_completion_length: 256 },
        onset: 0,
        within: 10,
      },
    ],
    holding: [
      {
        what: 'some do',
        series: { 'completions/mean_length': noisy(30, 200) },
        declared: { max_completion_length: 1024 },
      },
      { what: 'no limit is known', series: { 'completions/mean_length': flat(30, 256) }, silent: true },
    ],
  },
  'monitor/length-in-range': {
    breaking: [
      {
        what: 'too short',
        series: { response_length: followed(flat(5, 50), 10, 10, 10) },
        settings: { low: 15, high: 96 },
        onset: 5,
      },
      {
        what: 'too long',
        series: { response_length: followed(flat(5, 50), 200, 200) },
        settings: { low: 15, high: 96 },
        onset: 5,
      },
    ],
    holding: [
      { what: 'inside', series: { response_length: noisy(20, 50, 0.05) }, settings: { low: 15, high: 96 } },
      { what: 'no range', series: { response_length: flat(20, 1) }, silent: true },
    ],
  },
  'monitor/truncated-share': {
    breaking: [
      { what: 'nothing stops', series: { 'completions/clipped_ratio': flat(12, 1) }, onset: 0, within: 10 },
    ],
    holding: [{ what: 'a reasoning model', series: { 'response_length/clip_ratio': flat(30, 0.9) } }],
  },
  'monitor/stopped-share': {
    breaking: [{ what: 'nothing stops', series: { 'val/stop_rate': flat(12, 0) }, onset: 0, within: 10 }],
    holding: [{ what: 'some do', series: { 'val/stop_rate': flat(30, 0.3) } }],
  },
  'monitor/tool-failures': {
    breaking: [
      { what: 'every call', series: { 'tools/failure_frequency': flat(12, 1) }, onset: 0, within: 10 },
    ],
    holding: [
      {
        what: 'a policy that learns to call',
        series: { 'tools/failure_frequency': make(30, (row) => Math.max(0.05, 1 - row / 8)) },
      },
    ],
  },
};
