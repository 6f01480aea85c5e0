// Limits of length, declared once or logged with each step.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat, followed } from './values.ts';

const { noisy } = drawn(51);
const LIMIT = flat(40, 512);

export const LIMITS: Readonly<Record<string, Cases>> = {
  'monitor/length-within-limit': {
    breaking: [
      {
        what: 'a limit that is logged with each step',
        series: {
          completion_length: followed(noisy(30, 300), ...flat(10, 700)),
          max_completion_length: LIMIT,
        },
        onset: 30,
      },
      {
        what: 'a longest completion above the declared limit',
        series: { 'completions/max_length': followed(flat(7, 256), 300, 256) },
        declared: { max_completion_length: 256 },
        onset: 7,
      },
      {
        what: 'prompts that are counted, in a log of a folder of names',
        series: {
          'response_length/mean': noisy(20, 1500, 0.05),
          'train/max_response_length': flat(20, 1024),
        },
        onset: 0,
      },
    ],
    holding: [
      {
        what: 'completions that run into the limit',
        series: { completion_length: flat(40, 512), max_completion_length: LIMIT },
      },
      {
        what: 'a stop token that is counted',
        series: { 'completions/max_length': flat(20, 257) },
        declared: { max_completion_length: 256 },
      },
      {
        what: 'a limit that grows',
        series: {
          completion_length: make(40, (row) => 10 * row),
          max_completion_length: make(40, (row) => 5 * row),
        },
        silent: true,
      },
      {
        what: 'several turns, each with the limit',
        series: { completion_length: flat(20, 900), 'tools/call_frequency': flat(20, 2) },
        declared: { max_completion_length: 512 },
        silent: true,
      },
    ],
  },
  'monitor/length-stuck-at-limit': {
    breaking: [
      {
        what: 'a limit that is logged with each step',
        series: {
          completion_length: followed(noisy(20, 100), ...flat(20, 512)),
          max_completion_length: LIMIT,
        },
        onset: 20,
        within: 12,
      },
    ],
    holding: [
      {
        what: 'a limit that is logged with each step, and seldom reached',
        series: { completion_length: noisy(40, 200), max_completion_length: LIMIT },
      },
    ],
  },
};
