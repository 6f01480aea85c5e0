// Keeps a served page up with a run that goes on: whatever the server says, the body is fetched again and put in place,
// and what the reader has opened, moved, focused and scrolled to stays.
(() => {
  const main = document.querySelector('main');

  /** What the reader has folded or unfolded: a new body must not undo it. */
  const touched = new Map();
  main.addEventListener('click', ({ target }) => {
    const details = target.closest('summary')?.parentElement;
    // The click comes first, the change after it.
    if (details?.id) touched.set(details.id, !details.open);
  });

  function replaceBody(markup) {
    const top = [...main.querySelectorAll('[id]')].find(
      (each) => each.checkVisibility() && each.getBoundingClientRect().top >= 0,
    );
    const before = top?.getBoundingClientRect().top;
    const focused = main.contains(document.activeElement) ? document.activeElement : null;
    const holder = focused?.closest('[id]');
    const place = holder ? focusable(holder).indexOf(focused) : -1;
    const sliders = [...main.querySelectorAll('input[type=range][id]')].map(({ id, value }) => [id, value]);
    main.innerHTML = markup;
    for (const [id, open] of touched) {
      const details = document.getElementById(id);
      if (details !== null) details.open = open;
    }
    document.dispatchEvent(new Event('lossproof:body'));
    for (const [id, value] of sliders) {
      const slider = document.getElementById(id);
      if (slider === null || slider.value === value) continue;
      slider.value = value;
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }
    const again = holder && document.getElementById(holder.id);
    if (again) (focusable(again)[place] ?? again).focus({ preventScroll: true });
    const after = top && document.getElementById(top.id)?.getBoundingClientRect().top;
    if (after !== undefined) scrollBy(0, after - before);
    document.title = `${main.querySelector('h1')?.textContent.trim() ?? ''} · lossproof`;
  }

  const focusable = (element) => [...element.querySelectorAll('a, button, input, summary, [tabindex]')];

  const status = document.getElementById('live');
  const source = new EventSource('events');
  let [asking, again] = [false, false];
  const refresh = async () => {
    again = asking;
    if (asking) return;
    asking = true;
    try {
      const answer = await fetch('body');
      if (answer.ok) replaceBody(await answer.text());
    } catch {
      // The server is gone; the source says so below.
    }
    asking = false;
    if (again) refresh();
  };
  source.onopen = () => {
    status.textContent = 'Live';
  };
  source.onmessage = refresh;
  source.onerror = () => {
    // The source tries again by itself: the next run may be written into the same file.
    status.textContent = 'Not connected: this is what was known last';
  };
})();
