// What the page can do with a script: filter, keys, unfolding for print and links. Without one it reads the same, and has
// no control that does nothing: all controls are made here. `lossproof:body` says that the body is another one.
(() => {
  const main = document.querySelector('main');
  /** What is filtered: property id to its words, verdicts, level, stage and everything on the page that is about it. */
  let properties = new Map();
  let box;
  let shown;
  let toggles = [];

  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  // ---- filter ----

  function readProperties() {
    properties = new Map();
    for (const element of main.querySelectorAll('[data-property]')) {
      const id = element.dataset.property;
      const fresh = { words: id, verdicts: new Set(), level: '', stage: id.split('/')[0], elements: [] };
      const property = properties.get(id) ?? fresh;
      properties.set(id, property);
      property.elements.push(element);
      if (element.matches('.index > li')) property.words += ` ${element.textContent}`;
      // Of thousands of failures, most stand in the list only.
      const { level, verdict } = element.dataset;
      if (level) property.level = level;
      if (verdict) property.verdicts.add(verdict).add(wordOf(element.querySelector('.verdict')));
      if (!element.matches('.stage tr')) continue;
      property.words += ` ${element.cells[0].textContent}`;
      property.level = element.cells[1].textContent;
      property.stage = decoded(element.closest('.stage').id.slice('stage-'.length));
      for (const { dataset, firstElementChild } of element.cells)
        if (dataset.verdict) property.verdicts.add(dataset.verdict).add(wordOf(firstElementChild));
    }
    for (const property of properties.values()) property.words = property.words.toLowerCase();
  }

  /** `holds` of `✓ holds`: what is read may be typed as well. */
  const wordOf = (mark) => mark.textContent.trim().split(/\s+/).at(-1);

  /** `padding s:fail s:error level:must stage:mask !nan`: words all, values of one field any of them, `!` none. */
  function parse(text) {
    return text
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '' && word !== '!')
      .map((word) => {
        const not = word.startsWith('!');
        const [, field, value] = /^(s|level|stage):(.*)$/.exec(not ? word.slice(1) : word) ?? [];
        return { not, field, value: field === undefined ? word.slice(not ? 1 : 0) : value };
      });
  }

  function has(property, { field, value }) {
    if (field === undefined) return property.words.includes(value);
    if (field === 's') return [...property.verdicts].some((verdict) => verdict.startsWith(value));
    return property[field].startsWith(value);
  }

  function matches(property, terms) {
    if (terms.some((term) => term.not && has(property, term))) return false;
    const wanted = terms.filter((term) => !term.not);
    const fields = ['s', 'level', 'stage'].map((field) => wanted.filter((term) => term.field === field));
    return (
      wanted.every((term) => term.field !== undefined || has(property, term)) &&
      fields.every((group) => group.length === 0 || group.some((term) => has(property, term)))
    );
  }

  function filter() {
    const terms = parse(box.value);
    let count = 0;
    for (const property of properties.values()) {
      const keep = matches(property, terms);
      if (keep) count++;
      for (const element of property.elements) if (element.hidden === keep) element.hidden = !keep;
    }
    for (const part of main.querySelectorAll('.failures, .known, .stage, #list, #further')) {
      part.hidden = part.querySelector('[data-property]:not([hidden])') === null;
      if (terms.length > 0 && !part.hidden && part.matches('details')) unfold(part, 'filtered');
    }
    if (terms.length === 0) foldAgain('filtered');
    shown.textContent = terms.length === 0 ? '' : `${count} of ${properties.size} shown`;
    for (const button of toggles) button.ariaPressed = String(words().includes(termOf(button)));
  }

  const words = () => box.value.split(/\s+/).filter((word) => word !== '');
  const termOf = (button) => `s:${button.dataset.verdict}`;

  function setFilter(text) {
    box.value = text;
    filter();
    const hash = text.trim() === '' ? '' : `#filter=${encodeURIComponent(text.trim())}`;
    // The address can be passed on; a link to a failure that stands in it is left alone until something is typed.
    history.replaceState(null, '', hash === '' ? location.pathname + location.search : hash);
  }

  function makeControls() {
    box = make('input', { type: 'search', 'aria-label': 'Filter properties', placeholder: 'Filter   /' });
    box.addEventListener('input', () => setFilter(box.value));
    shown = make('span', { id: 'shown', role: 'status' });
    const help = make('button', { type: 'button', 'aria-haspopup': 'dialog' }, 'Keys');
    help.addEventListener('click', () => dialog.showModal());
    const buttons = make('span', { id: 'toggles', role: 'group', 'aria-label': 'Verdicts' });
    document.getElementById('controls').append(make('search', {}, box, shown), buttons, help);
  }

  /** A button for each verdict that the page has, with the number of properties that have it. */
  function makeToggles() {
    const focused = document.activeElement?.dataset?.verdict;
    toggles = [...main.querySelectorAll('#legend [data-verdict]')].flatMap((entry) => {
      const { verdict } = entry.dataset;
      const count = [...properties.values()].filter(({ verdicts }) => verdicts.has(verdict)).length;
      if (count === 0) return [];
      const button = make('button', { type: 'button', 'data-verdict': verdict });
      button.append(entry.firstElementChild.cloneNode(true), ` ${count}`);
      button.title = entry.nextElementSibling.textContent;
      button.addEventListener('click', () => {
        const others = words().filter((word) => word !== termOf(button));
        const without = others.length < words().length;
        setFilter([...others, ...(without ? [] : [termOf(button)])].join(' '));
      });
      return [button];
    });
    document.getElementById('toggles').replaceChildren(...toggles);
    if (focused) toggles.find(({ dataset }) => dataset.verdict === focused)?.focus();
  }

  // ---- unfolding ----

  /** Opens what is closed and remembers why, so that it can be closed again. */
  function unfold(details, why) {
    if (details.open) return;
    details.open = true;
    details.dataset[why] = '';
  }

  function foldAgain(why) {
    for (const details of main.querySelectorAll(`details[data-${why}]`)) {
      details.open = false;
      delete details.dataset[why];
    }
  }

  /** What somebody typed need be no address. */
  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  /** A link may point into something that is folded or filtered away. */
  function showTarget() {
    const hash = decoded(location.hash.slice(1));
    if (box !== undefined && hash.startsWith('filter=')) {
      box.value = hash.slice('filter='.length);
      filter();
      return;
    }
    const target = hash === '' ? null : document.getElementById(hash);
    if (target === null) return;
    if (box !== undefined && target.closest('[hidden]') !== null) {
      box.value = '';
      filter();
    }
    for (let at = target.closest('details'); at !== null; at = at.parentElement.closest('details'))
      at.open = true;
    target.scrollIntoView();
  }

  document.addEventListener('lossproof:body', begin);
  addEventListener('hashchange', showTarget);
  addEventListener('beforeprint', () => {
    for (const details of main.querySelectorAll('details:not(.screen-only, [id$="/asked"])'))
      unfold(details, 'printed');
  });
  addEventListener('afterprint', () => foldAgain('printed'));

  // ---- keys ----

  const HELP = [
    ['/', 'to the filter'],
    ['j', 'next failure'],
    ['k', 'failure before'],
    ['?', 'this help'],
    ['Esc', 'closes it; empties the filter'],
  ];
  const LANGUAGE = [
    ['padding left', 'both words, in id, rule or what was found'],
    ['s:fail', 'verdict; several: any of them'],
    ['level:must', 'level'],
    ['stage:mask', 'stage'],
    ['!word', 'without it; also !s:pass'],
  ];
  const dialog = makeHelp();

  function makeHelp() {
    const list = (rows, name) =>
      make(
        'dl',
        {},
        ...rows.flatMap(([key, what]) => [make('dt', {}, make(name, {}, key)), make('dd', {}, what)]),
      );
    const close = make('button', { type: 'button' }, 'Close');
    const made = make(
      'dialog',
      { class: 'help', 'aria-labelledby': 'help-title' },
      make('h2', { id: 'help-title' }, 'Keys and filter'),
      list(HELP, 'kbd'),
      list(LANGUAGE, 'code'),
      close,
    );
    close.addEventListener('click', () => made.close());
    document.body.append(made);
    return made;
  }

  /** The heading of the next card that can be seen, counted from the one that has the focus, or from the screen. */
  function go(step) {
    const cards = [...main.querySelectorAll('.told')].filter((card) => card.checkVisibility());
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
    '/': () => box?.focus(),
    '?': () => dialog.showModal(),
    j: () => go(1),
    k: () => go(-1),
  };

  addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    if (key === 'Escape' && target === box) {
      setFilter('');
      box.blur();
    }
    const typing = target.closest('input:not([type=range]), textarea, select, [contenteditable]') !== null;
    if (typing || !Object.hasOwn(KEYS, key)) return;
    event.preventDefault();
    KEYS[key]();
  });

  function begin() {
    readProperties();
    if (properties.size === 0 && box === undefined) return;
    if (box === undefined) makeControls();
    makeToggles();
    filter();
  }

  begin();
  showTarget();
})();
