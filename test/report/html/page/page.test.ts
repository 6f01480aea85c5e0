// The document itself; what it does in a browser is test/browser's.
import { describe, expect, test } from 'vitest';
import { html } from '../../../../src/report/html/page/markup.ts';
import { page as document } from '../../../../src/report/html/page/page.ts';

describe('the document', () => {
  const text = document({ title: 'a <b>', body: html`<h1>&</h1>` });

  test('allows its own style and script, and nothing else', () => {
    const [, policy = ''] = /Content-Security-Policy" content="([^"]*)"/.exec(text) ?? [];
    expect(policy).toContain('default-src &#39;none&#39;');
    expect(policy).not.toMatch(/unsafe|connect-src|https?:/);
    expect(document({ title: '', body: html``, live: true })).toContain('connect-src &#39;self&#39;');
  });

  test('follows a run only where it is served', () => {
    expect(text).not.toContain('EventSource');
    expect(text).not.toContain('data-live');
    expect(document({ title: '', body: html``, live: true })).toMatch(/<html lang="en" data-live>/);
  });

  test('escapes its title', () => {
    expect(text).toContain('<title>a &lt;b&gt;</title>');
  });
});
