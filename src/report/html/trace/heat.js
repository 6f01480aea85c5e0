// A heat strip under a pointer, or under the arrow keys: what its tool tip says of a token stands below it, also for who
// has no pointer.
(() => {
  /** Each is made ready when it is first looked at. */
  const ready = new Map();
  for (const strip of document.querySelectorAll('div.heat')) {
    // There from the beginning: what is below must not move when it is filled.
    const readout = document.createElement('p');
    readout.className = 'readout';
    readout.setAttribute('role', 'status');
    strip.after(readout);
  }

  function explore(strip) {
    const readout = strip.nextElementSibling;
    const cells = [...strip.querySelectorAll('.c[title]')];
    let at = -1;

    function tell(index, scrolls) {
      cells[at]?.classList.remove('here');
      at = Math.max(0, Math.min(cells.length - 1, index));
      cells[at].classList.add('here');
      if (scrolls) cells[at].scrollIntoView({ block: 'nearest', inline: 'nearest' });
      readout.textContent = cells[at].title;
    }

    strip.addEventListener('pointerover', ({ target }) => {
      const index = cells.indexOf(target.closest('.c'));
      if (index >= 0) tell(index, false);
    });
    strip.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: cells.length - 1 };
      if (!Object.hasOwn(moves, event.key) || cells.length === 0) return;
      event.preventDefault();
      tell(moves[event.key], true);
    });
    return {
      hint: () => {
        if (readout.textContent === '') readout.textContent = 'Left and right: token by token.';
      },
    };
  }

  function begin({ target }) {
    const strip = target instanceof Element ? target.closest('div.heat') : null;
    if (strip === null || !strip.nextElementSibling?.matches('.readout')) return undefined;
    if (!ready.has(strip)) ready.set(strip, explore(strip));
    return ready.get(strip);
  }
  document.addEventListener('pointerover', begin, true);
  document.addEventListener('focusin', (event) => begin(event)?.hint());
})();
