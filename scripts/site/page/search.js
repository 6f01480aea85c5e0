// The search of the site, without a network: every word that is typed must stand in an entry; what is called so comes before
// what only speaks of it. `/` goes to the box, arrows through what is found, Enter opens, Escape leaves.
(() => {
  const place = document.querySelector('#site-search');
  const root = place.dataset.root;
  const MOST = 50;
  let entries;

  const folded = (text) => text.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const wordsOf = (text) => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');

  /** How well a word fits: in what an entry is called, or in what it says; 0: nowhere. */
  function scoreOf(word, { name, names, text, texts }) {
    if (name === word) return 100;
    if (name.startsWith(word)) return 60;
    if (names.includes(word)) return 45;
    if (names.some((each) => each.startsWith(word))) return 35;
    if (name.includes(word)) return 20;
    if (texts.includes(word)) return 12;
    if (texts.some((each) => each.startsWith(word))) return 8;
    return text.includes(word) ? 3 : 0;
  }

  /** All that has every word, best first: `{ kind, name, text, path }`. */
  function search(query) {
    entries ??= globalThis.LOSSPROOF_INDEX.map(([kind, name, text, path]) => {
      const called = folded(name);
      const said = folded(text);
      const look = { name: called, names: wordsOf(called), text: said, texts: wordsOf(said) };
      return { kind, name, text, path, look };
    });
    const words = folded(query)
      .split(/\s+/)
      .filter((word) => word !== '');
    if (words.length === 0) return [];
    // A sentence that is copied from a report finds the entry that says it before those that have its words.
    const sentence = wordsOf(folded(query)).join(' ');
    return entries
      .map((entry) => {
        const fits = words.map((word) => scoreOf(word, entry.look));
        if (Math.min(...fits) === 0) return { entry, score: 0 };
        const says = words.length > 1 && entry.look.texts.join(' ').includes(sentence);
        return { entry, score: fits.reduce((sum, each) => sum + each, says ? 50 : 0) };
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || a.entry.name.length - b.entry.name.length)
      .map(({ entry: { kind, name, text, path } }) => ({ kind, name, text, path }));
  }
  globalThis.lossproofSearch = search;

  // ---- the box ----

  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const box = make('input', {
    type: 'search',
    'aria-label': 'Search properties, ops, bugs and guides',
    'aria-controls': 'site-found',
    'aria-keyshortcuts': '/',
    placeholder: matchMedia('(hover: none)').matches ? 'Search' : 'Search   ( / )',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
  const said = make('p', { role: 'status' });
  const list = make('ul');
  const found = make('div', { id: 'site-found', hidden: '' }, said, list);
  place.append(box, found);

  function load() {
    if (globalThis.LOSSPROOF_INDEX !== undefined || place.querySelector('script') !== null) return;
    const script = make('script', { src: `${root}search-index.js` });
    script.addEventListener('load', show);
    place.append(script);
  }

  /** The words that were looked for, marked. */
  function marked(text, words) {
    const pattern = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
    return text
      .split(new RegExp(`(${pattern})`, 'iu'))
      .map((piece, at) => (at % 2 === 1 ? make('mark', {}, piece) : piece));
  }

  function show() {
    const query = box.value.trim();
    found.hidden = query === '';
    if (query === '' || globalThis.LOSSPROOF_INDEX === undefined) return;
    const results = search(query);
    const words = query.split(/\s+/);
    const shown = results.length > MOST ? `, the best ${MOST} shown` : '';
    said.textContent =
      results.length === 0 ? 'Nothing has all of these words.' : `${results.length} found${shown}`;
    list.replaceChildren(
      ...results.slice(0, MOST).map(({ kind, name, text, path }) => {
        const title = make('span', { class: 'name' }, ...marked(name, words));
        const tag = make('span', { class: 'kind' }, kind);
        const rest = make('span', { class: 'text' }, ...marked(text, words));
        return make('li', {}, make('a', { href: root + path }, tag, title, ...(text === '' ? [] : [rest])));
      }),
    );
    found.scrollTop = 0;
  }

  function close() {
    found.hidden = true;
  }

  box.addEventListener('focus', () => {
    load();
    show();
  });
  box.addEventListener('input', show);
  place.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    if (event.key === 'Escape') {
      box.focus();
      box.value = '';
      close();
    } else if (event.key === 'ArrowDown' && !found.hidden) links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === 'ArrowUp' && at >= 0) (links[at - 1] ?? box).focus();
    else if (event.key === 'Enter' && document.activeElement === box) links[0]?.click();
    else return;
    event.preventDefault();
  });
  list.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.stopPropagation();
  });
  // What leads to another place of this page leaves the box as well.
  list.addEventListener('click', close);
  document.addEventListener('pointerdown', (event) => {
    if (!place.contains(event.target)) close();
  });
  place.addEventListener('focusout', (event) => {
    if (event.relatedTarget !== null && !place.contains(event.relatedTarget)) close();
  });
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input:not([type=radio]), textarea, select, [contenteditable]');
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || typing) return;
    event.preventDefault();
    box.focus();
    box.select();
  });
})();
