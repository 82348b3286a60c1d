import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { constants } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openFilesAt } from '../../../test/kit/open-files.ts';
import { identityOf, type Open, openLog } from './open-log.ts';

/** A folder with a file of another program, and the place of a log beside it. */
function bench() {
  const folder = mkdtempSync(join(tmpdir(), 'open-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [victim, path] = [join(folder, 'victim'), join(folder, 'logs', 'agent.INFO')];
  mkdirSync(join(folder, 'logs'));
  writeFileSync(victim, 'precious');
  /** Opens and adds a line, as the log does. */
  const write = (open?: Open) => {
    const { handle } = openLog(path, open);
    writeSync(handle, 'line\n');
    closeSync(handle);
  };
  const seen = () => ({ victim: readFileSync(victim, 'utf8'), log: readFileSync(path, 'utf8') });
  return { folder, victim, path, write, seen };
}

/** As on Windows, where a link is always followed. */
const following: Open = (path, flags) => openSync(path, flags & ~constants.O_NOFOLLOW);
const systems: [string, Open | undefined][] = [
  ['here', undefined],
  ['where links are always followed', following],
];
for (const [where, open] of systems) {
  test(`opens a new file and one that is there, ${where}`, () => {
    const { write, seen } = bench();
    write(open);
    write(open);
    expect(seen()).toEqual({ victim: 'precious', log: 'line\nline\n' });
  });

  test(`writes through no link, ${where}`, () => {
    const { victim, path, write, seen } = bench();
    symlinkSync(victim, path);
    write(open);
    expect(seen()).toEqual({ victim: 'precious', log: 'line\n' });
  });

  test(`writes to no file that has a second name, ${where}`, () => {
    const { victim, path, write, seen } = bench();
    linkSync(victim, path);
    write(open);
    expect(seen()).toEqual({ victim: 'precious', log: 'line\n' });
  });

  test(`does not follow a link that replaces the file at the last moment, ${where}`, () => {
    const { victim, path, write, seen } = bench();
    let isFirst = true;
    write((at, flags) => {
      if (isFirst) symlinkSync(victim, path);
      isFirst = false;
      return (open ?? openSync)(at, flags);
    });
    expect(seen()).toEqual({ victim: 'precious', log: 'line\n' });
  });

  test(`writes through no link that is gone again when it was followed, ${where}`, () => {
    const { victim, path, write, seen } = bench();
    let isFirst = true;
    write((at, flags) => {
      if (!isFirst) return (open ?? openSync)(at, flags);
      isFirst = false;
      symlinkSync(victim, path);
      const handle = following(at, flags);
      unlinkSync(path);
      writeFileSync(path, '');
      return handle;
    });
    expect(seen()).toEqual({ victim: 'precious', log: 'line\n' });
  });

  test(`gives up on a link that is created again and again, ${where}`, () => {
    const { victim, path, write, seen } = bench();
    const insist: Open = (at, flags) => {
      rmSync(path, { force: true });
      symlinkSync(victim, path);
      return (open ?? openSync)(at, flags);
    };
    expect(() => write(insist)).toThrow(/is a link/);
    expect(seen().victim).toBe('precious');
  });
}

test('opens no device, and no folder that is a link', () => {
  const { folder, path, write } = bench();
  expect(() => openLog('/dev/null')).toThrow(/not a regular file/);
  renameSync(join(folder, 'logs'), join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'logs'));
  expect(() => write()).toThrow(/folder that is a link/);
  expect(identityOf(path)).toBeDefined();
});

test('leaves no handle open when it rejects', () => {
  const { folder, victim, path } = bench();
  const insist: Open = (at, flags) => {
    rmSync(path, { force: true });
    linkSync(victim, path);
    return openSync(at, flags);
  };
  expect(() => openLog(path, insist)).toThrow(/second name/);
  expect(openFilesAt(folder)).toBe(0);
});
