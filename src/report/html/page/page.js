// What the page can do with a script beside its filter: keys, unfolding for print and links. `lossproof:body` says that
// the body is another one, `lossproof:kept` that rows were read which do not stand on the page.
(() => {
  const { main, make, decoded, unfold, foldAgain, filter, setFilter, box } = lossproof;

  /** A link may point into something that is folded, filtered away, or not made yet. */
  function showTarget() {
    const hash = decoded(location.hash.slice(1));
    if (box() !== undefined && hash.startsWith('filter=')) {
      box().value = hash.slice('filter='.length);
      filter();
      return;
    }
    if (hash === '') return;
    const target = document.getElementById(hash) ?? lossproof.makeRow?.(hash);
    if (!target) return;
    if (box() !== undefined && target.closest('[hidden]') !== null) {
      box().value = '';
      filter();
    }
    for (let at = target.closest('details'); at !== null; at = at.parentElement.closest('details'))
      at.open = true;
    target.scrollIntoView();
  }

  document.addEventListener('lossproof:body', lossproof.begin);
  document.addEventListener('lossproof:kept', () => {
    lossproof.begin();
    const hash = decoded(location.hash.slice(1));
    if (hash.startsWith('filter=') || document.getElementById(hash) === null) showTarget();
  });
  addEventListener('hashchange', showTarget);
  addEventListener('beforeprint', () => {
    for (const details of main.querySelectorAll('details:not(.screen-only, [id$="/asked"])'))
      unfold(details, 'printed');
  });
  addEventListener('afterprint', () => foldAgain('printed'));

  // ---- keys ----

  const HELP = [
    ['/', 'to the filter'],
    ['j', 'next failure, or row'],
    ['k', 'the one before'],
    ['?', 'this help'],
    ['Esc', 'closes it; empties the filter'],
  ];
  const list = (rows, name) =>
    make(
      'dl',
      {},
      ...rows.flatMap(([key, what]) => [make('dt', {}, make(name, {}, key)), make('dd', {}, what)]),
    );
  const language = make('div');
  const dialog = makeHelp();

  function makeHelp() {
    const close = make('button', { type: 'button' }, 'Close');
    const made = make(
      'dialog',
      { class: 'help', 'aria-labelledby': 'help-title' },
      make('h2', { id: 'help-title' }, 'Keys and filter'),
      list(HELP, 'kbd'),
      language,
      close,
    );
    close.addEventListener('click', () => made.close());
    document.body.append(made);
    return made;
  }

  /** What this page can be asked for. */
  function help() {
    const rows = lossproof.kindsHere().flatMap((kind) => kind.language);
    language.replaceChildren(list(rows, 'code'));
    dialog.showModal();
  }
  document.addEventListener('lossproof:help', help);

  /** The heading of the next card that can be seen, counted from the one that has the focus, or from the screen. */
  function go(step) {
    const cards = [...main.querySelectorAll('.told, .viewed article')].filter((card) =>
      card.checkVisibility(),
    );
    const focused = cards.findIndex((card) => card.contains(document.activeElement));
    const below = cards.findIndex((card) => card.getBoundingClientRect().top > innerHeight / 3);
    const from = focused >= 0 ? focused : (below < 0 ? cards.length : below) - (step > 0 ? 1 : 0);
    const heading = cards[from + step]?.querySelector('h2, h3');
    if (heading === null || heading === undefined) return;
    heading.tabIndex = -1;
    heading.scrollIntoView();
    heading.focus({ preventScroll: true });
  }

  const KEYS = {
    '/': () => box()?.focus(),
    '?': help,
    j: () => go(1),
    k: () => go(-1),
  };

  addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    if (key === 'Escape' && box() !== undefined && target === box()) {
      setFilter('');
      box().blur();
    }
    const typing = target.closest('input:not([type=range]), textarea, select, [contenteditable]') !== null;
    if (typing || !Object.hasOwn(KEYS, key)) return;
    event.preventDefault();
    KEYS[key]();
  });

  lossproof.begin();
  showTarget();
})();
