/** Four panes of a window, joined to one node. */
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64">' +
  '<rect width="64" height="64" rx="12" fill="#15324b"/>' +
  '<g fill="#5fb3e8"><rect x="12" y="12" width="12" height="12" rx="2"/><rect x="27" y="12" width="12" height="12" rx="2"/>' +
  '<rect x="12" y="27" width="12" height="12" rx="2"/><rect x="27" y="27" width="12" height="12" rx="2"/></g>' +
  '<path d="M33 39v7a3 3 0 0 0 3 3h5" fill="none" stroke="#fff" stroke-width="3"/>' +
  '<circle cx="46" cy="49" r="6" fill="#fff"/></svg>';

export const icon = {
  base64data: Buffer.from(svg).toString('base64'),
  mediatype: 'image/svg+xml',
} as const;
