import { partsOf } from './doc-commands.ts';

/** Targets of the links of a Markdown page, in order; images too. */
export function linksOf(markdown: string): string[] {
  const text = proseOf(markdown).replaceAll(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target);
}

/** Anchors that the titles of a page get where it is shown. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const used = new Map<string, number>();
  for (const [, title, id] of proseOf(markdown).matchAll(/^#{1,6} +(.+)$|<a id="([^"]+)">/gm)) {
    if (title === undefined) {
      anchors.add(id ?? '');
      continue;
    }
    const slug = slugOf(title);
    const times = used.get(slug) ?? 0;
    used.set(slug, times + 1);
    anchors.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return anchors;
}

function slugOf(title: string): string {
  return title
    .trim()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

function proseOf(markdown: string): string {
  return partsOf(markdown)
    .prose.map(({ text }) => text)
    .join('\n');
}
