// The picture in the tab of a browser.

/** A token with a wrong neighbour: blue square, orange triangle under it. Without an icon, browsers ask a server for one. */
export const ICON: string = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="10" rx="2" fill="#0a5aa8"/><path d="M8 11l4 5H4z" fill="#d9691a"/></svg>',
)}`;
