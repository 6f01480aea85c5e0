// In a frame that was written into somebody else's page, a cell of a notebook, links are resolved against the address of that
// page: one to a row would load the notebook into the frame. Here it leads to the row.
if (document.baseURI.split('#')[0] !== location.href.split('#')[0])
  document.addEventListener('click', (event) => {
    const to = event.target instanceof Element ? event.target.closest('a')?.getAttribute('href') : undefined;
    if (!to?.startsWith('#')) return;
    event.preventDefault();
    lossproof.goTo(lossproof.decoded(to.slice(1)));
  });
