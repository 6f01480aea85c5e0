// What a page of the site can do with a script: remember whether one came by pip or by npm, and copy code. All controls that
// need it are made here.
(() => {
  const KEY = 'lossproof-door';
  const root = document.documentElement;
  const radios = [...document.querySelectorAll('input[type=radio]')];

  /** A browser may keep nothing for a page from disk. */
  function keep(door) {
    if (door !== 'pip' && door !== 'npm') return;
    try {
      localStorage.setItem(KEY, door);
    } catch {}
  }

  /** All choices between the same things are one. */
  function choose(door) {
    for (const radio of radios) if (radio.value === door) radio.checked = true;
    if (door === 'pip' || door === 'npm') root.dataset.door = door;
  }

  for (const radio of radios)
    radio.addEventListener('change', () => {
      // What is chosen stays where it is on the screen, whatever changes above it.
      const before = radio.getBoundingClientRect().top;
      choose(radio.value);
      scrollBy(0, radio.getBoundingClientRect().top - before);
      keep(radio.value);
    });
  // Read by the head of the page, before anything was drawn.
  if (root.dataset.door) choose(root.dataset.door);

  // ---- copying ----

  function codeOf(pre) {
    const copy = pre.cloneNode(true);
    const seen = pre.querySelectorAll('.npx');
    for (const [at, each] of copy.querySelectorAll('.npx').entries())
      if (getComputedStyle(seen[at]).display === 'none') each.remove();
    return copy.textContent;
  }

  /** Where there is no clipboard: as a reader would, by hand. */
  function copyBySelection(text) {
    const field = document.createElement('textarea');
    field.value = text;
    field.style.position = 'fixed';
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }

  const status = document.createElement('p');
  status.className = 'hidden';
  status.setAttribute('role', 'status');
  document.body.append(status);

  // What is in columns was printed, and is nothing to type.
  for (const block of document.querySelectorAll('.code:not(:has(.aligned))')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const text = codeOf(block.querySelector('pre'));
      const done = await (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
        () => true,
        () => copyBySelection(text),
      );
      button.focus();
      button.textContent = done ? 'Copied' : 'Not copied';
      status.textContent = done ? 'Copied.' : 'The browser does not let this page copy.';
      setTimeout(() => {
        button.textContent = 'Copy';
        status.textContent = '';
      }, 2000);
    });
    block.prepend(button);
  }
})();
