// The filter of every page: what there is to find (properties, series, rows), the language, the controls. Without a script
// the page reads the same, and has no control that does nothing: all controls are made here. `lossproof` is what the
// scripts of one page share.
globalThis.lossproof = (() => {
  const main = document.querySelector('main');
  const ITEM = '[data-property], [data-item], [data-row]';
  /** What holds items, and is hidden with the last of them. */
  const PARTS =
    '.failures, .known, .stage, #list, #further, .runs-logged > details, .runs-logged details details, .overlaid, .traced > details, details.changes';
  /** More are looked through when nobody types for a moment. */
  const MANY = 2_000;
  const PAUSE_MILLISECONDS = 120;
  /**
   * Each: `{ many, language, read(), done?(kept, filters) }`, where an item is `{ words, fields, elements }`: what is
   * searched, in small letters; values by the name that one asks for them with; and what on the page is about it.
   */
  const kinds = [];
  /** By kind. */
  let found = new Map();
  let fields = new Set();
  let box;
  let shown;
  let toggles = [];
  let pause;

  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  // ---- properties and series, which stand on the page ----

  function readProperties() {
    const properties = new Map();
    for (const element of main.querySelectorAll('[data-property]')) {
      const id = element.dataset.property;
      const fresh = {
        fields: { s: new Set(), level: [], stage: [id.split('/')[0]] },
        elements: [],
        // Of ten thousand, put together when somebody types.
        get words() {
          this.text ??= wordsAbout(id, this.elements);
          return this.text;
        },
      };
      const property = properties.get(id) ?? fresh;
      properties.set(id, property);
      property.elements.push(element);
      // Of thousands of failures, most stand in the list only.
      const { level, verdict } = element.dataset;
      if (level) property.fields.level = [level];
      if (verdict) property.fields.s.add(verdict).add(wordOf(element.querySelector('.verdict')));
      if (!element.matches('.stage tr')) continue;
      property.fields.level = [element.cells[1].textContent];
      property.fields.stage = [decoded(element.closest('.stage').id.slice('stage-'.length))];
      for (const { dataset, firstElementChild } of element.cells)
        if (dataset.verdict) property.fields.s.add(dataset.verdict).add(wordOf(firstElementChild));
    }
    return [...properties.values()];
  }

  function wordsAbout(id, elements) {
    const said = elements.map((element) => {
      if (element.matches('.stage tr')) return element.cells[0].textContent;
      return element.matches('.index > li') ? element.textContent : '';
    });
    return [id, ...said].join(' ').toLowerCase();
  }

  /** `holds` of `✓ holds`: what is read may be typed as well. */
  const wordOf = (mark) => mark.textContent.trim().split(/\s+/).at(-1);

  function readSeries() {
    return [...main.querySelectorAll('[data-item=series]')].map((element) => {
      const { run = '', s } = element.dataset;
      // Not the numbers of its axes.
      const said = [...element.querySelectorAll('h3, h4, th, .aside')].map((each) => each.textContent);
      return {
        words: [...said, run].join(' ').toLowerCase(),
        fields: { s: s === undefined ? [] : [s, 'fails'], run: [run] },
        elements: [element],
      };
    });
  }

  kinds.push(
    {
      many: 'properties',
      language: [
        ['padding left', 'both words, in id, rule or what was found'],
        ['s:fail', 'verdict; several: any of them'],
        ['level:must', 'level'],
        ['stage:mask', 'stage'],
        ['!word', 'without it; also !s:pass'],
      ],
      read: readProperties,
    },
    {
      many: 'series',
      language: [
        ['kl', 'series by name, role or rule'],
        ['run:seed-2', 'of one run'],
      ],
      read: readSeries,
    },
  );

  // ---- the language ----

  /** `padding s:fail s:error level:must tokens:>500 !nan`: words all, values of one field any of them, `!` none. */
  function parse(text) {
    return text
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '' && word !== '!')
      .map((word) => {
        const not = word.startsWith('!');
        const rest = not ? word.slice(1) : word;
        const [, field, value] = /^([a-z]+):(.*)$/.exec(rest) ?? [];
        return fields.has(field) ? { not, field, value } : { not, field: undefined, value: rest };
      });
  }

  function has(item, { field, value }) {
    if (field === undefined) return item.words.includes(value);
    const values = [...(item.fields[field] ?? [])];
    const [, than, number] = /^([<>])(\d+(?:\.\d+)?)$/.exec(value) ?? [];
    return values.some((each) => {
      if (than !== undefined) return than === '<' ? each < Number(number) : each > Number(number);
      return typeof each === 'number' && value !== ''
        ? String(each) === value
        : String(each).toLowerCase().startsWith(value);
    });
  }

  function matches(item, terms) {
    if (terms.some((term) => term.not && has(item, term))) return false;
    const wanted = terms.filter((term) => !term.not);
    const asked = [...new Set(wanted.flatMap(({ field }) => field ?? []))];
    return (
      wanted.every((term) => term.field !== undefined || has(item, term)) &&
      asked.every((field) => wanted.some((term) => term.field === field && has(item, term)))
    );
  }

  function filter() {
    const terms = parse(box.value);
    const counts = [];
    for (const kind of kinds) {
      const items = found.get(kind) ?? [];
      const kept = terms.length === 0 ? items : items.filter((item) => matches(item, terms));
      const keeps = new Set(kept);
      for (const item of items)
        for (const element of item.elements) {
          const keep = keeps.has(item);
          if (element.hidden === keep) element.hidden = !keep;
        }
      kind.done?.(kept, terms.length > 0);
      if (items.length > 0) counts.push({ count: kept.length, all: items.length, many: kind.many });
    }
    for (const part of main.querySelectorAll(PARTS)) {
      if (part.querySelector(ITEM) === null) continue;
      part.hidden = ITEM.split(', ').every((each) => part.querySelector(`${each}:not([hidden])`) === null);
      if (terms.length > 0 && !part.hidden && part.matches('details')) unfold(part, 'filtered');
    }
    if (terms.length === 0) foldAgain('filtered');
    const said = counts.map(
      ({ count, all, many }) => `${count} of ${all}${counts.length > 1 ? ` ${many}` : ''}`,
    );
    shown.textContent = terms.length === 0 ? '' : `${said.join(', ')} shown`;
    for (const button of toggles) button.ariaPressed = String(words().includes(button.dataset.term));
  }

  const words = () => box.value.split(/\s+/).filter((word) => word !== '');

  function setFilter(text) {
    box.value = text;
    clearTimeout(pause);
    const all = [...found.values()].reduce((sum, items) => sum + items.length, 0);
    if (all > MANY) pause = setTimeout(filter, PAUSE_MILLISECONDS);
    else filter();
    const hash = text.trim() === '' ? '' : `#filter=${encodeURIComponent(text.trim())}`;
    // The address can be passed on; a link to a failure that stands in it is left alone until something is typed. Whole,
    // because in the cell of a notebook a part of one would be a part of the notebook's.
    history.replaceState(null, '', location.href.split('#')[0] + hash);
  }

  // ---- controls ----

  function makeControls() {
    const label = `Filter ${kindsHere()
      .map(({ many }) => many)
      .join(' and ')}`;
    box = make('input', { type: 'search', 'aria-label': label, placeholder: 'Filter   /' });
    box.addEventListener('input', () => setFilter(box.value));
    shown = make('span', { id: 'shown', role: 'status' });
    const help = make('button', { type: 'button', 'aria-haspopup': 'dialog' }, 'Keys');
    help.addEventListener('click', () => document.dispatchEvent(new Event('lossproof:help')));
    const buttons = make('span', { id: 'toggles', role: 'group', 'aria-label': 'What to show' });
    document.getElementById('controls').append(make('search', {}, box, shown), buttons, help);
  }

  /** A button for each verdict that the page has, with the number of those that have it; and for each flag. */
  function makeToggles() {
    const focused = document.activeElement?.dataset?.term;
    const of = (verdict) => (item) => [...(item.fields.s ?? [])].includes(verdict);
    const verdicts = [...main.querySelectorAll('#legend [data-verdict]')].map((entry) => ({
      term: `s:${entry.dataset.verdict}`,
      count: (found.get(kinds[0]) ?? []).filter(of(entry.dataset.verdict)).length,
      face: entry.firstElementChild.cloneNode(true),
      title: entry.nextElementSibling.textContent,
    }));
    const flags = [...main.querySelectorAll('[data-term]')].slice(0, MOST_FLAGS).map((entry) => ({
      term: entry.dataset.term,
      count: Number(entry.dataset.count),
      face: entry.textContent,
      title: '',
    }));
    toggles = [...verdicts, ...flags].flatMap(({ term, count, face, title }) => {
      if (!(count > 0)) return [];
      const button = make(
        'button',
        { type: 'button', 'data-term': term },
        face,
        ` ${count.toLocaleString('en')}`,
      );
      if (title !== '') button.title = title;
      button.addEventListener('click', () => {
        const others = words().filter((word) => word !== term);
        const without = others.length < words().length;
        setFilter([...others, ...(without ? [] : [term])].join(' '));
      });
      return [button];
    });
    document.getElementById('toggles').replaceChildren(...toggles);
    if (focused) toggles.find(({ dataset }) => dataset.term === focused)?.focus();
  }

  /** More of them would push the page down. */
  const MOST_FLAGS = 6;

  // ---- folding ----

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

  /** To what has this id, also where the address has it already. */
  function goTo(id) {
    if (decoded(location.hash.slice(1)) === id) document.getElementById(id)?.scrollIntoView();
    else location.hash = id;
  }

  const kindsHere = () => kinds.filter((kind) => (found.get(kind) ?? []).length > 0);

  /** Reads the page again, which is another one or has more rows. */
  function begin() {
    found = new Map(kinds.map((kind) => [kind, kind.read()]));
    fields = new Set(
      [...found.values()].flatMap((items) => items.slice(0, 1).flatMap((item) => Object.keys(item.fields))),
    );
    if (box === undefined && kindsHere().length === 0) return;
    if (box === undefined) makeControls();
    makeToggles();
    filter();
  }

  return {
    main,
    kinds,
    kindsHere,
    make,
    decoded,
    goTo,
    unfold,
    foldAgain,
    begin,
    filter,
    setFilter,
    box: () => box,
  };
})();
