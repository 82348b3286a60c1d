import { timestamp } from '#base/clock.ts';
import { oneLineJson, type SafeText } from '../../safe-text.ts';

/** Hosts as JSON lines, each only when it has changed. */
export class JsonLines {
  readonly #printed = new Map<string, string>();

  /** The lines since the last call; a host that is gone has one last line. */
  next(hosts: readonly Record<string, unknown>[], nowMs: number): SafeText[] {
    const time = timestamp(nowMs);
    const names = new Set(hosts.map(({ name }) => String(name)));
    const gone = [...this.#printed.keys()].filter(name => !names.has(name));
    for (const name of gone) this.#printed.delete(name);
    const changed = hosts.filter(host => {
      const text = JSON.stringify(host);
      const isSame = this.#printed.get(String(host['name'])) === text;
      this.#printed.set(String(host['name']), text);
      return !isSame;
    });
    return [...changed, ...gone.map(name => ({ name, phase: 'Gone' }))].map(host => oneLineJson({ time, ...host }));
  }
}
