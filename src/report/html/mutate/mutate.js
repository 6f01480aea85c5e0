// Changes of a trainer's source, for the filter of the page.
(() => {
  const { main, kinds } = globalThis.lossproof;

  function read() {
    return [...main.querySelectorAll('[data-item=change]')].map((element) => {
      const { s, kind, file } = element.dataset;
      return {
        words: [element.textContent, file].join(' ').toLowerCase(),
        fields: { s: [s], kind: [kind], file: [file] },
        elements: [element],
      };
    });
  }

  kinds.push({
    many: 'changes',
    language: [
      ['clamp', 'in the line, its file, its function'],
      ['s:survives', 'outcome: found, survives, unreached'],
      ['kind:mask', 'kinds that begin so'],
      ['file:trainer.py', 'of one file'],
    ],
    read,
  });
})();
