import { expect, test } from 'vitest';
import { escapeText, html, raw } from '../../../../src/report/html/page/markup.ts';
import { HOSTILE, isHarmless } from './hostile.ts';

test('text between tags is escaped, markup is not, and lists are joined', () => {
  const { markup } = html`<p>${'<b>'}${html`<i>${1}</i>`}${['&', raw('<br>')]}${undefined}${false}</p>`;
  expect(markup).toBe('<p>&lt;b&gt;<i>1</i>&amp;<br></p>');
});

test('text cannot leave an attribute', () => {
  expect(html`<p title="${`"'<>`}">`.markup).toBe('<p title="&quot;&#39;&lt;&gt;">');
});

test('characters that act are shown as escapes, and those that join emoji stay', () => {
  expect(escapeText('a\u202eb\u200bc\u0000')).toBe('a\\u{202e}b\\u{200b}c\\u{0}');
  expect(escapeText('\ud83d')).toBe('\\u{d83d}');
  expect(escapeText('👩‍👧\n\t')).toBe('👩‍👧\n\t');
});

test.each(HOSTILE.map((text) => [text.slice(0, 20), text]))('%j does nothing', (_, text) => {
  expect(isHarmless(html`<p title="${text}">${text}</p>`.markup)).toBe(true);
});
