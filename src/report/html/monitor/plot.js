// Plots under a pointer, or under the keys: the step and the values nearest to it, of each curve; and a part of the steps
// made as wide as the plot. The numbers stand in the attributes of the drawing, see series.ts.
(() => {
  const plots = document.querySelectorAll('svg[data-frame]');
  if (plots.length === 0) return;
  const KEYS = 'Left and right: values. + and -: zoom. 0: all.';
  let clips = 0;

  function make(name, attributes) {
    const element = document.createElementNS(plots[0].namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  }
  const numbers = (text) => text.split(' ').map(Number);
  const shown = (value) => String(Number(value.toPrecision(5)));

  /** Round numbers within a range, few. */
  function ticksOf(low, high, most) {
    const rough = (high - low) / most;
    const magnitude = 10 ** Math.floor(Math.log10(rough));
    const step = magnitude * ([1, 2, 5, 10].find((each) => each * magnitude >= rough) ?? 10);
    const ticks = [];
    for (let at = Math.ceil(low / step); at * step <= high && ticks.length < 20; at++)
      ticks.push(Number((at * step).toPrecision(12)));
    return ticks;
  }

  function explore(svg) {
    const [left, top, right, bottom] = numbers(svg.dataset.frame);
    const whole = { x: numbers(svg.dataset.x), y: numbers(svg.dataset.y) };
    const log = svg.dataset.scale === 'log';
    const on = (y) => (log ? Math.log10(y) : y);
    if (!(whole.x[1] > whole.x[0])) return undefined;
    const curves = [...svg.querySelectorAll('.curve')].map((element) => ({
      element,
      name: element.dataset.name,
      paths: element.dataset.points
        .split('|')
        .filter((path) => path !== '')
        .map((path) => path.split(' ').map((point) => point.split(',').map(Number))),
      dot: make('circle', { class: 'here', r: 3.5 }),
    }));
    for (const curve of curves) {
      curve.points = curve.paths.flat().sort((a, b) => a[0] - b[0]);
      curve.dot.setAttribute('class', `here ${curve.element.getAttribute('class')}`);
    }
    // Drawn below the others, told behind them.
    curves.sort((a, b) => a.element.matches('.healthy') - b.element.matches('.healthy'));
    const steps = [...new Set(curves.flatMap(({ points }) => points.map(([x]) => x)))].sort((a, b) => a - b);
    const drawn = svg.querySelector('.drawn');
    const own = [svg.querySelector('.grid'), svg.querySelector('.ticks')];
    const zoomed = make('g', { class: 'zoomed' });
    const cursor = make('line', { class: 'cursor', y1: top, y2: bottom });
    const range = make('rect', { class: 'range', y: top, height: bottom - top });
    const told = make('g', { class: 'told', display: 'none' });
    told.append(cursor, ...curves.map(({ dot }) => dot));
    range.setAttribute('display', 'none');
    const clip = make('clipPath', { id: `plot-clip-${++clips}` });
    clip.append(make('rect', { x: left - 1, y: top - 8, width: right - left + 2, height: bottom - top + 9 }));
    svg.append(clip, zoomed, told, range);
    const readout = svg.nextElementSibling;

    let view = whole;
    let at;

    const px = (x) => left + ((x - view.x[0]) / (view.x[1] - view.x[0])) * (right - left);
    const py = (y) => bottom - ((on(y) - on(view.y[0])) / (on(view.y[1]) - on(view.y[0]))) * (bottom - top);
    const xAt = (place) => view.x[0] + ((place - left) / (right - left)) * (view.x[1] - view.x[0]);

    /** The heights of what is between two steps, with some room; those of a line that only crosses count as well. */
    function heights(from, to) {
      const inside = curves.flatMap(({ points }) => {
        const first = points.findIndex(([x]) => x >= from);
        const last = points.findLastIndex(([x]) => x <= to);
        return points.slice(Math.max(0, first - 1), last + 2).map(([, y]) => on(y));
      });
      const [low, high] = [Math.min(...inside), Math.max(...inside)];
      if (!(high >= low)) return whole.y;
      const room = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
      const reach = [low - room, high + room];
      return log ? reach.map((each) => 10 ** each) : reach;
    }

    function drawTicks() {
      zoomed.replaceChildren();
      // Between powers of ten there is seldom a round number: the ends are told.
      for (const y of log ? view.y : ticksOf(...view.y, 4)) {
        const height = py(y);
        const word = make('text', { x: left - 6, y: height + 4, 'text-anchor': 'end' });
        word.textContent = log ? String(Number(y.toPrecision(2))) : shown(y);
        const grid = make('g', { class: 'grid' });
        grid.append(make('line', { x1: left, x2: right, y1: height, y2: height }));
        zoomed.append(grid, word);
      }
      for (const x of ticksOf(...view.x, 4)) {
        const word = make('text', { x: px(x), y: bottom + 15, 'text-anchor': 'middle' });
        word.textContent = shown(x);
        zoomed.append(word);
      }
    }

    /** Straight lines stay straight: what was drawn for the whole is moved and stretched. */
    function place() {
      const all = view === whole;
      const scale = {
        x: (whole.x[1] - whole.x[0]) / (view.x[1] - view.x[0]),
        y: (on(whole.y[1]) - on(whole.y[0])) / (on(view.y[1]) - on(view.y[0])),
      };
      const move = {
        x: px(whole.x[0]) - scale.x * left,
        y: py(whole.y[0]) - scale.y * bottom,
      };
      for (const each of own) each.setAttribute('display', all ? 'inline' : 'none');
      zoomed.replaceChildren();
      if (all) drawn.removeAttribute('clip-path');
      else {
        drawn.setAttribute('clip-path', `url(#${clip.id})`);
        drawTicks();
      }
      drawn
        .querySelector('.band')
        ?.setAttribute('transform', `matrix(${scale.x} 0 0 ${scale.y} ${move.x} ${move.y})`);
      for (const { element, paths } of curves) {
        const lines = [...element.querySelectorAll('polyline')];
        const long = paths.filter((path) => path.length > 1);
        for (const [index, line] of lines.entries())
          line.setAttribute(
            'points',
            long[index].map(([x, y]) => `${px(x).toFixed(1)},${py(y).toFixed(1)}`).join(' '),
          );
        for (const each of element.querySelectorAll('circle')) shift(each, 'cx', 'cy', each);
        for (const each of element.querySelectorAll('text')) shift(each, 'x', undefined, each);
      }
      for (const mark of drawn.querySelectorAll('.mark')) shift(mark.firstElementChild, 'cx', 'cy', mark);
      function shift(anchor, across, down, moved) {
        const x = Number(anchor.getAttribute(across));
        const y = down === undefined ? 0 : Number(anchor.getAttribute(down));
        const by = [scale.x * x + move.x - x, down === undefined ? 0 : scale.y * y + move.y - y];
        if (all) moved.removeAttribute('transform');
        else moved.setAttribute('transform', `translate(${by[0]} ${by[1]})`);
      }
      if (all) drawn.querySelector('.band')?.removeAttribute('transform');
    }

    const nearest = (points, x) => {
      let [low, high] = [0, points.length - 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (points[middle][0] < x) low = middle + 1;
        else high = middle;
      }
      const before = points[low - 1];
      return before !== undefined && x - before[0] <= points[low][0] - x ? before : points[low];
    };

    function tell(x) {
      const found = curves
        .filter(({ points }) => points.length > 0)
        .map((curve) => ({ ...curve, point: nearest(curve.points, x) }));
      if (found.length === 0) return;
      const step = found.map(({ point }) => point[0]).sort((a, b) => Math.abs(a - x) - Math.abs(b - x))[0];
      at = step;
      told.removeAttribute('display');
      for (const side of ['x1', 'x2']) cursor.setAttribute(side, px(step));
      for (const { dot, point } of found) {
        const inside = point[0] >= view.x[0] && point[0] <= view.x[1];
        dot.setAttribute('display', inside ? 'inline' : 'none');
        dot.setAttribute('cx', px(point[0]));
        dot.setAttribute('cy', py(point[1]));
      }
      const words = found.map(({ name, point }) => {
        const where = point[0] === step ? '' : ` (step ${shown(point[0])})`;
        return `${name === '' ? '' : `${name} `}${shown(point[1])}${where}`;
      });
      readout.textContent = `step ${step}: ${words.join(' · ')}${view === whole ? '' : ' · double click or 0 shows all'}`;
    }

    function show(from, to) {
      const least = (whole.x[1] - whole.x[0]) / 1000;
      const [low, high] = [Math.max(whole.x[0], from), Math.min(whole.x[1], to)];
      if (high - low < least) return;
      view = low <= whole.x[0] && high >= whole.x[1] ? whole : { x: [low, high], y: heights(low, high) };
      place();
      tell(Math.min(high, Math.max(low, at ?? (low + high) / 2)));
    }
    function zoom(times, around) {
      const [low, high] = view.x;
      show(around - (around - low) / times, around + (high - around) / times);
    }

    const placeOf = ({ clientX }) => {
      const box = svg.getBoundingClientRect();
      return Math.min(right, Math.max(left, ((clientX - box.left) * svg.viewBox.baseVal.width) / box.width));
    };
    let dragged;
    svg.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || event.pointerType === 'touch') return;
      dragged = placeOf(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener('pointermove', (event) => {
      const here = placeOf(event);
      tell(xAt(here));
      if (dragged === undefined) return;
      range.removeAttribute('display');
      range.setAttribute('x', Math.min(dragged, here));
      range.setAttribute('width', Math.abs(here - dragged));
    });
    svg.addEventListener('pointerup', (event) => {
      const [from, to] = [dragged, placeOf(event)];
      dragged = undefined;
      range.setAttribute('display', 'none');
      if (from !== undefined && Math.abs(to - from) > 6)
        show(xAt(Math.min(from, to)), xAt(Math.max(from, to)));
    });
    svg.addEventListener('pointercancel', () => {
      dragged = undefined;
      range.setAttribute('display', 'none');
    });
    svg.addEventListener('dblclick', () => show(...whole.x));
    // Alone the wheel scrolls the page, as everywhere; with Ctrl, and so under two fingers, it zooms.
    svg.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        zoom(event.deltaY < 0 ? 1.25 : 0.8, xAt(placeOf(event)));
      },
      { passive: false },
    );
    svg.addEventListener('pointerleave', () => {
      if (document.activeElement === svg) return;
      told.setAttribute('display', 'none');
      readout.textContent = '';
    });
    svg.addEventListener('blur', () => {
      told.setAttribute('display', 'none');
      readout.textContent = '';
    });
    svg.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const inView = steps.filter((x) => x >= view.x[0] && x <= view.x[1]);
      const here = at ?? inView[0];
      const moves = {
        ArrowLeft: () => tell(inView.findLast((x) => x < here) ?? inView[0]),
        ArrowRight: () => tell(inView.find((x) => x > here) ?? inView.at(-1)),
        Home: () => tell(inView[0]),
        End: () => tell(inView.at(-1)),
        '+': () => zoom(2, here),
        '=': () => zoom(2, here),
        '-': () => zoom(0.5, here),
        0: () => show(...whole.x),
        Escape: () => show(...whole.x),
      };
      if (!Object.hasOwn(moves, event.key) || inView.length === 0) return;
      event.preventDefault();
      event.stopPropagation();
      moves[event.key]();
    });
    return {
      hint: () => {
        if (readout.textContent === '') readout.textContent = KEYS;
      },
    };
  }

  // A page may have hundreds: each is made ready when it is first looked at.
  const ready = new Map();
  function begin({ target }) {
    const svg = target instanceof Element ? target.closest('svg[data-frame]') : null;
    if (svg === null) return undefined;
    if (!ready.has(svg)) ready.set(svg, explore(svg));
    return ready.get(svg);
  }
  for (const svg of plots) {
    svg.setAttribute('tabindex', '0');
    // There from the beginning: what is below must not move when it is filled.
    const readout = document.createElement('p');
    readout.className = 'readout';
    readout.setAttribute('role', 'status');
    svg.after(readout);
  }
  document.addEventListener('pointerover', begin);
  document.addEventListener('focusin', (event) => begin(event)?.hint());
})();
