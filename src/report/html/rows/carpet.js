// A mask carpet under a pointer, or under the arrow keys: which token it is, and what is told of it; a click or Enter
// leads to its row, which is made where it does not stand on the page. What each row holds, packed.js reads: of the carpet of
// the page when it stands, of a finding's when somebody looks at it.
(() => {
  const HINT = 'Point at a token, or use the arrow keys: what is known of it stands here.';

  /** @param now where the token is told; `show(row)` leads to it. */
  function explore(carpet, now, { rows, rowAt, toldOf }, show) {
    const bands = [...carpet.querySelectorAll('.cells')];
    const [cell, tall] = [Number(carpet.dataset.cell), Number(carpet.dataset.tall)];
    const shape = (name) => document.createElementNS(bands[0].namespaceURI, name);
    const here = shape('rect');
    here.setAttribute('class', 'here');
    const cursor = shape('path');
    cursor.setAttribute('class', 'cursor');
    let at = { row: -1, column: 0 };

    const bandOf = (row) => bands.findLast(({ dataset }) => Number(dataset.from) <= row);

    function go(to, scrolls) {
      const row = Math.max(0, Math.min(rows.length - 1, to.row));
      const { columns, top, name, facts } = rowAt(row);
      const column = Math.max(0, Math.min(columns - 1, to.column));
      at = { row, column };
      const svg = bandOf(row);
      if (here.parentNode !== svg) svg.append(here, cursor);
      const sizes = { x: 0, y: top, width: svg.width.baseVal.value, height: tall + 1 };
      for (const [key, value] of Object.entries(sizes)) here.setAttribute(key, value);
      const wide = Math.max(3, cell);
      cursor.setAttribute('d', `M${column * cell} ${top}h${wide}v${Math.max(3, tall)}h-${wide}z`);
      if (scrolls) cursor.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      if (columns === 0) {
        now.textContent = `${name} · no tokens${facts === '' ? '' : ` · ${facts}`}`;
        return;
      }
      const token = toldOf(row, column);
      const strong = document.createElement('strong');
      strong.textContent = token.name;
      now.replaceChildren(`${name} · column ${column} · `, strong, ` · ${token.told}`);
    }

    /** The row under a pointer, and the column. */
    function placeOf({ target, clientX, clientY }) {
      const svg = target.closest('.cells');
      if (svg === null) return undefined;
      const box = svg.getBoundingClientRect();
      const from = Number(svg.dataset.from);
      const next = bands[bands.indexOf(svg) + 1];
      const end = next === undefined ? rows.length : Number(next.dataset.from);
      let row = from;
      while (row + 1 < end && rows[row + 1].top <= clientY - box.top) row++;
      return { row, column: Math.floor((clientX - box.left) / cell) };
    }

    carpet.addEventListener('pointermove', (event) => {
      const place = placeOf(event);
      if (place !== undefined) go(place, false);
    });
    carpet.addEventListener('click', (event) => {
      const place = placeOf(event);
      // A link does it by itself.
      if (place !== undefined && event.target.closest('a') === null) show(place.row);
    });

    const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const PAGES = { PageUp: -20, PageDown: 20 };
    carpet.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { key } = event;
      const row = Math.max(0, at.row);
      if (key === 'Enter' && at.row >= 0) show(at.row);
      else if (Object.hasOwn(MOVES, key)) {
        const [down, right] = MOVES[key];
        go({ row: row + (at.row < 0 ? 0 : down), column: at.column + right }, true);
      } else if (Object.hasOwn(PAGES, key)) go({ row: row + PAGES[key], column: at.column }, true);
      else if (key === 'Home' || key === 'End')
        go({ row, column: key === 'Home' ? 0 : Number.POSITIVE_INFINITY }, true);
      else return;
      event.preventDefault();
    });
  }

  // ---- the carpet of a page ----

  document.addEventListener(
    'lossproof:kept',
    () => {
      const section = document.querySelector('.carpet-section');
      const now = section.querySelector('.carpet-now');
      now.textContent = HINT;
      explore(section.querySelector('.carpet'), now, lossproof.kept, lossproof.kept.show);
    },
    { once: true },
  );

  // ---- those of findings, which come with each body of a page that follows a run ----

  if (lossproof.unpack === undefined) return;
  const FINDING = '.rows-carpet[data-kept]';

  function prepare() {
    for (const figure of document.querySelectorAll(FINDING)) {
      figure.querySelector('.carpet-now').textContent = HINT;
      figure.querySelector('.carpet').ariaLabel +=
        ' The arrow keys go from token to token, Enter goes to the row.';
    }
  }
  prepare();
  document.addEventListener('lossproof:body', prepare);

  const begun = new WeakSet();
  async function begin({ target }) {
    const figure = target instanceof Element ? target.closest(FINDING) : null;
    if (figure === null || begun.has(figure)) return;
    begun.add(figure);
    const kept = await lossproof.unpack(figure.dataset.kept);
    explore(figure.querySelector('.carpet'), figure.querySelector('.carpet-now'), kept, (row) => {
      const { anchor } = kept.rows[row];
      if (anchor !== '') lossproof.goTo(anchor);
    });
  }
  document.addEventListener('pointerover', begin, true);
  document.addEventListener('focusin', begin);
})();
