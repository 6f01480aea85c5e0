// Text that tries to get out of its place: every kind of it in one list.

export const HOSTILE: readonly string[] = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</td></tr></table></details></article>',
  '</style><style>*{display:none}',
  '&lt;b&gt; &#x3c;',
  '{{alert(1)}}',
  '\u202egnp.exe\u202c',
  'מַשֶּׁהוּ بالعربية',
  'a\u200bb\ufeffc\u00ad',
  '👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301\u0301\u0301',
  '\ud83d half \udc00',
  '\u0000\u0007\u001b[31m\u007f',
  '\u2028\u2029\n\r\t',
  'x'.repeat(100_000),
  `e${'\u0301'.repeat(100_000)}`,
  '',
];

/** What no page may hold outside of a tag that is ours: elements, acting characters, halves of characters. */
export function isHarmless(markup: string): boolean {
  const ours = markup.replace(
    /<\/?(?:article|header|section|details|summary|div|span|table|colgroup|col|caption|thead|tbody|tr|th|td|p|pre|code|bdi|small|h3|h4|a|b|i|mark|br|ul|ol|li|dl|dt|dd|button|label|input|output|figure|figcaption|svg|path|g|title|desc|text|line|polyline|polygon|circle)(?: [a-zA-Z0-9-]+(?:="[^"<>]*")?)*\/?>/g,
    '',
  );
  return (
    !/[<>]/.test(ours) &&
    !/ on[a-z]+=/.test(markup.replaceAll(/"[^"]*"/g, '""').replaceAll(/>[^<]*</g, '><')) &&
    !/(?![\n\t\u200d])[\p{Cc}\p{Cf}\p{Cs}]/u.test(markup)
  );
}
