// A name against a word in which * stands for anything. By hand and not as a regular expression: one with many stars
// backtracks, and a word with twenty of them would never be answered.

export function fitsGlob(name: string, glob: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop();
  if (last === undefined) return name === glob;
  if (!name.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
}
