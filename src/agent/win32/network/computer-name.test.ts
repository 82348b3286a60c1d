import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { openComputerName } from './computer-name.ts';

interface VerbDeps {
  hostName?: string;
  fqdn?: string;
  /** 2 is a workgroup, 3 a domain. */
  joined?: number;
  failing?: Record<string, number>;
}

function bench({ hostName = 'win-1', fqdn = 'win-1.example.com', joined = 2, failing = {} }: VerbDeps = {}) {
  const names: string[] = [];
  let buffers = 0;
  const koffi: FakeKoffi = new FakeKoffi({
    GetComputerNameExW: (format: number, text: Buffer, length: number[]) => {
      if (failing.GetComputerNameExW !== undefined) return fail(failing.GetComputerNameExW);
      const name = { 5: hostName, 7: fqdn }[format] ?? '';
      const room = length[0] ?? 0;
      expect(text.length).toBe(2 * room);
      length[0] = name.length < room ? name.length : name.length + 1;
      if (name.length >= room) return fail(234);
      text.write(`${name}\0`, 'utf16le');
      return 1;
    },
    SetComputerNameExW: (format: number, name: string) => {
      expect(format).toBe(5);
      if (failing.SetComputerNameExW !== undefined) return fail(failing.SetComputerNameExW);
      names.push(name);
      return 1;
    },
    NetGetJoinInformation: (server: null, name: unknown[], status: number[]) => {
      expect(server).toBeNull();
      if (failing.NetGetJoinInformation !== undefined) return failing.NetGetJoinInformation;
      status[0] = joined;
      if (joined < 2) return 0;
      buffers += 1;
      name[0] = koffi.storeText('WORKGROUP');
      return 0;
    },
    NetApiBufferFree: () => {
      buffers -= 1;
      return 0;
    },
  });
  function fail(number: number): number {
    koffi.lastError = number;
    return 0;
  }
  return { names, computer: openComputerName(koffi), buffers: () => buffers };
}

test('reports the host name and the fully qualified one', () => {
  const { computer } = bench();
  expect([computer.hostName(), computer.fqdn()]).toEqual(['win-1', 'win-1.example.com']);
});

test.each([1, 254, 255, 256, 257, 400])('reports a name of %d characters', length => {
  expect(bench({ fqdn: 'n'.repeat(length) }).computer.fqdn()).toHaveLength(length);
});

test.each([0, 2])('renames a host that is in no domain (%d)', joined => {
  const { computer, names, buffers } = bench({ joined });
  computer.set('win-2');
  expect(names).toEqual(['win-2']);
  expect(buffers()).toBe(0);
});

test('renames a host without the service that a domain needs', () => {
  const { computer, names } = bench({ failing: { NetGetJoinInformation: 2138 } });
  computer.set('win-2');
  expect(names).toEqual(['win-2']);
});

test('leaves a member of a domain unchanged', () => {
  const { computer, names, buffers } = bench({ joined: 3 });
  expect(() => computer.set('win-2')).toThrow(
    expect.objectContaining({
      code: 'HOST_NAME_UNCHANGEABLE',
      message: 'the host cannot be renamed to win-2: it is a member of a domain',
      remedy: expect.stringContaining('domain') as string,
    }),
  );
  expect(names).toEqual([]);
  expect(buffers()).toBe(0);
});

test.each([
  ['GetComputerNameExW', 5, 'the host'],
  ['SetComputerNameExW', 87, 'the name win-2'],
  ['NetGetJoinInformation', 1722, 'the host'],
])('reports that %s failed', (call, number, object) => {
  const { computer } = bench({ failing: { [call]: number } });
  const act = () => (call === 'GetComputerNameExW' ? computer.hostName() : computer.set('win-2'));
  expect(act).toThrow(new RegExp(`${call} failed for ${object}: Windows error ${number}`));
});

test('does not retry forever when Windows reports a wrong length', () => {
  const { computer } = bench({ failing: { GetComputerNameExW: 234 } });
  expect(() => computer.hostName()).toThrow(/Windows error 234/);
});
