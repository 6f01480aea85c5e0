// The mask carpet under a pointer, or under the arrow keys: which token it is, what was trained there, and what should be.
// What each row holds stands in its attributes, see spelled.ts.
(() => {
  const carpet = document.querySelector('.carpet');
  if (carpet === null) return;
  const now = carpet.parentElement.querySelector('.carpet-now');
  const rows = [...carpet.querySelectorAll('.row')];
  const svg = carpet.querySelector('.cells');
  const cell = Number(carpet.dataset.cell);
  const names = carpet.dataset.names.split('\n');
  const read = new Map();
  const cursor = svg.querySelector('.cursor');
  let at = { row: -1, column: 0 };
  now.textContent = 'Point at a token, or use the arrow keys: its target and its weight stand here.';

  /** A row's attributes, read when it is first looked at. */
  function rowAt(index) {
    const known = read.get(index);
    if (known !== undefined) return known;
    const { tokens, weights = '', targets = '', expected } = rows[index].dataset;
    const words = (text) => (text === '' ? [] : text.split(' '));
    const fresh = {
      tokens: words(tokens).map(Number),
      weights: words(weights).map((word) => word.split(':')),
      targets: new Map(
        words(targets)
          .map((word) => word.split(':'))
          .map(([where, what]) => [Number(where), what]),
      ),
      expected: [],
      length: 0,
    };
    for (const [, count, kind] of expected.matchAll(/(\d+)([nye])/g)) {
      fresh.expected.push([fresh.length, fresh.length + Number(count), kind]);
      fresh.length += Number(count);
    }
    read.set(index, fresh);
    return fresh;
  }

  const SHOULD = {
    y: 'should be trained',
    n: 'should not be trained',
    e: 'either is right, or nobody knows',
  };

  function tell({ row, column }) {
    const { tokens, weights, targets, expected } = rowAt(row);
    const id = tokens[column];
    const trained = weights.find(([from, to]) => column >= Number(from) && column < Number(to));
    const other = targets.get(column);
    const [, , should = 'n'] = expected.find(([, to]) => column < to) ?? [];
    const strong = document.createElement('strong');
    strong.textContent = id === undefined ? 'behind the end of the row' : names[id];
    const target = other === undefined ? 'itself' : other === '?' ? 'not read off' : names[Number(other)];
    const facts =
      trained === undefined
        ? ['not trained']
        : [`target: ${target}`, `weight ${trained[2] === '?' ? 'not known' : trained[2]}`];
    const place = `${rows[row].dataset.name} · column ${column} · `;
    now.replaceChildren(place, strong, ` · ${[...facts, SHOULD[should]].join(' · ')}`);
  }

  function go(to, scrolls) {
    const row = Math.max(0, Math.min(rows.length - 1, to.row));
    const column = Math.max(0, Math.min(rowAt(row).length - 1, to.column));
    rows[at.row]?.classList.remove('here');
    at = { row, column };
    rows[row].classList.add('here');
    const y = Number(rows[row].dataset.y);
    const tall = rows[row].querySelector('rect').height.baseVal.value - 1;
    cursor.setAttribute('d', `M${column * cell} ${y}h${Math.max(3, cell)}v${tall}h-${Math.max(3, cell)}z`);
    if (scrolls) cursor.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    tell(at);
  }

  svg.addEventListener('pointermove', ({ target, clientX }) => {
    const row = rows.indexOf(target.closest('.row'));
    if (row < 0) return;
    go({ row, column: Math.floor((clientX - svg.getBoundingClientRect().left) / cell) }, false);
  });

  const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  carpet.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (key === 'Enter' && at.row >= 0 && rows[at.row].matches('a'))
      location.hash = rows[at.row].getAttribute('href');
    else if (Object.hasOwn(MOVES, key)) {
      const [down, right] = MOVES[key];
      go({ row: Math.max(0, at.row) + (at.row < 0 ? 0 : down), column: at.column + right }, true);
    } else if (key === 'Home' || key === 'End')
      go({ row: Math.max(0, at.row), column: key === 'Home' ? 0 : Number.POSITIVE_INFINITY }, true);
    else return;
    event.preventDefault();
  });
})();
