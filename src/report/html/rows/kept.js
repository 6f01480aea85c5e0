// Rows that are kept beside their carpet: read when the page stands, searched, and made when somebody asks for them. What
// is in them, kept.ts says.
(() => {
  const room = document.querySelector('.made-rows');
  if (document.querySelector('.carpet-section') === null || lossproof.unpack === undefined) return;
  const { make } = lossproof;
  /** So many are made at once. */
  const PAGE = 50;
  const MOST_TOKENS = 4_200;
  const SPOKEN_CHARACTERS = 300;
  let packed;
  let rowAt;
  let toldOf;
  let anchors = new Map();
  /** Made rows by their number; `limit` of them are made without being asked for one by one. */
  const made = new Map();
  let limit = 0;
  let matching = [];
  const more = make('button', { type: 'button', class: 'more-rows', hidden: '' });

  async function unpack() {
    // The last of the page: it is not there yet where this is read.
    const holder = document.querySelector('.kept');
    const text = holder.textContent;
    holder.remove();
    ({ packed, rowAt, toldOf } = await lossproof.unpack(text));
    anchors = new Map(packed.rows.map(({ anchor }, index) => [anchor, index]));
    more.addEventListener('click', () => {
      limit += PAGE;
      lossproof.filter();
    });
    room?.after(more);
    for (const each of document.querySelectorAll('[data-link]')) {
      if (!anchors.has(each.dataset.link)) continue;
      each.replaceWith(make('a', { href: `#${each.dataset.link}` }, ...each.childNodes));
    }
    lossproof.kept = { rows: packed.rows, rowAt, toldOf, show };
    document.dispatchEvent(new Event('lossproof:kept'));
  }

  // ---- a row, token by token, as flow.ts writes it ----

  function articleOf(index) {
    const { name, anchor, facts, said, flagged, columns } = packed.rows[index];
    const head = make('header', {}, make('h3', {}, name), make('p', { class: 'aside' }, facts));
    const list = said.map(([what, sentence]) => make('li', {}, make('strong', {}, what), ` ${sentence}`));
    const left = columns - MOST_TOKENS;
    return make(
      'article',
      { id: anchor, 'data-row': '', ...(flagged ? { class: 'card' } : {}) },
      head,
      ...(list.length > 0 ? [make('ul', {}, ...list)] : []),
      ...(columns > 0 ? [flowOf(index)] : []),
      ...(left > 0
        ? [
            make(
              'p',
              { class: 'aside' },
              `${left.toLocaleString('en')} more tokens of this row are not on the page.`,
            ),
          ]
        : []),
    );
  }

  function flowOf(index) {
    const { runs } = rowAt(index);
    const flow = make('div', { class: 'flow' });
    let from = 0;
    let before;
    for (const [to, role, on] of runs) {
      if (from >= MOST_TOKENS) break;
      const [word, band] = packed.roles[role];
      const tokens = make('span', { 'aria-hidden': 'true' });
      if (word !== before) tokens.append(make('small', {}, word));
      for (let at = from; at < Math.min(to, MOST_TOKENS); at++) tokens.append(...tokenOf(index, at));
      flow.append(
        make(
          'span',
          { class: `run ${band}${on === 1 ? ' on' : ''}` },
          make('span', { class: 'sr-only' }, spoken(index, from, to, word, on === 1)),
          tokens,
        ),
      );
      [from, before] = [to, word];
    }
    return flow;
  }

  function tokenOf(index, at) {
    const { tokens, marks } = rowAt(index);
    const place = tokens[at];
    const { name, told } = toldOf(index, at);
    const id = packed.ids[place];
    const title = [at, ...(typeof id === 'number' ? [`id ${id}`] : []), told].join(' · ');
    const shown = make(marks.has(at) ? 'mark' : 'i', { title }, make('bdi', {}, name));
    // A line of the conversation ends where it ended for the model.
    return name.endsWith('⏎') ? [shown, make('br')] : [shown];
  }

  function spoken(index, from, to, role, on) {
    const count = to - from;
    const head = `${role}, ${count.toLocaleString('en')} token${count === 1 ? '' : 's'}, ${on ? 'trained' : 'not trained'}`;
    if (role === 'padding') return `${head}. `;
    return `${head}: ${textOf(index, from, to).slice(0, SPOKEN_CHARACTERS)}. `;
  }

  function textOf(index, from, to) {
    const { tokens } = rowAt(index);
    let text = '';
    for (const token of tokens.slice(from, to)) text += packed.names[token];
    return text.replaceAll('␣', ' ').replaceAll('⏎', '\n');
  }

  /** What is searched of a row, of ten thousand while somebody types: nothing is read that need not be. */
  let small;
  function searched({ tokens }) {
    small ??= packed.names.map((name) => name.replaceAll('␣', ' ').replaceAll('⏎', ' ').toLowerCase());
    let text = '';
    if (tokens !== '') for (const place of tokens.split(' ')) text += small[place];
    return text;
  }

  // ---- which rows are on the page ----

  function put(index) {
    const article = articleOf(index);
    made.set(index, article);
    const next = [...made.keys()].filter((each) => orderOf(each) > orderOf(index));
    const first = next.sort((a, b) => orderOf(a) - orderOf(b))[0];
    room.insertBefore(article, first === undefined ? null : made.get(first));
    items[index].elements.push(article);
    return article;
  }

  /** Flagged rows stand before others, as they do among those that the page came with. */
  const orderOf = (index) => index + (packed.rows[index].flagged ? 0 : packed.rows.length);

  /** Row `index`, scrolled to. */
  const show = (index) => lossproof.goTo(packed.rows[index].anchor);

  lossproof.makeRow = (anchor) => {
    const index = anchors.get(anchor);
    return index === undefined || room === null ? undefined : put(index);
  };

  let items = [];

  function readRows() {
    if (packed === undefined) return [];
    const standing = new Map([...document.querySelectorAll('[data-row]')].map((each) => [each.id, each]));
    items = packed.rows.map((row, index) => ({
      index,
      fields: row.fields,
      elements: standing.has(row.anchor) ? [standing.get(row.anchor)] : [],
      get words() {
        this.text ??= `${[row.name, ...row.said.flat()].join(' ').toLowerCase()} ${searched(row)}`;
        return this.text;
      },
    }));
    return items;
  }

  /** Of those that match, the first are made; a button makes more. */
  function done(kept, filters) {
    if (packed === undefined || room === null) return;
    matching = kept.filter(({ elements }) => elements.length === 0);
    const wanted = filters ? Math.max(limit, PAGE) : limit;
    const standing = kept.length - matching.length;
    const first = matching.toSorted((a, b) => orderOf(a.index) - orderOf(b.index));
    const fresh = first.slice(0, filters ? Math.max(0, wanted - standing) : Math.max(0, wanted - made.size));
    for (const { index } of fresh) put(index);
    const left = matching.length - fresh.length;
    more.hidden = left === 0;
    more.textContent = `Show ${Math.min(PAGE, left)} more of ${left.toLocaleString('en')} rows`;
  }

  lossproof.kinds.push({
    many: 'rows',
    language: [
      ['refund policy', 'rows with both words in their tokens'],
      ['is:flagged', 'also is:wrong, is:right, is:trained, is:untrained'],
      ['flag:no-stop', 'rows with one flag'],
      ['tokens:>500', 'by length; trained:<10 by the share in percent'],
      ['row:12', 'one row; step:0 of a traced run'],
    ],
    read: readRows,
    done,
  });

  // The page first, then this.
  addEventListener('load', () => setTimeout(() => unpack().catch(() => {}), 0));
})();
