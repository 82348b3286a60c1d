import { type Run, type Style, textOf } from './terminal-screen.ts';

/** Every cell has this size, whatever font the viewer has. */
const cell = { width: 8.4, height: 19 } as const;
const [fontSize, padding, barHeight] = [14, 16, 30];

/** Light on dark in a window of its own, so that it can be read on light and on dark pages. */
const palette = {
  back: '#0d1117',
  edge: '#30363d',
  bar: '#161b22',
  text: '#e6edf3',
  dim: '#8b949e',
  red: '#ff7b72',
  green: '#56d364',
  yellow: '#e3b341',
  blue: '#79c0ff',
  magenta: '#d2a8ff',
  cyan: '#39c5cf',
} as const;

const fonts = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";

export interface Picture {
  /** What was typed: the title of the window. */
  title: string;
  /** For screen readers. */
  description: string;
  columns: number;
  lines: readonly (readonly Run[])[];
}

/** A terminal window as SVG: text only, without scripts and fonts from elsewhere. */
export function pictureOf({ title, description, columns, lines }: Picture): string {
  const width = Math.round(columns * cell.width + 2 * padding);
  const height = Math.round(lines.length * cell.height + 2 * padding + barHeight);
  const dots = [palette.red, palette.yellow, palette.green].map(
    (color, index) => `<circle cx="${padding + 4 + index * 18}" cy="${barHeight / 2}" r="5.5" fill="${color}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<desc>${escaped(description)}</desc>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${palette.back}" stroke="${palette.edge}"/>`,
    `<path d="M1 ${barHeight}V8.5a7.5 7.5 0 0 1 7.5-7.5H${width - 8.5}a7.5 7.5 0 0 1 7.5 7.5V${barHeight}z" fill="${palette.bar}"/>`,
    ...dots,
    `<g font-family="${fonts}" font-size="${fontSize}" fill="${palette.text}" style="white-space:pre">`,
    `<text x="${width / 2}" y="20" text-anchor="middle" fill="${palette.dim}">${escaped(title)}</text>`,
    ...lines.flatMap((runs, row) => runs.flatMap(run => wordsOf(run).map(word => textAt(word, row)))),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** Blanks between words are positions, which no viewer can collapse. */
function wordsOf(run: Run): Run[] {
  return [...run.text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: text, index }) => ({
    ...run,
    text,
    column: run.column + widthOf(run.text.slice(0, index)),
  }));
}

/** In cells of the terminal: every character of the screens takes one. */
function widthOf(text: string): number {
  return Array.from(text).length;
}

function textAt(run: Run, row: number): string {
  const length = widthOf(run.text) * cell.width;
  const [x, y] = [padding + run.column * cell.width, barHeight + padding + row * cell.height + fontSize];
  const fit = `textLength="${rounded(length)}" lengthAdjust="spacingAndGlyphs"`;
  return `<text x="${rounded(x)}" y="${rounded(y)}" ${fit}${attributes(run)}>${escaped(textOf([run]))}</text>`;
}

function attributes({ color, isBold, isDim }: Style): string {
  const fill = color === undefined ? (isDim ? palette.dim : undefined) : palette[color];
  return `${fill === undefined ? '' : ` fill="${fill}"`}${isBold ? ' font-weight="bold"' : ''}`;
}

function rounded(value: number): string {
  return String(Number(value.toFixed(1)));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
