// Reading a cell that must be there, and refusing arguments that make no sense. Both are misuse by the caller,
// never something a trainer did: they throw, with a code.

export type MisuseCode = 'bad_shape' | 'bad_argument';

export function misuse(code: MisuseCode, message: string): RangeError & { readonly code: MisuseCode } {
  return Object.assign(new RangeError(message), { code });
}

/** `list[index]`. Throws `bad_shape` where the list is too short: arrays of one case must agree in shape. */
export function at<T>(list: readonly T[], index: number): T {
  if (index < 0 || index >= list.length) {
    throw misuse('bad_shape', `index ${index} is outside an array of ${list.length}; check the shapes`);
  }
  return list[index] as T;
}

/** `matrix[b][t]`, likewise. */
export function cell(matrix: readonly (readonly number[])[], b: number, t: number): number {
  return at(at(matrix, b), t);
}
