/** Significant digits of the shortest decimal that is this number. */
export function digitsOf(value: number): number {
  const [mantissa = ''] = Math.abs(value).toExponential().split('e');
  return mantissa.replace('.', '').length;
}
