// Colours as people see them who lack a kind of cone, and how far apart two of them are then.

export type Sight = 'all cones' | 'protanopia' | 'deuteranopia' | 'tritanopia';
export type Rgb = readonly [number, number, number];

/** Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009, severity 1. */
const SIGHTS: Readonly<Record<Sight, readonly Rgb[]>> = {
  'all cones': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

export const SIGHT_NAMES = Object.keys(SIGHTS) as readonly Sight[];

/** `#0a5aa8`, in linear light. */
export function linearOf(hex: string): Rgb {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  return [linear(r), linear(g), linear(b)];
}

/** `share` of one colour on another, as style sheets mix them. */
export function mixed(over: string, under: string, share: number): string {
  const channel = (hex: string, at: number): number => Number.parseInt(hex.slice(at, at + 2), 16);
  return `#${[1, 3, 5]
    .map((at) => Math.round(share * channel(over, at) + (1 - share) * channel(under, at)))
    .map((value) => value.toString(16).padStart(2, '0'))
    .join('')}`;
}

export function seenBy(sight: Sight, [r, g, b]: Rgb): Rgb {
  const [red, green, blue] = SIGHTS[sight].map(([x, y, z]) =>
    Math.min(1, Math.max(0, x * r + y * g + z * b)),
  );
  return [red ?? 0, green ?? 0, blue ?? 0];
}

/** In OKLab, where 2 is about what is just seen side by side, and 100 is from black to white. */
export function apart(one: string, other: string, sight: Sight): number {
  const [a, b] = [one, other].map((hex) => okLab(seenBy(sight, linearOf(hex))));
  return 100 * Math.hypot(...[0, 1, 2].map((at) => (a?.[at] ?? 0) - (b?.[at] ?? 0)));
}

/** Of the Web Content Accessibility Guidelines, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [a = 0, b = 0] = [one, other]
    .map(linearOf)
    .map(([r, g, blue]) => 0.2126 * r + 0.7152 * g + 0.0722 * blue)
    .sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}

const linear = (value: number): number =>
  value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;

function okLab([r, g, b]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}
