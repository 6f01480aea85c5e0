// What a card does when there is a script: the slider over the steps, and the buttons that copy. Listeners stand on the
// document, so that cards which arrive later work as well.
(() => {
  const COPIED_MILLISECONDS = 1500;

  // The looks that need a script (the slider, the buttons) hang on this class.
  document.documentElement.classList.add('scripted');

  const status = document.createElement('div');
  status.className = 'sr-only';
  status.setAttribute('role', 'status');
  status.setAttribute('aria-live', 'polite');
  document.body.append(status);

  document.addEventListener('input', ({ target }) => {
    if (target instanceof HTMLInputElement && target.matches('input[data-steps]')) showStep(target);
  });

  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('button[data-copy]') : null;
    if (button !== null) copyFrom(button);
  });

  // A browser may restore the slider of a page that is loaded again, and tells nobody.
  window.addEventListener('pageshow', () => {
    for (const slider of document.querySelectorAll('input[data-steps]')) showStep(slider);
  });

  // What is wrong stands in view, however far to the right it is. Asked for its width, a strip that is folded or far away
  // would be laid out: it is scrolled when it comes near.
  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        reveal(target);
      }
    },
    { rootMargin: '50%' },
  );
  const watch = (root) => {
    for (const strip of root.querySelectorAll('.strip')) near.observe(strip);
  };
  watch(document);
  document.addEventListener('lossproof:body', () => watch(document));

  function reveal(strip) {
    const mark = strip.querySelector('.first');
    if (mark === null || strip.scrollWidth <= strip.clientWidth) return;
    // The labels stay where they are and cover what is under them.
    const labels = strip.querySelector('th').offsetWidth;
    const beside = (strip.clientWidth - labels - mark.offsetWidth) / 2;
    strip.scrollLeft = mark.offsetLeft - labels - Math.max(0, beside);
  }

  function showStep(slider) {
    const box = slider.closest('.steps');
    const steps = [...box.querySelectorAll('.step')];
    const chosen = steps[Number(slider.value) - 1];
    if (chosen === undefined) return;
    for (const step of steps) step.classList.toggle('shown', step === chosen);
    slider.setAttribute('aria-valuetext', chosen.dataset.said ?? slider.value);
    const output = box.querySelector('output');
    if (output !== null) output.textContent = `${slider.value} of ${steps.length}`;
    const points = [...box.querySelectorAll('.series .point')];
    if (points.length !== steps.length) return;
    for (const [at, point] of points.entries()) point.classList.toggle('chosen', steps[at] === chosen);
  }

  async function copyFrom(button) {
    const source = button.parentElement?.querySelector('.copied-text');
    if (!source) return;
    const done = await copy(source);
    const said = done ? 'Copied' : 'Selected: copy it with the keyboard';
    status.textContent = said;
    button.textContent = done ? 'Copied' : 'Selected';
    button.classList.add('done');
    setTimeout(() => {
      status.textContent = '';
      button.textContent = 'Copy';
      button.classList.remove('done');
    }, COPIED_MILLISECONDS);
  }

  /** Pages from disk may not have the clipboard; then the text is selected and the old command tried. */
  async function copy(source) {
    try {
      await navigator.clipboard.writeText(source.textContent);
      return true;
    } catch {
      const selection = window.getSelection();
      selection.removeAllRanges();
      const range = document.createRange();
      range.selectNodeContents(source);
      selection.addRange(range);
      const done = document.execCommand('copy');
      if (done) selection.removeAllRanges();
      return done;
    }
  }
})();
