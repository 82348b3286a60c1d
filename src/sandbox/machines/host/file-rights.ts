import type { Descriptor } from '#agent/access/descriptor.ts';
import { type Access, descriptorOf } from '#agent/access/plan.ts';
import { trimEndOf } from '#base/trim-end.ts';
import { parentOf, pathKey } from '#contract/host-path.ts';

/** Owners and permissions of files and directories, and which are links. */
export class FileRights {
  readonly #rights = new Map<string, Access | Descriptor>();
  readonly #links = new Set<string>();

  /** Own or inherited permissions; by default only administrators can write. */
  of(path: string): Descriptor {
    const own = this.#rights.get(pathKey(path));
    if (own !== undefined) return typeof own === 'string' ? descriptorOf(own) : own;
    for (let at = parentOf(path); at !== ''; at = parentOf(at)) {
      const inherited = this.#rights.get(pathKey(at));
      if (typeof inherited === 'string') return descriptorOf(inherited === 'shared' ? 'programs' : inherited);
    }
    return descriptorOf('programs');
  }

  set(path: string, rights: Access | Descriptor): void {
    this.#rights.set(pathKey(path), rights);
  }

  /** Adds a junction or symbolic link made by a user. */
  plantLink(path: string): void {
    this.#links.add(pathKey(path));
  }

  isLink(path: string): boolean {
    return this.#links.has(pathKey(path));
  }

  links(): string[] {
    return [...this.#links];
  }

  /** A link among the parents of a path; a real disk would follow it. */
  linkAbove(path: string): string | undefined {
    for (let at = parentOf(path); at !== ''; at = parentOf(at)) if (this.isLink(at)) return at;
    return undefined;
  }

  /** Includes everything below the path. */
  forget(path: string): void {
    for (const map of [this.#rights, this.#links]) {
      for (const key of map.keys()) if (isWithin(key, path)) map.delete(key);
    }
  }

  move(from: string, to: string): void {
    const moved = [...this.#rights].filter(([key]) => isWithin(key, from));
    const links = [...this.#links].filter(key => isWithin(key, from));
    this.forget(from);
    const newKey = (key: string) => pathKey(to) + key.slice(from.length);
    for (const [key, rights] of moved) this.#rights.set(newKey(key), rights);
    for (const key of links) this.#links.add(newKey(key));
  }
}

export function isWithin(path: string, directory: string): boolean {
  const [key, above] = [pathKey(path), pathKey(directory)];
  return key === above || key.startsWith(`${above}\\`);
}

export function keyOf(path: string): string {
  return pathKey(normalize(path));
}

/** Windows ignores the kind of slashes and a trailing one. */
export function normalize(path: string): string {
  return trimEndOf(path.replaceAll('/', '\\'), '\\');
}
