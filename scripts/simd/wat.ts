// The row kernel of cpu-f64 in WebAssembly, two lanes of float64: what `src/kernel/loop.ts` does for a row of finite logits, by the
// same arithmetic. Text for wabt, with a function for what stands in it more than once: WebAssembly has no inlining of its own.

type Precision = 'f32' | 'f64';

// As in the plain loop, which says what they are.
const STEPS = 256 / Math.LN2;
const ROUND = 1.5 * 2 ** 52;
const HIGH = 726817 / 2 ** 28;
const LOW = Math.LN2 / 256 - HIGH + 2.3190468138462996e-17 / 256;
/** Below, e^d has less than 53 bits: such a row is left to the plain loop. */
const DEEP = -708;
/** Below, e^d is less than the smallest number. */
const NOTHING = -746;

const splat = (value: number): string => `(v128.const f64x2 ${value} ${value})`;
const mul = (a: string, b: string): string => `(f64x2.mul ${a} ${b})`;
const add = (a: string, b: string): string => `(f64x2.add ${a} ${b})`;
const sub = (a: string, b: string): string => `(f64x2.sub ${a} ${b})`;
const get = (name: string): string => `(local.get $${name})`;
const set = (name: string, value: string): string => `(local.set $${name} ${value})\n`;
const grow = (name: string, value: string): string => set(name, add(get(name), value));

/** Two logits as float64. */
const pair = (from: string, of: Precision): string =>
  of === 'f64' ? `(v128.load ${get(from)})` : `(f64x2.promote_low_f32x4 (v128.load64_zero ${get(from)}))`;

/** Where 2^(j / 256) of a lane stands: all of them are at the beginning of the memory. */
const place = (at: 0 | 2): string =>
  `(i32.shl (i32.and (i32x4.extract_lane ${at} ${get('t')}) (i32.const 255)) (i32.const 3))`;

/**
 * d and e^d of two logits: into $d, and into $e, 0 where it is below DEEP; $ok says where it is not. Lanes between DEEP and
 * NOTHING are remembered in $deep.
 */
const exponential = (from: string, level: string, of: Precision): string =>
  set('d', mul(sub(pair(from, of), get(level)), get('inverse'))) +
  set('ok', `(f64x2.gt ${get('d')} ${splat(DEEP)})`) +
  set('deep', `(v128.or ${get('deep')} (v128.xor ${get('ok')} (f64x2.gt ${get('d')} ${splat(NOTHING)})))`) +
  set('c', `(f64x2.pmax ${get('d')} ${splat(DEEP)})`) +
  // The whole number stands in the low bits of t.
  set('t', add(mul(get('c'), splat(STEPS)), splat(ROUND))) +
  set('s', sub(get('t'), splat(ROUND))) +
  set('q', sub(sub(get('c'), mul(get('s'), splat(HIGH))), mul(get('s'), splat(LOW)))) +
  set('f', `(v128.load64_lane 1 ${place(2)} (v128.load64_zero ${place(0)}))`) +
  set(
    'e',
    add(
      get('f'),
      mul(
        get('f'),
        add(
          get('q'),
          mul(
            mul(get('q'), get('q')),
            add(splat(1 / 2), mul(get('q'), add(splat(1 / 6), mul(get('q'), splat(1 / 24))))),
          ),
        ),
      ),
    ),
  ) +
  // Times 2^k, by adding k to the exponent.
  set(
    'e',
    `(v128.and ${get('ok')} (i64x2.add ${get('e')} (i64x2.shl (i64x2.shr_u ${get('t')} (i32.const 8)) (i32.const 52))))`,
  );

const lanes = (name: string): string =>
  `(f64.add (f64x2.extract_lane 0 ${get(name)}) (f64x2.extract_lane 1 ${get(name)}))`;

const step = (name: string, bytes: number): string =>
  set(name, `(i32.add ${get(name)} (i32.const ${bytes}))`);

const bytesOf = (of: Precision): number => (of === 'f32' ? 8 : 16);

/** The largest of a row, NaN where one is. Rows are padded to 16 bytes with -Infinity. */
const most = (of: Precision): string => {
  const shape = of === 'f32' ? 'f32x4' : 'f64x2';
  const all = of === 'f32' ? [0, 1, 2, 3] : [0, 1];
  const largest = all
    .map((at) => `(${shape}.extract_lane ${at} ${get('most')})`)
    .reduce((a, b) => `(${of}.max ${a} ${b})`);
  return `
(func (export "most_${of}") (param $p i32) (param $end i32) (result f64)
  (local $most v128)
  ${set('most', `(v128.load ${get('p')})`)}
  (loop $next
    ${set('most', `(${shape}.max ${get('most')} (v128.load ${get('p')}))`)}
    ${step('p', 16)}
    (br_if $next (i32.lt_u ${get('p')} ${get('end')})))
  ${of === 'f32' ? `(f64.promote_f32 ${largest})` : largest})`;
};

/** Sums of a row, into $out: sum, dot, and with a reference its sum and cross. Returns whether a lane was deep. */
const weigh = (of: Precision, reference: boolean): string => `
(func (export "${reference ? 'weigh_both' : 'weigh'}_${of}")
  (param $p i32) (param $end i32) (param $r i32) (param $most f64) (param $other f64) (param $by f64) (param $out i32)
  (result i32)
  (local $level v128) (local $level2 v128) (local $inverse v128)
  (local $d v128) (local $c v128) (local $t v128) (local $s v128) (local $q v128) (local $f v128) (local $e v128)
  (local $ok v128) (local $deep v128) (local $there v128)
  (local $sum v128) (local $dot v128) (local $sum2 v128) (local $cross v128)
  
  ${set('level', `(f64x2.splat ${get('most')})`)}
  ${set('level2', `(f64x2.splat ${get('other')})`)}
  ${set('inverse', `(f64x2.splat ${get('by')})`)}
  (loop $next
    ${
      reference
        ? exponential('r', 'level2', of) +
          set('there', get('d')) +
          grow('sum2', get('e')) +
          step('r', bytesOf(of))
        : ''
    }
    ${exponential('p', 'level', of)}
    ${grow('sum', get('e'))}
    ${grow('dot', mul(get('e'), get('c')))}
    ${reference ? grow('cross', `(v128.and ${get('ok')} ${mul(get('e'), get('there'))})`) : ''}
    ${step('p', bytesOf(of))}
    (br_if $next (i32.lt_u ${get('p')} ${get('end')})))
  (f64.store offset=0 ${get('out')} ${lanes('sum')})
  (f64.store offset=8 ${get('out')} ${lanes('dot')})
  (f64.store offset=16 ${get('out')} ${lanes('sum2')})
  (f64.store offset=24 ${get('out')} ${lanes('cross')})
  (v128.any_true ${get('deep')}))`;

export const WAT = `(module
(memory (export "memory") 1)
${(['f32', 'f64'] as const).map((of) => most(of) + weigh(of, false) + weigh(of, true)).join('\n')})
`;
