import { timestamp } from '#base/clock.ts';
import { oneLineJson, type SafeText } from '../../safe-text.ts';
import { hostData } from '../view/host-data.ts';
import { type HostView, rowKey } from '../view/host-view.ts';
import { takeGone } from './take-gone.ts';

/** Hosts and notes as JSON lines, each only when it has changed. */
export class JsonLines {
  readonly #printed = new Map<string, { name: string; text: string }>();
  #notes: readonly string[] = [];

  /** The lines since the last call; a host that is gone has one last line. */
  next(hosts: readonly HostView[], notes: readonly string[], nowMs: number): SafeText[] {
    const time = timestamp(nowMs);
    const news = notes.filter(note => !this.#notes.includes(note)).map(note => ({ note }));
    this.#notes = notes;
    const gone = takeGone(this.#printed, hosts).map(({ name }) => ({ name, phase: 'Gone' }));
    return [...this.#changed(hosts), ...gone, ...news].map(data => oneLineJson({ time, ...data }));
  }

  #changed(hosts: readonly HostView[]): object[] {
    return hosts.flatMap(host => {
      const data = hostData(host);
      const [key, text] = [rowKey(host), JSON.stringify(data)];
      if (this.#printed.get(key)?.text === text) return [];
      this.#printed.set(key, { name: host.name, text });
      return [data];
    });
  }
}
