// The row kernel in WGSL: one workgroup per row, all sums in one go. Logits are read as bits, so that NaN and infinities are
// told apart by integer arithmetic: a shader compiler may assume that floats are finite.

/** Threads that share a row of a large vocabulary. Every WebGPU device allows 256. */
export const MOST_LANES = 256;
/** Numbers written a row: most, sum, dot, most', sum', cross, flag, and one that is not used, so that rows are aligned. */
export const OUTPUTS = 8;
/** Formats of the logits, as the shader numbers them. */
export const FORMATS = { float32: 0, bfloat16: 1, float16: 2 } as const;

/**
 * A row is flagged where it holds NaN or +Infinity, where it is -Infinity only, or where the reference gives probability 0
 * to a token of which the policy says otherwise: the host computes such rows by itself.
 */
export const SHADER = /* wgsl */ `
struct Settings { vocab: u32, rows: u32, inverse_temperature: f32, unused: u32 }

override lanes: u32;
override policy_format: u32;
override reference_format: u32;

@group(0) @binding(0) var<storage, read> policy: array<u32>;
@group(0) @binding(1) var<storage, read> reference: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> settings: Settings;

const MINUS_INFINITY = 0xff800000u;
const LOWEST = -3.4028234e38;
// Logits that a thread reads before it adds them: memory answers many reads at once, and a running float32 sum of many terms
// loses digits that sums of short runs keep.
const BLOCK = 8u;
// A difference from the lowest number, before anything was seen, would overflow; times a sum of exponentials this does not.
const FARTHEST = -1e30;

var<workgroup> shared_a: array<f32, lanes>;
var<workgroup> shared_b: array<f32, lanes>;
var<workgroup> shared_c: array<f32, lanes>;
var<workgroup> shared_d: array<f32, lanes>;
var<workgroup> flagged: atomic<u32>;

// The bits of a logit as float32.
fn widened(word: u32, index: u32, format: u32) -> u32 {
  if (format == 0u) { return word; }
  let half = (word >> (16u * (index & 1u))) & 0xffffu;
  if (format == 1u) { return half << 16u; }
  let sign = (half & 0x8000u) << 16u;
  let exponent = (half >> 10u) & 0x1fu;
  let fraction = half & 0x3ffu;
  if (exponent == 0x1fu) { return sign | 0x7f800000u | (fraction << 13u); }
  if (exponent == 0u) { return sign | bitcast<u32>(f32(fraction) * 5.9604645e-8); }
  return sign | ((exponent + 112u) << 23u) | (fraction << 13u);
}

// Two halves a word.
fn place(index: u32, format: u32) -> u32 { return select(index / 2u, index, format == 0u); }
fn policy_bits(index: u32) -> u32 {
  return widened(policy[place(index, policy_format)], index, policy_format);
}
fn reference_bits(index: u32) -> u32 {
  return widened(reference[place(index, reference_format)], index, reference_format);
}

// NaN and +Infinity.
fn is_wild(bits: u32) -> bool { return (bits & 0x7fffffffu) >= 0x7f800000u && bits != MINUS_INFINITY; }
fn is_finite(bits: u32) -> bool { return (bits & 0x7fffffffu) < 0x7f800000u; }

// The sums where the maxima are larger, by the negative of these differences.
fn shifted(sums: vec4<f32>, policy_less: f32, reference_less: f32) -> vec4<f32> {
  let p = max(policy_less * settings.inverse_temperature, FARTHEST);
  let r = max(reference_less * settings.inverse_temperature, FARTHEST);
  let scale = exp(p);
  return vec4<f32>(
    scale * sums.x,
    scale * (sums.y + p * sums.x),
    exp(r) * sums.z,
    scale * (sums.w + r * sums.x),
  );
}

@compute @workgroup_size(lanes)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let row = group.x + group.y * groups.x;
  if (row >= settings.rows) { return; }
  let first = row * settings.vocab;

  // The logits are read once: sums are of differences from the largest so far, and are scaled where a larger one comes.
  var most = LOWEST;
  var other = LOWEST;
  var wild = false;
  // sum, dot, sum', cross
  var total = vec4<f32>(0.0);
  for (var v = lane; v < settings.vocab; v += BLOCK * lanes) {
    var a: array<u32, BLOCK>;
    var b: array<u32, BLOCK>;
    var larger = most;
    var larger_other = other;
    for (var at = 0u; at < BLOCK; at++) {
      let token = v + at * lanes;
      // What lies beyond the row counts as a token that is ruled out by both.
      a[at] = MINUS_INFINITY;
      b[at] = MINUS_INFINITY;
      if (token < settings.vocab) {
        a[at] = policy_bits(first + token);
        b[at] = reference_bits(first + token);
      }
    }
    for (var at = 0u; at < BLOCK; at++) {
      wild = wild || is_wild(a[at]) || is_wild(b[at]) || (b[at] == MINUS_INFINITY && a[at] != MINUS_INFINITY);
      if (is_finite(a[at])) { larger = max(larger, bitcast<f32>(a[at])); }
      if (is_finite(b[at])) { larger_other = max(larger_other, bitcast<f32>(b[at])); }
    }
    total = shifted(total, most - larger, other - larger_other);
    most = larger;
    other = larger_other;
    var run = vec4<f32>(0.0);
    for (var at = 0u; at < BLOCK; at++) {
      var there = 0.0;
      if (is_finite(b[at])) {
        there = (bitcast<f32>(b[at]) - other) * settings.inverse_temperature;
        run.z += exp(there);
      }
      if (is_finite(a[at])) {
        let here = (bitcast<f32>(a[at]) - most) * settings.inverse_temperature;
        let e = exp(here);
        run += vec4<f32>(e, e * here, 0.0, e * there);
      }
    }
    total += run;
  }
  if (wild) { atomicStore(&flagged, 1u); }
  shared_a[lane] = most;
  shared_b[lane] = other;
  workgroupBarrier();
  for (var step = lanes / 2u; step > 0u; step /= 2u) {
    if (lane < step) {
      shared_a[lane] = max(shared_a[lane], shared_a[lane + step]);
      shared_b[lane] = max(shared_b[lane], shared_b[lane + step]);
    }
    workgroupBarrier();
  }
  total = shifted(total, most - shared_a[0], other - shared_b[0]);
  most = shared_a[0];
  other = shared_b[0];
  workgroupBarrier();

  shared_a[lane] = total.x;
  shared_b[lane] = total.y;
  shared_c[lane] = total.z;
  shared_d[lane] = total.w;
  workgroupBarrier();
  for (var step = lanes / 2u; step > 0u; step /= 2u) {
    if (lane < step) {
      shared_a[lane] += shared_a[lane + step];
      shared_b[lane] += shared_b[lane + step];
      shared_c[lane] += shared_c[lane + step];
      shared_d[lane] += shared_d[lane + step];
    }
    workgroupBarrier();
  }
  if (lane == 0u) {
    let at = row * ${OUTPUTS}u;
    let empty = most == LOWEST || other == LOWEST;
    out[at] = most;
    out[at + 1u] = shared_a[0];
    out[at + 2u] = shared_b[0];
    out[at + 3u] = other;
    out[at + 4u] = shared_c[0];
    out[at + 5u] = shared_d[0];
    out[at + 6u] = select(0.0, 1.0, atomicLoad(&flagged) != 0u || empty);
  }
}
`;
