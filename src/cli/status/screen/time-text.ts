/** `2026-07-01 12:00:05 UTC`; a text that is no time stays as it is. */
export function timeText(text: string): string {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? text : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
